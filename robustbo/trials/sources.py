"""Labels that say what measured a value: kinds of source (a reactor, an operator) and which of each kind it was."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, TypeAlias

from robustbo import limits
from robustbo.validation import plain_scalar

SourceLabel: TypeAlias = str | int | date
Source: TypeAlias = SourceLabel | Mapping[str, SourceLabel | None]  # the only kind, or by kind
Labels: TypeAlias = tuple[tuple[str, str], ...]  # the label of each kind, hashable
DEFAULT_KIND = "source"  # of a label that comes without one
COMPUTER = "computer"  # kind of the source that is recorded where nobody names one, and several computers measure
EXAMPLE = 'such as "R3" or {"reactor": "R3", "operator": "B"}'


def labels_to_record(source: Source | None) -> dict[str, str]:
    """Labels by kind, as a journal keeps them; of several those that are missing (None, NaN, empty) are left out.

    Args:
        source: One label, whose kind is "source", or labels by kind.

    Raises:
        TypeError, ValueError: If a kind or a label is no short text on one line, or the only one is empty.

    Example:
        >>> labels_to_record("R3"), labels_to_record({"reactor": "R3", "plate": 7.0, "operator": None})
        ({'source': 'R3'}, {'reactor': 'R3', 'plate': '7'})
    """
    if source is None:
        return {}
    if isinstance(source, str) and not source.strip():
        raise ValueError(f"source must not be an empty text, got {source!r}; leave it out if it is unknown")
    by_kind = source if isinstance(source, Mapping) else {DEFAULT_KIND: source}
    if len(by_kind) > limits.SOURCE_KINDS:
        raise ValueError(f"source must have at most {limits.SOURCE_KINDS} kinds, got {len(by_kind)}")
    labels = {check_kind(kind): _label(kind, label) for kind, label in by_kind.items()}
    return {kind: label for kind, label in labels.items() if label is not None}


def check_kind(kind: Any) -> str:
    """The name of a kind of source, without spaces around it.

    Raises:
        TypeError, ValueError: If it is no short text on one line, without "=".
    """
    if not isinstance(kind, str):
        raise TypeError(f"a kind of source must be a text, {EXAMPLE}, got {kind!r}")
    name = _short_text("a kind of source", kind)
    if not name or "=" in name:
        raise ValueError(f'a kind of source must have a name, without "=", {EXAMPLE}, got {kind!r}')
    return name


def kinds_of(kinds: Any, argument: str = "blocks") -> tuple[str, ...]:
    """Kinds of source, each once.

    Raises:
        TypeError, ValueError: If it is no list of such, or there are too many.

    Example:
        >>> kinds_of(["plate", "day"])
        ('plate', 'day')
    """
    if isinstance(kinds, str) or not isinstance(kinds, Iterable):
        raise TypeError(f'{argument} must be a list of kinds of source, such as ["plate"], got {kinds!r}')
    names = tuple(dict.fromkeys(check_kind(kind) for kind in kinds))
    if len(names) > limits.SOURCE_KINDS:
        raise ValueError(f"{argument} must be at most {limits.SOURCE_KINDS} kinds of source, got {len(names)}")
    return names


def _label(kind: str, label: Any) -> str | None:
    """A label as text; None where it is missing."""
    plain = plain_scalar(label)
    if plain is None or plain != plain or str(plain) in ("", "NaT", "<NA>"):  # NaN differs from itself
        return None
    if isinstance(plain, float) and plain.is_integer():  # as a table has it where a cell of the column is empty
        plain = int(plain)
    if isinstance(plain, date):
        plain = plain.isoformat()
    if isinstance(plain, bool) or not isinstance(plain, str | int):
        raise TypeError(f"the label of source {kind!r} must be a text, {EXAMPLE}, got {label!r}")
    return _short_text(f"the label of source {kind!r}", str(plain)) or None


def _short_text(label: str, text: str) -> str:
    """A text without spaces around it.

    Raises:
        ValueError: If it is too long, or has several lines.
    """
    if len(text) > limits.SOURCE_CHARACTERS:
        raise ValueError(f"{label} must have at most {limits.SOURCE_CHARACTERS} characters, got {len(text)}")
    if not text.isprintable():
        raise ValueError(f"{label} must be on one line, without control characters, got {text!r}")
    return text.strip()


def source_entry(labels: Mapping[str, str]) -> dict[str, Any]:
    """The entry of an event that says who measures; none where nobody is named."""
    return {"source": dict(labels)} if labels else {}


def source_text(labels: Mapping[str, str]) -> str:
    """Labels in words.

    Example:
        >>> source_text({"source": "R3"}), source_text({"reactor": "R3", "operator": "B"})
        ('R3', 'reactor R3, operator B')
    """
    return ", ".join(label if kind == DEFAULT_KIND else f"{kind} {label}" for kind, label in labels.items())


def has_labels(labels: Mapping[str, str], source: Mapping[str, str]) -> bool:
    """Return whether a value's labels are those of a source, as far as the source says.

    Example:
        >>> has_labels({"reactor": "R3", "plate": "7"}, {"reactor": "R3"}), has_labels({}, {"reactor": "R3"})
        (True, False)
    """
    return bool(source) and all(labels.get(kind) == label for kind, label in source.items())
