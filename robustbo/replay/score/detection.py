"""Agreement of flagged values with wrong ones."""

import math


def detection(hits: int, flagged: int, wrong: int) -> dict[str, float]:
    """Precision and recall; NaN where there is nothing to divide by.

    Args:
        hits: Values that are wrong and flagged.
        flagged: Values that are flagged.
        wrong: Values that are wrong.
    """
    return {"precision": hits / flagged if flagged else math.nan, "recall": hits / wrong if wrong else math.nan}
