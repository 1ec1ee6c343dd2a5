"""Numbers and objects from what people type at the command line; a mistake is told in one line."""

import re
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from robustbo.censored import read_bound
from robustbo.errors import FileError, RobustBOError
from robustbo.foreign.texts import json_of
from robustbo.searchspace.units import without
from robustbo.trials.outcome import Outcome

NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@contextmanager
def mendable() -> Iterator[None]:
    """Turn what is wrong with an argument into an error that is told in a line."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise RobustBOError(str(error)) from error


def json_object(name: str, text: str) -> dict[str, Any]:
    """A JSON object that was typed as an option."""
    must = f"{name} must be a JSON object, such as '{{\"x\": 1}}', got {reprlib.repr(text)}"
    try:
        content = json_of(text, name)
    except FileError as error:
        raise ValueError(f"{must}; {str(error).removeprefix(f'{name}: ')}") from None
    if not isinstance(content, dict):
        raise ValueError(must)
    return content


def bare_values(texts: Sequence[str], quantities: Mapping[str | None, Outcome]) -> list[str]:
    """The texts behind a journal's name, without the unit of each value.

    Example:
        >>> bare_values(["3", "45.1 %"], {None: Outcome(unit="%")})
        ['3', '45.1']
        >>> bare_values(["3", "cost=2 EUR", "yield=0.8"], {"cost": Outcome("cost", unit="EUR")})
        ['3', 'cost=2', 'yield=0.8']
    """
    if None in quantities:
        return [without(quantities[None].unit, text) for text in texts]
    parts = [text.partition("=") for text in texts]
    units = [quantities[name].unit if name in quantities else "" for name, _, _ in parts]
    return [name + equals + without(unit, number) for (name, equals, number), unit in zip(parts, units, strict=True)]


def only_value(texts: Sequence[str], outcomes: Sequence[str] = ()) -> float | dict[str, float]:
    """The value in what was typed behind a journal's name and ``--params``; of several outcomes one each, by name."""
    _no_options("tell", texts)
    if outcomes:
        return by_outcome(f"tell takes outcomes beside --params, such as {outcomes[0]}=-1.5", texts, _value)
    if len(texts) != 1:
        raise ValueError(f"tell takes one value beside --params, got {' '.join(texts)!r}")
    return _value(texts[0])


def trial_and_value(
    command: str, texts: Sequence[str], outcomes: Sequence[str] = ()
) -> tuple[int, float | dict[str, float]]:
    """The trial and the value in what was typed behind a journal's name; of several outcomes one each, by name."""
    _no_options(command, texts)
    takes = f"{command} takes a trial's number and {_such_as(outcomes)}"
    if (len(texts) != 2 and not outcomes) or len(texts) < 2:
        raise ValueError(f"{takes}, got {' '.join(texts)!r}")
    if not re.fullmatch(r"-?[0-9]+", texts[0]):
        raise ValueError(f"trial must be a number, 0, 1, ..., got {texts[0]!r}{f'; {takes}' if outcomes else ''}")
    return int(texts[0]), by_outcome(takes, texts[1:], _value) if outcomes else _value(texts[1])


def has_trial(texts: Sequence[str], outcomes: Sequence[str]) -> bool:
    """Return whether what was typed behind a journal's name begins with a trial's number, before its values.

    Example:
        >>> has_trial(["3", "-1.5"], []), has_trial(["-1.5"], []), has_trial(["3", "cost=2"], ["cost"])
        (True, False, True)
    """
    return len(texts) == 2 if not outcomes else len(texts) > 1 and "=" not in texts[0]


def _such_as(outcomes: Sequence[str]) -> str:
    """An example of the command about a trial."""
    if not outcomes:
        return "a value, such as 3 -1.5"
    return f"outcomes, such as 3 {' '.join(f'{name}=-1.5' for name in outcomes[:2])}"


def by_outcome(takes: str, texts: Sequence[str], read: Callable[[str, str], float] | None = None) -> dict[str, float]:
    """Numbers that were typed as ``NAME=NUMBER``.

    Args:
        takes: What the command takes, for errors.
        texts: They.
        read: How a number is read, called with its text and what it is; as a mere number by default.
    """
    read = read_number if read is None else read
    return {name: read(number, f"value of {name!r}") for name, number in _pairs(texts, takes).items()}


