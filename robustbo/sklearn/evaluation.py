"""The fits of a search: a few candidates at a time, on the same folds, those that fail too."""

import math
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv

from robustbo.trials.history import Trial

Fit = dict[str, Any]  # what scikit-learn keeps of the fit of a candidate on one split
ALL_FAILED = re.compile(r"All the (\d+) fits failed")  # how scikit-learn ends a search of which a whole batch fails
DETAILS = "Below are more details about the failures:\n"  # what it says before the errors
SHOWN = 3  # errors, with their tracebacks, where all candidates fail
HEAD = re.compile(r"-{80}\n(\d+) fits failed with the following error:\n")  # and before each that differs


class SameFolds:
    """A splitter that splits once, so that all candidates of a search are compared on the same folds.

    Args:
        search: The search whose splitter it is. From scikit-learn 1.9 on it has it ready; before, ``cv`` says which.

    Attributes:
        count: How many splits there are; 0 before the first call.
    """

    def __init__(self, search: Any) -> None:
        self._search = search
        self._folds: list[Any] = []

    @property
    def count(self) -> int:
        return len(self._folds)

    def split(self, X: Any, y: Any = None, **params: Any) -> list[Any]:
        """The splits of the first call."""
        if not self._folds:
            cv = getattr(self._search, "_checked_cv_orig", self._search.cv)
            splitter = check_cv(cv, y, classifier=is_classifier(self._search.estimator))
            self._folds = list(splitter.split(X, y, **params))
        return self._folds


@dataclass(frozen=True)
class EvaluatedCandidate:
    """A candidate, and what came of its fits.

    Attributes:
        trial: What the optimizer asked for.
        params: What the estimator was given.
        fits: One a split; None where each of them raised.
        error: scikit-learn's own words on that.
        seconds: What a fit took then, on average, until it raised.
    """

    trial: Trial
    params: dict[str, Any]
    fits: Sequence[Fit] | None
    error: str = ""
    seconds: float = 0.0

    def num_failed(self, metric: str | None, num_splits: int) -> int:
        """Number of fits that raised, or that have no finite score."""
        if self.fits is None:
            return num_splits
        return sum(fit["fit_error"] is not None or not math.isfinite(score_of(fit, metric)) for fit in self.fits)

    @property
    def errors(self) -> Counter[str]:
        """Tracebacks of the errors, with the number of times that each was raised."""
        if self.fits is not None:
            return Counter(fit["fit_error"].strip() for fit in self.fits if fit["fit_error"])
        _, *parts = HEAD.split(self.error)
        numbers, texts = parts[::2], parts[1::2]
        return Counter(
            {text.strip(): int(n) for n, text in zip(numbers, texts, strict=True)} or {self.error.strip(): 1}
        )

    def mean(self, metric: str | None) -> float:
        """The mean score."""
        return float(np.mean([score_of(fit, metric) for fit in self.fits or ()]))

    def reason(self, metric: str | None) -> str:
        """Reason of the failure: the last line of the first error."""
        if errors := [*self.errors]:
            return last_line(errors[0])
        return f"scores that are not finite: {[score_of(fit, metric) for fit in self.fits or ()]}"


def last_line(error: str) -> str:
    """The last line of a traceback, which names the error: "MemoryError: no memory"."""
    return error.splitlines()[-1]


def score_of(fit: Fit, metric: str | None) -> float:
    """The test score of a fit, by one of several metrics, or the only one (None)."""
    scores = fit["test_scores"]
    return float(scores if metric is None else scores[metric])


def summarize_fits(
    evaluate: Callable[[], Sequence[Fit]], trials: Sequence[Trial], params: list[dict[str, Any]]
) -> list[EvaluatedCandidate]:
    """Summarize the fits of some candidates.

    Args:
        evaluate: Gives their fits, those of the first candidate first.
        trials: What the optimizer asked for.
        params: The estimator's parameters, of each candidate.
    """
    started = time.perf_counter()
    try:
        fits = evaluate()
    except ValueError as error:
        if not (count := ALL_FAILED.search(str(error))):
            raise
        seconds, details = (time.perf_counter() - started) / int(count[1]), str(error).partition(DETAILS)[2]
        warnings.warn(f"All fits of {params} failed; the search goes on.\n{details}", FitFailedWarning, stacklevel=2)
        return [EvaluatedCandidate(t, of, None, details, seconds) for t, of in zip(trials, params, strict=True)]
    fits_per_trial = len(fits) // len(trials)
    slices = zip(trials, params, range(0, len(fits), fits_per_trial), strict=True)
    return [EvaluatedCandidate(trial, of, fits[start : start + fits_per_trial]) for trial, of, start in slices]


def all_fits(candidates: Sequence[EvaluatedCandidate], num_splits: int, error_score: Any) -> list[Fit]:
    """The fits of all candidates, where those of which scikit-learn kept none have the error's score.

    It must have kept those of one at least.
    """
    like = next(candidate.fits[0] for candidate in candidates if candidate.fits is not None)
    lost: Fit = {name: _all_of(like[name], error_score) for name in ("test_scores", "train_scores") if name in like}
    lost |= {"score_time": 0.0}
    return [
        fit
        for candidate in candidates
        for fit in candidate.fits or [{**like, **lost, "fit_time": candidate.seconds}] * num_splits
    ]


def no_score_error(candidates: Sequence[EvaluatedCandidate], metric: str | None) -> Exception:
    """The error of a search without a candidate that has a score: it says which errors there were, and how often.

    It is a TypeError where every error of a fit is one, else a ValueError.
    """
    errors = sum((candidate.errors for candidate in candidates), Counter[str]())
    text = f"A candidate must have a finite score on each split, none of {len(candidates)} has"
    if not errors:
        return ValueError(f"{text}: the first has {candidates[0].reason(metric)}; look at scoring")
    shown = errors.most_common(SHOWN)
    details = "\n".join(f"{'-' * 80}\n{n} fits failed with the following error:\n{error}" for error, n in shown)
    more = f"\n{'-' * 80}\nand {len(errors) - len(shown)} other errors" if len(errors) > len(shown) else ""
    hint = (
        "It is very likely that the estimator is misconfigured; error_score='raise' ends the search at the first error"
    )
    kind = TypeError if all(last_line(error).startswith("TypeError") for error in errors) else ValueError
    return kind(f"{text}.\n{hint}.\n\n{DETAILS}{details}{more}")


def _all_of(scores: Any, value: Any) -> Any:
    return dict.fromkeys(scores, value) if isinstance(scores, Mapping) else value


@contextmanager
def task(context: Any, owner: Any, name: str, size: int, *, is_sequential: bool = True) -> Iterator[Any]:
    """A task that scikit-learn's callbacks are told of (from 1.9 on); None where there are none."""
    if context is None:
        yield None
        return
    inner = context.subcontext(task_name=name, max_subtasks=size, sequential_subtasks=is_sequential)
    inner.call_on_fit_task_begin(estimator=owner)
    yield inner
    inner.call_on_fit_task_end(estimator=owner)
