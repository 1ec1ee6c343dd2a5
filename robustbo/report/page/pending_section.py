"""A page's section on trials whose values do not count, but for failed ones: pending, queued, excluded."""

from datetime import datetime
from html import escape
from typing import Any

from robustbo.report.page.html import part, table
from robustbo.report.summary.text_summary import tables


def section(found: dict[str, Any], made: datetime | None) -> str:
    """The section; nothing where there are none.

    Args:
        found: The overview.
        made: When the page was made, if that is said.
    """
    parts = []
    for title, rows in tables(found | {"failed": []}, made).items():  # which have a section of their own
        cells = [[str(value) if value is not None else "-" for value in row.values()] for row in rows]
        parts.append(f"<h3>{escape(title[0].upper() + title[1:])}</h3>{table([*rows[0]], cells)}")
    return part("Trials without a value that counts", "".join(parts), is_wide=True) if parts else ""
