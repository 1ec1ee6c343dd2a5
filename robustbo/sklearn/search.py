"""A search for hyperparameters, in scikit-learn's form, that is not misled by fits that fail or are scored wrongly."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection._search import BaseSearchCV

from robustbo.searchspace.space import Space
from robustbo.trials.former_names import reads_old_names
from robustbo.trials.settings import DEFAULT_MAX_REPLICATES, Failures, Replicate

if TYPE_CHECKING:  # joblib's workers import this module to fit, and need no torch
    from botorch.models.gpytorch import GPyTorchModel

    from robustbo.surrogates.names import SurrogateName
    from robustbo.view.sources import SourceFrame


@reads_old_names
class RobustSearchCV(BaseSearchCV):
    """Robust Bayesian optimization of hyperparameters by cross-validation.

    Use it like `sklearn.model_selection.RandomizedSearchCV`. It learns where fits fail, and chooses the candidate with
    the best believed score: a score that is too good to be true is flagged and does not win. All candidates have the
    same folds.

    Args:
        estimator: The estimator to fit.
        space: A `robustbo.Space`, or a dict: by name (such as ``svc__C``) a Float, Int, Ordinal or Choice, a list of
            values or objects, a mapping of names to objects, or SciPy's uniform, loguniform or randint.
        n_trials: Number of candidates.
        batch_size: Number of candidates asked for and fitted at a time; with ``n_jobs`` their fits run in parallel.
        scoring: As for any search. With several metrics, the one named by ``refit`` is optimized, or the first.
        n_jobs: Number of fits that run in parallel.
        refit: As for any search.
        cv: As for any search; splits are drawn once.
        verbose: As for any search.
        pre_dispatch: As for any search.
        error_score: The entry of ``cv_results_`` for a failed fit, or "raise". In any case a candidate with a failed
            fit counts as failed.
        return_train_score: As for any search.
        random_state: An int, a RandomState or None.
        surrogate: As for `robustbo.Optimizer`.
        surrogate_options: As for `robustbo.Optimizer`.
        num_initial: Number of Sobol points at the beginning; by default 2 (d + 1), from 5 to 20.
        replicate: As for `robustbo.Optimizer`. Keep "never" if the same fit always gives the same score; the others are
            for fits that differ each time.
        max_replicates: As for `robustbo.Optimizer`.
        failures: "learn" where candidates fail, or "ignore".

    Attributes:
        cv_results_: As of any search, and what is believed of each candidate; see docs/howto/sklearn.md.
        best_index_: The best candidate by the surrogate, among those whose score is believed.
        best_score_: Its mean score as measured.
        optimizer_: The `robustbo.Optimizer`, for its ``outliers``, ``failures`` and ``predict``; None where the space
            has one candidate.

    Raises:
        ValueError: If all candidates fail, with the errors of their fits (a TypeError where all of these are); or an
            argument breaks its rule.

    Example:
        >>> import robustbo as rb
        >>> from robustbo.sklearn import RobustSearchCV
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.svm import SVC
        >>> X, y = load_iris(return_X_y=True)
        >>> space = {"C": rb.Float(0.01, 100, log=True), "kernel": ["linear", "rbf"]}
        >>> search = RobustSearchCV(SVC(), space, n_trials=8, random_state=0).fit(X, y)
        >>> search.best_params_["kernel"] in ("linear", "rbf"), bool(search.best_score_ > 0.95)
        (True, True)
        >>> search.cv_results_["is_failed"].sum(), search.cv_results_["is_outlier"].sum()
        (np.int64(0), np.int64(0))
    """

    def __init__(
        self,
        estimator: Any,
        space: Space | Mapping[str, Any],
        *,
        n_trials: int = 30,
        batch_size: int = 1,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        random_state: Any = None,
        surrogate: "SurrogateName | type[GPyTorchModel]" = "auto",
        surrogate_options: Mapping[str, Any] | None = None,
        num_initial: int | None = None,
        replicate: Replicate = "never",
        max_replicates: int = DEFAULT_MAX_REPLICATES,
        failures: Failures = "learn",
    ) -> None:
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.n_trials = n_trials
        self.batch_size = batch_size
        self.random_state = random_state
        self.surrogate = surrogate
        self.surrogate_options = surrogate_options
        self.num_initial = num_initial
        self.replicate = replicate
        self.max_replicates = max_replicates
        self.failures = failures

    @property
    def best_mean_(self) -> float:
        """Posterior mean of the best candidate's score."""
        if not hasattr(self, "best_index_"):
            raise AttributeError(f"{type(self).__name__} has no best_mean_ before fit has chosen a candidate")
        (name,) = [name for name in self.cv_results_ if name.startswith("believed_test_")]
        return float(self.cv_results_[name][self.best_index_])

    def fold_sources(self) -> "SourceFrame":
        """The folds as sources of the scores: which gives higher ones as expected, and which is in error.

        Each score of each candidate is looked at by itself. A fold on which the parameters matter more, or less, than
        on the others looks broken, too.

        Returns:
            A data frame with a row a fold, as `robustbo.Study.sources`; printed, a sentence each.

        Raises:
            AttributeError: If it is not fitted, or there is one candidate only.
        """
        from robustbo.sklearn.folds import fold_sources

        optimizer = getattr(self, "optimizer_", None)
        if optimizer is None:
            raise AttributeError(f"{type(self).__name__} has no sources before fit has seen several candidates")
        (name,) = [name for name in self.cv_results_ if name.startswith("believed_test_")]
        return fold_sources(optimizer, self.cv_results_, name.removeprefix("believed_test_"), self.n_splits_)

    def _run_search(self, evaluate_candidates: Any, *, callback_ctx: Any = None) -> None:
        """Run the search; then make of all its fits what scikit-learn knows as ``results``."""
        from robustbo.sklearn.running import Running

        self.__dict__.pop("optimizer_", None)  # of an earlier fit: all that is kept here is sent to joblib's workers
        run = Running(self, evaluate_candidates)
        run.to_the_end(callback_ctx)
        formatted = super()._format_results([candidate.params for candidate in run.done], run.num_splits, run.fits())
        run.results.clear()  # which `fit` holds too
        run.results.update(formatted, **run.columns())
        self.optimizer_ = run.optimizer

    def _format_results(self, candidate_params: Any, n_splits: int, out: Any, more_results: Any = None) -> Any:
        """Keep each batch's fits as they are for `_run_search`, and format them when all are there."""
        return {"fits": out}

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: Any) -> Any:
        """The candidate that is believed to be best, unless a callable chooses."""
        if callable(refit):
            return BaseSearchCV._select_best_index(refit, refit_metric, results)
        return results[f"rank_believed_test_{refit_metric}"].argmin()
