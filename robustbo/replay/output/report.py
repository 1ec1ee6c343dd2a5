"""What a run leaves in its folder: all rows and the summary as CSV, and the picture."""

from pathlib import Path

import pandas as pd

from robustbo.replay.kinds import kind_of, recorded, rows_of
from robustbo.replay.sections.section import Tables
from robustbo.replay.spec.reading import AnySpec
from robustbo.report import canvas

ROWS, SUMMARY, PICTURE = "results.csv", "summary.csv", "curves.png"


def rows_text(rows: pd.DataFrame) -> str:
    """Rows as CSV, with all their digits."""
    return rows.to_csv(index=False, float_format="%.17g", lineterminator="\n")


def recorded_rows(folder: Path) -> Path | None:
    """The rows that lie in a folder, as they were written or compressed since."""
    found = [path for path in (folder / ROWS, folder / f"{ROWS}.gz") if path.is_file()]
    return found[0] if found else None


def draw(spec: AnySpec, found: Tables, path: Path) -> bool:
    """Draw a run; whether that was possible: it needs matplotlib."""
    rows = kind_of(spec).charts(spec, found)
    return canvas.draw(rows, path, spec.title if len(rows) > 1 else "")


def write(folder: Path, spec: AnySpec) -> list[Path]:
    """Write the tables and the picture of everything recorded in a folder.

    Returns:
        The files written; no picture where matplotlib is not installed.
    """
    found = kind_of(spec).tables(rows_of(recorded(folder)), spec)
    written = [folder / ROWS, folder / SUMMARY, folder / PICTURE]
    written[0].write_text(rows_text(found.rows), encoding="utf-8")
    (folder / f"{ROWS}.gz").unlink(missing_ok=True)  # of an earlier record
    found.summary.to_csv(written[1], index=False)
    return written if draw(spec, found, written[2]) else written[:2]
