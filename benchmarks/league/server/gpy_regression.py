"""GPy's Student-t regression, and RobustGP's, which trims GPy's regression again and again.

The first has GPy's Student-t likelihood with Laplace's approximation; all parameters are learned from their defaults.
Both have a Matern-5/2 kernel with a length-scale a column.
"""

from typing import Any

import GPy
import numpy as np
from robustgp import ITGP
from scipy.stats import norm


class Peer:
    """A method of regression.

    Args:
        message: The message "begin".
        method: "student-t" or "trimming".
    """

    def __init__(self, message: dict[str, Any], method: str) -> None:
        self._predict = {"student-t": _student_t, "trimming": _trim}[method]

    def predict(self, message: dict[str, Any]) -> dict[str, Any]:
        """Means and log densities of the rows held out, and which training values are left out."""
        X, y, X_test, y_test = (np.array(message[name]) for name in ("X", "y", "X_test", "y_test"))
        return self._predict(X, y[:, None], X_test, y_test[:, None])


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
    density = norm.logpdf(y_test, mean, np.sqrt(trimmed.consistency * variance))  # as its own scores are scaled
    is_flagged = np.ones(len(y), dtype=bool)
    is_flagged[trimmed.ix_sub] = False
    answer = {"mean": mean.ravel().tolist(), "log_density": density.ravel().tolist()}
    return answer | {"is_flagged": is_flagged.tolist()}
