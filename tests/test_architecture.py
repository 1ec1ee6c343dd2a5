"""The import rules of the house, held by the syntax trees: a rule a test, which lists those that break it."""

import ast
import graphlib
import importlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import botorch.models.model
import gpytorch
import pytest
import torch

import robustbo

PACKAGE = Path(robustbo.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
# Imports point down: a folder (or a file of the root) imports only from layers below it, or from itself.
LAYERS = (
    (
        *(
            "errors",
            "limits",
            "foreign",
            "lazy",
            "seeds",
            "validation",
            "guidance",
            "rounding",
            "formulas",
            "printable",
            "censored",
        ),
        "determinism",
    ),
    ("numerics", "searchspace"),
    ("surrogates", "tasks"),
    ("trials",),
    ("loop",),
    ("view",),
    ("report", "study"),
    ("driving", "sheets", "ax", "optuna", "bofire"),
    ("optimizer",),
    ("replay", "gest", "sklearn", "serve"),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
# Within a folder: what each part of it may import besides itself. No method's folder imports another's, but for these.
WITHIN = {
    "numerics": {
        "linalg": set(),
        "gp": {"linalg"},
        "pursuit": {"linalg", "gp"},
        "belief": {"linalg", "gp"},
        "sources": {"linalg", "gp", "pursuit"},  # sets of errors and of wrong values together
        "transfer": {"linalg", "gp", "pursuit"},  # single wrong values in every source
        "failures": {"linalg", "gp"},
        "censored": {"linalg", "gp", "failures"},  # a bound is a step, as a failure is
        "student_t": {"linalg", "gp"},
        "student_t_process": {"linalg", "gp"},
        "weighted": {"linalg", "gp"},
        "iterative": {"linalg", "gp", "weighted"},  # the robust one has the same weights
        "committee": {"linalg", "gp", "student_t"},  # its experts have Student-t noise
        "improvement": {"linalg", "gp", "student_t"},  # under normal and under Student-t predictions
        "baselines": {"linalg", "gp"},
    },
    "surrogates": {
        "names": set(),
        "transforms": set(),
        "common": {"transforms"},
        "pursuit": {"common", "transforms"},
        "transfer": {"common", "transforms", "pursuit"},
        "student_t": {"common", "transforms"},
        "student_t_process": {"common", "transforms", "student_t"},  # they call the same share an outlier
        "weighted": {"common", "transforms"},
        "iterative": {"common", "transforms", "weighted"},
        "committee": {"common", "transforms", "student_t"},
        "baselines": {"common", "transforms", "student_t"},  # the variational one has the same predictions
        "filtered": {"common", "transforms", "pursuit", "student_t", "baselines"},  # its detectors
        "registry": {
            "names",
            "common",
            "baselines",
            "committee",
            "filtered",
            "iterative",
            "student_t_process",
            "weighted",
        },
    },
    "trials": {
        "worker": set(),
        "storage": {"worker"},
        "brief": set(),
        "labels": set(),
        "identity": set(),
        "trial": {"brief", "identity", "labels"},
        "sources": set(),
        "declared": {"sources"},
        "aside": {"declared", "history", "tree", "trial"},
        "source_space": {"declared"},
        "target": {"trial"},
        "times": {"trial"},
        "verdicts": {"storage", "trial", "sources"},
        "by_point": {"identity"},
        "tree": {"trial", "by_point", "identity"},
        "bounds": set(),
        "outcome": {"bounds"},
        "outcomes": {"bounds", "outcome"},
        "noise": set(),
        "values": {"noise", "outcome", "outcomes"},
        "former_names": set(),
        "initial": set(),
        "newer": set(),
        "settings": {"former_names", "newer", "outcome", "outcomes", "sources", "declared", "source_space"},
        "differences": {"settings"},
        "diagnosis": set(),
        "changes": {"storage", "trial"},
        "event_fields": {"noise", "storage", "trial", "tree"},
        "events": {"event_fields", "storage", "trial", "tree"},
        "history": {
            "changes",
            "diagnosis",
            "identity",
            "noise",
            "storage",
            "trial",
            "tree",
            "events",
            "labels",
            "sources",
            "verdicts",
        },
        "extent": {"changes", "settings", "history"},
        "shapes": {"noise"},
        "schema": {"changes", "newer", "shapes", "storage", "trial", "settings", "verdicts"},
        "trust": {"settings"},
        "codec": {"storage", "history", "extent", "newer", "schema", "settings", "trust"},
        "store": {"storage", "history", "extent", "newer", "schema", "settings", "trust", "codec"},
        "repair": {
            *(
                "changes",
                "diagnosis",
                "storage",
                "trial",
                "verdicts",
                "events",
                "history",
                "newer",
                "schema",
                "settings",
                "codec",
            )
        },
    },
    "loop": {
        "observations": set(),
        "surrogate": {"observations"},
        "feasibility": {"observations", "surrogate"},
        "acquisition": set(),
        "optimize_acqf": set(),
        "belief": {"observations", "surrogate"},
        "best": {"observations", "surrogate", "belief"},
        "sources": {"observations", "surrogate", "belief"},
        "candidates": {"observations", "surrogate", "feasibility", "acquisition", "optimize_acqf", "belief", "best"},
        "decide": {"observations", "surrogate", "feasibility", "belief", "best", "sources", "candidates"},
    },
    "view": {
        "frame": set(),
        "patterns": set(),
        "prediction": set(),
        "predict": {"prediction"},
        "points": {"predict", "prediction"},
        "sources": set(),
        "importance": {"points"},
        "nearest": {"points"},
        "view": {"frame", "patterns", "points", "sources"},
    },
    "report": {
        "summary": set(),  # plain values and words
        "charts": {"summary"},  # whose marks have titles in words
        "page": {"summary", "charts"},
    },
    "gest": {
        "variables": set(),
        "problem": {"variables"},
        "sources": set(),
        "results": {"problem"},
        "recording": {"results"},
        "frames": {"problem"},
        "generator": {"problem", "sources", "results", "recording", "frames"},
    },
    "sheets": {
        "cells": set(),
        "doubts": set(),
        "file": set(),
        "grid": set(),
        "columns": {"grid"},
        "delimited": {"cells", "grid"},
        "workbook_file": set(),
        "workbook": {"grid", "workbook_file"},
        "alike": {"cells"},
        "filled": {"alike", "cells", "columns", "grid"},
        "places": {"alike", "filled"},
        "corrections": {"filled", "places"},
        "recognition": set(),
        "changes": {"corrections", "filled", "places", "recognition"},
        "sheet": {"columns", "delimited", "file", "filled", "grid", "points", "workbook"},
        "loop": {"changes", "file", "filled", "sheet"},
        "table": {"delimited", "workbook"},
        "points": {"cells", "delimited", "workbook_file"},
    },
    "bofire": {"data_model": set(), "surrogate": {"data_model"}, "strategies": {"surrogate"}},
    "replay": {
        "spec": set(),
        "cells": {"spec"},
        "execute": {"spec", "cells"},
        "score": {"spec", "cells"},
        "check": {"spec", "cells"},
        "sections": {"spec", "cells", "score"},
        "kinds": {"spec", "cells", "score", "check", "sections"},  # all that differs between them, said once
        "output": {"spec", "cells", "sections", "kinds"},
        "listing": {"spec"},
        "catalog": {"spec", "listing"},
        "plan": {"spec", "cells", "execute", "kinds"},
        "verify": {"spec", "cells", "check", "output", "kinds"},
    },
}
# The command line imports late so that --help is instant, the package is lazy, matplotlib, Ax, Dask, SQLAlchemy and
# openpyxl are optional, locks are another module on Windows, and joblib's workers, which import a search to fit, need
# no torch.
LATE = {
    "__init__.py",
    "cli/app.py",
    "cli/asking.py",
    "cli/beginning.py",
    "cli/best.py",
    "cli/journals.py",
    "cli/recording.py",
    "cli/results.py",
    "cli/serving.py",
    "cli/sheets.py",
    "cli/sources.py",
    "cli/terminal.py",
    "report/charts/matplotlib_canvas.py",
    "replay/execute/on_dask.py",
    "sheets/workbook_file.py",
    "sklearn/search.py",
    "trials/storage/places.py",
    "trials/storage/turnstile.py",
}
OPENS = ("open", "read_text", "read_bytes", "write_text", "write_bytes", "to_csv", "read_csv", "savefig", "mkdir")
OPENS += ("np.load", "np.save", "np.savez", "np.loadtxt", "np.memmap", "np.fromfile", "torch.load", "torch.save")
# Who may open files: the log and what mends it, replay, what is drawn, overviews kept, sheets, a committee's values;
# and the terminal, for that into which goes what cannot be written.
OPENERS = (
    "foreign/",
    "trials/",
    "replay/",
    "cli/terminal.py",
    "report/charts/matplotlib_canvas.py",
    "report/summary/cache.py",
    "sheets/",
    "surrogates/committee/files.py",
)


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def tree(path):
    return ast.parse(path.read_text())


@cache
def nodes(path):
    return tuple(ast.walk(tree(path)))


@cache
def imports(path):
    """(whether it is late, dotted name) of every module or name that a file imports; what types alone need is not."""
    for_types = {
        id(statement)
        for node in nodes(path)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
    }
    names = []
    for node in nodes(path):
        is_late = isinstance(node, ast.Import | ast.ImportFrom) and node.col_offset > 0 and id(node) not in for_types
        if isinstance(node, ast.ImportFrom):
            names += [(is_late, f"{node.module}.{alias.name}") for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [(is_late, alias.name) for alias in node.names]
    return names


@cache
def ours(path):
    """What it imports of this package, as tuples of names below it."""
    return [tuple(name.split(".")[1:]) for _, name in imports(path) if name.split(".")[0] == "robustbo"]


@cache
def calls(path):
    return [ast.unparse(node.func) for node in nodes(path) if isinstance(node, ast.Call)]


def breaking(rule, files=FILES):
    """The files that break a rule, by name."""
    return [name_of(path) for path in files if rule(path)]


def test_every_room_has_a_layer():
    assert {room(f) for f in FILES} - {"__init__"} == set(RANK)


def test_imports_point_down():
    rooms = [f for f in FILES if f != PACKAGE / "__init__.py"]
    assert not breaking(lambda f: any(RANK[name] > RANK[room(f)] for name, *_ in ours(f)), rooms)


def test_nobody_imports_the_bare_package():
    assert not breaking(lambda f: any(not names for names in ours(f)))


def part(path):
    """The second name of its path: what a room is divided into."""
    return path.relative_to(PACKAGE).parts[1].removesuffix(".py")


def test_within_a_folder_they_point_down_too():
    def breaks(path):
        found = {names[1] for names in ours(path) if names[0] == room(path)}
        return bool(found - WITHIN[room(path)][part(path)] - {part(path)})

    files = [f for f in FILES if room(f) in WITHIN and part(f) != "__init__"]
    assert {(room(f), part(f)) for f in files} == {(name, inner) for name in WITHIN for inner in WITHIN[name]}
    assert not breaking(breaks, files)


def test_what_may_be_imported_makes_no_circle():
    for folder, within in WITHIN.items():
        graphlib.TopologicalSorter(within).prepare()  # raises where there is one
        assert set().union(*within.values()) <= set(within), folder


@pytest.mark.parametrize(
    ("seen", "by"),
    [
        (
            ("trials", "history", "History"),
            [
                *("belief/outliers", "best/best", "best/constrained_best", "best/front", "best/incumbent", "decide"),
                *("feasibility/report", "observations/table", "sources/relations", "sources/sources", "surrogate/fit"),
            ],
        ),
        (
            ("trials", "settings", "Settings"),
            [
                *("belief/outcome_models", "belief/outliers"),
                *("best/best", "best/constrained_best", "best/front", "best/incumbent"),
                *("candidates/choose", "candidates/other_source", "candidates/rules", "candidates/source_worth"),
                *("decide", "feasibility/report", "observations/table", "sources/relations", "sources/sources"),
                *("surrogate/fallback", "surrogate/fit", "surrogate/model"),
            ],
        ),
    ],
)
def test_a_decision_looks_at_histories_and_settings_at_its_border_alone(seen, by):
    """All else in the loop looks at the table that is made of them, and at what is fitted to it."""
    assert breaking(lambda f: room(f) == "loop" and seen in ours(f)) == [f"loop/{name}.py" for name in by]


def test_what_shows_an_optimization_asks_its_view():
    """A view keeps what it has computed; whoever fits beside it does so again, by rules that may be others."""

    def goes_round(path):
        return any(names[:3] in BENEATH_A_VIEW or names[-1] == "use_models" for names in ours(path))

    assert not breaking(goes_round, [f for f in FILES if room(f) in ("report", "driving")])
    assert breaking(goes_round, [f for f in FILES if room(f) == "view"])  # there it is


BENEATH_A_VIEW = {("loop", "observations", "table"), ("loop", "surrogate", "fallback")}


def test_imports_stand_at_the_top():
    assert set(breaking(lambda f: any(is_late for is_late, _ in imports(f)))) == LATE


def test_problems_are_never_imported():
    assert not breaking(lambda f: any(name.split(".")[0] == "robustbo_problems" for _, name in imports(f)))


# Packages of other people, and the only folder that imports each. Competitors are imported where they are run as well.
FOREIGN = {
    "ax": "ax",
    "optuna": "optuna",
    "plotly": "optuna",
    "gest_api": "gest",
    "bofire": "bofire",
    "sklearn": "sklearn",
    "openpyxl": "sheets",
    "starlette": "serve",
    "uvicorn": "serve",
}
COMPETITORS = {"replay/cells/optuna.py", "replay/cells/optuna_several.py", "replay/cells/ax.py"}


@pytest.mark.parametrize("foreign", FOREIGN)
def test_a_foreign_package_is_imported_by_its_folder_alone(foreign):
    importing = set(breaking(lambda f: any(name.split(".")[0] == foreign for _, name in imports(f))))
    assert {name for name in importing if not name.startswith(f"{FOREIGN[foreign]}/")} <= COMPETITORS


def test_only_the_terminal_prints():
    assert breaking(lambda f: {"print", "typer.echo"} & set(calls(f))) == ["cli/terminal.py"]


def test_who_opens_files():
    def opens(path):
        return any(call in OPENS or call.split(".")[-1] in OPENS for call in calls(path))

    assert not [name for name in breaking(opens) if not name.startswith(OPENERS)]


def test_only_surrogates_are_modules():
    """By what the classes are, not by what their bases are called."""
    modules = torch.nn.Module, gpytorch.Module, botorch.models.model.Model
    offenders = []
    for path in FILES:
        if room(path) not in ("surrogates", "cli", "moved"):
            name = ".".join(["robustbo", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
            for value in vars(importlib.import_module(name)).values():
                if isinstance(value, type) and issubclass(value, modules) and value.__module__ == name:
                    offenders.append(f"{name}.{value.__name__}")
    assert set(offenders) == MODULES_ELSEWHERE


# Acquisition functions, and a marginal log likelihood that Ax builds, are torch modules too.
MODULES_ELSEWHERE = {
    "robustbo.ax.strategy.LowerBound",
    "robustbo.ax.viability.Viable",
    "robustbo.loop.acquisition.log_nei.ClosedForm",
    "robustbo.loop.acquisition.log_nei.LogNEI",
    "robustbo.loop.acquisition.log_nei.StudentTLogExpectedImprovement",
    "robustbo.loop.acquisition.log_nehvi.LogNEHVI",
    "robustbo.loop.acquisition.botorch_ehvi.LogEHVI",
    "robustbo.loop.acquisition.botorch_ehvi.SampledLogNEHVI",
    "robustbo.loop.acquisition.feasibility_weight.FeasibilityWeighted",
}


# What a probe would be of: a model, its class, or what it brings; `self` is one among the surrogates.
MODELS = {"model", "posterior", "likelihood", "transform", "surrogate", "gp"}


def test_nobody_but_the_contract_asks_a_model_by_name_what_it_can_do():
    def probes(path):
        kinds = MODELS | ({"self", "cls"} if name_of(path).startswith("surrogates/") else set())
        for node in nodes(path):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr"):
                name = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
                if name and kinds & set(re.split(r"[^a-z]+", ast.unparse(node.args[0]))):
                    return True
        return False

    assert breaking(probes) == ["surrogates/common/contract.py", "surrogates/common/surrogate.py"]


def test_a_file_stays_small():
    assert not breaking(lambda f: len(f.read_text().splitlines()) > 250)


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
