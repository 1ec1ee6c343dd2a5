"""A cell of an optimization run, computed once more event by event: asks, values, recommendations and flags."""

from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import Any

from robustbo.loop.decide import step
from robustbo.loop.surrogate.cache import FitCache
from robustbo.replay.cells import records
from robustbo.replay.cells.before import OldMeasurement, exclusions_of, num_earlier_asks
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import exclusions, value_to_tell
from robustbo.replay.cells.recommendation import Flagged, flags, recommend, sources_in_doubt
from robustbo.replay.check import rounding
from robustbo.replay.check.asks import compare, loss
from robustbo.replay.check.comparison import Agreement, Comparison
from robustbo.replay.check.rounding import Rounding
from robustbo.study.declared import target_labels
from robustbo.study.recomputing import decisions
from robustbo.trials.codec import changed_versions, fold
from robustbo.trials.history import History
from robustbo.trials.repair.salvage import SALVAGED
from robustbo.trials.storage.reading import warn_loss
from robustbo.trials.trial import Trial
from robustbo.view.view import View


def check(cell: OptimizationCell, *, to_the_end: bool = False) -> Agreement:
    """Compare a cell; each decision follows from what was recorded before it, whatever has been computed here before.

    Args:
        cell: Which one.
        to_the_end: Whether to go on after a difference, and count.

    Raises:
        ReplayMismatch: At the first difference.
        JournalError: If the record is damaged.
    """
    contents = records.read_of_cell(cell.journal)
    for path in (cell.journal, cell.record):
        warn_loss(path, records.read_of_cell(path).torn, "passed over; the same `robustbo replay` records it again")
    settings, full_history = fold(cell.journal, contents)
    where, changed = f"{cell.method}, replication {cell.replication}", changed_versions(contents)
    same = Comparison(where, changed, to_the_end=to_the_end)
    scales = rounding.scales_of(settings, full_history)
    of_values, of_asks = rounding.values(scales), rounding.asks(settings.space, scales)
    trial_entries, flagged = cell.entries(), cell.flags()
    entries = {entry["trial"]: entry for entry in trial_entries}
    same("settings", settings.to_dict(), cell.settings.to_dict())
    begin = len(cell.old_measurements)  # trials of old studies, which the record does not count
    _check_states(same, cell, full_history, trial_entries)
    history, fits = History(), FitCache()
    again = decisions(cell.settings, contents.events, decide=step, fits=fits)
    for i, event in enumerate(contents.events):
        is_ours = cell.is_ours and not event.get(SALVAGED)  # what Ax proposes is not ours to repeat
        if event["event"] == "ask" and is_ours:
            decision = next(again)
            compare(same, decision, of_asks, partial(loss, settings, decision, fits, of_asks))
        history = history.apply(event)
        if event["event"] in ("tell", "fail") and (number := event["trial"] - begin) >= 0:
            exclusion_events = takewhile(lambda after: after["event"] == "exclude", contents.events[i + 1 :])
            at_once = history.apply_all(exclusion_events)  # before anything is recommended
            before = entries.get(number - 1, {"value": None})
            view = View(cell.settings, at_once, fits)
            _check_trial(same, cell, view, entries[number], before["value"], of_values)
    if flagged is not None and cell.is_ours:
        _check_end(same, cell, View(cell.settings, history, fits), flagged)
    return same.agreement


def _check_states(
    same: Comparison, cell: OptimizationCell, history: History, entries: Sequence[dict[str, Any]]
) -> None:
    """Compare the ends of the trials of a journal with those of the record."""
    begin = len(cell.old_measurements)
    of_run = history.trials[begin:]
    left_out = {trial.number - begin: out for trial in of_run if (out := exclusions_of(trial))}
    must_be = {e["trial"]: out for e in entries if (out := exclusions(cell, e["corrupted"], e["value"]))}
    failed = [trial.number - begin for trial in of_run if trial.state == "failed"]
    ended = [trial.number - begin for trial in of_run if trial.state in ("excluded", "failed", "told")]
    same("old studies", [_old_measurement(trial) for trial in history.trials[:begin]], cell.old_measurements)
    same("number of told trials", len(ended), len(entries))
    same("told trials", ended, [entry["trial"] for entry in entries])
    same(
        "failed trials",
        failed,
        [e["trial"] for e in entries if value_to_tell(cell, e["clean"], e["value"], e["trial"]) is None],
    )
    same("excluded trials", left_out, must_be)


def _check_end(same: Comparison, cell: OptimizationCell, view: View, flagged: Flagged) -> None:
    """Compare what was believed in the end."""
    same("flags", flagged, flags(view, len(cell.old_measurements)))
    if (doubted := cell.sources_in_doubt()) is not None:
        same("sources in doubt", doubted, sources_in_doubt(view))


def _old_measurement(trial: Trial) -> OldMeasurement:
    """A trial of an old study as it was told."""
    return str(trial.source), {**trial.params}, float(trial.value or 0.0)


def _check_trial(
    same: Comparison,
    cell: OptimizationCell,
    view: View,
    entry: dict[str, Any],
    last: Any,
    of_values: Rounding,
) -> None:
    number, begin = entry["trial"], len(cell.old_measurements)
    history, trial = view.history, view.history[begin + number]
    clean, corruption = cell.spec.load_problem().truth(trial.params), cell.spec.build_corruption()
    where = {
        "root": cell.root,
        "number": number,
        "num_earlier": num_earlier_asks(history, begin + number),
        "last": last,
    }
    value, wrong = cell.spec.measure(corruption, trial.params, clean, **where)
    same(f"trial {number}: clean value", entry["clean"], clean, of_values, of=number)
    same(f"trial {number}: measured value", entry["value"], value, of_values, of=number)
    same(f"trial {number}: corrupted", entry["corrupted"], wrong, of=number)
    same(
        f"trial {number}: told value",
        trial.values or trial.value,
        value_to_tell(cell, clean, value, number),
        of_values,
        of=number,
    )
    same(f"trial {number}: excluded then", exclusions_of(trial), exclusions(cell, wrong, value), of=number)
    if cell.is_ours:
        source = target_labels(cell.settings) | cell.source(corruption, number)
        same(f"trial {number}: source", trial.sources, source, of=number)
        recommended = recommend(cell.spec, view, number, begin)
        same(f"trial {number}: recommended", entry["recommended"], recommended, of=number)
