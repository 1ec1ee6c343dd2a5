"""GPflow's variational regression with a Student-t likelihood.

A Matern-5/2 kernel with a length-scale a column; all is learned by GPflow's Scipy optimizer from its defaults.
"""

from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

STEPS = 1000


class Peer:
    """The variational Student-t process.

    Args:
        message: The message "begin".
    """

    def __init__(self, message: dict[str, Any]) -> None:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)

    def predict(self, message: dict[str, Any]) -> dict[str, Any]:
        """Means and log densities of the rows held out; it names no value."""
        X, y, X_test, y_test = (np.array(message[name]) for name in ("X", "y", "X_test", "y_test"))
        kernel = gpflow.kernels.Matern52(lengthscales=np.ones(X.shape[1]))
        model = gpflow.models.VGP((X, y[:, None]), kernel, gpflow.likelihoods.StudentT())
        optimizer = gpflow.optimizers.Scipy()
        optimizer.minimize(model.training_loss, model.trainable_variables, options={"maxiter": STEPS})
        mean, _ = model.predict_f(X_test)
        density = model.predict_log_density((X_test, y_test[:, None]))
        answer = {"mean": mean.numpy().ravel().tolist(), "log_density": density.numpy().ravel().tolist()}
        return answer | {"is_flagged": None}
