"""Models that keep what their observations say besides the hyperparameters: found anew for other observations."""

from typing import Any

from torch import Tensor


class FollowsData:
    """A `MapGP` with a posterior of its own, which holds for the observations that it was found for."""

    @property
    def has_posterior(self) -> bool:
        """Whether it has been found."""
        raise NotImplementedError

    def set_train_data(self, inputs: Any = None, targets: Tensor | None = None, strict: bool = True) -> None:
        """Take other data; the hyperparameters stay, and the rest is found anew.

        Inputs alone are another view of the same data: BoTorch transforms them, and back, as the mode changes.
        """
        super().set_train_data(inputs, targets, strict)  # type: ignore[misc]
        if self.has_posterior and targets is not None:
            self._renew()  # type: ignore[attr-defined]

    def condition_on_observations(self, X: Tensor, Y: Tensor, **kwargs: Any) -> Any:
        """Not to be had.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"{type(self).__name__} has no fantasies; fit a new one to all observations")
