"""Sources as a data frame, which prints as a sentence each."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pandas as pd

from robustbo.loop.belief.source_report import SourceReport
from robustbo.loop.belief.unjudged_sources import sentences

COLUMNS = (
    *("source", "level", "kind", "error", "sd", "since", "since_at", "evidence", "probability", "status", "trials"),
)
NONE = "no source of any value was told"


class SourceFrame(pd.DataFrame):
    """A data frame of sources, a row each, which `print` shows as sentences; a part of it is a plain data frame.

    Example:
        >>> print(SourceFrame.of([]))
        no source of any value was told
    """

    _metadata: ClassVar[list[str]] = ["sentences"]  # pandas' own name for attributes of a frame

    sentences: tuple[str, ...]

    @classmethod
    def of(cls, reports: Sequence[SourceReport]) -> "SourceFrame":
        """The frame of reports, in their order."""
        columns = [*(["outcome"] if any(report.outcome for report in reports) else []), *COLUMNS]
        rows = [[getattr(report, column) for column in columns] for report in reports]
        dtypes = dict.fromkeys(("error", "sd", "evidence", "probability"), "float64")
        frame = pd.DataFrame(rows, columns=columns).astype(
            dtypes | {"since": "Int64", "since_at": "datetime64[us, UTC]"}
        )
        result = cls(frame)
        result.sentences = tuple(sentences((report.status, report.text) for report in reports))
        return result

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __str__(self) -> str:
        return "\n".join(getattr(self, "sentences", ())) or NONE
