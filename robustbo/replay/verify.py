"""Recompute a recorded run from its seed and compare bit for bit: asks, values, recommendations, flags and tables.

Of an optimization's own journal, which has no truth beside it, the asks are recomputed.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from robustbo.errors import JournalError, ReplayMismatch, RobustBOError
from robustbo.loop.cache import FitCache
from robustbo.loop.decide import step
from robustbo.replay.cells import records
from robustbo.replay.cells.engine import AnyCell, cells, cells_in, trials_done
from robustbo.replay.cells.optimization import Cell, excludes, flags, recommend, recorded, told_value
from robustbo.replay.cells.regression import RegressionCell, measure
from robustbo.replay.cells.regression import entries as recorded_fits
from robustbo.replay.output.report import recorded_rows, rows_of, rows_text, text_of
from robustbo.replay.spec.optimization import SPEC_FILE, load
from robustbo.study.recomputing import Decision, decisions
from robustbo.trials import trust
from robustbo.trials.codec import changed_versions, fold
from robustbo.trials.history import History
from robustbo.trials.repair.salvage import SALVAGED
from robustbo.trials.storage import logs
from robustbo.trials.storage.logs import Place
from robustbo.trials.storage.reading import warn_of_torn

THE_SAME = "the same, bit for bit"
# Of an ask all that is no decision, or follows from it: older versions gave fewer reasons.
UNREPEATABLE = ("event", "trial", "fit_s", "acquisition_s", "by", "at", "unseen", "reason")
FIT_TIME = "fit_s"  # which is never the same
SPEC, JOURNAL = ".toml", ".jsonl"


def is_journal(place: str) -> bool:
    """Whether it is the journal of an optimization, and no recorded run."""
    path = Path(place)
    return logs.is_address(place) or path.suffix == JOURNAL or (path.is_file() and path.suffix != SPEC)


def verdicts(places: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Verify recorded runs and journals: a row a cell or journal as soon as it is done, and one a folder.

    Raises:
        SpecError: If a folder has no cells; before any is verified.
        JournalError: If there is no such journal; as soon.
    """
    for place in filter(is_journal, places):
        if not (logs.is_address(place) or Path(place).exists()):
            raise JournalError(f"{place}: there is no such journal")
    found = {place: () if is_journal(place) else cells_in(Path(place)) for place in places}
    for place, its_cells in found.items():
        if is_journal(place):
            row: dict[str, Any] = {"run": logs.shown(place), "method": "(journal)", "replication": None}
            found_here = row | _verdict(verify_journal, place)
            if found_here["verdict"] == THE_SAME and (count := _salvaged(place)):
                found_here["verdict"] = f"{THE_SAME}; {count} salvaged asks not checked"
            yield found_here
            continue
        for cell in its_cells:
            row = {"run": place, "method": cell.method, "replication": cell.replication}
            yield row | _verdict(verify, cell)
        row = {"run": place, "method": "(cells and rows)", "replication": None}
        yield row | _verdict(verify_folder, Path(place), its_cells)


def _verdict(check: Callable[..., int | None], *arguments: Any) -> dict[str, Any]:
    try:
        return {"asks": check(*arguments), "verdict": THE_SAME}
    except RobustBOError as error:
        return {"asks": None, "verdict": str(error)}


def verify(cell: AnyCell) -> int:
    """Recompute a recorded cell, event by event.

    Returns:
        The number of asks, or fits, that were recomputed and are the same to the last bit.

    Raises:
        ReplayMismatch: At the first difference; says where it is, both values, and which libraries have changed.
        JournalError: If the record is damaged.
    """
    return _verify_fits(cell) if isinstance(cell, RegressionCell) else _verify(cell)


def verify_journal(place: Place) -> int:
    """Recompute each ask of an optimization's journal, but those that a repaired one cannot repeat.

    Returns:
        How many were recomputed and are the same to the last bit.

    Raises:
        ReplayMismatch: At the first difference.
        JournalError: If it cannot be read.
        FitError: If a surrogate cannot be fitted.
    """
    contents = logs.contents(place)
    name = logs.shown(place)
    warn_of_torn(name, contents.torn)
    settings, _ = fold(name, contents)
    trust.check(name, settings, False)
    same, count = _Comparison(name, changed_versions(contents)), 0
    for made in decisions(settings, contents.events, decide=step):
        _compare(same, made)
        count += 1
    return count


def _salvaged(place: Place) -> int:
    """How many asks of a repaired journal cannot be computed again."""
    return sum(event["event"] == "ask" and bool(event.get("salvaged")) for event in logs.contents(place).events)


def _compare(same: "_Comparison", made: Decision) -> None:
    number = made.recorded["trial"]
    same(f"trial {number}: diagnosis", made.diagnosis, made.diagnosis_recomputed)
    asks = ({k: e[k] for k in e if k not in UNREPEATABLE} for e in (made.recorded, made.recomputed))
    same(f"trial {number}: ask", *asks)


