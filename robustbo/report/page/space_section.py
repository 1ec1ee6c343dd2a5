"""A page's section on what may be chosen: the parameters and constraints that an optimization was told."""

from html import escape

from robustbo.report.page.html import part, table
from robustbo.report.summary import space
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings


def section(settings: Settings, history: History) -> str:
    """The section."""
    lines = space.rows(settings, history)
    is_conditional = any(where for *_, where in lines)
    header = ["parameter", "values", *(["exists"] if is_conditional else [])]
    texts = "".join(f"<li><code>{escape(text)}</code></li>" for text in space_of(settings, history).texts)
    kept = f"<p>Constraints:</p><ul>{texts}</ul>" if texts else ""
    return part("The space", table(header, [line[: len(header)] for line in lines]) + kept)
