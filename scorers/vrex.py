"""V-REX (arXiv 2512.11995): reading which option a reply chooses, and the ability to plan or to follow.

Two readings stand side by side. The strict one keeps to the official rules, of which some do harm: the article "a"
is option A, and "(G)" is the first option with a g in it. The lenient one reads what a person would, and nothing where
a person could not tell.
"""

from __future__ import annotations

import difflib
import math
import re
import string
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from condchain_tasks.scorers.replies import is_failed

MAX_OPTIONS = 8
"""Options that a step can have; more than six in the hard set alone."""

OFFICIAL_OPTIONS = 6
"""Options that the official rules can tell apart."""

_CLOSE = 0.75
_MAX_CLOSE = 500  # characters; the time that difflib takes grows faster than its texts
_NEAR = 2_000  # characters at either end of a reply: where a person would look


@dataclass(frozen=True)
class Choice:
    """A choice that was read.

    Attributes:
        letter: "a" to "f", in the hard set to "h"; "" if there is none. By the strict rules it may lie beyond the
            options: it is then wrong.
        rule: The rule that found it, or "none". Strict: "parenthesis", "line", "lone letter", "answer", "number",
            "equal", "contained", "close". Lenient: "stated", "mentioned"; with "contradictory" there is no letter.
    """

    letter: str
    rule: str


_NOTHING = Choice("", "none")


def parse_choice(text: str | None, options: Sequence[str]) -> Choice:
    """Reads a choice by the official rules; the first that finds one counts.

    1. "parenthesis": the first letter a to f, in either case, directly inside parentheses, anywhere.
    2. "line": the first line that begins, after any white space, with such a letter, `.` or `)`, and white space.
    3. In the reply lower-cased and trimmed, `e.g.` and `i.e.` read as `eg` and `ie`: "lone letter", the first of a to f
       without another letter (a to z) beside it, which is also the article "a"; else "answer", a letter that ends a
       word and follows `answer`, colons and white space.
    4. "number", in the same text: a digit 1 to 6 that ends a word and follows `answer`, colons and white space; else
       the first one that stands alone. 1 is A.
    5. Against the options. A leading `question` or `selected question` with a colon or a hyphen is taken off the
       reply. Of both sides white space, then quotes and brackets, then punctuation and blanks are removed at the ends,
       case and the length of white space do not matter. "equal": the first option that is equal; "contained": the
       first that contains the reply or is contained in it; "close": the closest by difflib at 0.75, up to 500
       characters.

    Departures: a reply of which rule 5 leaves nothing has no answer (officially it is A), as has one that is blank,
    failed or no text.

    Args:
        text: The reply, of any length.
        options: The options' texts.

    Returns:
        The choice as it stands, a to f, even if there are fewer options; none for an option beyond the sixth, which
        the official rules cannot name. For more options see `parse_choice_extended`.
    """
    return _parse(text, options, _OFFICIAL)


def parse_choice_extended(text: str | None, options: Sequence[str]) -> Choice:
    """`parse_choice` with letters to H and digits to 8, for the hard set's eight options, which have no official rule.

    Args:
        text: The reply, of any length.
        options: The options' texts, at most `MAX_OPTIONS`. Up to `OFFICIAL_OPTIONS` the official rules are used.

    Returns:
        The choice as it stands, even if there are fewer options.
    """
    return _parse(text, options, _OFFICIAL if len(options) <= OFFICIAL_OPTIONS else _EXTENDED)


def parse_choice_lenient(text: str | None, options: Sequence[str]) -> Choice:
    """Reads a choice as a person would.

    "stated": the first or the last line is nothing but a letter, however it is wrapped, or a letter and a text behind a
    comma or a dash ("B, red"); the first line starts with one ("(B) because ..."); the text says so ("Answer: B", "the
    best option is (B)", "I choose B", "so B is correct", "答案：B"), boxes a letter, or ends with it ("Therefore, B.");
    or the reply, its first or its last line is one option's own text. "mentioned": nothing is stated, and only one
    option is named at all ("option B", `(B)`, `B.` at the start of a line). What names or states two different options
    is "contradictory", and so is a letter that no option has.

    Args:
        text: The reply, of any length; of a long one the first and the last 2,000 characters are looked at.
        options: The options' texts, at most `MAX_OPTIONS`.

    Returns:
        The choice, always one of the options.
    """
    if not isinstance(text, str) or is_failed(text):
        return _NOTHING
    plain = _plain(text)
    mentioned = _letters(_MENTION, plain)
    for rule, letters in (("stated", _stated(plain, mentioned, options)), ("mentioned", set(mentioned))):
        if letters:
            letter = letters.pop()
            one = not letters and letter in string.ascii_lowercase[: len(options)]
            return Choice(letter, rule) if one else Choice("", "contradictory")
    return _NOTHING


