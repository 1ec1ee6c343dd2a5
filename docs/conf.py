"""How Sphinx builds the documentation: `tox run -e docs`, or `sphinx-build -W docs docs/_build`."""

import importlib.metadata
import sys
from pathlib import Path

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
    "generated",  # docs/_ext: pages that the code itself writes
]
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
exclude_patterns = ["_build", "examples", "optunahub"]
default_role = "code"  # docstrings write `name`, as Markdown does

autodoc_typehints = "description"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
napoleon_use_ivar = True

html_theme = "furo"
html_title = "robustbo"
html_theme_options = {"navigation_with_keys": True}
