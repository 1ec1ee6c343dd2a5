"""Serve one peer over pipes: `python -m benchmarks.league.server.serve NAME`, a JSON object a line in, and one out.

    {"do": "begin", "space": {NAME: PARAMETER}, "constraints": [[{NAME: a}, c]], "direction": "minimize", "seed": 1,
     "budget": 100}                                -> {}, or {"cannot": REASON} of a space that it cannot search
    {"do": "ask"}                                  -> {"point": {NAME: VALUE}}
    {"do": "tell", "point": {...}, "value": 1.2}   -> {}; null is a trial that failed
    {"do": "recommend"}                            -> {"point": {...}}
    {"do": "end"}                                  -> {"versions": {...}}

A peer of `OF_OLD_STUDIES` begins with "old" as well: [[{NAME: VALUE}, 1.2], ...], the values of an old study. A peer of
`OF_TABLES` begins with nothing, and is asked for the rows held out of a table:

    {"do": "predict", "X": [[...], ...], "y": [...], "X_test": [[...], ...], "y_test": [...]}
                                                   -> {"mean": [...], "log_density": [...], "is_flagged": [...] or null}

Each answer has "seconds" of this process's processor; one that failed has "error" in the place of the rest. A
parameter is as `robustbo.searchspace` writes it. A constraint is the sum of a times the parameter, and c, which is at
most 0. What a library prints goes to the standard error, so that nothing stands between the answers.
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time
import warnings
from typing import Any

# By name: the module with the class `Peer`, the options of that, and the distributions whose versions are kept.
PEERS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "random": ("random_search", {}, ()),
    "optuna-gp": ("optuna_sampler", {"sampler": "GPSampler"}, ("optuna", "torch", "scipy")),
    "optuna-tpe": ("optuna_sampler", {"sampler": "TPESampler"}, ("optuna",)),
    "cma": ("cma_es", {}, ("cma",)),
    "ax": ("ax_client", {}, ("ax-platform", "botorch", "gpytorch", "torch")),
    "botorch": ("botorch_nei", {"model": "SingleTaskGP"}, ("botorch", "gpytorch", "torch")),
    "botorch-pursuit": (
        "botorch_nei",
        {"model": "RobustRelevancePursuitSingleTaskGP"},
        ("botorch", "gpytorch", "torch"),
    ),
    "turbo": ("trust_region", {}, ("botorch", "gpytorch", "torch")),
    "baybe": ("baybe_campaign", {}, ("baybe", "botorch", "torch")),
    "bofire": ("bofire_strategy", {}, ("bofire", "botorch", "torch")),
    "hebo": ("hebo_optimizer", {}, ("HEBO", "gpytorch", "pymoo", "torch")),
    "smac": ("smac_facade", {}, ("smac", "ConfigSpace", "scikit-learn")),
    "skopt": ("skopt_optimizer", {"package": "skopt"}, ("scikit-optimize", "scikit-learn")),
    "processoptimizer": ("skopt_optimizer", {"package": "ProcessOptimizer"}, ("ProcessOptimizer", "scikit-learn")),
    "pybads": ("pybads_thread", {}, ("pybads", "gpyreg")),
}
# Likewise, of loops that begin with an old study: `benchmarks.transfer.old`.
OF_OLD_STUDIES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "baybe-task": ("baybe_task", {}, ("baybe", "botorch", "torch")),
    "smac-warm-start": ("smac_warm_start", {}, ("smac", "ConfigSpace", "scikit-learn")),
}
# Likewise, of regression: `benchmarks.regression.methods`.
OF_TABLES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "gpy-student-t": ("gpy_regression", {"method": "student-t"}, ("GPy", "numpy")),
    "robustgp": ("gpy_regression", {"method": "trimming"}, ("robustgp", "GPy", "numpy")),
    "gpflow-student-t": ("gpflow_regression", {}, ("gpflow", "tensorflow-cpu", "numpy")),
}


class Session:
    """One peer, and what it is asked."""

    def __init__(self, name: str) -> None:
        self._module, self._options, self._distributions = {**PEERS, **OF_OLD_STUDIES, **OF_TABLES}[name]
        self._peer: Any = None

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Answer a message."""
        do = message["do"]
        if do == "begin":
            module = importlib.import_module(f"benchmarks.league.server.{self._module}")
            self._peer = module.Peer(message, **self._options)
            return {}
        if do == "ask":
            return {"point": self._peer.ask()}
        if do == "tell":
            self._peer.tell(message["point"], message["value"])
            return {}
        if do == "recommend":
            return {"point": self._peer.recommend()}
        if do == "predict":
            return dict(self._peer.predict(message))
        versions = {name: importlib.metadata.version(name) for name in self._distributions}
        return {"versions": {"python": sys.version.split()[0]} | versions}


def serve(name: str) -> None:
    """Answer the lines of the standard input until it ends, or somebody says "end"."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    session = Session(name)
    for line in sys.stdin:
        message, started = json.loads(line), time.process_time()
        try:
            answer = session.answer(message)
        except NotImplementedError as error:
            answer = {"cannot": str(error)}
        except Exception as error:  # any library's: whoever asked decides
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        answer["seconds"] = time.process_time() - started
        answers.write(json.dumps(answer, default=plain_value) + "\n")
        answers.flush()
        if message["do"] == "end":
            break
    os._exit(0)  # without waiting for a library's threads


def plain_value(value: Any) -> Any:
    """A number of NumPy or torch as Python's own."""
    return value.item()


if __name__ == "__main__":
    serve(sys.argv[1])
