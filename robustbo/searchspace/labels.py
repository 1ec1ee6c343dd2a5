"""Names of columns as people write them, with a unit in brackets behind: which is meant, and which is another."""

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
    """Whether a label says another unit than this one; where either says none, it does not."""
    other = parts(label)[1]
    return bool(other and unit and other != unit)


def nearest_label(wanted: str, labels: Iterable[str]) -> str | None:
    """The label that is nearest to one that is not there, whatever their units; None where none is near.

    One that says another unit is never meant: its values are others.

    Example:
        >>> meant("yield (%)", ["x", "yeild", "yield (g)"]), meant("yield (%)", ["yield (g)"])
        ('yeild', None)
    """
    name, unit = parts(wanted)
    others = {parts(label)[0]: label for label in labels if not has_other_unit(label, unit)}
    word = near(name, others)
    return None if word is None else others[word]
