"""The words on the screens of the gui domain: ten apps, and what all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """The words of one app.

    Attributes:
        titles: Titles of its screens.
        labels: Things that its lists, cards and pages are about.
        notes: Second lines of rows, and options of a dialog.
        typed: What a user may type or search for; no label among them.
        buttons: Labels of the main button.
        measure: What is shown beside a thing, and its values.
        tabs: Its four tabs.
        chips: Four choices, one of which is selected.
    """

    titles: tuple[str, ...]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    typed: tuple[str, ...]
    buttons: tuple[str, ...]
    measure: tuple[str, tuple[str, ...]]
    tabs: tuple[str, str, str, str]
    chips: tuple[str, str, str, str]


def words(text: str) -> tuple[str, ...]:
    """Splits at commas."""
    return tuple(word.strip() for word in text.split(","))


def _four(text: str) -> tuple[str, str, str, str]:
    first, second, third, fourth = text.split()
    return first, second, third, fourth


_PRICES = ("price", words("$3, $8, $12, $19, $25, $40"))
_SIZES = _four("S M L XL")
_SPANS = _four("1d 7d 30d 90d")
THEMES: tuple[Theme, ...] = (
    Theme(
        words("Menu, Offers, Kitchen, Lunch, Dinner, Basket, Nearby, Dishes"),
        words(
            "Ramen, Falafel, Lasagne, Dumplings, Burrito, Pancakes, Pho, Paella, Moussaka, Gnocchi, "
            "Tacos, Curry, Waffles, Bibimbap, Samosas, Goulash"
        ),
        words("Very spicy, Gluten free, Chef's choice, Served cold, Family size, With cheese"),
        words("oat milk, no onions, extra rice, lemon tea, green salad, mild sauce"),
        words("Order now, Add to bag, Reserve, Book table, Get it, Checkout"),
        _PRICES,
        _four("Home Browse Saved Account"),
        _SIZES,
    ),
    Theme(
        words("Settings, General, Network, Privacy, Display, Device, System, Advanced"),
        words(
            "Wi-Fi, Bluetooth, Hotspot, Night mode, Vibration, Backup, Printing, Storage, Battery, Sounds, "
            "Keyboard, Fonts, Wallpaper, Updates, Accounts, Location"
        ),
        words("Automatic, At night only, Recommended, Every hour, Ask each time, By schedule"),
        words("dark theme, lock screen, screen time, ringtone, airplane, data saver"),
        words("Apply, Reset, Connect, Restart, Scan, Pair"),
        ("size", words("3 MB, 18 MB, 45 MB, 120 MB, 300 MB, 2 GB")),
        _four("Home Search Saved Profile"),
        _SPANS,
    ),
    Theme(
        words("Library, Playlists, Charts, Radio, Albums, Concerts, Queue, Podcasts"),
        words(
            "Blue Harbor, Night Train, Paper Moon, Wildfire, Slow River, Glass City, Daybreak, Echoes, Lanterns, "
            "Tin Roof, Snowdrift, Velvet, Orbit, Mirage, Undertow, Sparrow"
        ),
        words("Live version, Acoustic, Remastered, Instrumental, Radio edit, Extended mix"),
        words("jazz piano, cello suite, road trip, rain sounds, old hits, film music"),
        words("Play all, Shuffle, Download, Share, Follow, Add track"),
        ("length", words("2:15, 3:40, 4:05, 5:30, 6:50, 8:20")),
        _four("Home Search Saved Profile"),
        _four("Pop Jazz Folk Soul"),
    ),
    Theme(
        words("Clock, Alarms, Timers, Bedtime, Routine, Calendar, Agenda, Reminders"),
        words(
            "Wake up, School run, Gym, Medicine, Stand-up, Nap, Lunch, Rehearsal, Laundry, Call home, Yoga, "
            "Bus stop, Homework, Baking, Garden, Reading"
        ),
        words("Weekdays, Weekends, Every day, Once only, First Monday, Holidays"),
        words("early shift, dentist, birthday, train ride, swim class, team call"),
        words("Start, Snooze, Set alarm, Repeat, Pause, Add timer"),
        ("duration", words("5 min, 15 min, 25 min, 40 min, 60 min, 90 min")),
        _four("Today Search Saved Account"),
        _four("Mon Wed Fri Sun"),
    ),
    Theme(
        words("Shop, New in, Sale, Wishlist, Outlet, Brands, Orders, Returns"),
        words(
            "Raincoat, Sneakers, Backpack, Scarf, Sunglasses, Sandals, Hoodie, Mittens, Umbrella, Wallet, "
            "Cardigan, Boots, Pyjamas, Belt, Cap, Watch"
        ),
        words("Ships today, Only a few, Back in stock, Pure cotton, Last season, Handmade"),
        words("wool socks, red dress, gift card, kids jacket, leather bag, silk tie"),
        words("Buy now, Add to cart, Try on, Compare, Find store, Save item"),
        _PRICES,
        _four("Home Browse Saved Account"),
        _SIZES,
    ),
    Theme(
        words("Trips, Tickets, Stations, Departures, Routes, Explore, Stays, Passes"),
        words(
            "Lisbon, Oslo, Nairobi, Kyoto, Lima, Prague, Quito, Hanoi, Dublin, Tunis, Zagreb, Seville, "
            "Bergen, Accra, Turin, Geneva"
        ),
        words("Direct, One change, Window seat, Quiet coach, With meal, Night train"),
        words("beach hotel, old town, ferry times, cheap room, city map, museum pass"),
        words("Book seat, See map, Check in, Upgrade, Cancel trip, Pay now"),
        ("distance", words("4 km, 17 km, 60 km, 150 km, 480 km, 900 km")),
        _four("Home Search Trips Profile"),
        _four("1st 2nd 3rd 4th"),
    ),
    Theme(
        words("Inbox, Drafts, Sent, Archive, Outbox, Folders, Contacts, Spam"),
        words(
            "Amara, Boris, Chloe, Dmitri, Elena, Farid, Greta, Hiro, Ines, Jonas, Kofi, Leila, Mateo, Nadia, "
            "Omar, Priya"
        ),
        words("Meeting notes, Holiday photos, New address, Draft report, Thank you, Lost keys"),
        words("invoice, tax form, party list, tour dates, signed copy, old recipe"),
        words("Reply, Forward, Compose, Archive it, Mark read, Report"),
        ("size", words("3 kB, 18 kB, 45 kB, 120 kB, 300 kB, 2 MB")),
        _four("Mail Search Starred Profile"),
        _SPANS,
    ),
    Theme(
        words("Workout, Progress, Goals, Training, Steps, Challenges, Coach, Recovery"),
        words(
            "Squats, Rowing, Cycling, Push-ups, Plank, Stretching, Lunges, Swimming, Boxing, Skipping, "
            "Hiking, Pilates, Sprints, Climbing, Dancing, Crunches"
        ),
        words("Beginner, Low impact, With weights, Outdoors, In pairs, Full body"),
        words("back pain, warm up, leg day, hill run, cool down, ten minutes"),
        words("Begin, Log set, Join class, Next level, Rest now, Track it"),
        ("duration", words("5 min, 15 min, 25 min, 40 min, 60 min, 90 min")),
        _four("Today Search Plans Profile"),
        _SPANS,
    ),
    Theme(
        words("Photos, Memories, Shared, Places, Favourites, Trash, Screenshots, Videos"),
        words(
            "Sunset, Harbour, Wedding, Puppy, Snowman, Waterfall, Market, Bridge, Picnic, Balcony, Lighthouse, "
            "Carnival, Orchard, Tram, Desert, Rooftop"
        ),
        words("Taken at dusk, Black and white, From Grandma, Wide angle, Slow motion, Edited copy"),
        words("blue door, best friends, last summer, city lights, first snow, school play"),
        words("Edit, Print, Share it, Crop, To album, Hide"),
        ("size", words("3 MB, 18 MB, 45 MB, 120 MB, 300 MB, 2 GB")),
        _four("Library Search Albums Profile"),
        _four("All Mine Fam Pets"),
    ),
    Theme(
        words("Lessons, Courses, Exams, Grammar, Stories, League, Notebook, Practice"),
        words(
            "Greetings, Numbers, Weather, Animals, Clothes, Colours, Family, Travel, Hobbies, Furniture, "
            "Seasons, Vegetables, Jobs, Emotions, Sports, Directions"
        ),
        words("Level one, Listening, Speaking, Hard words, Quick review, Bonus round"),
        words("past tense, how are you, good night, thank you, verb list, word game"),
        words("Continue, Take quiz, Unlock, Retry, Skip ahead, Listen"),
        ("duration", words("5 min, 15 min, 25 min, 40 min, 60 min, 90 min")),
        _four("Learn Search Saved Profile"),
        _four("DE ES FR IT"),
    ),
)
APPS = words(
    "Nimbus, Tandem, Plover, Juniper, Kestrel, Mosaic, Quill, Saffron, Tundra, Vesper, Willow, Zephyr, Bramble, "
    "Cobalt, Driftly, Ember, Fjord, Gizmo"
)
FIELD_TEXTS: Mapping[str, tuple[str, ...]] = {
    "Name": words("Ada Lopez, Ben Okafor, Mia Novak, Tom Sato, Ivy Khan, Leo Rossi"),
    "Street": words("Elm Road 5, Mill Lane 12, High Street 3, Park Way 40, Dock Row 8, Hill Drive 21"),
    "Country": words("Chile, Norway, Kenya, Japan, Canada, Portugal"),
    "Job": words("Baker, Nurse, Pilot, Farmer, Lawyer, Painter"),
    "Language": words("Dutch, Swahili, Korean, Spanish, Polish, Hindi"),
    "Company": words("Acme Tools, Bluefin, Corvid Labs, Delta Mills, Fernway, Otter Bank"),
}
MESSAGES = words("See you soon, On my way, Running late, Thanks a lot, Call me back, Good idea, Not today, Well done")
TAGS = words("NEW, SALE, HOT, TOP, BEST, LAST")
CAPTIONS = words("Search, Message, Topic, Place, Reply, Title")
HELPERS = words("Required, Optional, Private, Public, Verified, Not saved")
SLIDERS = words("Volume, Brightness, Speed, Zoom, Contrast, Intensity")
HEADINGS = words(
    "Save changes?, Delete item?, Share location?, Update now?, Log out?, Send report?, Turn on alerts?, Try again?"
)
REFUSALS = words("Cancel, Later, No, Back, Skip, Close")
CONSENTS = words("OK, Allow, Yes, Save, Accept, Confirm")
