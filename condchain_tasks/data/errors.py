"""The one error of this package."""


class DataError(ValueError):
    """Data that cannot be used: which file, line, record and field, what was expected, and what to do."""
