"""Models that cannot be conditioned on more observations as they are."""

from typing import Any

from torch import Tensor


class NoFantasies:
    """A BoTorch model whose method needs a new fit for more observations."""

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, **kwargs: Any) -> Any:
        """Not to be had: `condition_on_observations` and `fantasize` end here.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"{type(self).__name__} has no fantasies; fit a new one to all observations")
