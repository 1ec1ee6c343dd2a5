"""The import rules of the style guide, held by the syntax trees."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import robustbo

PACKAGE = Path(robustbo.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
# Imports point down: a module imports only from layers below it, or from its own.
LAYERS = (
    ("errors", "seeds", "arguments", "interrupted"),
    ("files", "surroundings", "isolation", "numerics"),
    ("parameters", "space"),
    ("surrogates", "problem", "regression", "corruption"),
    ("trials",),
    ("encoding", "doubt"),
    ("fitting", "acquisition_functions"),
    ("ladder",),
    ("outliers", "acquisition", "distinct", "tabular"),
    ("remeasure",),
    ("suggest",),
    ("handing", "overview", "recomputing", "tables", "experiment", "ax_client", "ax"),
    ("study",),
    ("recording", "stopping", "evaluators", "progress"),
    ("driving",),
    ("optimizer",),
    ("replay", "terminal", "cli_arguments"),
    ("cli_study",),
    ("cli",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# The command line imports late so that --help is instant, the package is lazy, matplotlib, Ax, Dask and SQLAlchemy are
# optional, and locks are another module on Windows.
LATE = {"cli.py", "cli_study.py", "terminal.py", "__init__.py", "figure.py", "ax.py", "on_dask.py"}
LATE |= {"logs.py", "disk.py"}


def module(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path):
    """(column, dotted name) of every module that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "robustbo":
            yield from ((node.col_offset, f"robustbo.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.col_offset, node.module
        elif isinstance(node, ast.Import):
            yield from ((node.col_offset, alias.name) for alias in node.names)


def calls(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


@pytest.mark.parametrize("path", [f for f in FILES if f.parent != PACKAGE or f.name != "__init__.py"], ids=str)
class TestEveryFile:
    def test_imports_point_down(self, path):
        ours = [name.split(".")[1:2] for _, name in imports(path) if name.split(".")[0] == "robustbo"]
        assert [] not in ours, "import from a module, not the bare package"
        assert not [name for (name,) in ours if RANK[name] > RANK[module(path)]]

    def test_imports_stand_at_the_top(self, path):
        if path.name in LATE:
            pytest.skip("imports late on purpose")
        assert all(column == 0 for column, _ in imports(path))

    def test_problems_are_never_imported(self, path):
        assert not [name for _, name in imports(path) if name.split(".")[0] == "problems"]

    def test_only_ax_imports_ax(self, path):
        assert path.name == "ax.py" or not [name for _, name in imports(path) if name.split(".")[0] == "ax"]

    def test_only_the_terminal_prints(self, path):
        assert path.name == "terminal.py" or not {"print", "typer.echo"} & set(calls(path))

    def test_only_journal_and_replay_open_files(self, path):
        methods = "open", "read_text", "read_bytes", "write_text", "write_bytes", "to_csv", "savefig", "mkdir"
        opened = [call for call in calls(path) if call.split(".")[-1] in methods]
        assert module(path) in ("trials", "replay") or not opened

    def test_only_surrogates_subclass_modules(self, path):
        if module(path) == "surrogates":
            pytest.skip("may")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                assert not [
                    b
                    for b in node.bases
                    if ast.unparse(b).endswith(("Module", "GP", "Model")) and "Base" not in ast.unparse(b)
                ]

    def test_a_file_stays_small(self, path):
        assert len(path.read_text().splitlines()) <= 250


def test_every_module_has_a_layer():
    assert {module(f) for f in FILES} - {"__init__"} == set(RANK)


def test_importing_the_package_and_a_space_does_not_import_torch():
    code = "import sys, robustbo as rb; rb.Space(x=rb.Float(0, 1)); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_help_imports_neither_torch_nor_pandas():
    code = (
        "import sys\nfrom robustbo.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "sys.exit(bool({'torch', 'pandas', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0


def test_every_public_name_is_there():
    assert all(getattr(robustbo, name) for name in robustbo.__all__)
    assert set(robustbo.__all__) <= set(dir(robustbo))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = robustbo.nonsense
