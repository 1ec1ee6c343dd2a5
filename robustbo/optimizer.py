"""Ask and tell: arguments into events; what is kept of them, and the mathematics, is elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from robustbo.guidance import explain_misfits
from robustbo.lazy import Module
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import warn_of_violations
from robustbo.sheets.loop import Sheets
from robustbo.study import beginning
from robustbo.study.declared import contents_by_source
from robustbo.study.prior import Prior, tell_before_all
from robustbo.surrogates.names import SurrogateName
from robustbo.trials.declared import Source
from robustbo.trials.former_names import reads_old_names
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import nonempty_objectives
from robustbo.trials.settings import (
    DEFAULT_MAX_REPLICATES,
    DEFAULT_REPLICATE,
    Acquisition,
    Direction,
    Failures,
    Replicate,
    Settings,
)
from robustbo.trials.store import Store
from robustbo.validation import flag, one_of

if TYPE_CHECKING:
    from botorch.models.gpytorch import GPyTorchModel

    from robustbo.driving import drive, plan
    from robustbo.driving.evaluators.outcome import Function
    from robustbo.driving.plan import Callback, Several
    from robustbo.driving.result import Result
else:
    drive, plan = Module("robustbo.driving.drive"), Module("robustbo.driving.plan")

log = logging.getLogger("robustbo")


@reads_old_names
@explain_misfits()
class Optimizer(Sheets):
    """Bayesian optimization by ask and tell that keeps working when some of the values are wrong.

    Any number of threads may use an optimizer, and any number of processes may share a journal: each sees the values of
    the others, and no two get the same trial. An optimizer can be pickled; a copy continues with the same journal.

    Args:
        space: The search space.
        direction: "minimize" or "maximize"; not needed with ``objectives``, or if a journal is resumed.
        surrogate: A name of `robustbo.surrogates.registry.SURROGATES`, "auto", or a BoTorch class like `SingleTaskGP`.
        surrogate_options: Keyword options of the surrogate; JSON values.
        acquisition: "auto" (noisy expected improvement in closed form, else qLogNEI; Student-t LogEI for Student-t
            posteriors), "qLogNEI", "qLogEI" or "LogEI"; "sobol" only asks for space-filling points.
        num_initial: Number of Sobol points at the beginning; by default 2 (d + 1), from 5 to 20.
        replicate: Values to replicate if a replicate is worth more than a new point: "flagged", "any" or "never".
        max_replicates: Largest number of replicates of one point, failed ones included.
        quarantine: Whether a value that a robust surrogate did not expect is quarantined, that is, left out for now.
        failures: "learn" (the default) where trials fail, and keep away from there; or "ignore" failures.
        committee_from: Number of told values from which "auto" is a committee, without `surrogate_options`; never by
            default.
        seed: Root of all randomness; by default it is drawn, logged and kept in the journal.
        sources: Sources of values by name, one of which is the target. The surrogate learns from the others as far as
            they agree with the target, and asks them if that is worth their cost. See `robustbo.Source`.
        prior_data: A data frame as for `tell_frame`, a journal or a study; recorded first, if there are no trials yet.
            With declared sources, a mapping by their names.
        objectives: A mapping of at most four outcomes to "minimize" or "maximize"; you tell values by their names, see
            `tell` and `front`. Each has its own surrogate.
        outcome_constraints: Bounds on outcomes, such as "purity >= 0.95"; you tell these outcomes, too.
        reference_point: With several objectives, the worst acceptable value of each; hypervolume counts beyond it. By
            default it follows from the posterior.
        outcome: Name, unit and possible range of the measured quantity; with several outcomes a list.
        blocks: Kinds of source (see `tell`) with expected differences, such as plates, batches or days.
        journal: A file, or the address of a database (``postgresql+psycopg://...#name``, ``sqlite:///lab.db#name``);
            each event is on disk before the call that caused it returns. A missing folder is made, and logged.
        if_exists: What to do if the journal exists: "error", or "resume" it if it was begun with the same settings;
            direction, seed, num_initial, failures and committee_from then come from the journal unless you set them.

    Raises:
        ValueError, TypeError: If an argument breaks a rule; the message names the argument and the rule.
        JournalError: If the journal exists and ``if_exists`` is "error", or it was begun with other settings.

    Example:
        >>> import robustbo as rb
        >>> opt = rb.Optimizer(rb.Space(x=rb.Float(-1.0, 1.0)), direction="minimize", seed=0)
        >>> for trial in opt.ask(3):
        ...     _ = opt.tell(trial, trial.params["x"] ** 2)
        >>> opt.best(raw=True).trial.state
        'told'
    """

    _is_watching: ClassVar[bool] = False

    def __init__(
        self,
        space: Space,
        *,
        direction: Direction | None = None,
        surrogate: SurrogateName | type[GPyTorchModel] = "auto",
        surrogate_options: Mapping[str, Any] | None = None,
        acquisition: Acquisition = "auto",
        num_initial: int | None = None,
        replicate: Replicate = DEFAULT_REPLICATE,
        max_replicates: int = DEFAULT_MAX_REPLICATES,
        quarantine: bool = True,
        failures: Failures | None = None,
        committee_from: int | None = None,
        seed: int | None = None,
        sources: Mapping[str, Source] | None = None,
        prior_data: Prior | Mapping[str, Prior] | None = None,
        objectives: Mapping[str, Direction] | None = None,
        outcome_constraints: Sequence[str] = (),
        reference_point: Mapping[str, float] | None = None,
        outcome: Outcome | Sequence[Outcome] = (),
        blocks: Sequence[str] = (),
        journal: str | PathLike[str] | None = None,
        if_exists: Literal["error", "resume"] = "error",
    ) -> None:
        one_of("if_exists", if_exists, ("error", "resume"))
        beginning.check_space(space)
        if direction is None and objectives is None and not outcome_constraints:  # which need objectives
            direction = beginning.journal_direction(journal, if_exists)
        settings = beginning.settings_of(
            space,
            direction,
            surrogate=surrogate,
            surrogate_options=surrogate_options,
            acquisition=acquisition,
            num_initial=num_initial,
            replicate=replicate,
            max_replicates=max_replicates,
            quarantine=quarantine,
            failures="learn" if failures is None else failures,
            seed=seed,
            committee_from=committee_from,
            objectives=() if objectives is None else nonempty_objectives(objectives),
            outcome_constraints=outcome_constraints,
            reference_point=reference_point or (),
            outcome=outcome,
            blocks=blocks,
            sources=sources or {},
        )
        before = contents_by_source(settings, prior_data)
        optional = {"seed": seed, "num_initial": num_initial, "failures": failures, "committee_from": committee_from}
        defaulted = [name for name, value in optional.items() if value is None]
        self._store = beginning.create_or_resume(settings, journal, if_exists=if_exists, defaulted=defaulted)
        if before:
            warn_of_violations(space, [params for params, *_ in before])
            tell_before_all(self._store, before)

    @classmethod
    def begin(cls, settings: Settings, journal: str | PathLike[str]) -> Optimizer:
        """An optimization of given settings, with a new journal."""
        optimizer = cls.__new__(cls)
        optimizer._store = Store.create(settings, journal)
        return optimizer

    def optimize(
        self,
        func: Function,
        num_trials: int,
        *,
        timeout: timedelta | float | None = None,
        evaluation_timeout: timedelta | float | None = None,
        jobs: int = 1,
        client: Any = None,
        catch: Several[type[BaseException]] = (),
        callbacks: Several[Callback] = (),
        progress: bool = True,
    ) -> Result | None:
        """Ask, evaluate and tell until ``num_trials`` trials have ended; return `best`, or None without a value.

        With several objectives it returns the `front`. All ended trials of the study count, so the same script
        continues where it stopped (with a journal and ``if_exists="resume"``), and several processes share the work on
        one journal. Ctrl-C keeps all told values; the trials being evaluated wait for the next ask.

        Args:
            func: Returns the value, or ``(value, sd)``, for a dict of parameters; with several outcomes a dict of
                values, or a pair of dicts. An impossible value (see `Outcome`) is kept and excluded.
            num_trials: Number of trials, told, failed or excluded, that the study has in the end.
            timeout: Seconds, or a timedelta, after which no trial begins; running ones finish. With an
                ``evaluation_timeout``, running ones are ended, too, and wait for the next ask.
            evaluation_timeout: Seconds, or a timedelta, after which the process of an evaluation is ended and its trial
                fails ("took longer than 60 s"), like any other failure. ``func`` then runs in a worker process, even
                with one job. An evaluation on a cluster cannot be ended; the loop no longer waits for it.
            jobs: Number of worker processes. A worker that dies fails its trial only. Workers must be able to import
                ``func``.
            client: A `dask.distributed.Client` whose cluster evaluates ``jobs`` points at once, by default one a
                thread.
            catch: Exceptions of ``func`` that only fail the trial; the journal keeps the traceback.
            callbacks: Called as ``callback(optimizer, trial)`` after each trial. True ends the loop.
            progress: Whether a terminal shows the progress.

        Raises:
            ValueError, TypeError: If an argument breaks a rule, or ``func`` returns no number.
            Exception: What ``func`` or a callback raises, after the running evaluations are finished and told.

        Example:
            >>> import robustbo as rb
            >>> opt = rb.Optimizer(rb.Space(x=rb.Float(-1.0, 1.0)), direction="minimize", seed=0)
            >>> opt.optimize(lambda params: params["x"] ** 2, 5).trial.state
            'told'
        """
        limits = {"timeout": timeout, "evaluation_timeout": evaluation_timeout}
        options = limits | {"jobs": jobs, "client": client, "catch": catch, "callbacks": callbacks}
        return drive.drive(
            self, self._store, self.fits, plan.plan_of(func, num_trials, **options), is_shown=flag("progress", progress)
        )
