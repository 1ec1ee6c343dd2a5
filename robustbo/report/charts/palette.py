"""Colors and kinds of lines of methods: Okabe and Ito's, which most color-blind readers can tell apart."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from robustbo.trials.settings import DEFAULT_SURROGATE

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
FIXED = {"oracle": "#000000", "sobol": "#999999", "standard": "#0072B2", DEFAULT_SURROGATE: "#D55E00"}
SOLID, DOTTED, DASHED, SPARSE = "", "2 4", "8 4", "1 6"


class Look(NamedTuple):
    """A method's color, and the dashes of its line: lengths of dashes and gaps, as SVG has them; "" if it is solid."""

    color: str
    dash: str


def looks(methods: Sequence[str]) -> dict[str, Look]:
    """The look of each method; the same everywhere for those that every run has."""
    colors = [color for color in COLORS if color not in FIXED.values()]
    free = (Look(color, dash) for dash, color in product((SOLID, DOTTED, DASHED), colors))
    last = Look("#999999", SPARSE)  # where there are no more
    fixed = {name: Look(color, DASHED if name == "oracle" else SOLID) for name, color in FIXED.items()}
    return {method: fixed[method] if method in fixed else next(free, last) for method in methods}
