import pytest
from bofire.data_models.domain.api import Inputs, Outputs
from bofire.data_models.features.api import (
    CategoricalOutput,
    CategoricalTaskInput,
    ContinuousInput,
    ContinuousOutput,
    ContinuousTaskInput,
)
from bofire.data_models.kernels.api import RBFKernel
from bofire.data_models.objectives.api import ConstrainedCategoricalObjective
from bofire.data_models.surrogates.api import BotorchSurrogates, ScalerEnum, SingleTaskGPSurrogate
from pydantic import ValidationError

from robustbo.bofire import RobustSurrogate
from robustbo.bofire.data_model import EXACT

INPUTS = Inputs(features=[ContinuousInput(key="x", bounds=(0, 1))])
QUALITY = CategoricalOutput(
    key="y",
    categories=["good", "bad"],
    objective=ConstrainedCategoricalObjective(categories=["good", "bad"], desirability=[True, False]),
)
OUTPUTS = Outputs(features=[ContinuousOutput(key="y")])


def made(**options):
    return RobustSurrogate(**{"inputs": INPUTS, "outputs": OUTPUTS, **options})


def read(model):
    return type(model).model_validate_json(model.model_dump_json())


def test_json_keeps_all_of_it():
    model = made(
        surrogate="student-t", surrogate_options={"kernel": "rbf"}, scaler=None, output_scaler=ScalerEnum.IDENTITY
    )
    assert read(model).model_dump_json() == model.model_dump_json()
    assert (read(model).surrogate, read(model).surrogate_options) == ("student-t", {"kernel": "rbf"})
    model = made(surrogate_options={"levels": [0.0, 0.2], "num_outliers": 3}, kernel=RBFKernel(ard=True))
    assert read(model).model_dump_json() == model.model_dump_json()
    assert read(model).kernel == RBFKernel(ard=True)


def test_a_list_of_surrogates_is_read_beside_bofires_own():
    other = SingleTaskGPSurrogate(inputs=INPUTS, outputs=Outputs(features=[ContinuousOutput(key="z")]))
    both = BotorchSurrogates(surrogates=[made(), other])
    assert [type(each) for each in read(both).surrogates] == [RobustSurrogate, SingleTaskGPSurrogate]
    assert read(both).model_dump_json() == both.model_dump_json()


@pytest.mark.parametrize(
    "task", [CategoricalTaskInput(key="t", categories=["lab", "old"]), ContinuousTaskInput(key="t", bounds=(0, 1))]
)
def test_tasks_are_refused_with_what_to_do_instead(task):
    inputs = Inputs(features=[*INPUTS.features, task])
    with pytest.raises(ValidationError, match=r"inputs must have no task, got \['t'\]; .* robustbo.Optimizer"):
        made(inputs=inputs)


def test_the_variational_one_is_no_exact_model():
    assert "relevance-pursuit" in EXACT
    assert "student-t-variational" not in EXACT


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"surrogate": "relevance_pursuit"}, "surrogate must be one of .* did you mean 'relevance-pursuit'"),
        ({"surrogate": "student-t-variational"}, "surrogate must be one of"),
        ({"surrogate_options": {"outlier_rte": 0.1}}, "got \"outlier_rte\"; did you mean 'outlier_rate'"),
        ({"surrogate_options": {"outlier_rate": 2.0}}, "outlier_rate must lie between 0 and 1, got 2.0"),
        ({"output_scaler": ScalerEnum.LOG}, "output_scaler must be one of .*, got 'LOG'"),
        ({"output_scaler": ScalerEnum.CHAINED_LOG_STANDARDIZE}, "got 'CHAINED_LOG_STANDARDIZE'"),
        ({"surrogate_options": {"kernel": "rbf"}, "kernel": RBFKernel()}, "kernel must be given once"),
        (
            {"outputs": Outputs(features=[ContinuousOutput(key=key) for key in "yz"])},
            "outputs must have one entry, got",
        ),
        ({"outputs": Outputs(features=[QUALITY])}, "Invalid output type"),
        ({"noise": 0.1}, "Extra inputs are not permitted"),
    ],
)
def test_what_cannot_be_is_an_error_of_pydantics(options, match):
    with pytest.raises(ValidationError, match=match):
        made(**options)


def test_what_is_assigned_later_is_checked_too():
    model = made()
    with pytest.raises(ValidationError, match="surrogate must be one of"):
        model.surrogate = "nonsense"
