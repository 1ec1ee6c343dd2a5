"""Pictures by matplotlib, which need not be there: ``plt`` is None then."""

from pathlib import Path
from typing import Any

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None


def as_text(text: str) -> str:
    """A text for a picture as it is, whose dollars begin no formula.

    Example:
        >>> as_text("cost in $") == "cost in " + chr(92) + "$"
        True
    """
    return text.replace("$", r"\$")


def finish(figure: Any, path: Path, *, has_legend: bool = True) -> None:
    """Write a figure, its legend beside it, without what changes from one machine to the next, and close it."""
    if has_legend:
        figure.legend(frameon=False, loc="outside right center")
    figure.savefig(path, dpi=160, metadata={"Software": None} if path.suffix == ".png" else None)
    plt.close(figure)
