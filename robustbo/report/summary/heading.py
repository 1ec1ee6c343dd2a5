"""Headings of a table's columns: our own words, and the names of a user's parameters and outcomes."""


class Name(str):
    """A column that has the name of a user's parameter or outcome, which its heading repeats to the letter."""

    __slots__ = ()


def heading(key: str) -> str:
    """The heading of a column.

    Example:
        >>> heading("probability_wrong"), heading(Name("learning_rate"))
        ('probability wrong', 'learning_rate')
    """
    return key if isinstance(key, Name) else key.replace("_", " ")
