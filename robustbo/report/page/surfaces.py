"""The surrogates of a study with their values, one an outcome, as slices and maps show them."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from robustbo.loop.belief.outcome_models import OutcomeModels
from robustbo.report.charts.one_outcome import SingleOutcome
from robustbo.report.page.slices_section import Describe, Surface, in_a_line, value_points
from robustbo.view.view import View

T = TypeVar("T")


def with_surfaces(
    view: View, singles: Sequence[SingleOutcome], use: Callable[[list[Surface]], T], describe: Describe = in_a_line
) -> T:
    """Return what is made of the surrogates: of one outcome the first that can be fitted and used for it.

    Args:
        view: The optimization, of which something is believed.
        singles: Each of several outcomes by itself; none where there is one.
        use: What is made of them.
        describe: Says of a value what a reader sees who points at it.

    Raises:
        FitError: If it can be made of none.
    """
    if singles:
        return use(
            [Surface(of.fitted, of.outcome.quantity, of.outcome, value_points(of.judged, describe)) for of in singles]
        )

    def of_one(models: OutcomeModels) -> T:
        return use([Surface(models[0].fitted, view.settings.quantity, values=value_points(view.outliers(), describe))])

    return view.with_models(of_one)
