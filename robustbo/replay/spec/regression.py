"""The specification of the second kind of run: surrogates fitted to corrupted data, and scored on clean test data."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from robustbo.foreign import access
from robustbo.replay.spec.method import (
    MOST_REPLICATIONS,
    NAMED,
    Frozen,
    Strict,
    SurrogateChoice,
    as_table,
    by_name,
    with_defaults,
)
from robustbo.tasks import regression

NONE = "none"  # the corruption that does nothing, whatever its rate
FOLDER = "folder"  # of the spec's file, as validation is told of it


class Scenario(NamedTuple):
    """One thing that every method of a run is fitted to.

    Attributes:
        name: Of the task, as the spec calls it.
        corruption: What goes wrong with its targets.
        rate: In this share of them.
        task: Of a registered source.
        options: What else the task is told.
    """

    name: str
    corruption: str
    rate: float
    task: str
    options: dict[str, Any]


class TaskSpec(Frozen):
    """A task and what it is told; the rest of its keys are its source's options.

    Attributes:
        task: Its registered name; as the spec calls it by default.
    """

    model_config = ConfigDict(extra="allow")
    task: str


class FitMethod(SurrogateChoice):
    """Settings by which one competitor is fitted.

    Attributes:
        transform: Of the targets, after the task has scaled them by median and interquartile range. "default" is the
            surrogate's own transform. "none" is no further one, except for surrogates whose method is the transform
            itself: these keep it.
        sees: "measured" targets, or the "clean" rows alone, which only an oracle knows.
    """

    transform: Literal["none", "default"] = "none"
    sees: Literal["measured", "clean"] = "measured"


class RegressionSpec(Strict):
    """Surrogates fitted to tasks, corrupted in some ways at some rates.

    Attributes:
        kind: "regression".
        title: Of the picture.
        tasks: Name -> task; a plain list of names will do in the file.
        corruptions: What goes wrong, as the tasks' source calls it, or "none".
        rates: Shares of the training targets that are corrupted.
        methods: Name -> how it is fitted; a plain list of names will do in the file.
        replications: How often all of it is repeated: another draw or split of the data, another corruption.
        seed: Root of all randomness.
        published: CSV of a paper's means and standard errors, beside the spec: task, corruption, rate, method, score,
            mean, error.
    """

    how: ClassVar[type[SurrogateChoice]] = FitMethod
    kind: Literal["regression"]
    title: str = ""
    tasks: dict[str, TaskSpec] = Field(min_length=1)
    corruptions: list[str] = Field(min_length=1)
    rates: list[Annotated[float, Field(ge=0, le=1)]] = Field(default=[0.1], min_length=1)
    methods: dict[str, FitMethod] = Field(min_length=1)
    replications: int = Field(ge=1, le=MOST_REPLICATIONS)
    seed: int = Field(default=0, ge=0)
    published: Path | None = None

    @field_validator("tasks", mode="before")
    @classmethod
    def _tasks_by_name(cls, tasks: Any) -> Any:
        tasks = as_table(tasks)
        if not isinstance(tasks, dict):
            return tasks
        return {name: with_defaults({"task": name}, task) for name, task in tasks.items()}

    @field_validator("tasks")
    @classmethod
    def _tasks_exist(cls, tasks: dict[str, TaskSpec]) -> dict[str, TaskSpec]:
        for task in tasks.values():
            options = regression.source_of(task.task).options()
            if unknown := [key for key in task.model_extra or {} if key not in options]:
                raise ValueError(f"task {task.task!r} has the options {options}, got {unknown[0]!r}")
        return tasks

    @field_validator("corruptions")
    @classmethod
    def _corruptions_exist(cls, names: list[str], info: ValidationInfo) -> list[str]:
        for task in info.data.get("tasks", {}).values():
            kinds = [NONE, *regression.source_of(task.task).corruptions()]
            if unknown := [kind for kind in names if kind not in kinds]:
                raise ValueError(f"corruptions must be of {kinds}, got {unknown[0]!r}")
        return names

    @field_validator("corruptions", "rates")
    @classmethod
    def _each_once(cls, values: list[Any]) -> list[Any]:
        if len(set(values)) < len(values):
            raise ValueError(f"each must be there once, got {values}")
        return values

    @field_validator("methods", mode="before")
    @classmethod
    def _methods_by_name(cls, methods: Any) -> Any:
        table = by_name(methods)
        for name in table if isinstance(table, dict) else ():
            meant = NAMED.get(name, {})
            if not set(meant) <= set(FitMethod.model_fields) or meant.get("sees") == "errors":
                raise ValueError(f"{name!r} says how to optimize, and cannot be fitted; leave it out")
        return table

    @field_validator("published")
    @classmethod
    def _resolve_paper_file(cls, name: Path | None, info: ValidationInfo) -> Path | None:
        if name is None:
            return None
        path = (info.context or {}).get(FOLDER, Path()) / name
        if not path.is_file():
            raise ValueError(f"published must be a CSV file beside the spec, got {str(path)!r}")
        access.check_path(path)
        return path

    @property
    def problem(self) -> str:
        """Name under which the times of its fits are kept."""
        return f"regression of {', '.join(self.tasks)}"

    @property
    def scenarios(self) -> Sequence[Scenario]:
        """Data sets that every method is fitted to."""
        return [
            Scenario(name, kind, rate, task.task, task.model_extra or {})
            for (name, task), kind in product(self.tasks.items(), self.corruptions)
            for rate in ([0.0] if kind == NONE else self.rates)
        ]

    @property
    def trials(self) -> int:
        """Number of fits of a replication of a method."""
        return len(self.scenarios)
