"""Sample paths of several models as one set."""

from collections.abc import Callable
from typing import Any

import torch
from botorch.sampling.pathwise.paths import SamplePath
from torch import Size, Tensor
from torch.nn import ModuleList


def draw_paths_of_mixture(
    fits: list[tuple[float, Any]], sample_shape: Size, draw: Callable[[Any, Size], SamplePath]
) -> SamplePath:
    """Draw sample paths of a mixture of models: the number of each model's is drawn by its weight.

    Args:
        fits: Weights, which add up to 1, and models.
        sample_shape: Shape of the set.
        draw: Paths of one model, of a sample shape.
    """
    weights, models = zip(*fits, strict=True)
    if len(models) == 1:
        return draw(models[0], sample_shape)
    picks = torch.multinomial(torch.tensor(weights, dtype=torch.float32), sample_shape.numel(), replacement=True)
    if not sample_shape:
        return draw(models[int(picks)], sample_shape)
    places = [(picks == i).nonzero().squeeze(-1) for i in range(len(models))]
    parts = [(draw(model, Size([len(rows)])), rows) for model, rows in zip(models, places, strict=True) if len(rows)]
    return MixedPaths([path for path, _ in parts], [rows for _, rows in parts], sample_shape)


class MixedPaths(SamplePath):
    """Paths of several models, as one set of them.

    Args:
        parts: Paths of each model, of one sample dimension.
        places: Where in the set they are, counted through.
        sample_shape: Shape of the set.
    """

    def __init__(self, parts: list[SamplePath], places: list[Tensor], sample_shape: Size) -> None:
        super().__init__()
        self.parts, self.places, self.sample_shape = ModuleList(parts), places, sample_shape

    def forward(self, x: Tensor, **kwargs: Any) -> Tensor:
        """Values at points: the same ``... x q x d`` for all paths, or ``... x sample_shape x q x d`` of each.

        Returns:
            ``... x sample_shape x q``.
        """
        batch, end = x.shape[:-2], x.shape[-2:]
        lead = batch[: max(len(batch) - len(self.sample_shape), 0)]
        if all(size == 1 for size in batch[len(lead) :]):
            shared = x.reshape(*lead, 1, *end)
            values = [part(shared, **kwargs) for part in self.parts]
        else:
            own = x.expand(*lead, *self.sample_shape, *end).reshape(*lead, -1, *end)
            values = [part(own[..., at, :, :], **kwargs) for part, at in zip(self.parts, self.places, strict=True)]
        together = torch.cat(values, -2)[..., torch.cat(self.places).argsort(), :]
        return together.unflatten(-2, self.sample_shape)

    def set_ensemble_as_batch(self, ensemble_as_batch: bool) -> None:
        """Set the flag of every path, as in BoTorch."""
        path: Any
        for path in self.parts:
            path.set_ensemble_as_batch(ensemble_as_batch)
