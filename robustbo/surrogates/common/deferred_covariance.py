"""A covariance whose diagonal is cheap, and whose full matrix is computed when it is first needed."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch
from linear_operator import LinearOperator, to_linear_operator
from torch import Tensor


class DeferredCovariance(LinearOperator):
    """A ``... x q x q`` covariance by two functions that compute it when it is needed.

    Marginal variances of thousands of points need the diagonal alone; samples need all. Autograd can follow both.

    Args:
        X: The ``... x q x d`` points.
        dense: Returns the matrix.
        diagonal: Returns its ``... x q`` diagonal.
    """

    def __init__(self, X: Tensor, dense: Callable[[], Tensor], diagonal: Callable[[], Tensor]) -> None:
        super().__init__(X)
        self._X, self._make_dense, self._make_diagonal = X, dense, diagonal

    @cached_property
    def dense_operator(self) -> LinearOperator:
        """The full matrix as an operator."""
        return to_linear_operator(self._make_dense())

    def to_dense(self) -> Tensor:
        """The matrix."""
        return self.dense_operator.to_dense()

    def representation(self) -> tuple[Tensor, ...]:
        """The tensors that autograd follows where this is a factor of a product: the matrix."""
        return self.dense_operator.representation()

    def representation_tree(self) -> Any:
        """The recipe that makes the operator of these tensors."""
        return self.dense_operator.representation_tree()

    def detach(self) -> LinearOperator:
        """The full matrix, detached from the graph."""
        return self.dense_operator.detach()

    def clone(self) -> LinearOperator:
        """A copy of the full matrix."""
        return self.dense_operator.clone()

    def _diagonal(self) -> Tensor:
        return self._make_diagonal()

    def _size(self) -> torch.Size:
        return torch.Size([*self._X.shape[:-1], self._X.shape[-2]])

    def _transpose_nonbatch(self) -> LinearOperator:
        return self

    def _matmul(self, rhs: Tensor) -> Tensor:
        return self.dense_operator._matmul(rhs)

    def _getitem(self, row_index: Any, col_index: Any, *batch_indices: Any) -> LinearOperator:
        return self.dense_operator._getitem(row_index, col_index, *batch_indices)

    def _get_indices(self, row_index: Any, col_index: Any, *batch_indices: Any) -> Tensor:
        return self.dense_operator._get_indices(row_index, col_index, *batch_indices)

    def _expand_batch(self, batch_shape: Any) -> LinearOperator:
        return self.dense_operator._expand_batch(batch_shape)

    def _unsqueeze_batch(self, dim: int) -> LinearOperator:
        return self.dense_operator._unsqueeze_batch(dim)

    def _permute_batch(self, *dims: int) -> LinearOperator:
        return self.dense_operator._permute_batch(*dims)

    def _sum_batch(self, dim: int) -> LinearOperator:
        return self.dense_operator._sum_batch(dim)

    def _prod_batch(self, dim: int) -> LinearOperator:
        return self.dense_operator._prod_batch(dim)

    def _mul_constant(self, other: Any) -> LinearOperator:
        return self.dense_operator._mul_constant(other)
