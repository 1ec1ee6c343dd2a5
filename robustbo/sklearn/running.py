"""The course of a search: ask, fit and tell, until there are enough candidates."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from robustbo.optimizer import Optimizer
from robustbo.sklearn.asking import next_trials
from robustbo.sklearn.candidates import Candidates
from robustbo.sklearn.columns import columns
from robustbo.sklearn.evaluation import (
    EvaluatedCandidate,
    Fit,
    SameFolds,
    all_fits,
    no_score_error,
    summarize_fits,
    task,
)
from robustbo.trials.history import Trial
from robustbo.validation import whole_number


class Running:
    """One search.

    Args:
        search: The `RobustSearchCV`.
        evaluate: scikit-learn's function that fits and scores candidates.

    Attributes:
        optimizer: It asks for candidates; None where there is but one.
        done: What came of each.
        metric: The name of the metric that is optimized, once it is known; None where there is but one.
        results: What ``evaluate`` gave at last; scikit-learn goes on with this very dict.

    Raises:
        ValueError, TypeError: If an argument of the search breaks its rule.
    """

    def __init__(self, search: Any, evaluate: Any) -> None:
        self._search, self._evaluate = search, evaluate
        self._n_trials = whole_number("n_trials", search.n_trials, 1)
        self._batch_size = whole_number("batch_size", search.batch_size, 1)
        self._folds = SameFolds(search)
        self._candidates = Candidates.of(search.space)
        self.optimizer = self._optimizer()
        self.done: list[EvaluatedCandidate] = []
        self.metric: str | None = None
        self.results: dict[str, Any] = {}

    def _optimizer(self) -> Optimizer | None:
        if self._candidates.space is None:
            return None
        search = self._search
        return Optimizer(
            self._candidates.space,
            direction="maximize",
            surrogate=search.surrogate,
            surrogate_options=search.surrogate_options,
            num_initial=search.num_initial,
            replicate=search.replicate,
            max_replicates=search.max_replicates,
            failures=search.failures,
            seed=int(check_random_state(search.random_state).randint(np.iinfo(np.int32).max)),
        )

    def to_the_end(self, context: Any) -> None:
        """Evaluate batches of candidates; a warning where the space has fewer than are wanted."""
        with task(context, self._search, "search", -(-self._n_trials // self._batch_size)) as inner:
            while (left := self._n_trials - len(self.done)) and self._batch(min(self._batch_size, left), inner):
                pass
        if left:
            size = len({candidate.trial.point for candidate in self.done})
            text = f"The space has {size} candidate{'s' * (size > 1)}, fewer than n_trials={self._n_trials}"
            warnings.warn(f"{text}; all of them were evaluated", UserWarning, stacklevel=2)

    @property
    def num_splits(self) -> int:
        """Number of splits, once candidates have been evaluated."""
        return self._folds.count

    def fits(self) -> list[Fit]:
        """The fits of all candidates, those that failed too.

        Raises:
            ValueError, TypeError: If no candidate has a score; see `no_score_error`.
        """
        if all(candidate.num_failed(self.metric, self.num_splits) for candidate in self.done):
            raise no_score_error(self.done, self.metric)
        return all_fits(self.done, self.num_splits, self._search.error_score)

    def columns(self) -> dict[str, Any]:
        """Beliefs about each candidate."""
        return columns(self.optimizer, self.done, self.metric, self.num_splits)

    def _batch(self, size: int, context: Any) -> bool:
        """Evaluate so many candidates; False where there is none left."""
        if not (trials := self._next_trials(size)):
            return False
        params = [self._candidates.params(trial.params) for trial in trials]
        num_fits = 0 if context is None else size * self._search.n_splits_
        with task(context, self._search, "batch", num_fits, is_sequential=False) as inner:
            for candidate in summarize_fits(lambda: self._fits(params, inner), trials, params):
                self._tell(candidate)
                self.done.append(candidate)
        return True

    def _next_trials(self, size: int) -> list[Trial]:
        if self.optimizer is not None:
            return next_trials(self.optimizer, size)
        return [] if self.done else [Trial(0, dict(self._candidates.only))]

    def _fits(self, params: list[dict[str, Any]], context: Any) -> list[Fit]:
        told_of = {} if context is None else {"callback_ctx": context}
        self.results = self._evaluate(params, cv=self._folds, **told_of)
        return self.results["fits"][-len(params) * self.num_splits :]

    def _tell(self, candidate: EvaluatedCandidate) -> None:
        scores = None if candidate.fits is None else candidate.fits[0]["test_scores"]
        if isinstance(scores, Mapping):
            self._search._check_refit_for_multimetric(scores)
            refit = self._search.refit
            self.metric = refit if isinstance(refit, str) else next(iter(scores))
        if self.optimizer is None:
            return
        if candidate.num_failed(self.metric, self.num_splits):
            self.optimizer.fail(candidate.trial, candidate.reason(self.metric))
        else:
            self.optimizer.tell(candidate.trial, candidate.mean(self.metric))