def _verify(cell: Cell) -> int:
    contents = records.read_of_cell(cell.journal)
    for path in (cell.journal, cell.truth):
        warn_of_torn(path, records.read_of_cell(path).torn, "passed over; the same `robustbo replay` records it again")
    settings, whole = fold(cell.journal, contents)
    same = _Comparison(f"{cell.method}, replication {cell.replication}", changed_versions(contents))
    found, flagged = recorded(cell)
    entries = {entry["trial"]: entry for entry in found}
    same("settings", settings.to_dict(), cell.settings.to_dict())
    excluded = [trial.number for trial in whole.having("excluded")]
    told = sorted([*excluded, *(trial.number for trial in whole.having("told"))])
    same("number of told trials", len(told), len(found))
    same("told trials", told, [entry["trial"] for entry in found])
    same("excluded trials", excluded, [e["trial"] for e in found if excludes(cell, e["corrupted"])])
    history, count, fits = History(), 0, FitCache()
    again = decisions(cell.settings, contents.events, decide=step, fits=fits)
    for event, following in zip_longest(contents.events, contents.events[1:]):
        is_ours = cell.is_ours and not event.get(SALVAGED)  # what Ax proposes is not ours to repeat
        if event["event"] == "ask" and is_ours:
            _compare(same, next(again))
            count += 1
        history = history.apply(event)
        if event["event"] == "tell":
            is_excluded = following is not None and following["event"] == "exclude"  # at once, before it is recommended
            at_once = history.apply(following) if is_excluded else history
            _verify_trial(same, cell, at_once, entries[event["trial"]], fits)
    if flagged is not None and cell.is_ours:
        same("flags", flagged, flags(cell, history, fits))
    return count


def _verify_fits(cell: RegressionCell) -> int:
    """Fit again what is recorded and compare bit for bit; the number of fits that are the same.

    Raises:
        ReplayMismatch: At the first difference.
        JournalError: If the record is damaged.
    """
    found = recorded_fits(cell)
    for entry, scenario in zip(found, cell.scenarios, strict=True):
        try:
            again = measure(cell.how, scenario, cell.root)._asdict()
        except (TypeError, ValueError) as error:
            raise JournalError(f"{cell.journal}: {scenario.name}: cannot be made again: {error}") from error
        for name in again:
            if name != FIT_TIME and entry[name] != again[name]:
                where = f"{cell.method}, replication {cell.replication}, {' '.join(map(str, scenario[:3]))}"
                raise ReplayMismatch(f"{where}, {name}: recorded {entry[name]!r}, recomputed {again[name]!r}")
    return len(found)


def _verify_trial(same: "_Comparison", cell: Cell, history: History, entry: dict[str, Any], fits: FitCache) -> None:
    number = entry["trial"]
    trial = history[number]
    clean, corruption = cell.spec.load_problem()(trial.params), cell.spec.build_corruption()
    value, is_corrupted = cell.spec.measure(corruption, trial.params, clean, root=cell.root, number=number)
    same(f"trial {number}: clean value", entry["clean"], clean)
    same(f"trial {number}: measured value", entry["value"], value)
    same(f"trial {number}: corrupted", entry["corrupted"], is_corrupted)
    same(f"trial {number}: told value", trial.value, told_value(cell, clean, value))
    same(f"trial {number}: excluded then", trial.state == "excluded", excludes(cell, is_corrupted))
    if cell.is_ours:
        same(f"trial {number}: recommended", entry["recommended"], recommend(cell, history, number, fits))


def verify_folder(folder: Path, found: Sequence[AnyCell]) -> None:
    """Compare what lies in a folder beside its cells: all the cells of its spec, and the rows that follow from them.

    Raises:
        ReplayMismatch: If a cell is missing, or the rows are not those of the cells.
    """
    if (folder / SPEC_FILE).exists():
        there = {(cell.method, cell.replication): trials_done(cell) for cell in found}
        spec = load(folder, is_recorded=True)
        for cell in cells(spec, folder):
            count = there.get((cell.method, cell.replication), 0)
            if count < spec.trials:
                where = f"{cell.method}, replication {cell.replication}"
                raise ReplayMismatch(f"{where}: {SPEC_FILE} asks for {spec.trials} trials, recorded are {count}")
    path = recorded_rows(folder)
    if path is not None and (written := text_of(path)) != (made := rows_text(rows_of(found))):
        lines = zip_longest(made.split("\n"), written.split("\n"), fillvalue="nothing")
        number, (must, is_there) = next((n, pair) for n, pair in enumerate(lines, start=1) if pair[0] != pair[1])
        raise ReplayMismatch(f"{path}, line {number}: must be {must!r}, as the cells say, and is {is_there!r}")


class _Comparison:
    """Raises at the first difference, with all that helps to understand it."""

    def __init__(self, where: str, changed: str) -> None:
        self._where = where
        self._hint = f"libraries have changed: {changed}" if changed else "same libraries; another processor, perhaps"

    def __call__(self, what: str, recorded_value: Any, recomputed: Any) -> None:
        if recorded_value != recomputed:
            found = f"recorded {recorded_value!r}, recomputed {recomputed!r}"
            raise ReplayMismatch(f"{self._where}, {what}: {found} ({self._hint})")
