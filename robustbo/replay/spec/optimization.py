"""A run's specification: TOML in, validated spec out."""

import reprlib
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from robustbo import seeds
from robustbo.errors import SpecError
from robustbo.replay.spec.method import MOST_REPLICATIONS, RECORDED, Frozen, Method, Strict, as_table, by_name
from robustbo.replay.spec.regression import FOLDER, Fitted, RegressionSpec
from robustbo.tasks.corruption import Corruption, build
from robustbo.tasks.problem import Problem
from robustbo.tasks.problem import load as load_problem
from robustbo.tasks.problem import names as problem_names
from robustbo.trials.settings import default_num_initial
from robustbo.validation import one_of

SPEC_FILE = "spec.toml"
KINDS = ("optimization", "regression")
UNSAID: Any = None
MOST_TRIALS = 100_000  # a replication


class CorruptionSpec(Frozen):
    """A corruption's kind, probability and options; `robustbo.tasks.corruption.build` checks them.

    Attributes:
        trials: Those that may be hit; all unless said.
    """

    model_config = ConfigDict(extra="allow")
    later = frozenset({"trials"})
    kind: str
    probability: float = Field(ge=0, le=1)
    trials: list[Annotated[int, Field(ge=0)]] | None = Field(default=None, min_length=1)

    def build(self, problem: Problem) -> Corruption:
        """The corruption itself."""
        options = self.model_dump()
        options.pop("trials", None)
        return build(options.pop("kind"), problem, **options)


