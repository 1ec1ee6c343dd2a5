"""A run's specification: TOML in, validated spec out, of the kind that it says."""

import re
import reprlib
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from robustbo import limits
from robustbo.errors import SpecError
from robustbo.foreign.reading import text_of
from robustbo.foreign.texts import check_shape, toml_of
from robustbo.replay.spec import SPEC_FILE
from robustbo.replay.spec.method import RECORDED, as_table
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.spec.regression import FOLDER, RegressionSpec
from robustbo.validation import nearest

AnySpec = RunSpec | RegressionSpec
SPECS: dict[str, type[AnySpec]] = {"optimization": RunSpec, "regression": RegressionSpec}


def find(run: str | Path) -> Path:
    """The spec file of a run: a TOML file, a folder with spec.toml in it, or the file's name without ".toml".

    Raises:
        SpecError: If there is none.
    """
    path = Path(run)
    for candidate in (path / SPEC_FILE, path.parent / f"{path.name}.toml", path):
        if candidate.is_file():
            return candidate
    places = f"a folder with {SPEC_FILE} in it, or NAME.toml beside it"
    instead = near(path) or "; put the run's spec there"
    raise SpecError(f"{run}: expected a TOML file or {places}, found neither{instead}")


def near(run: Path) -> str:
    """A question for the run that was meant, to end a message with: one beside it, or in runs/; empty for none."""
    places = (Path("runs"), run.parent)  # the second goes before the first
    specs = [spec.with_suffix("") for place in places for spec in place.glob("*.toml")]
    folders = [spec.parent for place in places for spec in place.glob(f"*/{SPEC_FILE}")]
    candidates = {path.name: str(path) for path in folders + specs}
    return nearest(run.name.removesuffix(".toml"), candidates, candidates.__getitem__)


def load(run: str | Path, overrides: Iterable[str] = (), *, is_recorded: bool = False) -> AnySpec:
    """Read and check a run's spec, of the kind that it says: "optimization" by default.

    Args:
        run: As for `find`.
        overrides: ``key=value`` entries that replace the spec's; nested keys have dots, values are TOML (or plain
            text).
        is_recorded: Whether it is only looked at, as that of a run from somebody else: what it names is not imported.

    Raises:
        SpecError: With the file, the key, and what was expected.
    """
    path = find(run)
    content = toml_of(text_of(path, limits.TEXT_BYTES, SpecError), str(path), SpecError)
    overrides = list(overrides)
    for override in overrides:
        _override(content, override)
    place = " ".join([str(path), *(f"--set {override}" for override in overrides)])
    kind = content.get("kind", "optimization")
    if not isinstance(kind, str) or kind not in SPECS:
        raise SpecError(f"{place}: kind: expected one of {', '.join(SPECS)}, got {kind!r}")
    try:
        return SPECS[kind].model_validate(content, context={FOLDER: path.parent, RECORDED: is_recorded})
    except ValidationError as error:
        raise SpecError("\n".join(_explain(place, e, SPECS[kind]) for e in error.errors())) from None


def only(spec: AnySpec, methods: Sequence[str]) -> AnySpec:
    """A spec with these of its methods alone, or with all if none is named.

    Raises:
        SpecError: If it has no such method.
    """
    if unknown := [name for name in methods if name not in spec.methods]:
        meant = nearest(unknown[0], spec.methods)
        raise SpecError(f"--method {unknown[0]}: expected one of {', '.join(spec.methods)}{meant}")
    method_specs = {name: spec.methods[name] for name in methods}
    return spec.model_copy(update={"methods": method_specs}) if methods else spec


PLAIN = {  # pydantic's messages in the words of ours
    "missing": "must be given",
    "less_than_equal": "must be at most {le:g}",
    "less_than": "must be less than {lt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be greater than {gt:g}",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "dict_type": "must be a table",
}


def _explain(place: str, error: Any, spec: type[AnySpec]) -> str:
    key = ".".join(map(str, error["loc"])) or "the run"
    message = error["msg"].removeprefix("Value error, ")
    if plain := PLAIN.get(error["type"]):
        message = plain.format(**error.get("ctx", {}))
    if error["type"] == "extra_forbidden":
        model = spec if len(error["loc"]) == 1 else spec.how
        message = f"no such key, expected one of {', '.join(model.model_fields)}"
    if error["type"] != "missing" and not re.search(r"\bgot |^there is no ", message):
        message += f", got {reprlib.repr(error['input'])}"
    return f"{place}: {key}: {message}"


def _override(table: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key.strip():
        raise SpecError(f"--set: expected key=value, got {override!r}")
    try:
        check_shape(text)
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    except ValueError as error:
        raise SpecError(f"--set {key}: expected a value, got {reprlib.repr(text)}: {error}") from None
    *path, last = key.strip().split(".")
    for part in path:
        inner = table[part] = as_table(table.get(part, {}))  # methods may be a list of names
        if not isinstance(inner, dict):
            raise SpecError(f"--set {override}: {part} is no table in the spec, but {inner!r}")
        table = inner
    table[last] = value
