"""Asking and telling by a sheet that people fill in, for the commands `ask` and `tell`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from robustbo.cli import terminal
from robustbo.errors import SheetError

SheetOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A sheet (.csv or .xlsx) that people fill in; robustbo never overwrites a cell."),
]
ValueOption = Annotated[
    str | None,
    typer.Option("--value", metavar="NAME", help="With --sheet and one outcome: the sheet's column of values."),
]
LabelOption = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="NAME=VALUE", help="A label that people attach to the trial; may be repeated."),
]
AmendOption = Annotated[
    bool, typer.Option("--amend", help="With --sheet: accept values that changed after they were told.")
]

MeasuredOption = Annotated[
    bool,
    typer.Option("--as-measured", help="With --sheet: changed settings are the point that was measured."),
]


def add_rows(
    opt: Any, sheet: Path, n: int, value: str | None, fixed: Mapping[str, Any], by: Any, source: str | None = None
) -> list[Any]:
    """The trials whose rows are added to a sheet; what is filled in there is told first, and said."""
    if sheet.exists():
        for line in _lines(opt.read_sheet(sheet, value=value), opt):
            terminal.log(f"told: {line}")
    return opt.write_sheet(sheet, n, value=value, fixed=fixed, by=by, source=source)


def tell_sheet(opt: Any, sheet: Path, value: str | None, typed_besides: Mapping[str, Any], **options: Any) -> None:
    """Tell what is filled in in a sheet, and say what that is.

    Args:
        opt: The optimizer.
        sheet: The file.
        value: Its column of values.
        typed_besides: What else was typed, by its name; nothing of it may be.
        options: Of `Optimizer.read_sheet`.
    """
    if typed := [f"{name} {text}".strip() for name, text in typed_besides.items() if text]:
        raise SheetError(f"--sheet has trials and values by itself, got {typed[0]!r} too; leave one of them out")
    told = _lines(opt.read_sheet(sheet, value=value, **options), opt)
    terminal.lines(told)
    if not told:
        terminal.log(f"nothing new is filled in in {sheet}")


def _lines(trials: list[Any], opt: Any) -> list[str]:
    from robustbo.study.lines import line_of

    return [line_of(trial, opt.settings.quantities) for trial in trials]
