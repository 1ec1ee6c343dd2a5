"""A cell of a regression run, fitted once more."""

from robustbo.errors import JournalError
from robustbo.replay.cells.regression import RegressionCell, measure
from robustbo.replay.check.comparison import Agreement, Comparison
from robustbo.replay.check.rounding import scores

FIT_TIME = "fit_s"  # which is never the same


def check(cell: RegressionCell, *, to_the_end: bool = False) -> Agreement:
    """Fit again what is recorded and compare.

    Args:
        cell: Which one.
        to_the_end: Whether to go on after a difference, and count.

    Raises:
        ReplayMismatch: At the first difference.
        JournalError: If the record is damaged.
    """
    where = f"{cell.method}, replication {cell.replication}"
    same = Comparison(where, None, to_the_end=to_the_end, unit="fits")
    entries = cell.entries()
    if len(entries) != len(cell.scenarios):  # the header of another file says that it is this one
        must = f"must have the {len(cell.scenarios)} fits of {where}"
        raise JournalError(f"{cell.record}: {must}, has {len(entries)} of them; put the right file back")
    for number, (entry, scenario) in enumerate(zip(entries, cell.scenarios, strict=True)):
        try:
            again = measure(cell.how, scenario, cell.root)._asdict()
        except (TypeError, ValueError) as error:
            raise JournalError(f"{cell.journal}: {scenario.name}: cannot be made again: {error}") from error
        for name in again:
            if name != FIT_TIME:
                label = f"{' '.join(map(str, scenario[:3]))}, {name}"
                same(label, entry[name], again[name], scores, of=number, is_counted=True)
    return same.agreement
