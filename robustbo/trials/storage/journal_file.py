"""The journal: an append-only file of JSON objects, one a line, that survives a power cut and is shared by many.

The first line is a header, each further line an event. Every line ends with a checksum chained to the line before, so a
changed, lost or moved line is found and named. A line is on the disk before `append` returns; what a power cut can
leave is a part of the last line, or of the lines of the last call, whose events nobody had been told were kept.

Any number of processes may append: the file is locked for the moment of a write, and whoever writes has read before
what the others wrote.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robustbo import limits
from robustbo.errors import JournalError, JournalWriteError
from robustbo.foreign.reading import NotRegularError, too_large
from robustbo.trials.storage import disk, whole
from robustbo.trials.storage.groups import group_events
from robustbo.trials.storage.line import Event, header_line, lines_of
from robustbo.trials.storage.lock_files import check_lock, lock_beside, lock_file
from robustbo.trials.storage.log import Mark
from robustbo.trials.storage.reading import CUT_OFF, PASSED_OVER, Contents, contents_of, follow, no_journal, warn_loss

DECISION_TIMEOUT_S = 600.0  # for one that is held during a fit


class JournalFile:
    """The log that a journal is; see `trials.storage.log.Log`."""

    def __init__(self, path: str | os.PathLike[str], *, is_watched: bool = False) -> None:
        if "\0" in os.fspath(path):
            raise JournalError(f"a journal's name must have no NUL character, got {os.fspath(path)!r}")
        self.path = Path(path).absolute()
        self.name = str(path)
        self.is_watched = is_watched

    @classmethod
    def create(cls, path: str | os.PathLike[str], header: Mapping[str, Any]) -> tuple["JournalFile", Mark]:
        """Begin a journal.

        Raises:
            FileExistsError: If the file exists.
            JournalWriteError: If it cannot be written.
        """
        log = cls(path)
        if os.path.isdir(log.path):  # which raises nothing
            raise JournalError(f"{path}: is a folder, and a journal is a file; name one in it, such as study.jsonl")
        line, check = header_line(header)
        data = f"{line}\n".encode()
        with _explain_errors(log.name):
            whole.create(log.path, data)
        return log, Mark(0, check, len(data))

    @classmethod
    def resume(cls, path: str | os.PathLike[str], *, is_watched: bool = False) -> tuple["JournalFile", Contents]:
        """A journal to append to, and what is in it; a torn last line is dropped with a warning that shows it.

        One that is only watched may be read-only, and is left as it is.

        Raises:
            JournalError: If it cannot be read; it is left as it is then.
        """
        log = cls(path, is_watched=is_watched)
        with _explain_errors(log.name):
            if not log.path.exists():
                raise no_journal(path)
            with log.turn() as turn:
                if disk.size(turn) > limits.JOURNAL_BYTES:
                    raise JournalError(too_large(path, limits.JOURNAL_BYTES))
                contents = contents_of(Path(path), disk.read_from(turn, 0))
                warn_loss(path, contents.torn, PASSED_OVER if is_watched else CUT_OFF)
                if not is_watched:
                    check_lock(lock_beside(log.path))
                mark = contents.mark if is_watched else turn.append([], contents.mark)
        return log, contents._replace(mark=mark)

    def has_grown(self, mark: Mark) -> bool:
        """Return whether the file is not as it was at a mark; a journal that is gone has not grown."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return False
        except OSError:  # which the next turn will say
            return True
        return status.st_size != mark.end or mark.stamp not in (None, status.st_mtime_ns)

    def turn(self) -> "FileTurn":
        """The file, locked until it is closed.

        Raises:
            JournalWriteError: If it is gone, or must not be written to.
            LockTimeout: If somebody else has it locked for long.
        """
        file = None
        with _explain_errors(self.name):
            try:
                while True:  # somebody may put another file in its place while we wait
                    file = FileTurn(self.name, self.path, "rb" if self.is_watched else "r+b")
                    if disk.is_at(file, self.path):
                        return file
                    file.close()
            except BaseException:
                if file is not None:
                    file.close()
                raise

    def decision_lock(self) -> disk.Locked:
        """The lock on decisions, a file beside the journal."""
        with _explain_errors(self.name):
            return lock_file(lock_beside(self.path), DECISION_TIMEOUT_S)