def is_compliant(text: str | None, n_options: int) -> bool:
    """Whether a reply has the form that was asked for: on the first line only a capital letter in parentheses.

    Args:
        text: The reply.
        n_options: The letter must be that of an option, so one of the first `n_options`, at most `MAX_OPTIONS`.
    """
    if not isinstance(text, str) or is_failed(text):
        return False
    first = text.partition("\n")[0].removesuffix("\r")
    return first in {f"({letter})" for letter in string.ascii_uppercase[: min(n_options, MAX_OPTIONS)]}


def ability(chosen: Sequence[object], gold: Sequence[object]) -> float:
    """The ability to plan or to follow on one sample: the share of intermediate steps with the right choice.

    Args:
        chosen: The choice at each step but the last, as letters or as numbers; what is no choice equals no gold one.
            Of a chain that ended early, those steps that were reached.
        gold: The right choices, in the same form.

    Returns:
        In 0..1, steps that were not reached being wrong; not a number if there are no steps.

    Raises:
        ValueError: More steps were chosen than there are.
    """
    if len(chosen) > len(gold):
        raise ValueError(f"Expected a choice for each of {len(gold)} steps, found {len(chosen)}.")
    return sum(c == g for c, g in zip(chosen, gold, strict=False)) / len(gold) if gold else math.nan


# --- the official rules


class _Rules:
    """The first four rules for a number of letters."""

    def __init__(self, letters: int) -> None:
        self.letters = letters
        lower = f"a-{string.ascii_lowercase[letters - 1]}"
        either = lower + lower.upper()
        self.parenthesis = re.compile(rf"\(([{either}])\)")
        # White space before the letter may run over blank lines: then the last line that it touches is as good.
        self.line = re.compile(rf"^[^\S\n]*([{either}])[.)]\s", re.MULTILINE)
        # A pattern that starts with a set of characters is searched faster than one that starts with a condition.
        self.lone_letter = re.compile(rf"([{lower}])(?<![a-z][{lower}])(?![a-z])")
        self.answer_letter = re.compile(rf"answer[:\s]*([{lower}])\b")
        self.answer_number = re.compile(rf"answer[:\s]*([1-{letters}])\b")
        self.number = re.compile(rf"([1-{letters}])(?<!\w[1-{letters}])\b")


_OFFICIAL, _EXTENDED = _Rules(OFFICIAL_OPTIONS), _Rules(MAX_OPTIONS)

_FOR_EXAMPLE, _THAT_IS = re.compile(r"\be\.g\."), re.compile(r"\bi\.e\.")
_INTRODUCTION_OF_PICK = re.compile(r"\s*(?:selected\s+)?question\s*[:-]", re.IGNORECASE)
_QUOTES = "‘’‚“”„«»‹›"


def _parse(text: str | None, options: Sequence[str], rules: _Rules) -> Choice:
    if not isinstance(text, str) or is_failed(text):
        return _NOTHING
    if match := rules.parenthesis.search(text):
        return Choice(match[1].lower(), "parenthesis")
    if match := rules.line.search(text):
        return Choice(match[1].lower(), "line")
    lower = _THAT_IS.sub("ie", _FOR_EXAMPLE.sub("eg", text.lower().strip()))
    if match := rules.lone_letter.search(lower):
        return Choice(match[1], "lone letter")
    if match := rules.answer_letter.search(lower):
        return Choice(match[1], "answer")
    if match := rules.answer_number.search(lower) or rules.number.search(lower):
        return _numbered(int(match[1]) - 1, "number")
    introduction = _INTRODUCTION_OF_PICK.match(text)
    said = _normal(text[introduction.end() :] if introduction else text)
    found = _against_options(said, [_normal(option) for option in options]) if said else None
    return _numbered(*found) if found and found[0] < rules.letters else _NOTHING


