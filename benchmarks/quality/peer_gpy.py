"""GPy's robust regression in an environment of its own: `python -m benchmarks.quality.peer_gpy`, by `PeerProcess`.

Its Student-t likelihood with Laplace's approximation, all parameters learned from their defaults; and RobustGP, which
trims GPy's GP again and again. Both have a Matern-5/2 kernel with a length-scale a column.
"""

import time
import warnings
from typing import Any

import GPy
import numpy as np
from robustgp import ITGP
from scipy.stats import norm

from benchmarks.quality.peer_process import serve


class Regression:
    """A method of regression: "student-t" or "trimming"."""

    def __init__(self, method: str) -> None:
        warnings.simplefilter("ignore")  # of Laplace's modes that were not found at some step
        self._predict = {"student-t": _student_t, "trimming": _trim}[method]

    def predict(self, X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, Any]:
        """Means and log densities of the rows held out, which training values are left out, and seconds."""
        started = time.process_time()
        columns = [np.array(part) for part in (X, y, X_test, y_test)]
        answer = self._predict(columns[0], columns[1][:, None], columns[2], columns[3][:, None])
        return answer | {"seconds": time.process_time() - started}


def _kernel(X: np.ndarray) -> Any:
    return GPy.kern.Matern52(X.shape[1], ARD=True)


def _student_t(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> dict[str, Any]:
    laplace = GPy.inference.latent_function_inference.Laplace()
    model = GPy.core.GP(X, y, _kernel(X), GPy.likelihoods.StudentT(), inference_method=laplace)
    model.optimize()
    mean, _ = model.predict_noiseless(X_test)
    density = model.log_predictive_density(X_test, y_test)
    return {"mean": mean.ravel().tolist(), "log_density": density.ravel().tolist(), "is_flagged": None}


def _trim(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> dict[str, Any]:
    trimmed = ITGP(X, y, kernel=_kernel(X))
    mean, variance = trimmed.gp.predict(X_test)
    sd = np.sqrt(trimmed.consistency * variance)  # as its own scores are scaled
    density = norm.logpdf(y_test, mean, sd)
    is_flagged = np.ones(len(y), dtype=bool)
    is_flagged[trimmed.ix_sub] = False
    return {
        "mean": mean.ravel().tolist(),
        "log_density": density.ravel().tolist(),
        "is_flagged": is_flagged.tolist(),
    }


if __name__ == "__main__":
    serve(Regression)
