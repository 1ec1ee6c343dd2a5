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

    from robustbo.driving import loop, plan
    from robustbo.driving.evaluators.outcome import Function
    from robustbo.driving.plan import Callback, Several
    from robustbo.driving.result import Result
else:
    loop, plan = Module("robustbo.driving.loop"), Module("robustbo.driving.plan")

log = logging.getLogger("robustbo")


@reads_old_names
@explain_misfits()
class Optimizer(Sheets):
    """Bayesian optimization by ask and tell that keeps working when some of the values are wrong.

    It may be used from any number of threads, and any number of processes may work on one journal: each sees what the
    others have told, and no two are given the same trial. It can be pickled; a copy goes on with the same journal.

    Args:
        space: The search space.
        direction: "minimize" or "maximize"; said by ``objectives``, or a journal that is resumed, it is not needed.
        surrogate: A name of `robustbo.surrogates.registry.SURROGATES`, "auto", or a BoTorch class like `SingleTaskGP`.
        surrogate_options: Keyword options of the surrogate; JSON values.
        acquisition: "auto" (noisy expected improvement in closed form, else qLogNEI; Student-t LogEI for Student-t
            posteriors), "qLogNEI", "qLogEI" or "LogEI"; "sobol" asks for space-filling points for ever.
        num_initial: How many Sobol points come first; 2 (d + 1), from 5 to 20, unless said.
        replicate: Which values may be replicated where that is worth more than a new point: "flagged", "any", "never".
        max_replicates: How many replicates one point may get, failed ones included.
        quarantine: Whether a value that a robust surrogate did not expect is quarantined: left out for now.
        failures: "learn" where trials fail, and keep away from there ("learn" unless said); or "ignore" that they do.
        committee_from: How many told values make "auto" a committee, without `surrogate_options`; none unless said.
        seed: Root of all randomness; drawn, logged and kept in the journal unless said.
        sources: Sources of values by name, one of which is the target: others are learned from as far as they say
            something of it, and may be asked for values where that is worth their cost. See `robustbo.Source`.
        prior_data: A data frame as for `tell_frame`, a journal or a study; recorded first, unless there are trials. Of
            declared sources a mapping by their names.
        objectives: Of several outcomes, or of one that is told by its name: which to "minimize" and which to
            "maximize", as a mapping of at most four; see `tell` and `front`. Each has a surrogate of its own.
        outcome_constraints: Bounds on outcomes, such as "purity >= 0.95"; those that are no objectives are told too.
        reference_point: By objective, where there are several, the value that is no good any more: hypervolume counts
            beyond it. By what is believed unless given.
        outcome: Name, unit and possible range of what is measured; of several outcomes a list, by their names.
        blocks: Kinds of source (see `tell`) whose levels differ as a matter of course, such as plates, batches or days.
        journal: A file, or the address of a database (``postgresql+psycopg://...#name``, ``sqlite:///lab.db#name``);
            each event is kept there before the call that caused it returns. A missing folder is made, and logged.
        if_exists: What to do where there is such a journal: "error", or "resume" it, if it was begun with the same
            settings; a direction, seed, num_initial, failures or committee_from that is not given is taken from it.

    Raises:
        ValueError, TypeError: If an argument breaks its rule; the message says which.
        JournalError: If the journal exists and is not to be resumed, or was begun with other settings.

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
        """Ask, evaluate and tell until the study has ``num_trials`` ended trials; `best`, or None without a value.

        Of several objectives it gives the `front`. All that have ended count, so the same script goes on where it
        stopped (give it a journal, and ``if_exists="resume"``), and several processes share the work on one journal.
        Ctrl-C keeps all that was told; what was being evaluated waits for the next ask.

        Args:
            func: Gives a point's value, or ``(value, sd)``, for a dict of its parameters; of several outcomes a dict of
                values, or one and a dict of sds. What is not possible (see `Outcome`) is kept, and excluded.
            num_trials: How many trials, told, failed or excluded, the study is to have in all.
            timeout: Seconds, or a timedelta, after which no trial begins; those that run are finished. With an
                ``evaluation_timeout`` it holds: they are ended, and wait for the next ask.
            evaluation_timeout: Seconds, or a timedelta, after which an evaluation is ended: its process is, and its
                trial has failed ("took longer than 60 s"), which is learned like any failure. ``func`` runs in a worker
                process then, also with one job. What a cluster runs cannot be ended, and is given up.
            jobs: Worker processes. One that dies fails its trial only. ``func`` must be importable there.
            client: A `dask.distributed.Client` whose cluster evaluates: ``jobs`` at once, or one a thread.
            catch: What ``func`` may raise without ending the loop; the trial has failed, and the traceback is kept.
            callbacks: Called as ``callback(optimizer, trial)`` after each trial. True ends the loop.
            progress: Whether a terminal shows how far it is.

        Raises:
            ValueError, TypeError: If an argument breaks its rule, or func gives no number.
            Exception: What ``func`` or a callback raises, after those that run are finished and told.

        Example:
            >>> import robustbo as rb
            >>> opt = rb.Optimizer(rb.Space(x=rb.Float(-1.0, 1.0)), direction="minimize", seed=0)
            >>> opt.optimize(lambda params: params["x"] ** 2, 5).trial.state
            'told'
        """
        limits = {"timeout": timeout, "evaluation_timeout": evaluation_timeout}
        options = limits | {"jobs": jobs, "client": client, "catch": catch, "callbacks": callbacks}
        return loop.drive(
            self, self._store, self.fits, plan.plan_of(func, num_trials, **options), is_shown=flag("progress", progress)
        )
