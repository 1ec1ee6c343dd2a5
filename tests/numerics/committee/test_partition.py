import pytest
import torch

from robustbo.numerics.committee.partition import cluster_parts, indices, random_parts, shard


def rows_of(parts):
    return torch.cat(parts).sort().values.tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 7, 20])
def test_everybody_is_somewhere_once_and_sizes_hardly_differ(count):
    X = torch.rand(20, 2)
    for parts in (random_parts(20, count, torch.Generator().manual_seed(0)), cluster_parts(X, count)):
        assert rows_of(parts) == list(range(20))
        assert len(parts) == count
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_clusters_are_neighbours():
    X = torch.tensor([[0.0], [10.0], [0.1], [10.1], [0.2], [10.2]])
    assert [sorted(part.tolist()) for part in cluster_parts(X, 2)] == [[0, 2, 4], [1, 3, 5]]


def test_padding_is_masked():
    X, y = torch.arange(10.0).view(5, 2), torch.arange(1.0, 6.0)
    found = shard(X, y, [torch.tensor([4, 0]), torch.tensor([1, 2, 3])], 0.1 * y)
    assert found.y.tolist() == [[5.0, 1.0, 0.0], [2.0, 3.0, 4.0]]
    assert found.mask.tolist() == [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    assert found.X[0, 0].tolist() == [8.0, 9.0]
    assert found.s2[1].tolist() == pytest.approx([0.2, 0.3, 0.4])
    assert found.part(slice(1, 2)).y.shape == (1, 3)


def test_chunks_keep_to_the_memory_and_have_one_expert_at_least():
    found = shard(torch.rand(40, 2), torch.rand(40), random_parts(40, 10, torch.Generator().manual_seed(0)))
    assert [c.stop - c.start for c in found.chunks(1.0)] == [1] * 10
    assert list(found.chunks(1e9)) == [slice(0, 10)]
    one = 8 * 4 * (16 * 4 + 4 * 2)
    assert [c.stop - c.start for c in found.chunks(3.5 * one)] == [3, 3, 3, 1]


def test_indices_say_where_rows_are():
    index, is_row = indices([torch.tensor([3]), torch.tensor([0, 2])])
    assert index[is_row].tolist() == [3, 0, 2]
