from typing import get_args

import pytest
from botorch.models import SingleTaskGP

from robustbo.surrogates.names import SurrogateName
from robustbo.surrogates.registry import SURROGATES, check_options, model_class, name_of


def test_names_and_classes_go_both_ways():
    assert {name_of(name) for name in SURROGATES} == set(SURROGATES)
    assert model_class(name_of(SingleTaskGP)) is SingleTaskGP


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"one of \['auto', 'botorch-relevance-pursuit'.*got 'gp'"):
        name_of("gp")


@pytest.mark.parametrize("name", ["no.such.module:Class", "robustbo.surrogates.baselines.standard:NoSuchGP"])
def test_a_class_that_cannot_be_found_is_named(name):
    with pytest.raises(ValueError, match="must be importable here"):
        name_of(name)
    with pytest.raises(ValueError, match="robustbo does not import it"):
        model_class(name)


@pytest.mark.parametrize("thing", [3, int, None])
def test_what_is_no_model_is_refused(thing):
    with pytest.raises(TypeError, match="GPyTorchModel class"):
        name_of(thing)


def test_a_local_class_is_refused_since_no_journal_could_name_it():
    class Local(SingleTaskGP):
        pass

    with pytest.raises(ValueError, match="local class"):
        name_of(Local)


def test_options_are_checked_by_the_signature():
    check_options("relevance-pursuit", {"outlier_rate": 0.3})
    with pytest.raises(TypeError, match=r"has the options \[.*\], got \"train_X\""):
        check_options("relevance-pursuit", {"train_X": 1})
    with pytest.raises(TypeError, match='got "depth"'):
        check_options("standard", {"depth": 1})
    with pytest.raises(TypeError, match=r"must be such as RelevancePursuitGP takes, got .*'high'"):
        check_options("relevance-pursuit", {"outlier_rate": "high"})
    check_options("conjugate", {"weights": "heteroscedastic"})  # which needs known noise, and may have it


def test_the_names_as_a_type_are_those_of_the_registry():
    assert set(get_args(SurrogateName)) == {"auto", *SURROGATES}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("filtered", {"tail": 0.7}, r"tail must be in \(0, 0.5\), got 0.7"),
        ("filtered", {"detector": "foo"}, "detector must be one of"),
        ("filtered", {"every": 0}, "every must be a whole number of at least 1, got 0"),
        ("student-t", {"dof": 0.2}, "dof must be at least 1"),
        ("standard", {"kernel": "cubic"}, "kernel must be one of"),
        ("relevance-pursuit", {"outlier_rate": 3.0}, "outlier_rate must lie between 0 and 1, got 3.0"),
        ("relevance-pursuit", {"num_outliers": -1}, "num_outliers must be a whole number"),
        ("relevance-pursuit", {"is_averaged": "no"}, "is_averaged must be True or False, got 'no'"),
        ("scaled-clip", {"clip": -1.0}, "clip must be positive"),
        ("student-t-variational", {"dof": 1.0}, "dof must exceed 2"),
        ("huber", {"threshold": 0.0}, "threshold must be positive, got 0.0"),
        ("huber-projection", {"weighting": "both"}, "weighting must be one of"),
        ("laplace-variational", {"max_iter": 0}, "max_iter must be a whole number of at least 1"),
    ],
)
def test_values_that_cannot_be_are_refused_before_anything_is_run(name, options, message):
    with pytest.raises(ValueError, match=message):
        check_options(name, options)
