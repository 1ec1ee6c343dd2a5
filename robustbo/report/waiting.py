"""A page's section on trials whose values do not count, but for failed ones: pending, queued, excluded."""

from html import escape
from typing import Any

from robustbo.report.html import table
from robustbo.report.words.summary import advice, tables


def section(found: dict[str, Any]) -> str:
    """The section; nothing where there are none.

    Args:
        found: The overview.
    """
    parts = []
    for title, rows in tables(found | {"failed": []}).items():  # which have a section of their own
        cells = [[str(value) if value is not None else "-" for value in row.values()] for row in rows]
        parts.append(f"<h3>{escape(title[0].upper() + title[1:])}</h3>{table([*rows[0]], cells)}")
    parts += [f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in advice("JOURNAL", found)]
    return f"<h2>Trials without a value that counts</h2>{''.join(parts)}" if parts else ""
