"""What a model sees of a point."""

import pytest
import torch

import robustbo as rb
from robustbo.searchspace.encoding import (
    category_counts,
    decode,
    discrete_levels,
    encode,
    input_columns,
    input_parameters,
    unit_rows,
)
from robustbo.surrogates.transforms.input_encoding import ConditionalEncoding, one_hot_inputs

SPACE = rb.Space(
    c=rb.Choice("a", "b", "c"),
    one=rb.Float(2, 2),
    o=rb.Ordinal(0.1, 0.2, 0.5),
    x=rb.Float(0, 10),
    n=rb.Int(0, 4),
)


def rows(space, *points):
    return torch.tensor([space.to_unit(point) for point in points], dtype=torch.float64)


def test_a_parameter_of_one_value_is_no_input_and_an_ordinal_lies_where_it_is_said_to():
    X = encode(SPACE, rows(SPACE, {"c": "b", "one": 2.0, "o": 0.2, "x": 5.0, "n": 4}))
    assert input_columns(SPACE) == [0, 2, 3, 4]
    assert [p.kind for p in input_parameters(SPACE)] == ["choice", "ordinal", "float", "int"]
    assert X.tolist() == [pytest.approx([1, 0.25, 0.5, 0.9])]
    assert category_counts(SPACE) == {0: 3}
    assert discrete_levels(SPACE) == {1: pytest.approx([0, 0.25, 1]), 3: pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])}


def test_decode_is_the_inverse_of_encode():
    U = rows(SPACE, *(SPACE.from_unit(row) for row in SPACE.sobol_rows(0, 0, 64).tolist()))
    assert torch.tensor(decode(SPACE, encode(SPACE, U))).numpy() == pytest.approx(U.numpy())


def test_the_nearest_value_of_an_ordinal_is_decoded():
    X = torch.tensor([[0.0, 0.3, 0.5, 0.1], [0.0, 0.7, 0.5, 0.1]], dtype=torch.float64)
    assert [SPACE.from_unit(row)["o"] for row in decode(SPACE, X)] == [0.2, 0.5]
    assert unit_rows(SPACE, X.unsqueeze(0)).shape == (1, 2, 5)


def test_inputs_in_the_unit_interval_have_slopes():
    U = rows(SPACE, {"c": "b", "one": 2.0, "o": 0.2, "x": 5.0, "n": 4}).requires_grad_()
    encode(SPACE, U).sum().backward()
    assert U.grad.tolist() == [[0, 0, 0, 1, 1]]


CONDITIONAL = rb.Space(
    k=rb.Choice("t", "d"), sub=rb.Choice("p", "q", "r", when={"k": "d"}), x=rb.Float(0, 1, when={"sub": "q"})
)


def test_what_does_not_exist_is_none_of_the_choices_and_in_the_middle():
    X = encode(CONDITIONAL, rows(CONDITIONAL, {"k": "t"}, {"k": "d", "sub": "q", "x": 0.2}, {"k": "d", "sub": "r"}))
    assert one_hot_inputs(CONDITIONAL)(X).tolist() == [
        [1, 0, 0, 0, 0, 0.5],
        [0, 1, 0, 1, 0, 0.2],
        [0, 1, 0, 0, 1, 0.5],
    ]


def test_the_model_does_not_see_the_coordinates_of_what_does_not_exist():
    some = torch.tensor([[0.25, 0.9, 0.1], [0.25, 0.1, 0.7], [0.75, 0.9, 0.1], [0.75, 0.9, 0.7]], dtype=torch.float64)
    seen = one_hot_inputs(CONDITIONAL)(encode(CONDITIONAL, some))
    assert torch.equal(seen[0], seen[1])
    assert torch.equal(seen[2], seen[3])
    assert not torch.equal(seen[0], seen[2])


def test_batches_and_slopes_of_what_exists():
    transform = ConditionalEncoding(CONDITIONAL)
    X = encode(CONDITIONAL, rows(CONDITIONAL, {"k": "d", "sub": "q", "x": 0.2}, {"k": "t"})).requires_grad_()
    seen = transform(X)
    assert torch.equal(transform(X.reshape(2, 1, 3)).squeeze(1), seen)
    seen.sum().backward()
    assert X.grad[:, 2].tolist() == [1, 0]


def test_the_same_space_makes_the_same_transform():
    assert ConditionalEncoding(CONDITIONAL).equals(one_hot_inputs(CONDITIONAL))
    assert not ConditionalEncoding(CONDITIONAL).equals(
        ConditionalEncoding(rb.Space(**dict(CONDITIONAL.parameters), y=rb.Int(0, 2)))
    )


def test_a_space_without_choices_and_conditions_needs_no_transform():
    assert one_hot_inputs(rb.Space(x=rb.Float(0, 1), o=rb.Ordinal("a", "b"))) is None
