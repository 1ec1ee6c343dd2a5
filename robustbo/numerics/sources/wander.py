"""Errors that wander in the order of time: the opponent of an error of everything since a time.

What rises and falls in the order of time, as a sensor's values every quarter of an hour do, is explained by a step or a
drift better than by independent noise, and is neither. So these are weighed against errors with correlations
exp(-|i - j| / tau), where i and j are places in the order of time.

Notation: as in `evidence`.

References:
    docs/equations.md section 20.
"""

import math

import numpy as np

from robustbo.numerics.sources.atoms import Rows
from robustbo.numerics.sources.evidence import Precision, log_factor_of

LASTING = (1 / 64, 1 / 16, 1 / 4, 1.0)  # correlation times tau, in all values, equally probable
MOST = 256  # places of which each has an error of its own, a quarter of the shortest time apart; others lie between


def wander_factor(precision: Precision, rows: Rows) -> float:
    """Log Bayes factor of errors that wander against none.

    Args:
        precision: Of the observations.
        rows: ``m`` rows in the order of time.
    """
    m, factors = len(rows), list[float]()
    knots = np.arange(m) if m <= MOST else np.linspace(0, m - 1, MOST)
    lags = np.abs(np.subtract.outer(np.arange(m), knots))
    between = np.abs(np.subtract.outer(knots, knots))
    for share in LASTING:
        A, L = np.zeros((len(precision.al), len(knots))), np.linalg.cholesky(np.exp(-between / (share * m)))
        A[rows] = np.linalg.solve(L, np.exp(-lags / (share * m)).T).T
        factors.append(log_factor_of(precision, A))
    return float(np.logaddexp.reduce(factors)) - math.log(len(factors))  # eq. 20.10
