"""Names of columns as people write them, with a unit in brackets behind; the nearest to one that is missing."""

from collections.abc import Iterable

from robustbo.validation import near


def parts(label: str) -> tuple[str, str]:
    """The name and the unit in a label; the unit is empty where it has none.

    Example:
        >>> parts("Yield [%]"), parts("temperature (°C) "), parts("pH")
        (('Yield', '%'), ('temperature', '°C'), ('pH', ''))
    """
    text = label.strip()
    for start, end in ("()", "[]"):
        if text.endswith(end) and (before := text.rpartition(start)[0].strip()):
            return before, text[:-1].rpartition(start)[2].strip()
    return text, ""


def has_other_unit(label: str, unit: str) -> bool:
    """Return whether a label has another unit than this one; where either has none, it does not."""
    other = parts(label)[1]
    return bool(other and unit and other != unit)


def nearest_label(label: str, labels: Iterable[str]) -> str | None:
    """The label nearest to one that is not there, their units left aside; None where none is near.

    A label with another unit is left out: its values are other ones.

    Example:
        >>> nearest_label("yield (%)", ["x", "yeild", "yield (g)"]), nearest_label("yield (%)", ["yield (g)"])
        ('yeild', None)
    """
    name, unit = parts(label)
    by_name = {parts(candidate)[0]: candidate for candidate in labels if not has_other_unit(candidate, unit)}
    word = near(name, by_name)
    return None if word is None else by_name[word]
