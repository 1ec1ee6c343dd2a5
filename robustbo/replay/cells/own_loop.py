"""Running a cell of an optimization by our own loop, from wherever it stopped."""

from typing import Any

from robustbo.optimizer import Optimizer
from robustbo.replay.cells.before import exclusions_of, num_earlier_asks, tell_old_studies
from robustbo.replay.cells.cell import Progress
from robustbo.replay.cells.events import flags_event, trial_event
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.recommendation import flags, recommend, sources_in_doubt, trials_of

FAILED = "no value"  # the reason that a failed trial is told with


def run(cell: OptimizationCell, progress: Progress) -> None:
    """Run a cell to its last trial, from wherever it stopped.

    Args:
        cell: Which one.
        progress: Called after each trial.

    Raises:
        SpecError: If what is recorded belongs to another spec.
        FitError: If a surrogate cannot be fitted; what was recorded before stays.
    """
    if cell.is_done:
        return
    entries, truth = cell.entries(), cell.open_record()
    problem, corruption = cell.spec.load_problem(), cell.spec.build_corruption()
    is_begun = cell.journal.exists()
    opt = Optimizer.resume(cell.journal) if is_begun else Optimizer.begin(cell.settings, cell.journal)
    tell_old_studies(opt, cell.old_measurements)
    clean, begin = [entry["clean"] for entry in entries], len(cell.old_measurements)
    value = entries[-1]["value"] if entries else None
    for number in range(len(entries), cell.spec.trials):
        source = cell.source(corruption, number)
        trial = opt.history[begin + number] if begin + number < len(opt.history) else opt.ask(by=source)
        clean.append(problem.truth(trial.params))
        num_earlier = num_earlier_asks(opt.history, begin + number)
        where: dict[str, Any] = {"root": cell.root, "number": number, "num_earlier": num_earlier, "last": value}
        value, wrong = cell.spec.measure(corruption, trial.params, clean[-1], **where)
        if trial.state == "pending":
            told = value_to_tell(cell, clean[-1], value, number)
            if told is None:
                opt.fail(trial, FAILED)
            else:
                opt.tell(trial, told)
        for outcome in exclusions(cell, wrong, value):
            if outcome not in exclusions_of(opt.history[begin + number]):
                opt.exclude(trial, outcome=outcome)
        recommendation = recommend(cell.spec, opt.view, number, begin)
        truth.append(trial_event(number, clean[-1], value, wrong, recommendation))
        progress(
            number + 1, None if recommendation is None else problem.worth([clean[n] for n in trials_of(recommendation)])
        )
    doubted = sources_in_doubt(opt.view) if cell.is_told_sources else None
    truth.append(flags_event(cell.spec.trials, flags(opt.view, begin), doubted))


def value_to_tell(cell: OptimizationCell, clean: Any, measured: Any, number: int) -> Any:
    """Value that the optimizer is told: the measured one (None of a failed trial), unless it is an oracle."""
    if cell.how.sees == "corrected":
        return cell.spec.right_value(clean, cell.root, number)
    return clean if cell.how.sees == "clean" else measured


def exclusions(cell: OptimizationCell, wrong: Any, value: Any) -> list[str | None]:
    """Exclusions, after a tell, of a method that sees errors: all of a trial (None), or outcomes by name.

    Args:
        cell: Which one.
        wrong: Whether the value is corrupted, or the names of the outcomes that are.
        value: As measured.
    """
    if cell.how.sees != "errors" or not wrong:
        return []
    return [None] if isinstance(wrong, bool) or set(wrong) >= set(value) else list(wrong)
