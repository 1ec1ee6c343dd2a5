"""GPflow's variational GP with a Student-t likelihood, in an environment of its own, by `PeerProcess`.

A Matern-5/2 kernel with a length-scale a column; all is learned by GPflow's Scipy optimizer from its defaults.
"""

import time
from typing import Any

import gpflow
import numpy as np
import tensorflow as tf

from benchmarks.quality.peer_process import serve

STEPS = 1000


class Regression:
    """The variational Student-t process."""

    def __init__(self) -> None:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)

    def predict(self, X: Any, y: Any, X_test: Any, y_test: Any) -> dict[str, Any]:
        """Means and log densities of the rows held out, and seconds; it names no value."""
        started = time.process_time()
        inputs, test = np.array(X), np.array(X_test)
        kernel = gpflow.kernels.Matern52(lengthscales=np.ones(inputs.shape[1]))
        model = gpflow.models.VGP((inputs, np.array(y)[:, None]), kernel, gpflow.likelihoods.StudentT())
        optimizer = gpflow.optimizers.Scipy()
        optimizer.minimize(model.training_loss, model.trainable_variables, options={"maxiter": STEPS})
        mean, _ = model.predict_f(test)
        density = model.predict_log_density((test, np.array(y_test)[:, None]))
        answer = {"mean": mean.numpy().ravel().tolist(), "log_density": density.numpy().ravel().tolist()}
        return answer | {"is_flagged": None, "seconds": time.process_time() - started}


if __name__ == "__main__":
    serve(Regression)
