"""gest-api's two verbs, suggest and ingest, by an optimizer's ask, tell and fail."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import pandas as pd
from botorch.models.gpytorch import GPyTorchModel
from gest_api import Generator
from gest_api.vocs import VOCS

from robustbo.errors import SpaceExhausted
from robustbo.gest.frames import failure_frame, outlier_frame
from robustbo.gest.problem import ID, problem_of
from robustbo.gest.recording import events_of
from robustbo.gest.results import results_of, rows_of
from robustbo.gest.sources import result_sources
from robustbo.loop.best.incumbent import Incumbent
from robustbo.optimizer import Optimizer
from robustbo.searchspace.tabular import warn_of_violations
from robustbo.surrogates.names import SurrogateName
from robustbo.trials.declared import Source
from robustbo.trials.former_names import reads_old_names
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import DEFAULT_MAX_REPLICATES, DEFAULT_REPLICATE, Acquisition, Failures, Replicate
from robustbo.trials.storage.line import Event
from robustbo.trials.store import State
from robustbo.validation import whole_number
from robustbo.view.sources import SourceFrame


@reads_old_names
class RobustGenerator(Generator):
    """Suggests points of a VOCS, and resists wrong and missing results.

    A replicate is a new suggestion of the same point, with its own identifier. The generator may be asked for more
    points before the last ones are evaluated, used from any number of threads, and pickled. Copies share a journal;
    without a journal, each copy goes its own way.

    Args:
        vocs: Continuous, integer and discrete variables, and one objective to MINIMIZE or MAXIMIZE. It is read once.
            A result that breaks one of its constraints counts as one without a value.
        batch_size: Number of suggested points if the loop does not set it.
        log: Names of variables with a log scale.
        sources: The keys of results that say what measured them, each a kind of source, such as "sim_worker"; a result
            may lack them. It is learned which source is in error. Or a mapping of names to `robustbo.Source`, the
            target and old studies (``ask=False``): results whose key ``source`` has such a name are learned from as far
            as they say something of the target.
        blocks: Those of them whose levels differ as expected.
        surrogate: As for `robustbo.Optimizer`, which explains these and what follows.
        surrogate_options: Keyword options of the surrogate.
        acquisition: What a new point is chosen by.
        num_initial: Number of space-filling points at the beginning.
        replicate: Which values may be replicated.
        max_replicates: How many replicates one point may get.
        quarantine: Whether a value that the surrogate did not expect is left out for now.
        failures: "learn" where evaluations fail, and keep away from there; or "ignore" it.
        negligible_error: What a value of the objective may be off without being wrong (`robustbo.Outcome`).
        seed: Root of all randomness; drawn by default.
        journal: A file, or the address of a database, that records every suggestion and result.
        if_exists: What to do if the journal exists: "error"; or "resume" it, and suggest again, under the same
            identifiers, the points of processes that have ended.

    Raises:
        ValueError, TypeError: If the VOCS asks for what this generator does not have, or an argument breaks its rule.
        JournalError: If the journal exists and ``if_exists`` is "error", or it was begun with other settings.

    Attributes:
        vocs: As given.
        optimizer: The `robustbo.Optimizer` within, where a trial's number is its point's identifier: to exclude, amend,
            enqueue, or look at anything.

    Example:
        >>> from gest_api.vocs import VOCS
        >>> generator = RobustGenerator(VOCS(variables={"x": [-1, 1]}, objectives={"f": "MINIMIZE"}), seed=0)
        >>> points = generator.suggest(3)
        >>> generator.ingest([point | {"f": point["x"] ** 2} for point in points])
        >>> len(generator.outliers()), generator.best().trial.number == points[0]["_id"]
        (3, False)
    """

    returns_id: bool = True

    def __init__(
        self,
        vocs: VOCS,
        *,
        batch_size: int = 1,
        log: Iterable[str] = (),
        sources: Iterable[str] | Mapping[str, Source] = (),
        blocks: Sequence[str] = (),
        surrogate: SurrogateName | type[GPyTorchModel] = "auto",
        surrogate_options: Mapping[str, Any] | None = None,
        acquisition: Acquisition = "auto",
        num_initial: int | None = None,
        replicate: Replicate = DEFAULT_REPLICATE,
        max_replicates: int = DEFAULT_MAX_REPLICATES,
        quarantine: bool = True,
        failures: Failures | None = None,
        negligible_error: float = 0.0,
        seed: int | None = None,
        journal: str | PathLike[str] | None = None,
        if_exists: Literal["error", "resume"] = "error",
    ) -> None:
        super().__init__(vocs)
        self.vocs = vocs
        self._batch_size = whole_number("batch_size", batch_size, 1)
        self._problem = problem_of(vocs, log)
        self._sources = result_sources(sources)
        self.optimizer = Optimizer(
            self._problem.space,
            direction=self._problem.direction,
            surrogate=surrogate,
            surrogate_options=surrogate_options,
            acquisition=acquisition,
            num_initial=num_initial,
            replicate=replicate,
            max_replicates=max_replicates,
            quarantine=quarantine,
            failures=failures,
            seed=seed,
            blocks=blocks,
            sources=self._sources.declared,
            outcome=Outcome(negligible_error=negligible_error) if negligible_error else (),
            journal=journal,
            if_exists=if_exists,
        )
        if self._sources.declared:  # whose choices may have had other values
            self._problem = replace(self._problem, space=self.optimizer.settings.space)
        if if_exists == "resume":
            self.optimizer.requeue()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._problem.objective!r}, {self.optimizer!r})"

    def _validate_vocs(self, vocs: VOCS) -> None:
        """Raise a ValueError if a VOCS asks for what this generator does not have."""
        problem_of(vocs)

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """The next ``num_points`` points to evaluate, by default the batch size.

        Returns:
            A dict each: the variables, the constants, and ``_id``, a whole number.

        Raises:
            ValueError: If there are not so many points that nobody evaluates yet.
        """
        count = self._batch_size if num_points is None else whole_number("num_points", num_points, 0)
        try:
            trials = self.optimizer.ask(count) if count else []
        except SpaceExhausted as error:
            raise ValueError(f"{count} points cannot be suggested: {error}") from error
        return [{**trial.params, **self._problem.constants, ID: trial.number} for trial in trials]

    def ingest(self, results: Iterable[Mapping[str, Any]]) -> None:
        """Record results: all of them, or none where one breaks a rule.

        A result with an ``_id`` is that of the suggested point; the first one ends it, and further ones are
        measurements of their own at that point. Without (missing, None or NaN) it is one of another's point, which must
        have all variables, except those that its declared source does not have (`robustbo.Source`, ``was``). Where the
        objective is missing or not finite, or Xopt's ``xopt_error`` is True, the evaluation has failed. A result that
        is there already is not recorded again.

        Raises:
            ValueError: If an ``_id`` was not suggested, or a choice is another than was suggested, or a source is
                unknown; the message tells of each. Other numbers than were suggested, as of a readback, are where it
                was measured, outside the variables' bounds too (with a `SpaceWarning`).
        """
        rows, problem = rows_of(results), self._problem

        def new_events(state: State) -> list[Event]:
            declared = self.optimizer.settings.sources
            results = results_of(problem, state.history, rows, self._sources.kinds, declared)
            events = events_of(problem.space, state.history, results, declared)
            warn_of_violations(problem.space, [event["params"] for event in events if "params" in event])
            return events

        self.optimizer._commit(new_events)

    def finalize(self) -> None:
        """Do nothing: all that was ingested is recorded, and further points may be suggested."""

    def best(self, *, raw: bool = False) -> Incumbent:
        """The best point measured, by what the surrogate believes; see `robustbo.Optimizer.best`."""
        return self.optimizer.best(raw=raw)

    def outliers(self) -> pd.DataFrame:
        """Every value with its evidence, the most suspicious first, by ``_id``.

        Columns: the variables, value, expected (what all others predict for it), sd (of that), evidence (that the value
        has an error of its own, in nats), probability_wrong, status (what is believed of it, in a word), flagged
        (whether it is treated as wrong), remeasured, weight; see `robustbo.Outlier`.
        """
        return outlier_frame(self._problem.space.names, self.optimizer.outliers())

    def failures(self) -> pd.DataFrame:
        """Every failed evaluation, by ``_id``, and whether it looks like its point's doing or like a flake.

        Columns: the variables, reason, looks_like ("region" or "flake"), log_odds (of a flake, in nats), again (what
        became of other evaluations at the point); see `robustbo.loop.feasibility.report.Failure`.
        """
        return failure_frame(self._problem.space.names, self.optimizer.failures())

    def sources(self) -> SourceFrame:
        """Every source that results named, and how much too high its values read, a row each; printed, a sentence each.

        Of declared sources what each says of the target, and with which probability. See `robustbo.Study.sources`.
        """
        return self.optimizer.sources()

    def add_data(self, new_data: pd.DataFrame) -> None:
        """`ingest` the rows of a data frame; Xopt calls this with the data that it is begun with."""
        self.ingest(new_data.to_dict("records"))

    def generate(self, n_candidates: int) -> list[dict[str, Any]]:
        """`suggest`, as Xopt's asynchronous loop calls it."""
        return self.suggest(n_candidates)
