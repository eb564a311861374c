"""The one error of this package."""


class DataError(ValueError):
    """Data that cannot be used: which file, line, record and field, what was expected, and what to do.

    The message is one line, whatever names and values from the data stand in it.
    """

    def __init__(self, message: str) -> None:
        super().__init__("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message))