class FileTurn(disk.Locked):
    """A journal's file while it is locked; see `trials.storage.log.Turn`."""

    def __init__(self, place: str, path: Path, mode: str) -> None:
        self.place = place
        super().__init__(path, mode, disk.TIMEOUT_S)

    def behind(self, mark: Mark) -> tuple[list[Event], Mark]:
        """The events behind a mark; a torn last line is not one, and is cut off by the next `append`.

        Where nothing has been added, though the file was changed, all of it is read again.
        """
        with _explain_errors(self.place):
            size, stamp = disk.size(self), disk.stamp(self)
            if size == mark.end and (mark.stamp is None or mark.stamp == stamp):
                return [], mark
            if size <= mark.end:
                return [], self._read_again(mark)._replace(stamp=stamp)
            data = disk.read_from(self, mark.end)
        try:
            if mark.is_open and not data.startswith(b"\n"):
                raise JournalError(f"{self.place}, line {mark.length + 1}: damaged; the file is left as it is")
            closed = mark._replace(end=mark.end + mark.is_open, is_open=False)
            events, now, _ = follow(Path(self.place), data[mark.is_open :], closed)
        except JournalError:
            self._read_again(mark)  # which finds an earlier line that was changed, or another journal in its place
            raise
        if not events:
            self._read_again(mark)  # which may have become longer
        return list(events), now._replace(stamp=stamp)

    def _read_again(self, mark: Mark) -> Mark:
        """The mark at the end of the file, all of which is read.

        Raises:
            JournalError: If what was before a mark was changed; the message has the line, where one is damaged.
        """
        data = disk.read_from(self, 0)
        contents = contents_of(Path(self.place), data)
        last = data.split(b"\n")[mark.length : mark.length + 1]
        if not (last and last[0].endswith(f'"check": "{mark.check:08x}"}}'.encode())):
            raise JournalError(
                f"{self.place}: must begin with the {mark.length} events that this process has read, and does not (it "
                f"has {contents.mark.length}): it was replaced, edited or cut short; restore the right file, "
                "or resume the present one"
            )
        return contents.mark

    def append(self, events: Sequence[Event], mark: Mark) -> Mark:
        """Write events behind a mark; without any, what is torn is cut off and a missing newline written."""
        lines, check = lines_of(group_events(events), mark.check)
        data = "".join(f"{line}\n" for line in ([""] if mark.is_open else []) + lines).encode()
        with _explain_errors(self.place):
            size = disk.size(self)
            if size < mark.end:
                raise JournalError(f"{self.place}: cut short while it was written to; the event was not recorded")
            if data or size != mark.end:
                disk.write_at(self, mark.end, data)
                mark = mark._replace(is_open=False, stamp=disk.stamp(self))
        return mark._replace(length=mark.length + len(events), check=check, end=mark.end + len(data))


@contextmanager
def _explain_errors(name: str) -> Iterator[None]:
    """Say of a failed write what it was, and whether anything was recorded."""
    try:
        yield
    except FileNotFoundError:
        raise JournalWriteError(
            f"{name}: is gone (deleted or moved), and the event was not recorded; restore it, or begin a new journal"
        ) from None
    except (JournalError, FileExistsError):
        raise
    except disk.NotTakenBackError as error:
        raise JournalWriteError(
            f"{name}: cannot be written ({error.strerror}), and the partial line cannot be removed: read the journal, "
            "once that works again, to see whether the event is recorded"
        ) from error
    except NotADirectoryError:
        raise no_journal(name) from None
    except NotRegularError as error:
        raise JournalError(f"{name}: {error.strerror}, and is not a journal of robustbo; name another file") from error
    except OSError as error:
        if isinstance(error, PermissionError) and os.path.exists(name) and not os.access(name, os.R_OK):
            raise JournalError(
                f"{name}: cannot be read: {error.strerror}; continue as a user who may read and write it"
            ) from error
        raise JournalWriteError(
            f"{name}: cannot be written, and the event was not recorded: {error.strerror}"
        ) from error
