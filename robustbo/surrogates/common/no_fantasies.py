"""Models that cannot be conditioned on more observations as they are."""

from typing import Any, NoReturn


class NoFantasies:
    """A BoTorch model whose method needs a new fit for more observations."""

    def get_fantasy_model(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse to condition on more observations; ``condition_on_observations`` calls this.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"{type(self).__name__} has no fantasies; fit a new one to all observations")

    def fantasize(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse fantasies, see `get_fantasy_model`."""
        self.get_fantasy_model()
