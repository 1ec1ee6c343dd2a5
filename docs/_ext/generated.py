"""Directives whose text the code itself gives: the command line's help, and the problems that are registered.

```{commands}
```
"""

import os

# so wide that no line of a help text is folded where a page would scroll
os.environ.setdefault("COLUMNS", "100")

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command
from typer.testing import CliRunner

from robustbo.cli import app
from robustbo.tasks.problem import about, names


def commands() -> str:
    """A section a command, with what its `--help` prints."""
    listed = get_command(app).commands  # type: ignore[attr-defined]
    parts = []
    for name in listed:
        shown = CliRunner().invoke(app, [name, "--help"], prog_name="robustbo").output.strip()
        parts.append(f"## `robustbo {name}`\n\n```text\n{shown}\n```\n")
    return "\n".join(parts)


def problems() -> str:
    """A row a registered problem, with what `robustbo list` says of it."""
    rows = "".join(f"| `{name}` | {about(name)} |\n" for name in names())
    return f"| problem | what it is |\n| --- | --- |\n{rows}"


class Generated(SphinxDirective):
    """A directive without content; its name says which text it stands for."""

    texts = {"commands": commands, "problems": problems}  # noqa: RUF012 - a constant

    def run(self) -> list[nodes.Node]:
        """Parse the text as if it stood on the page."""
        return self.parse_text_to_nodes(self.texts[self.name](), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives."""
    for name in Generated.texts:
        app.add_directive(name, Generated)
    return {"parallel_read_safe": True}
