"""The report of a repair: lines kept, lines left out and why, and trials that have other numbers now."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from robustbo.trials.repair.proof import CHANGED, NOT_PROVEN
from robustbo.trials.repair.salvage import Moved, Salvaged

SHOWN = 200  # characters of a line that was left out
DIFFERENT = (
    "the asks from trial {} on are marked as salvaged: what they had seen is not what stands before them now, and "
    "`robustbo verify` passes over them"
)


def beside(path: Path) -> Path:
    """The new file's name, unless another is given.

    Example:
        >>> print(beside(Path("runs/tuning.jsonl")))
        runs/tuning.repaired.jsonl
    """
    return path.with_name(f"{path.stem}.repaired{path.suffix or '.jsonl'}")


def report(salvage: Salvaged, path: Path | None) -> dict[str, Any]:
    """All of it, as plain JSON values."""
    return {
        "out": None if path is None else str(path),
        "events": salvage.num_events,
        "trials": salvage.history.counts(),
        "left_out": [line._asdict() for line in salvage.left],
        "remarks": [{"line": line, "what": text} for line, text in salvage.remarks],
        "moved": [moved._asdict() for moved in salvage.moved],
        "salvaged_from": salvage.salvaged_from,
    }


def lines(name: str, salvage: Salvaged, path: Path | None) -> list[str]:
    """The report in a few lines, for people; the rest is in `tables`."""
    states = ", ".join(f"{count} {state}" for state, count in salvage.history.counts().items() if count) or "none"
    holds = f"{salvage.num_events} events of {len(salvage.history)} trials ({states})"
    if path is None:
        return [f"{name} is whole, with {holds}; there is nothing to repair, and nothing was written"]
    count = len(salvage.left)
    texts = [f"{path}: kept {holds}", f"left out: {count} line{'s' if count != 1 else ''}"]
    if salvage.salvaged_from is not None:
        texts.append(DIFFERENT.format(salvage.salvaged_from))
    if any(why in (CHANGED, NOT_PROVEN) for _, why, _ in salvage.left):
        texts.append("a line that nothing proves is kept with --keep LINE, if you know that it is right")
    return [*texts, f"{name} is as it was; put the new file in its place if you agree"]


def tables(salvage: Salvaged) -> dict[str, list[dict[str, Any]]]:
    """Titles and rows; none that is empty."""
    titled_rows = {
        "left out": rows_left_out(salvage),
        "kept, with a remark": [{"line": line, "remark": text} for line, text in salvage.remarks],
        "new numbers": [*_runs(salvage.moved)],
    }
    return {title: rows for title, rows in titled_rows.items() if rows}


def rows_left_out(salvage: Salvaged) -> list[dict[str, Any]]:
    """A row a line that was left out."""
    return [{"line": line, "why": why, "it says": _cut(text)} for line, why, text in salvage.left]


def _cut(text: str) -> str:
    if not text.strip("\0"):
        return f"{len(text)} zero bytes"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({len(text)} characters)"


def _runs(moved: list[Moved]) -> Iterator[dict[str, Any]]:
    """A row a run of trials that have moved alike."""
    start = 0
    for end in range(1, len(moved) + 1):
        if end < len(moved) and moved[end].before - moved[end - 1].before == moved[end].now - moved[end - 1].now == 1:
            continue
        run, start = moved[start:end], end
        yield {key: _span(*(getattr(move, key) for move in (run[0], run[-1]))) for key in ("line", "before", "now")}


def _span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} to {last}"
