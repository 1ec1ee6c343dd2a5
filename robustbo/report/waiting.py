"""A page's section on trials whose values do not count, but for failed ones: pending, queued, excluded."""

from html import escape
from typing import Any

from robustbo.report.html import table
from robustbo.report.summary import advice, tables


def section(name: str, found: dict[str, Any]) -> str:
    """The section; nothing where there are none.

    Args:
        name: The journal's, for commands.
        found: Its overview.
    """
    parts = []
    for title, rows in tables(found | {"failed": []}).items():  # which have a section of their own
        cells = [[str(value) if value is not None else "-" for value in row.values()] for row in rows]
        parts.append(f"<h3>{escape(title[0].upper() + title[1:])}</h3>{table([*rows[0]], cells)}")
    parts += [f"<p>{escape(line)}.</p>" for line in advice(name, found)]
    return f"<h2>Trials without a value that counts</h2>{''.join(parts)}" if parts else ""
