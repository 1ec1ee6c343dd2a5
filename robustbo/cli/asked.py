"""The points that `ask` prints, which are pending from then on, whether they can be printed or not."""

from collections.abc import Sequence

from robustbo.cli import terminal
from robustbo.cli.terminal import Format
from robustbo.report.summary.heading import Name
from robustbo.trials.history import Trial, column_names


def say(trials: Sequence[Trial], names: Sequence[str], format_: Format, *, has_sources: bool = False) -> None:
    """Print trials that have been asked for.

    Args:
        trials: They.
        names: The parameters.
        format_: How.
        has_sources: Whether the study was begun with sources, so that each says who is asked.

    Raises:
        UnwrittenError: If they cannot be printed; it says which they are.
    """
    pending = f"trials {[trial.number for trial in trials]} have been asked for, and wait for their values"
    with terminal.still_true(f"{pending}: robustbo show has their points, robustbo requeue takes them back"):
        if format_ is Format.json:
            terminal.objects(
                {"trial": t.number, "params": t.params, "repeats": t.repeats}
                | ({"source": t.source} if has_sources else {})
                | ({"labels": t.labels} if t.labels else {})
                for t in trials
            )
        else:
            own = ["repeats", "source"] if has_sources else ["repeats"]
            terminal.rows([_row(trial, names, format_, own) for trial in trials], format_)


def _row(trial: Trial, names: Sequence[str], format_: Format, own: Sequence[str]) -> dict[str, object]:
    cells = {name: trial.params.get(name, "") for name in names}  # one that does not exist there has an empty cell
    if format_ is Format.table:  # all digits
        cells |= {name: repr(cells[name]) for name in names if name in trial.params}
    columns = map(Name, column_names(names, own))
    by_column: dict[str, object] = dict(zip(columns, cells.values(), strict=True))
    return {"trial": trial.number, **by_column, **{name: getattr(trial, name) for name in own}}