class RunSpec(Strict):
    """One benchmark run: a problem, a corruption, and methods that meet the same trials.

    Attributes:
        title: Of the picture.
        problem: A registered problem.
        problem_options: What it takes, where it takes any.
        corruption: What goes wrong with the values; None for nothing.
        methods: Name -> method; a plain list of names will do in the file.
        trials: Trials a replication, the initial ones included.
        num_initial: How many Sobol points come first; 2 (d + 1), at least 5, unless said.
        replications: How often all of it is repeated.
        seed: Root of all randomness.
    """

    later = frozenset({"problem_options"})
    title: str = ""
    problem: str
    problem_options: dict[str, Any] = Field(default={}, validate_default=True)
    corruption: CorruptionSpec | None = None
    methods: dict[str, Method] = Field(min_length=1)
    trials: int = Field(ge=1, le=MOST_TRIALS)
    num_initial: int = Field(default=UNSAID, ge=1, validate_default=True)
    replications: int = Field(ge=1, le=MOST_REPLICATIONS)
    seed: int = Field(default=0, ge=0)

    @field_validator("problem")
    @classmethod
    def _problem_exists(cls, given: str) -> str:
        return one_of("problem", given, problem_names())

    @field_validator("problem_options")
    @classmethod
    def _problem_takes_them(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "problem" in info.data:
            load_problem(info.data["problem"], **given)
        return given

    @field_validator("corruption")
    @classmethod
    def _corruption_can_be_built(cls, given: CorruptionSpec | None, info: ValidationInfo) -> CorruptionSpec | None:
        if given is not None and (problem := _problem(info)) is not None:
            given.build(problem)
        return given

    @field_validator("methods", mode="before")
    @classmethod
    def _methods_by_name(cls, given: Any) -> Any:
        return by_name(given)

    @field_validator("num_initial", mode="before")
    @classmethod
    def _default_num_initial(cls, given: Any, info: ValidationInfo) -> Any:
        if given is UNSAID:
            return 1 if (problem := _problem(info)) is None else default_num_initial(problem.space)
        return given

    def load_problem(self) -> Problem:
        """The problem itself."""
        return load_problem(self.problem, **self.problem_options)

    def build_corruption(self) -> Corruption:
        """The corruption itself; one of probability 0 where the spec has none."""
        given = self.corruption or CorruptionSpec(kind="constant", probability=0.0)
        return given.build(self.load_problem())

    def measure(
        self, corruption: Corruption, params: dict[str, Any], clean: float, *, root: int, number: int
    ) -> tuple[float, bool]:
        """The value that a trial measures, and whether it is corrupted: a function of (seed, trial) and the point.

        Args:
            corruption: This spec's own, built once.
            params: The point.
            clean: Its true value.
            root: The replication's seed.
            number: The trial's.
        """
        given = self.corruption
        if given is not None and given.trials is not None and number not in given.trials:
            return clean, False
        return corruption.apply(clean, params, seeds.generator(root, number, "corruption"))

    def cell(self, method: str) -> dict[str, Any]:
        """All that a replication of one method depends on; how many trials and replications there are is not in it."""
        whole = self.model_dump(mode="json", exclude={"title", "methods", "trials", "replications"})
        return whole | {"method": method, **self.methods[method].model_dump(mode="json")}


AnySpec = RunSpec | RegressionSpec


def _problem(info: ValidationInfo) -> Problem | None:
    """The problem, once it is known to be one and to take its options."""
    if not {"problem", "problem_options"} <= set(info.data):
        return None
    return load_problem(info.data["problem"], **info.data["problem_options"])


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
    raise SpecError(f"{run}: expected a TOML file or {places}, found neither; put the run's spec there")


def load(run: str | Path, overrides: Iterable[str] = (), *, is_recorded: bool = False) -> AnySpec:
    """Read and check a run's spec, of the kind that it says: "optimization" unless said.

    Args:
        run: As for `find`.
        overrides: ``key=value`` entries that replace the spec's; nested keys have dots, values are TOML (or plain
            text).
        is_recorded: Whether it is only looked at, as that of a run from somebody else: what it names is not imported.

    Raises:
        SpecError: With the file, the key, and what was expected.
    """
    path = find(run)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: expected TOML: {error}") from None
    except RecursionError:
        raise SpecError(f"{path}: expected TOML, got tables or lists that are nested too deeply") from None
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from None
    overrides = list(overrides)
    for override in overrides:
        _override(given, override)
    place = " ".join([str(path), *(f"--set {override}" for override in overrides)])
    if (kind := given.get("kind", KINDS[0])) not in KINDS:
        raise SpecError(f"{place}: kind: expected one of {', '.join(KINDS)}, got {kind!r}")
    kinds = (RegressionSpec, Fitted) if kind == "regression" else (RunSpec, Method)
    if kind == KINDS[0]:
        given.pop("kind", None)
    try:
        return kinds[0].model_validate(given, context={FOLDER: path.parent, RECORDED: is_recorded})
    except ValidationError as error:
        raise SpecError("\n".join(_explain(place, e, *kinds) for e in error.errors())) from None


def only(spec: AnySpec, methods: Sequence[str]) -> AnySpec:
    """A spec with these of its methods alone, or with all if none is named.

    Raises:
        SpecError: If it has no such method.
    """
    if unknown := [name for name in methods if name not in spec.methods]:
        raise SpecError(f"--method {unknown[0]}: expected one of {', '.join(spec.methods)}")
    chosen = {name: spec.methods[name] for name in methods}
    return spec.model_copy(update={"methods": chosen}) if methods else spec


def _explain(place: str, error: Any, whole: type[BaseModel], method: type[BaseModel]) -> str:
    key = ".".join(map(str, error["loc"])) or "the run"
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        model = whole if len(error["loc"]) == 1 else method
        message = f"no such key, expected one of {', '.join(model.model_fields)}"
    if error["type"] != "missing" and "got " not in message:
        message += f", got {reprlib.repr(error['input'])}"
    return f"{place}: {key}: {message}"


def _override(given: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key.strip():
        raise SpecError(f"--set: expected key=value, got {override!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    except RecursionError:
        raise SpecError(f"--set {key}: expected a value, got lists that are nested too deeply") from None
    *path, last = key.strip().split(".")
    for part in path:
        inner = given[part] = as_table(given.get(part, {}))  # methods may be a list of names
        if not isinstance(inner, dict):
            raise SpecError(f"--set {override}: {part} is no table in the spec, but {inner!r}")
        given = inner
    given[last] = value
