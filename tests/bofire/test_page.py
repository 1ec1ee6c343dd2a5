import re
from pathlib import Path

import pytest

pytestmark = [  # what BoFire does in a way of old
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.drop_duplicates is deprecated"),
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable"),
    pytest.mark.filterwarnings("ignore:Optimization failed in `gen_candidates_scipy`"),  # BoTorch begins again
]


@pytest.mark.slow
def test_the_page_on_bofire_runs_and_prints_what_it_says(capsys):
    page = (Path(__file__).parents[2] / "docs" / "howto" / "bofire.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        exec(block, names)
        assert capsys.readouterr().out.splitlines() == re.findall(r"^# (.*)$", block, re.MULTILINE)
