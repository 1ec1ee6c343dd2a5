"""How Sphinx builds the documentation: `tox run -e docs`, or `sphinx-build -W docs docs/_build`."""

import importlib.metadata
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import stringify_signature

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "robustbo"
author = "the robustbo developers"
copyright = "the robustbo developers"
release = version = importlib.metadata.version("robustbo")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",  # MathJax in the built pages, which need no network for their formulas
    "generated",  # docs/_ext: pages that the code itself writes
    "built_site",  # docs/_ext: every link of the built pages leads somewhere, and nothing is loaded from the network
]
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
exclude_patterns = ["_build", "_templates", "examples", "optunahub"]
default_role = "code"  # docstrings write `name`, as Markdown does

autodoc_typehints = "description"
autodoc_typehints_format = "short"
autodoc_typehints_description_target = "documented_params"  # no second list of what `Attributes` explain
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = True
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"robustbo {release}"
templates_path = ["_templates"]  # the note on each page which version it describes
html_static_path = ["_static"]
html_css_files = ["doors.css"]
html_theme_options = {"navigation_with_keys": True}


def _of_init(app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str, returns: str) -> Any:
    """The signature of `__init__` where that of `__new__` says nothing."""
    if what == "class" and signature and signature.startswith("(*_"):
        whole = inspect.signature(obj.__init__)
        own = whole.replace(parameters=[p for p in whole.parameters.values() if p.name != "self"])
        return stringify_signature(own, show_annotation=False, show_return_annotation=False), returns
    return None


def _is_unexplained(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Skip the fields of a named tuple, which its docstring explains."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") else None


def _link_records(app: Sphinx, docname: str, source: list[str]) -> None:
    """Make downloads of links to Markdown files in runs/, which are no pages of the site."""
    source[0] = re.sub(r"\]\((?=(?:\.\./)+runs/[^)\s]+\.md\))", "](path:", source[0])


def setup(app: Sphinx) -> None:
    """Connect what conf.py does itself."""
    app.connect("source-read", _link_records)
    app.connect("autodoc-process-signature", _of_init)
    app.connect("autodoc-skip-member", _is_unexplained)
