"""Ask and tell by a sheet: rows go out, and what has been filled in comes in; the journal is what counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from robustbo.errors import SheetError, SheetWarning, warn
from robustbo.guidance import explain_misfits
from robustbo.searchspace.tabular import MAX_ROWS_SHOWN, warn_of_violations
from robustbo.sheets.changes import Changes, RowRules, changes
from robustbo.sheets.filled import numbers_in
from robustbo.sheets.sheet import Sheet, open_sheet
from robustbo.study.asking import Asking
from robustbo.study.declared import source_to_measure
from robustbo.study.possible import check_possible, value_check, with_exclusions
from robustbo.study.queueing import own
from robustbo.trials.history import History, Trial
from robustbo.trials.outcome import OutOfRange
from robustbo.trials.sources import Source, labels_to_record
from robustbo.trials.storage.line import Event
from robustbo.trials.store import State
from robustbo.validation import flag, whole_number

TRIES = 5  # of writing a sheet that others write too
TO_KEEP_IT = (
    "correct it, or record it as excluded, by read_sheet(..., out_of_range='exclude') "
    "(robustbo tell --sheet FILE --out-of-range exclude)"
)
TO_AMEND = "write the right value, or again what was told; a wrong value that was told is left out by exclude"


@explain_misfits()
class Sheets(Asking):
    """A study whose trials go out, and whose values come in, by sheets that people fill in."""

    def write_sheet(
        self,
        path: str | PathLike[str],
        n: int = 1,
        *,
        value: str | None = None,
        fixed: Mapping[str, Any] | None = None,
        by: Source | None = None,
        source: str | None = None,
    ) -> list[Trial]:
        """Ask for the next ``n`` points, and add a row for each to a sheet, where people fill in the values.

        Values that people have filled in are told first, as by `read_sheet`. No filled cell is overwritten: new rows
        come below all others. The file keeps its dialect (separator, decimal mark, encoding) and its rights. Missing
        rows of this sheet's pending trials are added again.

        Args:
            path: The sheet, .csv (.tsv, .txt) or .xlsx, which needs openpyxl; a new one is begun where there is none.
            n: Number of points; 0 only adds missing rows.
            value: The name of the column of values; by default, the outcome's name and unit, or "value". Several
                outcomes have a column each, by their names.
            fixed: As for `ask`.
            by: Who measures them (`Trial.asked_by`); the sheet's file name by default. Two sheets of one journal need
                different ones. Labels by kind, as ``{"reactor": "R3"}``, are the source of their values too, as for
                `ask`; a column source.reactor that is added to a sheet says so row by row.
            source: One of the declared sources; by default the optimizer chooses. The column source names it.

        Returns:
            The trials whose rows were added.

        Raises:
            SheetError: If the sheet cannot be read, what is in it cannot be told, or it is open elsewhere; it is as it
                was then, and nothing was asked or told, unless the message says so.
            SpaceExhausted: As for `ask`.
        """
        count, file, told, new = whole_number("n", n, 0), Path(path), list[Trial](), list[Trial]()
        measurer = source_to_measure(self.settings, by if isinstance(by, Mapping) else None, source)
        labels = labels_to_record(measurer)
        asker = ", ".join(labels.values()) or (file.name if by is None else str(by))
        try:
            for _ in range(TRIES):
                sheet = open_sheet(file, self.settings, value)
                sheet.check_writable()
                sheet.check_whole(self.settings.space.names, "for new rows")
                now, numbers = self._tell_rows(sheet, False, "raise")
                told += now
                if count > len(new):
                    new += self.ask(count, fixed=fixed, by=labels) if labels else self.ask_as(asker, count, fixed=fixed)
                present = numbers_in(sheet.grid, sheet.columns) | {*numbers.values()}
                pending = [trial for trial in self.history.having("pending") if trial.number not in present]
                rows = [trial for trial in pending if trial.asked_by == asker]
                if sheet.add_rows(numbers, rows):
                    _warn_of_others(sheet, [trial.number for trial in pending if trial not in rows])
                    return [own(trial) for trial in rows]
            raise SheetError(f"{file}: other processes keep changing it; try again")
        except SheetError as error:
            raise _with_progress(error, told, new) from error

    def read_sheet(
        self,
        path: str | PathLike[str],
        *,
        value: str | None = None,
        amend: bool = False,
        as_measured: bool = False,
        out_of_range: OutOfRange = "raise",
    ) -> list[Trial]:
        """Tell the values that people have filled in in a sheet: all, or none if a row breaks a rule.

        The number in a row names its trial; values told before are skipped. A row without a number is a new
        measurement, and gets a number. A word in place of a value ("the stirrer broke") fails the trial, with that
        reason. With several outcomes a row waits until each has a value or a word.

        Args:
            path: The sheet.
            value: The name of its column of values, as in `write_sheet`; OUTCOME.sd, or "sd", may have the standard
                deviations of their noise.
            amend: Whether values that have changed since they were told are corrected, as by `amend`.
            as_measured: Whether changed settings are the point that was measured, as ``params`` of `tell`; otherwise
                they are an error.
            out_of_range: As for `tell`; a corrected value must be possible in any case.

        Returns:
            The trials that were told, failed or amended.

        Raises:
            SheetError: If the sheet cannot be read, or rows break a rule; the message names each. Changed values are
                errors unless ``amend``, changed settings unless ``as_measured``, impossible values as ``out_of_range``
                says.
        """
        file, amends, told = Path(path), flag("amend", amend), list[Trial]()
        are_measured = flag("as_measured", as_measured)
        try:
            for _ in range(TRIES):
                sheet = open_sheet(file, self.settings, value)
                if sheet.before is None:
                    raise SheetError(f"{file}: there is no such sheet; write_sheet (robustbo ask --sheet) begins one")
                now, numbers = self._tell_rows(sheet, amends, out_of_range, are_measured=are_measured)
                told += now
                if not numbers or sheet.add_rows(numbers, []):
                    return told
            raise SheetError(f"{file}: other processes keep changing it; try again")
        except SheetError as error:
            raise _with_progress(error, told, []) from error

    def _tell_rows(
        self, sheet: Sheet, amends: bool, out_of_range: OutOfRange, *, are_measured: bool = False
    ) -> tuple[list[Trial], dict[int, int]]:
        """Tell what is filled in; the trials, and by row the numbers of those of rows without one."""
        read = self._reader_of(sheet, amends, out_of_range, are_measured=are_measured, is_written=True)
        settings, space, numbers = self.settings, self.settings.space, dict[int, int]()

        def events_of(state: State) -> Sequence[Event]:
            result = read(state.history)
            if result.errors:
                raise SheetError(_in_all(sheet, result.errors))
            texts = result.waiting + result.notes + sheet.notes()
            for text in texts:  # before anything is recorded: it may be made an error
                warn(f"{sheet.path}, {text}", SheetWarning)
            warn_of_violations(space, [event["params"] for event in result.events if "params" in event])
            numbers.clear()
            numbers.update(result.numbers)
            return with_exclusions(settings, state.history, result.events)

        return self._commit(events_of), numbers

    def _reader_of(
        self, sheet: Sheet, amends: bool, out_of_range: OutOfRange, *, are_measured: bool = False, is_written: bool
    ) -> Callable[[History], Changes]:
        """Return what gives the difference between a sheet and a history.

        Args:
            sheet: The sheet.
            amends: Whether values that have changed are corrected.
            out_of_range: As for `tell`.
            are_measured: As for `read_sheet`.
            is_written: Whether the numbers of rows without one are to be written into it.
        """
        settings, errors = self.settings, list[str]()
        check = value_check(settings, out_of_range, TO_KEEP_IT)
        rows, space = sheet.read_rows(errors), settings.space
        if any(row.number is None for row in rows):
            if is_written:
                sheet.check_writable()
            always = [name for name, parameter in space.parameters if not parameter.condition]
            sheet.check_whole(always, "for rows without a trial's number")
        options = self._value_content, check, check_possible(settings, TO_AMEND), amends, are_measured, settings.sources
        rules = RowRules(space, sheet.grid.decimal, *options)

        def read(history: History) -> Changes:
            result = changes(history, rows, rules)
            return replace(result, errors=errors + result.errors)

        return read


def _with_progress(error: SheetError, told: Sequence[Trial], new: Sequence[Trial]) -> SheetError:
    """The error, with what the journal has of it, which the next call goes on from."""
    parts = [str(error)]
    if told:
        parts.append(f"trials {[trial.number for trial in told]} have been told, and are known by their rows")
    if new:
        parts.append(f"trials {[trial.number for trial in new]} have been asked for; n=0 (-n 0) adds their rows")
    return SheetError("; ".join(parts))


def _in_all(sheet: Sheet, errors: Sequence[str]) -> str:
    if len(errors) == 1:
        return f"{sheet.path}, {errors[0]}; nothing was told"
    more = [f"... and {len(errors) - MAX_ROWS_SHOWN} more"] if len(errors) > MAX_ROWS_SHOWN else []
    lines = [f"{sheet.path}: nothing was told, since {len(errors)} rows cannot be:", *errors[:MAX_ROWS_SHOWN], *more]
    return "\n".join(lines)


def _warn_of_others(sheet: Sheet, numbers: Sequence[int]) -> None:
    """Say of a new sheet that it has not all that is pending."""
    if sheet.is_empty and numbers:
        advice = "where nobody measures them, take them back (requeue), and the next ask gives them out again"
        warn(f"{sheet.path}: has no rows for trials {[*numbers]}, which others asked for; {advice}", SheetWarning)
