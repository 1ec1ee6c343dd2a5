"""Asking and telling by a sheet that people fill in, for the commands `ask` and `tell`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from robustbo.cli import terminal
from robustbo.errors import SheetError

SheetOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A sheet that people fill in, .csv or .xlsx; no cell is ever written over."),
]
ValueOption = Annotated[
    str | None,
    typer.Option("--value", metavar="NAME", help="With --sheet: its column of values, where there is one outcome."),
]
AmendOption = Annotated[
    bool, typer.Option("--amend", help="With --sheet: take values that have changed since they were told.")
]


def add_rows(opt: Any, sheet: Path, n: int, value: str | None, fixed: Mapping[str, Any], by: Any) -> list[Any]:
    """The trials whose rows are added to a sheet; what is filled in there is told first, and said."""
    if sheet.exists():
        for line in _lines(opt.read_sheet(sheet, value=value), opt):
            terminal.log(f"told: {line}")
    return opt.write_sheet(sheet, n, value=value, fixed=fixed, by=by)


def tell_sheet(
    opt: Any, sheet: Path, value: str | None, typed_besides: Mapping[str, Any], *, amends: bool, out_of_range: str
) -> None:
    """Tell what is filled in in a sheet, and say what that is.

    Args:
        opt: The optimizer.
        sheet: The file.
        value: Its column of values.
        typed_besides: What else was typed, by its name; nothing of it may be.
        amends: Whether values that were told may change.
        out_of_range: What to do with a value that is not possible.
    """
    if typed := [f"{name} {text}".strip() for name, text in typed_besides.items() if text]:
        raise SheetError(f"--sheet has trials and values by itself, got {typed[0]!r} too; leave one of them out")
    told = _lines(opt.read_sheet(sheet, value=value, amend=amends, out_of_range=out_of_range), opt)
    terminal.lines(told)
    if not told:
        terminal.log(f"nothing new is filled in in {sheet}")


def _lines(trials: list[Any], opt: Any) -> list[str]:
    from robustbo.study.lines import line_of

    return [line_of(trial, opt.settings.quantities) for trial in trials]
