"""A page's part on what to do next, with the commands."""

from html import escape
from typing import Any

from robustbo.report.html import part
from robustbo.report.words.todo import todo


def section(journal: str, found: dict[str, Any]) -> str:
    """The part.

    Args:
        journal: Its place, for the commands.
        found: The overview.
    """
    items = []
    for step in todo(journal, found):
        commands = [
            f"<p>{escape(f'{what[0].upper()}{what[1:]}:') if what else ''}</p><pre>{escape(command)}</pre>"
            for what, command in step.commands
        ]
        items.append(f"<li>{escape(step.text)}{''.join(commands)}</li>".replace("<p></p>", ""))
    return part("What to do next", f'<ol class="steps">{"".join(items)}</ol>')
