"""Observations by expert: who gets which, and all of them as padded stacks.

Notation: ``E`` experts of up to ``n`` observations of ``d`` inputs, those with fewer padded.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

BLOCK = 256  # rows of a file that are read together
MEMORY = 2**26  # bytes that a chunk of experts may take, about: more is slower, it leaves the caches


class Shards(NamedTuple):
    """The observations, by expert.

    Attributes:
        X: ``E x n x d`` inputs.
        y: ``E x n`` values.
        mask: ``E x n``, 1 where there is an observation, 0 where there is padding.
        s2: ``E x n`` known noise variances (squared scales), or None.
    """

    X: Tensor
    y: Tensor
    mask: Tensor
    s2: Tensor | None = None

    @property
    def is_full(self) -> bool:
        """Return whether nothing is padding."""
        return bool((self.mask > 0).all())

    def part(self, rows: slice | Tensor) -> "Shards":
        """Some of the experts."""
        return Shards(self.X[rows], self.y[rows], self.mask[rows], None if self.s2 is None else self.s2[rows])

    def chunks(self, memory: float = MEMORY) -> Iterator[slice]:
        """The experts in chunks whose matrices take no more than so many bytes, one expert at least."""
        (E, n), d = self.y.shape, self.X.shape[-1]
        size = experts_at_once(n, d, memory)
        return (slice(start, min(start + size, E)) for start in range(0, E, size))


def experts_at_once(n: int, d: int, memory: float) -> int:
    """Number of experts whose matrices take no more than so many bytes, one at least."""
    return max(1, int(memory / (8 * n * (16 * n + 4 * d))))


def random_parts(n: int, num_experts: int, generator: torch.Generator) -> list[Tensor]:
    """Rows by expert: drawn, the sizes differing by one at most."""
    return list(torch.randperm(n, generator=generator).tensor_split(num_experts))


def scatter_blocks(n: int, num_parts: int, generator: torch.Generator) -> list[Tensor]:
    """Blocks of `BLOCK` consecutive rows by part, drawn: each part is read at a few places of a file, and only once."""
    blocks = torch.randperm(math.ceil(n / BLOCK), generator=generator)
    return [part.clone() for part in blocks.tensor_split(min(num_parts, len(blocks)))]


def rows_of(blocks: Tensor, n: int, expert_size: int) -> list[Tensor]:
    """Rows by expert of a part that consists of such blocks, drawn; always the same for the same blocks."""
    rows = (blocks.unsqueeze(-1) * BLOCK + torch.arange(BLOCK)).flatten()
    rows = rows[rows < n]
    generator = torch.Generator().manual_seed(int(blocks[0]))
    return [rows[part] for part in random_parts(len(rows), math.ceil(len(rows) / expert_size), generator)]


def cluster_parts(X: Tensor, num_experts: int) -> list[Tensor]:
    """Rows by expert: neighbours together, halves again and again across the widest input; sizes as near as may be."""

    def split(rows: Tensor, count: int) -> list[Tensor]:
        if count == 1:
            return [rows]
        inputs = X[rows]
        widest = int((inputs.amax(0) - inputs.amin(0)).argmax())
        ordered, few = rows[inputs[:, widest].argsort(stable=True).cpu()], count // 2
        at = len(rows) * few // count
        return [*split(ordered[:at], few), *split(ordered[at:], count - few)]

    return split(torch.arange(len(X)), num_experts)


def shard(X: Tensor, y: Tensor, parts: list[Tensor], s2: Tensor | None = None) -> Shards:
    """The observations by expert, padded to the largest."""
    index, mask = indices(parts)
    index, mask = index.to(y.device), mask.to(y)
    return Shards(X[index], y[index] * mask, mask, None if s2 is None else s2[index])


def indices(parts: list[Tensor]) -> tuple[Tensor, Tensor]:
    """``E x n`` rows, and where they are rows and not padding."""
    n = max(len(rows) for rows in parts)
    index = torch.stack([torch.cat([rows, rows.new_zeros(n - len(rows))]) for rows in parts])
    return index, torch.stack([torch.arange(n) < len(rows) for rows in parts])
