"""A page's part on what to do next, with the commands."""

from html import escape
from typing import Any

from robustbo.report.page.html import part
from robustbo.report.summary.text_todo import todo

FEW = 3  # commands that take no more room than the best recipe


def section(journal: str, found: dict[str, Any]) -> str:
    """The part.

    Args:
        journal: Its place, for the commands.
        found: The overview.
    """
    items, steps = [], todo(journal, found)
    for step in steps:
        commands = [
            f"<p>{escape(f'{what[0].upper()}{what[1:]}:') if what else ''}</p><pre>{escape(command)}</pre>"
            for what, command in step.commands
        ]
        items.append(f"<li>{escape(step.text)}{''.join(commands)}</li>".replace("<p></p>", ""))
    is_tall = sum(len(step.commands) for step in steps) > FEW
    return part("What to do next", f'<ol class="steps">{"".join(items)}</ol>', is_tall=is_tall)
