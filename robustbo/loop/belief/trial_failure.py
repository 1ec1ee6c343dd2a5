"""Trials that failed as a whole, by what their outcomes say together: one failure may spoil all values at once.

Each outcome's own surrogate tells how probable it is that a value of its is wrong. A value is wrong by an error of its
own, or because its trial failed, which spoils all values of it. Under "this trial failed" the log-likelihood ratios of
its outcomes add up. What they are held against is not that all are right, but that each is, or has an error of its own:
so one gross value says nothing of the others beside it, and where these look right, they speak for themselves.

Notation (n trials, M outcomes):
    q   n x M   probability that a value is wrong, by its own outcome alone
    L   n x M   log-likelihood ratio of its being wrong, in nats
    pi    M     prior probability of an error of its own where the trial has not failed; and, the least of them, prior
                odds that it has, so that of wrong values half are wrong by either

References:
    benchmarks/quality/joint_evidence.py measures what it finds, and what predictions gain by it.
"""

import torch
from torch import Tensor

LEAST = 1e-6  # probability that is told from zero: those of single outcomes are sampled


def log_likelihood_ratio(q: Tensor, rate: Tensor | float) -> Tensor:
    """``n x M`` nats for a value being wrong; none where there is no value (NaN).

    Args:
        q: ``n x M`` probabilities that a value is wrong, by its own outcome alone; NaN where there is none.
        rate: ``M`` prior probabilities, in (0, 1), that they are made with, or one.
    """
    return torch.where(q.isnan(), 0.0, torch.logit(q, LEAST) - torch.logit(torch.as_tensor(rate).to(q)))


def failure_probabilities(q: Tensor, rate: Tensor | float) -> Tensor:
    """The probability that each trial has failed; where that is more than even, all values of it are disbelieved.

    Args:
        q: ``n x M`` probabilities that a value is wrong, by its own outcome alone; NaN where there is none.
        rate: ``M`` prior probabilities, in (0, 1), that they are made with, or one; half of the least is that a trial
            fails.

    Returns:
        ``n`` probabilities; of one outcome, which cannot tell a failure from an error of its own, at most even.

    Example:
        >>> q = torch.tensor([[0.99, 0.3, 0.3], [0.99, 0.005, 0.005], [0.3, 0.3, 0.3]], dtype=torch.float64)
        >>> failure_probabilities(q, 0.1).round(decimals=2).tolist()
        [0.92, 0.0, 0.66]
    """
    rates, L = torch.as_tensor(rate).to(q), log_likelihood_ratio(q, rate)
    pi = rates / (2 - rates)
    is_own = torch.logaddexp((-pi).log1p().expand_as(L), pi.log() + L)
    return (pi.log().amin() + (L - is_own).sum(-1)).sigmoid()
