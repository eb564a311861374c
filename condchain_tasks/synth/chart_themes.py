"""What the embedded charts are about: topics with their categories and units, time axes, small labels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """A topic of a chart.

    Attributes:
        topic: Title without the year.
        category: What one bar, line or slice stands for; title of the category axis.
        quantity: Title of the value axis, unit included.
        unit: Reads after a number: "goals", "mm".
        countable: Whether one says "fewer than 20 goals" rather than "less than 20 mm".
        labels: Categories, each short enough to stand under a bar.
    """

    topic: str
    category: str
    quantity: str
    unit: str
    countable: bool
    labels: tuple[str, ...]


@dataclass(frozen=True)
class TimeAxis:
    """Points in time of a line chart.

    Attributes:
        title: Title of the axis.
        marks: What is printed at each point.
        phrases: How each point reads in "it peaks ...".
    """

    title: str
    marks: tuple[str, ...]
    phrases: tuple[str, ...]


def _theme(topic: str, category: str, quantity: str, unit: str, labels: str, countable: bool = True) -> Theme:
    return Theme(topic, category, quantity, unit, countable, tuple(labels.split()))


THEMES = (
    _theme(
        "Wind power by country",
        "Country",
        "Wind power (GWh)",
        "GWh",
        "Peru Norway Chile Kenya Japan Spain Egypt Canada India Poland Greece Cuba",
        countable=False,
    ),
    _theme(
        "Rainfall by town",
        "Town",
        "Rainfall (mm)",
        "mm",
        "Bergen Hilo Cork Perth Kyoto Quito Lagos Dakar Turin Leeds Izmir Tampa",
        countable=False,
    ),
    _theme(
        "Goals by club",
        "Club",
        "Goals scored",
        "goals",
        "Rovers United Albion Rangers City Athletic County Victoria Celtic Thistle Forest",
    ),
    _theme(
        "Flights by city",
        "City",
        "Flights a day",
        "flights",
        "Lisbon Dublin Athens Prague Vienna Oslo Madrid Rome Warsaw Zurich Riga Sofia",
    ),
    _theme(
        "Orders by dish",
        "Dish",
        "Orders taken",
        "orders",
        "Pizza Sushi Curry Pasta Salad Burger Soup Ramen Stew Paella Risotto Omelette",
    ),
    _theme(
        "Library loans by genre",
        "Genre",
        "Books lent",
        "loans",
        "Crime Poetry Romance History Travel Fantasy Comics Drama Science Humour Cookery",
    ),
    _theme(
        "Music students by course",
        "Course",
        "Students enrolled",
        "students",
        "Piano Violin Guitar Flute Singing Harp Cello Trumpet Oboe Clarinet Organ Viola",
    ),
    _theme(
        "Bird sightings by species",
        "Species",
        "Sightings",
        "sightings",
        "Robin Heron Sparrow Owl Magpie Swift Crane Finch Raven Wren Gull Falcon",
    ),
    _theme(
        "Cups sold by drink",
        "Drink",
        "Cups sold",
        "cups",
        "Espresso Latte Mocha Cocoa Tea Matcha Chai Cider Juice Punch Broth Cordial",
    ),
    _theme(
        "Trips by means of travel",
        "Means of travel",
        "Trips made",
        "trips",
        "Bus Tram Ferry Metro Taxi Bicycle Train Car Scooter Van Coach Minibus",
    ),
    _theme(
        "Harvest by vegetable",
        "Vegetable",
        "Harvest (kg)",
        "kg",
        "Kale Leek Onion Spinach Cabbage Celery Fennel Garlic Potato Pumpkin Lettuce",
        countable=False,
    ),
    _theme(
        "Cinema tickets by genre",
        "Film genre",
        "Tickets sold",
        "tickets",
        "Western Comedy Thriller Horror Musical Mystery Cartoon Action Romance Noir",
    ),
    _theme(
        "Shelter adoptions by pet",
        "Pet",
        "Adoptions",
        "adoptions",
        "Dog Cat Rabbit Parrot Hamster Turtle Pony Ferret Goat Gecko Donkey Canary",
    ),
    _theme(
        "Mine output by metal",
        "Metal",
        "Output (tonnes)",
        "tonnes",
        "Copper Zinc Nickel Tin Cobalt Iron Chrome Tungsten Titanium Lithium",
        countable=False,
    ),
    _theme(
        "Craters mapped by moon",
        "Moon",
        "Craters mapped",
        "craters",
        "Titan Europa Callisto Rhea Oberon Triton Dione Ariel Umbriel Phobos Io Mimas",
    ),
    _theme(
        "Repairs by machine",
        "Machine",
        "Repairs done",
        "repairs",
        "Lathe Press Drill Loom Kiln Crane Pump Mixer Saw Oven Boiler Winch",
    ),
    _theme(
        "Medals by sport",
        "Sport",
        "Medals won",
        "medals",
        "Rowing Judo Fencing Archery Cycling Boxing Sailing Diving Tennis Hockey Skiing",
    ),
    _theme(
        "Museum visitors by wing",
        "Wing",
        "Visitors an hour",
        "visitors",
        "Egypt Rome Armour Textiles Coins Fossils Maps Ships Clocks Pottery Glass",
    ),
)

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HOURS = ("8 am", "9 am", "10 am", "11 am", "noon", "1 pm", "2 pm", "3 pm")

TIME_AXES = (
    TimeAxis("Month", tuple(month[:3] for month in _MONTHS), tuple(f"in {month}" for month in _MONTHS)),
    TimeAxis("Day of the week", tuple(day[:3] for day in _DAYS), tuple(f"on {day}" for day in _DAYS)),
    TimeAxis("Time of day", _HOURS, tuple(f"at {hour}" for hour in _HOURS)),
    TimeAxis("Week", tuple(f"W{n}" for n in range(1, 9)), tuple(f"in week {n}" for n in range(1, 9))),
)

SERIES = (
    ("Spring", "Autumn"),
    ("Plan", "Result"),
    ("Dawn", "Dusk"),
    ("North", "South"),
    ("Home", "Away"),
    ("East", "West"),
)

NOTES = (
    ("draft", "final", "revised", "partial", "audited"),
    ("rural", "urban", "coastal", "inland", "alpine"),
    ("public", "private", "joint", "foreign", "local"),
    ("survey", "census", "sample", "model", "ledger"),
    ("new", "closed", "moved", "merged", "leased"),
)

SOURCES = ("City Library", "Weather Office", "Harbour Board", "Trade Union", "State College", "Daily Herald")

HEADINGS = ("Key", "Legend", "Lines", "Overview", "Guide", "Series")