def noise_of(texts: Sequence[str], outcomes: Sequence[str]) -> float | dict[str, float] | None:
    """The standard deviation that was typed; of several outcomes those of some, by name."""
    if not texts:
        return None
    if outcomes:
        return by_outcome(f"--sd must be like NAME=NUMBER, such as {outcomes[0]}=0.1", texts)
    return read_number(texts[-1], "--sd")


def error_of(text: str | None, journal: str, quantity: Outcome | None) -> float:
    """The error of a source, by how much its values read too high, that was typed behind a journal's name."""
    if text is None:
        example = f"robustbo correct {journal} 4.8 --source reactor=R3"
        raise ValueError(f"correct takes the number by which values read too high, got none; write {example}")
    _no_options("correct", [text])
    return read_number(text if quantity is None else without(quantity.unit, text), "error", "4.8")


def source_of(texts: Sequence[str], option: str = "--source") -> str | dict[str, str] | None:
    """The source that was typed as ``KIND=NAME``, or as a mere name; several kinds of it; None where there is none.

    Example:
        >>> source_of(["reactor=R3", "operator=B"]), source_of(["R3"])
        ({'reactor': 'R3', 'operator': 'B'}, 'R3')
    """
    if not texts:
        return None
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    return _pairs(texts, f"{option} must be like KIND=NAME, such as reactor=R3")


def labels_of(texts: Sequence[str]) -> dict[str, Any] | None:
    """The labels that were typed as ``NAME=VALUE``: numbers where they are such; None where there are none.

    Example:
        >>> labels_of(["lot=7", "name=Knock Hill"])
        {'lot': 7, 'name': 'Knock Hill'}
    """
    labels: dict[str, Any] = {}
    for name, label in _pairs(texts, "--label must be like NAME=VALUE, such as lot=7").items():
        is_whole, is_number = re.fullmatch("0|[1-9][0-9]{0,14}", label), NUMBER.fullmatch(label)
        labels[name] = int(label) if is_whole else float(label) if is_number and label[0] != "0" else label
    return labels or None


def _pairs(texts: Sequence[str], must: str) -> dict[str, str]:
    """Texts by name, each of which was typed as ``NAME=TEXT``."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, _, rest = text.partition("=")
        if not (name.strip() and rest.strip()):
            raise ValueError(f"{must}, got {text!r}")
        if name in pairs:
            raise ValueError(f"{must}; {name!r} must be given once, got it twice")
        pairs[name] = rest
    return pairs


def objective(text: str) -> tuple[str, str]:
    """An objective that was typed as ``NAME:DIRECTION``."""
    name, colon, direction = text.rpartition(":")
    if not colon:
        name, _, direction = (part.strip() for part in text.partition("="))
        example = f"{name or 'yield'}:{direction or 'maximize'}"
        raise ValueError(f"--objective must be NAME:DIRECTION, such as {example}, got {text!r}")
    return name.strip(), direction.strip()


def _no_options(command: str, texts: Sequence[str]) -> None:
    """Find what looks like an option; the command line itself cannot, since it takes negative values for such."""
    if unknown := [text for text in texts if text.startswith("--")]:
        raise ValueError(f"no such option: {unknown[0].partition('=')[0]}; see robustbo {command} --help")


def _value(text: str, label: str = "value") -> float:
    """A value: a number, or a bound such as <0.05."""
    bound = read_bound(text)
    return read_number(text, label) if bound is None else bound


def read_number(text: str, label: str = "value", example: str = "-1.5") -> float:
    """A number, as it is written nearly everywhere (1_000 is none, nor is 1,5)."""
    try:
        return float(text if "_" not in text else "")
    except ValueError:
        plain = text.rpartition("=")[2].replace("_", "").replace(",", ".", 1)
        advice = f"; write {plain}" if NUMBER.fullmatch(plain) else ""
        raise ValueError(f"{label} must be a number, such as {example}, got {text!r}{advice}") from None


def seconds(text: str) -> float:
    """A time, such as 2h, 90m or 1h30m; a mere number is in seconds."""
    if re.fullmatch(r"[0-9.]+", text):
        text += "s"
    if not re.fullmatch(r"([0-9]+(\.[0-9]+)?[smhd])+", text):
        raise ValueError(f"an age must be like 2h, 90m, 30s or 1h30m, got {text!r}")
    return sum(float(count) * UNITS[unit] for count, unit in re.findall(r"([0-9.]+)([smhd])", text))
