"""Models that fit and predict on one thread, and where they are to, however they are called: by us or by BoTorch."""

from functools import wraps
from typing import Any

from robustbo.determinism.threads import on_one_thread
from robustbo.surrogates.common.placement import Placed, place_method

# Where linear algebra is done: a fit, and whatever is asked of one.
COMPUTING = (
    *("custom_fit", "load_state_dict", "condition_on_observations", "fantasize", "__call__", "posterior", "predictive"),
    *("marginals", "at_inputs", "diagnose", "diagnose_others", "probability_right", "tails", "quantiles"),
    *("noise_dof", "single_fits", "_renew"),
)


class OnOneThread(Placed):
    """A class whose methods that compute do so on one thread (`determinism.threads`): its own, and inherited ones.

    They are placed (`placement.place_method`), too: on the CPU what has to be, and in the type of the points.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in COMPUTING:
            own = vars(cls).get(name)
            method = own or getattr(cls, name, None)
            if method is not None and not getattr(method, "is_on_one_thread", False):
                setattr(cls, name, on_one_thread(place_method(name, own or _call_parent(cls, name, method))))


def _call_parent(cls: type, name: str, method: Any) -> Any:
    """Return a method that looks up the inherited one at each call: a subclass of several may put one between."""

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(super(cls, self), name)(*args, **kwargs)

    return call
