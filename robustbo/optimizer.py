"""Ask and tell: arguments into events; what is kept of them, and the mathematics, is elsewhere."""

import logging
import math
import secrets
from collections.abc import Mapping
from os import PathLike
from typing import Any, overload

import pandas as pd
from botorch.models.gpytorch import GPyTorchModel

from robustbo.arguments import index, noise_sd, real, whole
from robustbo.outliers import Outlier, outliers
from robustbo.space import Space
from robustbo.suggest import Incumbent, incumbent, raw_incumbent, step
from robustbo.surrogates.registry import check_options, name_of
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import (
    COMMITTEE_FROM,
    DEFAULT_MAX_REPEATS,
    DEFAULT_REMEASURE,
    DEFAULT_SURROGATE,
    Settings,
    default_num_initial,
    options_text,
)
from robustbo.trials.store import Ledger

log = logging.getLogger("robustbo")
TrialLike = Trial | int


class Optimizer:
    """Bayesian optimization by ask and tell that keeps working when some of the values are wrong.

    Args:
        space: The search space.
        direction: "minimize" or "maximize".
        surrogate: A name of `robustbo.surrogates.registry.SURROGATES`, "auto" (relevance pursuit; for many values a
            committee), or a BoTorch model class with the signature of `SingleTaskGP`.
        surrogate_options: Keyword options of the surrogate; JSON values.
        acquisition: "auto" (noisy expected improvement in closed form, else qLogNEI; Student-t LogEI for Student-t
            posteriors), "qLogNEI", "qLogEI" or "LogEI".
        num_initial: How many Sobol points come first; 2 (d + 1), at least 5, unless said.
        remeasure: Which values may be measured again, where knowing is worth more than a new point promises:
            "promising" (those that a robust surrogate flags, and the best of the initial ones where any value has
            failed grossly), "suspicious" (any) or "never"; see `robustbo.remeasure`.
        max_repeats: How many measurements more one point may get, failed ones included.
        set_aside: Whether a robust surrogate leaves out, for now, a value that disappoints beyond belief.
        committee_from: How many told values make "auto" a committee, which takes none of the `surrogate_options`.
        seed: Root of all randomness; drawn, logged and kept in the journal unless said.
        journal: A file that does not exist yet; each event is on the disk there before the call that caused it returns.

    Raises:
        ValueError, TypeError: If an argument breaks its rule; the message says which.
        JournalError: If the journal exists.

    Example:
        >>> import robustbo as rb
        >>> opt = rb.Optimizer(rb.Space(x=rb.Float(-1.0, 1.0)), seed=0)
        >>> for trial in opt.ask(3):
        ...     _ = opt.tell(trial, trial.params["x"] ** 2)
        >>> opt.best(raw=True).trial.state
        'told'
    """

    def __init__(
        self,
        space: Space,
        *,
        direction: str = "minimize",
        surrogate: str | type[GPyTorchModel] = "auto",
        surrogate_options: Mapping[str, Any] | None = None,
        acquisition: str = "auto",
        num_initial: int | None = None,
        remeasure: str = DEFAULT_REMEASURE,
        max_repeats: int = DEFAULT_MAX_REPEATS,
        set_aside: bool = True,
        committee_from: int = COMMITTEE_FROM,
        seed: int | None = None,
        journal: str | PathLike[str] | None = None,
    ) -> None:
        if not isinstance(space, Space):
            raise TypeError(f"space must be a robustbo.Space, got {space!r}")
        if seed is None:
            seed = secrets.randbits(31)
            log.warning("seed %d was drawn; give seed=%d to repeat this run", seed, seed)
        name = name_of(DEFAULT_SURROGATE if surrogate == "auto" else surrogate)
        check_options(name, surrogate_options or {})
        settings = Settings(
            space=space,
            direction=direction,
            surrogate=name,
            options=options_text(surrogate_options),
            acquisition=acquisition,
            num_initial=default_num_initial(space) if num_initial is None else num_initial,
            remeasure=remeasure,
            max_repeats=max_repeats,
            set_aside=set_aside,
            seed=seed,
            committee_from=committee_from if surrogate == "auto" else None,
        )
        self._ledger = Ledger.create(settings, journal)

    @classmethod
    def begin(cls, settings: Settings, journal: str | PathLike[str]) -> "Optimizer":
        """An optimization of given settings, with a new journal."""
        optimizer = cls.__new__(cls)
        optimizer._ledger = Ledger.create(settings, journal)
        return optimizer

    @classmethod
    def resume(cls, journal: str | PathLike[str]) -> "Optimizer":
        """Continue the optimization of a journal exactly as if it had never stopped.

        Raises:
            JournalError: If the journal cannot be read; the message has the line.
        """
        optimizer = cls.__new__(cls)
        optimizer._ledger = Ledger.resume(journal)
        return optimizer

    def __repr__(self) -> str:
        states = self.history.counts()
        s = self.settings.of_size(states["told"])
        counts = ", ".join(f"{count} {state}" for state, count in states.items() if count)
        return f"Optimizer({s.direction}, {s.surrogate}, seed={s.seed}: {counts or 'no trials yet'})"

    @property
    def settings(self) -> Settings:
        """What the optimization was told at its beginning."""
        return self._ledger.settings

    @property
    def seed(self) -> int:
        """The root seed, given or drawn."""
        return self.settings.seed

    @property
    def history(self) -> History:
        """Everything so far; frozen."""
        return self._ledger.history

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next point to measure, or a list of the next ``n``; pending ones are accounted for.

        A trial with `Trial.repeats` is at the point of an earlier one whose value is in doubt: measure it again. If you
        give a trial up, `fail` it: while a repeat is pending there is no other.

        Raises:
            FitError: If the surrogate cannot be fitted to the values so far.
        """
        history, events = self.history, []
        for _ in range(1 if n is None else whole("n", n, 1)):
            for event in step(self.settings, history, len(history)).events(len(history)):
                events.append(event)
                history = history.apply(event)
        for event in events:
            self._ledger.record(event)
        asked = [self._ledger.trial(event["trial"]) for event in events if event["event"] == "ask"]
        return asked[0] if n is None else asked

    def tell(self, trial: TrialLike | Mapping[str, Any], value: float, *, sd: float | None = None) -> Trial:
        """Record a measured value; it is on the disk when this returns.

        Args:
            trial: A trial or its number, or the parameters of a measurement that was made elsewhere.
            value: What was measured. One that is not finite is recorded as a failed trial and never modelled.
            sd: Standard deviation of the value's noise, where known.

        Returns:
            The trial as it is now.

        Raises:
            ValueError: If the trial is not pending, there is none, or sd is negative.
            SpaceError: If the parameters are no point of the space.
        """
        number, sd = real("value", value), noise_sd(sd)
        new: dict[str, Any] = {}
        if isinstance(trial, Mapping):
            new = {"params": self.settings.space.validate(trial)}
            trial = len(self.history)
        if math.isfinite(number):
            return self._end("tell", trial, value=number, sd=sd, **new)
        return self._end("fail", trial, reason=f"the value told was not finite: {number}", **new)

    def fail(self, trial: TrialLike, reason: str = "failed") -> Trial:
        """Record that a trial gave no value; it is never modelled."""
        return self._end("fail", trial, reason=str(reason))

    def exclude(self, trial: TrialLike) -> Trial:
        """Record your own verdict that a told value is wrong: it is kept, but no longer modelled."""
        return self._end("exclude", trial)

    def include(self, trial: TrialLike) -> Trial:
        """Take an exclusion back: the value has your word, and what was expected of it counts no more.

        It may be measured again all the same.
        """
        return self._end("include", trial)

    def amend(self, trial: TrialLike, value: float, *, sd: float | None = None) -> Trial:
        """Record a corrected value of a told, excluded or failed trial; the old one stays in the journal.

        Raises:
            ValueError: If the value is not finite (exclude the trial instead), or the trial is pending.
        """
        number, sd = real("value", value), noise_sd(sd)
        if not math.isfinite(number):
            raise ValueError(f"value must be finite to amend a trial, got {number}; use exclude to leave it out")
        return self._end("amend", trial, value=number, sd=sd)

    def best(self, *, raw: bool = False) -> Incumbent:
        """The measured point of best posterior mean; with ``raw``, the trial of best measured value.

        Raises:
            ValueError: If no value has been told.
            FitError: If the surrogate cannot be fitted.
        """
        return (raw_incumbent if raw else incumbent)(self.settings, self.history)

    def outliers(self) -> list[Outlier]:
        """Every told value with its evidence, the most suspicious first; see `Outlier.flagged`.

        Raises:
            FitError: If the surrogate cannot be fitted.
        """
        return outliers(self.settings, self.history)

    def frame(self) -> pd.DataFrame:
        """One row a trial."""
        return self.history.to_frame()

    def _end(self, kind: str, trial: TrialLike, **content: Any) -> Trial:
        number = trial.number if isinstance(trial, Trial) else index(trial)
        if isinstance(trial, Trial) and trial.params != self.history[number].params:
            raise ValueError(f"trial {number} must be one of this optimization, got one elsewhere: {trial.params}")
        self._ledger.record({"event": kind, "trial": number, **content})
        return self._ledger.trial(number)
