"""Several models of the same data at once, each as much as it is plausible.

Notation:
    w   k           posterior probabilities
    mu  k x ... q   means of k normal distributions
    C   k x ... q x q   their covariances

References:
    Hoeting, Madigan, Raftery and Volinsky (1999), Bayesian model averaging: a tutorial.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

TEMPERATURE = 3.0  # by which scores are divided: they are maxima, surer of themselves than integrals would be
LEAST = 0.02  # probability of a model that is kept
REACH = -TEMPERATURE * math.log(LEAST)  # nats below the best one's score at which a model's is less than that


def probabilities(scores: Sequence[float]) -> list[float]:
    """Posterior probabilities of models of these scores (nats); zero where less than `LEAST` would be left.

    Example:
        >>> probabilities([0.0, -100.0])
        [1.0, 0.0]
        >>> probabilities([-1.0, -1.0])
        [0.5, 0.5]
    """
    w = (torch.tensor(scores, dtype=torch.float64) / TEMPERATURE).softmax(0)
    retained = w * (w >= min(LEAST, w.max().item()))
    return (retained / retained.sum()).tolist()


def moments(w: Tensor, mu: Tensor, C: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and covariance of a mixture: where its parts disagree, it is less sure than each."""
    mean = torch.einsum("k,k...->...", w, mu)
    apart = mu - mean
    return mean, torch.einsum("k,k...->...", w, C + apart.unsqueeze(-1) * apart.unsqueeze(-2))
