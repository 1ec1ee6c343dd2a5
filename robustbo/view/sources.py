"""Sources as a data frame, which prints as a sentence each."""

from collections.abc import Sequence
from typing import Any, ClassVar

import pandas as pd

from robustbo.loop.sources.relations import RelationReport
from robustbo.loop.sources.source_report import SourceReport, sentences
from robustbo.numerics.transfer.relations import RELATIONS

COLUMNS = (
    *("source", "level", "kind", "error", "sd", "since", "since_at", "evidence", "probability", "status", "trials"),
)
RELATION_COLUMNS = (
    *("source", "relation", "b", "b_sd", "rho", "rho_sd", "omega", "omega_sd", "evidence", "cost", "trials", "wrong"),
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


def relation_frame(reports: Sequence[RelationReport], errors: Sequence[SourceReport] = ()) -> SourceFrame:
    """The frame of the sources that a study was begun with, a row each, which `print` shows as sentences.

    Args:
        reports: On these.
        errors: Reports on other kinds of source, whose rows and columns come after.
    """
    columns = [*(["outcome"] if any(report.outcome for report in reports) else []), *RELATION_COLUMNS]
    rows = [
        {column: getattr(report, column, None) for column in columns}
        | {r: report.probabilities.get(r) for r in RELATIONS}
        for report in reports
    ]
    of_errors, plain = SourceFrame.of(errors), pd.DataFrame(rows, columns=[*columns, *RELATIONS])
    frame = SourceFrame(pd.concat([plain, of_errors], ignore_index=True) if errors else plain)
    frame.sentences = (*(report.text for report in reports), *(of_errors.sentences if errors else ()))
    return frame
