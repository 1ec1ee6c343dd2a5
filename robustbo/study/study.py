"""A study that is only looked at: its settings, its trials, what is best and what looks wrong."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

from robustbo.guidance import STUDY, explain_misfits
from robustbo.lazy import Module
from robustbo.loop.surrogate.cache import FitCache
from robustbo.study.predicting import Predicting
from robustbo.trials.extent import settings_at
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings
from robustbo.trials.store import Store
from robustbo.trials.trust import Trust
from robustbo.validation import flag

if TYPE_CHECKING:
    import pandas as pd

    from robustbo.view import sources as tables
    from robustbo.view import view as views
    from robustbo.view.view import Failure, Front, Incumbent, Outlier
else:
    tables, views = Module("robustbo.view.sources"), Module("robustbo.view.view")


@explain_misfits()
class Study(Predicting):
    """An optimization to read, with everything that others write; `robustbo.Optimizer` also asks and tells.

    Attributes:
        fits: The last fits of the surrogate, shared by all readers of the same history.

    Example:
        >>> import robustbo as rb
        >>> opt = rb.Optimizer(rb.Space(x=rb.Float(-1.0, 1.0)), direction="minimize", seed=0)
        >>> for trial in opt.ask(3):
        ...     _ = opt.tell(trial, trial.params["x"] ** 2)
        >>> len(opt.history), opt.pending()
        (3, [])
    """

    MEANT = STUDY
    _store: Store
    fits: FitCache
    _view: views.View | None
    _doubted_sources: set[tuple[str | None, str]]
    _is_watching: ClassVar[bool] = True

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """However it is begun, resumed or copied, it keeps the last fits of its own."""
        study = super().__new__(cls)
        study.fits, study._view, study._doubted_sources = FitCache(), None, set()
        return study

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_view": None}

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError('Study.resume("study.jsonl") opens a study, and Optimizer(space, ...) begins one')

    @classmethod
    def resume(cls, journal: str | PathLike[str], *, trust: Trust = False) -> Self:
        """Resume the study of a journal: an optimizer continues exactly as if it had never stopped.

        A `Study` writes nothing: its journal may be read-only, and a torn last line stays.

        Args:
            journal: A file, or the address of a database.
            trust: What the journal may use: a model class to import, a Dask scheduler to connect to. True for
                everything, or the class, its name, the address, or several of these.

        Raises:
            JournalError: If it cannot be read; the message has the line.
            TrustError: If it names what is not trusted.
        """
        study = cls.__new__(cls)
        study._store = Store.resume(journal, trust, is_watched=cls._is_watching)
        return study

    def __repr__(self) -> str:
        states = self.history.counts()
        s = self.settings.of_size(states["told"])
        counts = ", ".join(f"{count} {state}" for state, count in states.items() if count)
        return f"{type(self).__name__}({s.goal}, {s.surrogate}, seed={s.seed}: {counts or 'no trials yet'})"

    @property
    def settings(self) -> Settings:
        """Settings that the optimization was begun with, the space as it is now: changed, or with rows added since."""
        return settings_at(self._store.settings, self.history)

    @property
    def view(self) -> views.View:
        """The study as it stands: all that is computed of it is kept until something happens."""
        history, view = self.history, self._view
        if view is None or view.history is not history:
            self._view = view = views.View(self.settings, history, self.fits)
        return view

    @property
    def seed(self) -> int:
        """The root seed, given or drawn."""
        return self.settings.seed

    @property
    def history(self) -> History:
        """All trials and events so far, those of other workers included; frozen."""
        return self._store.now().history

    def pending(self) -> list[Trial]:
        """The trials that somebody is measuring, the longest first; `Trial.asked_by` and `asked_at` say who, when."""
        return sorted(
            self.history.having("pending"),
            key=lambda t: (0.0 if t.asked_at is None else t.asked_at.timestamp(), t.number),
        )

    def best(self, *, raw: bool = False, fixed: Mapping[str, Any] | None = None) -> Incumbent:
        """The best measured point by posterior mean and own value, among those that keep the constraints.

        If other outcomes must keep bounds, it is the best of the points that probably keep them; see
        `loop.best.constrained_best.best`.

        Args:
            raw: Whether to return the trial with the best measured value instead.
            fixed: Values of some parameters: the best measured point after it is changed to these.

        Raises:
            ValueError: If no value has been told, or ``raw`` and ``fixed`` are both given.
            SpaceError: If the fixed values are none of the space.

        Example:
            >>> import robustbo as rb
            >>> opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1), heat=rb.Float(0, 1)), direction="minimize", seed=0)
            >>> for x, heat in [(i / 4, j / 4) for i in range(5) for j in range(5)]:
            ...     _ = opt.tell({"x": x, "heat": heat}, (x - 0.5) ** 2 + heat)
            >>> opt.best(fixed={"heat": 0.3}).params
            {'x': 0.5, 'heat': 0.3}
        """
        if flag("raw", raw):
            if fixed:
                raise ValueError("best takes raw or fixed, got both")
            return self.view.raw_best()
        return self.view.best(self.settings.space.partial(fixed))

    def front(self, *, fixed: Mapping[str, Any] | None = None) -> Front:
        """The measured points that probably keep all outcome constraints and that no other measured point beats.

        Args:
            fixed: Values of some parameters: the front of the measured points after they are changed to these.

        Raises:
            ValueError: If there are no named objectives, or an outcome has no value.

        Example:
            >>> import robustbo as rb
            >>> space = rb.Space(x=rb.Float(0, 1))
            >>> opt = rb.Optimizer(space, objectives={"strength": "maximize", "cost": "minimize"}, seed=0)
            >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
            ...     _ = opt.tell({"x": x}, {"strength": x * (1.6 - x), "cost": x})
            >>> [point.params["x"] for point in opt.front()]
            [0.8, 0.6, 0.4, 0.2, 0.0]
        """
        if not self.settings.objectives:
            raise ValueError('a front needs several objectives, such as objectives={"yield": "maximize", ...}')
        return self.view.front(self.settings.space.partial(fixed))

    def outliers(self) -> list[Outlier]:
        """Every told value with its evidence, the most suspicious first; see `Outlier.flagged`.

        Raises:
            FitError: If the surrogate cannot be fitted.
        """
        return self.view.outliers()

    def sources(self) -> tables.SourceFrame:
        """One row for each told source: by how much its values read too high; printed, one sentence each.

        In a study with declared sources: how each agrees with the target, and then the other kinds of source.
        """
        if self.settings.sources:
            return tables.relation_frame(self.view.relations(), self.view.sources())
        return tables.SourceFrame.of(self.view.sources())

    def failures(self) -> list[Failure]:
        """Every failed trial, and whether its point or a flake probably caused the failure; see `Failure`.

        Example:
            >>> import robustbo as rb
            >>> opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", seed=0)
            >>> for x in (0.1, 0.2, 0.3, 0.4):
            ...     _ = opt.tell({"x": x}, x)
            >>> for x in (0.8, 0.9, 1.0):
            ...     _ = opt.fail({"x": x}, "out of memory")
            >>> [failure.looks_like for failure in opt.failures()]
            ['region', 'region', 'region']
        """
        return self.view.failures()

    def frame(self, *, evidence: bool = True) -> pd.DataFrame:
        """One row a trial: parameters, value, state and how it was asked, and the evidence on each value.

        Args:
            evidence: Whether to fit the surrogate and add, for each told value, its prediction from the others
                (expected, expected_sd), the evidence against it in nats, the probability that it is wrong, its status,
                whether it is flagged, and its weight; see `Outlier`. With several outcomes the columns are
                OUTCOME.expected, and so on. If no surrogate can judge the values, a `NumericsWarning` says why, and the
                columns are missing.
        """
        return self.view.frame(evidence=flag("evidence", evidence))