def _against_options(text: str, options: Sequence[str]) -> tuple[int, str] | None:
    """The number of the option that a text repeats, from 0, and the rule that says so."""
    if text in options:
        return options.index(text), "equal"
    for number, option in enumerate(options):
        if option and (text in option or option in text):
            return number, "contained"
    if len(text) <= _MAX_CLOSE:
        short = [option for option in options if len(option) <= _MAX_CLOSE]
        for option in difflib.get_close_matches(text, short, n=1, cutoff=_CLOSE):
            return options.index(option), "close"
    return None


def _normal(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip().lower().strip("\"'()[]{}").strip(string.punctuation + " "))


def _numbered(number: int, rule: str) -> Choice:
    return Choice(string.ascii_lowercase[number], rule)


# --- the lenient reading

# What is boxed is the answer: a letter, or a letter with a text behind it and no second letter in that.
_BOXED = re.compile(
    r"\\boxed\s*\{\s*(?:\\[a-z]+\s*\{\s*)?(?:\(?([A-Ha-h])\)?\s*"
    r"|\(?([A-H])\)?(?:[.:,)]|\s+[–—-]\s)(?![^{}\n]*(?<![\w'’])[A-H](?![\w'’]))([^{}\n]{1,200}))\}{1,2}"
)
_WRAPPED = re.compile(
    r"\$?\\(?:text|math)[a-z]{0,6}\{\s*\(?([A-H])\)?\s*\}\$?"
    r"|\*\*\s*[(\[]?([A-Ha-h])[)\]]?[.:]?\s*\*\*"
    r"|\[([A-Ha-h])\]"
    r"|\(\s*([A-Ha-h])\s*\)"
)
_MARKDOWN = str.maketrans("", "", "*`")
_OUTER = string.punctuation + string.whitespace + _QUOTES + "。、"

# A bare capital letter is a letter of an option, but "A" and lower-case letters may be words: what follows tells.
_LETTER = (
    r"(?:\(([A-Ha-h])\)|\$([A-H])\$|([B-H])(?![\w'’])"
    r"|([Aa]|[b-h])(?=\s*(?:[^\w\s'’-]|\n|\Z)| (?:because|since|as|is)\b))"
)
_NO_OTHER = (
    r"(?!\s*(?:[,/&、]|(?:or|and|ou|et|oder|und|o|y)\b|和|或|及|と|や|또는)\s*"
    r"(?:\([A-Ha-h]\)|\$?[A-H](?![A-Za-z0-9_'’])))"
)

_BARE = re.compile(r"(?:(?:option|choice|answer)\W{1,5})?([a-h])", re.IGNORECASE)
_LEAD = re.compile(
    r"\W{0,5}(?:(?i:option|choice|answer)\W{1,5})?"
    r"(?:(?<!\w)\(([A-Ha-h])\)|(?<!\w)([A-Ha-h])[.):](?=\s|\Z)|(?<!\w)([A-H])(?=\s+(?:because|since|as)\b))(?!\s+is\b)"
    + _NO_OTHER
)
_SAYS = re.compile(
    r"(?:(?i:\banswer(?:\s+is)?\s*[:=–—-]"
    r"|\b(?:answer|choice|option|question|letter)\s+(?:is|would\s+be|should\s+be|must\s+be)\b\s*:?"
    r"|\b(?:final|correct|right|best)\s+answer\b|<answer>"
    r"|\bI(?:\s+would|\s+will|['’]d|['’]ll)?\s+(?:choose|pick|select|go\s+with)\b"
    r"|\bréponse(?:\s+(?:correcte|finale))?(?:\s+est\b|\s*:)|\bAntwort(?:\s+(?:ist|lautet)\b|\s*:)"
    r"|\brespuesta(?:\s+(?:correcta|final))?(?:\s+es\b|\s*:)|\brisposta(?:\s+corretta)?(?:\s+è|\s*:)"
    r"|\bresposta(?:\s+correta)?(?:\s+é|\s*:))"
    r"\s*(?i:(?:the\s+|la\s+|l['’]|die\s+)?(?:option|choice|letter|answer|opción|lettre)\s+)?"
    + _LETTER
    # No article stands before a letter here, and no space behind it.
    + r"|(?:答案|正解|答え|정답|(?<!不)选择?|(?<!不)選擇?)(?:应该|應該)?(?:是|为|為|は|은|는)?\s*:?\s*(?:选项|選項)?"
    r"\s*[(\[「]?([A-H])(?![A-Za-z0-9]))" + _NO_OTHER
)
_CONCLUDES = re.compile(
    r"(?:(?i:\b(?:therefore|thus|hence|so|consequently|in\s+conclusion)\b)|因此|所以|따라서)[,:]?\s*"
    r"(?i:(?:it|this)(?:['’]s|\s+is|\s+must\s+be)\s+)?(?i:option\s+|choice\s+)?(?:\(([A-Ha-h])\)|([A-H]))[.!。]*\Z"
)
_LISTED = re.compile(r"\W{0,5}(?:\(([A-Ha-h])\)|([A-H]))(?:\s*[,:]\s*|\s+[-–—]\s+)(?=[^\W\d_]|\d+\W*\Z)(.+)")
_OTHER_LETTER = re.compile(r"(?<![\w'’])[A-H](?![\w'’])")
_IS_RIGHT = re.compile(
    r"(?:\(([A-Ha-h])\)|(?<![\w'’])([A-H]))(?=\s+is\s+(?:the\s+)?(?:answer|right|correct|best|most\s+helpful)\b)"
)
_MENTION = re.compile(
    r"(?<![A-Za-z0-9])\(([A-Ha-h])\)"
    r"|^([A-Ha-h])[.):](?=\s|\Z)"
    r"|\b(?i:option|choice)\s+(?:([A-H])(?![\w'’])|([a-h])(?=\s*(?:[^\w\s'’-]|\n|\Z)))",
    re.MULTILINE,
)
_INTRODUCTION = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s+)?(?:(?:the|my)\s+)?(?:(?:final|correct|right|best)\s+)?answer"
    r"(?:\s+is\b|\s*[:=])+\s*",
    re.IGNORECASE,
)


