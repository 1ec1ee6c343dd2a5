"""Ranges and lists of values as other libraries write them: what is meant, as a parameter of ours.

These are tuples with a word behind (scikit-optimize), mappings with bounds or values (Ax, NNI, Weights & Biases, Keras
Tuner), distributions (SciPy, Optuna, Ray Tune) and parameters (ConfigSpace, BayBE, BoFire), and texts such as
"log-uniform(1, 100)". Objects are told by the names of their attributes, so that none of these packages is imported.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from robustbo.errors import SpaceError
from robustbo.validation import plain_scalar

LOW = ("low", "lower", "min", "min_value", "lb", "start")
HIGH = ("high", "upper", "max", "max_value", "ub", "stop", "end")
PAIR = ("bounds", "range", "domain", "interval", "limits", "_value")
LISTS = ("values", "choices", "categories", "options", "_value")
WORDS = ("type", "_type", "distribution", "prior", "scale", "scaling", "sampling", "parameter_type", "value_type")
LOGS = ("log", "log_scale", "is_log")
TEXT = re.compile(r"([A-Za-z][\w .-]*)\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)")
LINEAR, INTEGER = {"uniform", "linear", "quniform"}, {"int", "integer", "randint", "intuniform", "integeruniform"}
LOGARITHMIC = {"log", "loguniform", "logarithmic", "reciprocal", "qloguniform", "loguniformvalues", "log10", "ln"}
SCALES = LINEAR | INTEGER | LOGARITHMIC


class Meaning(NamedTuple):
    """The parameter that somebody means.

    Attributes:
        kind: "float", "int", "ordinal" or "choice".
        values: The bounds, or all values.
        is_log: Whether a range is on a log scale.
        is_either: Whether a range may as well be of whole numbers.
    """

    kind: str
    values: list[Any]
    is_log: bool = False
    is_either: bool = False

    @property
    def call(self) -> str:
        """The parameter as it is written in Python."""
        shown = ", ".join(map(repr, self.values)) + (", log=True" if self.is_log else "")
        more = f", or rb.Int({shown}) for whole numbers" if self.is_either else ""
        return f"rb.{self.kind.title()}({shown}){more}"

    @property
    def form(self) -> str:
        """The parameter as it is written in a file."""
        content: dict[str, Any] = {"kind": self.kind}
        if self.kind in ("float", "int"):
            content |= dict(zip(("low", "high"), self.values, strict=True)) | ({"log": True} if self.is_log else {})
        else:
            content["values"] = self.values
        return repr(content)


def meaning_of(value: Any) -> Meaning | None:
    """The parameter that a value means, if it can be told.

    Example:
        >>> meaning_of((1, 100, "log-uniform")).call, meaning_of("uniform(0, 1)").call
        ('rb.Float(1, 100, log=True), or rb.Int(1, 100, log=True) for whole numbers', 'rb.Float(0.0, 1.0)')
        >>> meaning_of({"type": "range", "bounds": [0.5, 2.0]}).form
        "{'kind': 'float', 'low': 0.5, 'high': 2.0}"
    """
    if isinstance(value, str):
        match = TEXT.fullmatch(value.strip())
        numbers = [] if match is None else [_number(text) for text in match.groups()[1:]]
        return None if match is None or None in numbers else _range(numbers, [match[1]])
    if isinstance(value, range) and len(value) > 1 and value.step == 1:
        return _range([value[0], value[-1]], ["int"])
    if isinstance(value, list | tuple):
        *bounds, word = value if len(value) == 3 else (*value, "")
        return _range(bounds, [word]) if scale_word(word) else None
    if isinstance(value, Mapping):
        return _meaning_of_names(value, [])
    if hasattr(value, "support") and hasattr(value, "dist"):  # a distribution of SciPy
        discrete = ["int"] if hasattr(value.dist, "pmf") else []
        return _range([plain_scalar(bound) for bound in value.support()], [value.dist.name, *discrete])
    names = {name for name in (*LOW, *HIGH, *PAIR, *LISTS, *WORDS, *LOGS) if name in _names_of(value)}
    return _meaning_of_names({name: getattr(value, name) for name in names}, [type(value).__name__]) if names else None


def scale_word(word: Any) -> str:
    """A word for a scale in one form, such as "loguniform" for "log-uniform"; empty for any other.

    Example:
        >>> scale_word("Log-Uniform"), scale_word("relu")
        ('loguniform', '')
    """
    plain = re.sub("[-_ ]", "", word).casefold() if isinstance(word, str) else ""
    return plain if plain in SCALES else ""


def check_log(name: str, log: Any) -> None:
    """Raise a `SpaceError` that begins with a name where a log scale is neither wanted nor not."""
    if not isinstance(log, bool):
        advice = "; write log=True" if scale_word(log) in LOGARITHMIC else ""
        raise SpaceError(f"{name}: log must be True or False, got {log!r}{advice}")


def _names_of(value: Any) -> set[str]:
    """The names of an object's attributes that hold something; no code of it is run."""
    return set() if isinstance(value, type) else {*getattr(value, "__dict__", ()), *getattr(value, "__slots__", ())}


def _meaning_of_names(options: Mapping[Any, Any], words: list[str]) -> Meaning | None:
    """The meaning of bounds, or of values, that have names."""
    words = words + [str(options[name]) for name in WORDS if isinstance(options.get(name), str | type)]
    words += ["log"] if any(options.get(name) is True for name in LOGS) else []
    is_choice = any("choice" in word.casefold() or "categor" in word.casefold() for word in words)
    pair = [options.get(next((name for name in names if name in options), None)) for names in (LOW, HIGH)]
    for name in PAIR if None in pair and not is_choice else ():
        bounds: Any = options.get(name)
        if isinstance(bounds, list | tuple) and len(bounds) == 2:
            pair = [*bounds]
        elif {"lower", "upper"} <= _names_of(bounds):
            pair = [bounds.lower, bounds.upper]
    if (meaning := _range([*map(plain_scalar, pair)], words)) is not None:
        return meaning
    values = next((options[name] for name in LISTS if isinstance(options.get(name), Sequence | set)), ())
    plain = [] if isinstance(values, str) else [*map(plain_scalar, values)]
    is_ordered = not is_choice and all(map(_is_number, plain)) and sorted(set(plain)) == plain
    return Meaning("ordinal" if is_ordered else "choice", plain) if plain else None


def _range(bounds: Sequence[Any], words: Sequence[Any]) -> Meaning | None:
    """The range of two numbers; None where they are none."""
    if len(bounds) != 2 or not all(map(_is_number, bounds)) or not bounds[0] < bounds[1]:
        return None
    texts = [re.sub("[-_ ]", "", str(word)).casefold() for word in words]
    is_log = bounds[0] > 0 and any(text in LOGARITHMIC or "loguniform" in text for text in texts)
    is_whole = all(isinstance(bound, int) for bound in bounds)
    if is_whole and any("int" in text.replace("interval", "") for text in texts):
        return Meaning("int", [*bounds], is_log)
    says_real = any("float" in text or "real" in text or "continuous" in text for text in texts)
    return Meaning("float", [*bounds], is_log, is_either=is_whole and not says_real)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
