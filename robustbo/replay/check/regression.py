"""A cell of a regression run, fitted once more."""

from robustbo.errors import JournalError, ReplayMismatch
from robustbo.replay.cells.regression import RegressionCell, measure

FIT_TIME = "fit_s"  # which is never the same


def check(cell: RegressionCell) -> int:
    """Fit again what is recorded and compare bit for bit; the number of fits that are the same.

    Raises:
        ReplayMismatch: At the first difference.
        JournalError: If the record is damaged.
    """
    found = cell.entries()
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