def _plain(text: str) -> str:
    """Both ends of a reply in plain characters, lines that are not blank, single spaces; a wrapped letter is (X)."""
    ends = text if len(text) <= 2 * _NEAR else f"{text[:_NEAR]} … {text[-_NEAR:]}"
    boxed = _BOXED.sub(
        lambda box: f" Answer: ({box[1] or box[2]}) {box[3] or ''} ", unicodedata.normalize("NFKC", ends)
    )
    wrapped = _WRAPPED.sub(lambda match: f"({match[match.lastindex or 0]})", boxed)
    lines = (" ".join(line.split()) for line in wrapped.translate(_MARKDOWN).splitlines())
    return "\n".join(line for line in lines if line)


def _letters(pattern: re.Pattern[str], text: str) -> list[str]:
    """The letters that a pattern finds, in order, each once."""
    return list(dict.fromkeys(match[match.lastindex or 0].lower() for match in pattern.finditer(text)))


def _stated(plain: str, mentioned: Sequence[str], options: Sequence[str]) -> set[str]:
    lines = plain.splitlines() or [""]
    first, last = lines[0], lines[-1]
    own = [plain, first, last]
    stated = {bare[1].lower() for line in (first, last) if (bare := _BARE.fullmatch(line.strip(_OUTER)))}
    concluded = _letters(_CONCLUDES, plain)
    stated.update(_letters(_SAYS, plain), _letters(_IS_RIGHT, plain), concluded)
    repeats_all = "".join(mentioned) == string.ascii_lowercase[: len(options)]
    # What is concluded in the end goes before the option that a discussion starts with.
    if not repeats_all and not concluded and (lead := _LEAD.match(first)):
        stated.add(lead[lead.lastindex or 0].lower())
        own.append(first[lead.end() :])
    listed = {line: match for line in lines if (match := _LISTED.fullmatch(line))}
    # Several of them are a list of the options.
    if not concluded and len({match[1] or match[2] for match in listed.values()}) == 1:
        for match in (listed[line] for line in {first, last} & listed.keys()):
            if not _OTHER_LETTER.search(match[3]):
                stated.add((match[1] or match[2]).lower())
                own.append(match[3])
    return stated.union(_own_texts(own, options))


def _own_texts(texts: Iterable[str], options: Sequence[str]) -> Iterator[str]:
    """The letters of the options whose own text stands alone, with or without "the answer is" before it."""
    known = [_bare_text(_plain(option)) for option in options]
    for text in texts:
        for said in {_bare_text(text), _bare_text(_INTRODUCTION.sub("", text, count=1))}:
            # A single letter names an option rather than being its text.
            if said and known.count(said) == 1 and not _BARE.fullmatch(said):
                yield string.ascii_lowercase[known.index(said)]


def _bare_text(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .:'\"" + _QUOTES)
