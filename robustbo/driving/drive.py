"""Carrying out a plan of `Optimizer.optimize`: what is left of it, and what is best in the end."""

import logging

from robustbo.determinism.interrupts import Interrupts
from robustbo.driving.asking import Asking, num_ended, stale_trials
from robustbo.driving.loop import Loop
from robustbo.driving.plan import Plan
from robustbo.driving.progress import Display
from robustbo.driving.result import Result, result
from robustbo.loop.surrogate.cache import FitCache
from robustbo.study.recording import Recording
from robustbo.trials.store import Store

log = logging.getLogger("robustbo")


def drive(optimizer: Recording, store: Store, fits: FitCache, plan: Plan, *, is_shown: bool) -> Result | None:
    """Carry out a plan; what is best then (of several objectives the front), None where nothing has been told.

    Args:
        optimizer: Who tells.
        store: Its store.
        fits: Its last fits.
        plan: What is to be done.
        is_shown: Whether its progress is, on a terminal.
    """
    with Interrupts() as interrupts:
        optimizer.requeue()
        optimizer.requeue(stale_trials(optimizer.history))
        ended = num_ended(optimizer.history, store.settings.sources)
        log.info("%d of %d trials have ended; jobs: %d", ended, plan.num_trials, plan.jobs)
        if ended < plan.num_trials:
            with Display(store.settings, fits, plan.num_trials, is_wanted=is_shown) as display:
                Loop(optimizer, Asking(store, fits, plan.num_trials), plan, plan.evaluator(), display, interrupts).run()
        else:
            log.warning("the study has %d trials already; num_trials counts all", ended)
        with interrupts.let_in():
            return result(optimizer)
