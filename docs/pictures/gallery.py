"""Pictures of the gallery: `python docs/pictures/gallery.py [PAGE ...]` runs the pages and draws their values."""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from robustbo.report.charts.timeline import draw

PICTURES = Path(__file__).resolve().parent
PAGES = PICTURES.parent / "gallery"
TABLES = {"sensor": ("hours", "oxygen (mg/l)"), "hills": ("miles", "minutes")}  # pages without an optimizer: their axes
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#777777"


def run(page: Path) -> dict[str, Any]:
    """The names that the blocks of a page leave behind."""
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for code in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
            exec(compile(code, page.name, "exec"), names)
        os.chdir(before)
    return names


def draw_table(names: dict[str, Any], axes: tuple[str, str], path: Path) -> None:
    """Draw values, what the others predict for each, and which look wrong."""
    table = names["table"] if axes[0] == "hours" else names["found"].assign(miles=names["X"]["miles"])
    wrong, (across, up) = table[table["is_wrong"]], axes
    figure, panel = plt.subplots(figsize=(6.4, 3.2))
    panel.errorbar(
        table[across], table["expected"], 2 * table["sd"], fmt=".", color=GRAY, label="expected from the others"
    )
    panel.plot(table[across], table["value"], "o", color=BLUE, ms=4, label="measured")
    panel.plot(wrong[across], wrong["value"], "o", color=ORANGE, label="looks wrong")
    panel.set(xlabel=across, ylabel=up)
    panel.legend(frameon=False)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    plt.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "gallery"}
    for page in sorted(PAGES.glob("*.md")):
        if page.stem == "index" or (sys.argv[1:] and page.stem not in sys.argv[1:]):
            continue
        names, path = run(page), PICTURES / f"gallery-{page.stem}.svg"
        if page.stem in TABLES:
            draw_table(names, TABLES[page.stem], path)
        else:
            draw(names["opt"].view, path)
