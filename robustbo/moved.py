"""Import paths of before: a module that has moved is found under its old name too.

Example:
    >>> from robustbo.surrogates.base import fit
    >>> fit.__module__
    'robustbo.surrogates.common.contract'
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "acquisition": "loop.acquisition",
    "acquisition_functions": "loop.log_ei",
    "arguments": "validation",
    "ax_client": "ax.client",
    "cli_arguments": "cli.arguments",
    "cli_study": "cli.study",
    "corruption": "tasks.corruption",
    "distinct": "loop.distinct",
    "doubt": "loop.doubt",
    "driving.interrupts": "determinism.interrupts",
    "encoding": "searchspace.encoding",
    "evaluators": "driving.evaluators",
    "evaluators.cluster": "driving.evaluators.cluster",
    "evaluators.evaluator": "driving.evaluators.evaluator",
    "evaluators.outcome": "driving.evaluators.outcome",
    "evaluators.processes": "driving.evaluators.processes",
    "evaluators.worker": "driving.evaluators.worker",
    "experiment": "ax.experiment",
    "files": "surrogates.committee.files",
    "fitting": "loop.fit",
    "handing": "study.handing",
    "interrupted": "determinism.interrupted",
    "isolation": "determinism.isolation",
    "ladder": "loop.ladder",
    "outliers": "loop.outliers",
    "overview": "report.overview",
    "parameters": "searchspace.parameters",
    "problem": "tasks.problem",
    "progress": "driving.progress",
    "recomputing": "study.recomputing",
    "recording": "study.recording",
    "regression": "tasks.regression",
    "remeasure": "loop.replicate",
    "space": "searchspace.space",
    "stopping": "driving.stopping",
    "suggest": "loop.decide",
    "report.summary": "report.overview",
    "surrogates.arcsinh": "surrogates.transforms.arcsinh",
    "surrogates.autograd_covariance": "surrogates.common.custom_kernel",
    "surrogates.averaged": "surrogates.common.averaged",
    "surrogates.base": "surrogates.common.contract",
    "surrogates.base_gp": "surrogates.common.priors",
    "surrogates.bent": "surrogates.transforms.warp",
    "surrogates.botorch_relevance_pursuit": "surrogates.baselines.botorch_relevance_pursuit",
    "surrogates.cluster": "surrogates.committee.cluster",
    "surrogates.committee_prediction": "surrogates.committee.prediction",
    "surrogates.computation_aware": "surrogates.iterative.model",
    "surrogates.conjugate": "surrogates.weighted.model",
    "surrogates.explicit_posterior": "surrogates.common.explicit_posterior",
    "surrogates.follows_data": "surrogates.common.follows_data",
    "surrogates.heavy_tailed_likelihood": "surrogates.student_t.likelihood",
    "surrogates.in_numbers": "surrogates.common.in_numbers",
    "surrogates.laplace_mll": "surrogates.student_t.mll",
    "surrogates.map_gp": "surrogates.common.map_gp",
    "surrogates.outlier_likelihood": "surrogates.common.likelihood",
    "surrogates.parts": "surrogates.committee.parts",
    "surrogates.power_transform": "surrogates.baselines.power_transform",
    "surrogates.predictive": "surrogates.student_t.predictive",
    "surrogates.pursuit_options": "surrogates.pursuit.options",
    "surrogates.relevance_pursuit": "surrogates.pursuit.model",
    "surrogates.rescaling": "surrogates.transforms.inlier_rescale",
    "surrogates.robust_standardize": "surrogates.transforms.robust_standardize",
    "surrogates.scaled_clip": "surrogates.baselines.scaled_clip",
    "surrogates.scoring": "surrogates.common.scoring",
    "surrogates.standard": "surrogates.baselines.standard",
    "surrogates.streamed": "surrogates.committee.streamed",
    "surrogates.student_t_posterior": "surrogates.student_t_process.posterior",
    "surrogates.student_t_process_mll": "surrogates.student_t_process.mll",
    "surrogates.student_t_variational": "surrogates.baselines.student_t_variational",
    "surrogates.trimmed": "surrogates.baselines.trimmed",
    "surrogates.weighed": "surrogates.weighted.weighed",
    "surrogates.winsorized": "surrogates.baselines.winsorized",
    "surroundings": "determinism.surroundings",
    "tables": "report.text",
    "tabular": "searchspace.tabular",
    "terminal": "cli.terminal",
}


class _OldPaths:
    """Finds what has moved, and puts it there under its old name; the base classes of importlib.abc load slowly."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What `import` asks of each finder; None of a name that is not ours."""
        loader: Any = self  # by its methods
        return ModuleSpec(fullname, loader) if _now(fullname) else None

    def create_module(self, spec: ModuleSpec) -> None:
        """An empty module, for the moment."""

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module itself in the place of an empty one."""
        now = _now(module.__name__)
        assert now is not None
        sys.modules[module.__name__] = importlib.import_module(now)


def _now(name: str) -> str | None:
    package, _, rest = name.partition(".")
    return f"robustbo.{MOVED[rest]}" if package == "robustbo" and rest in MOVED else None


def install() -> None:
    """Ask first: a file of a folder that has moved would be found a second time, as another module."""
    sys.meta_path.insert(0, _OldPaths())
