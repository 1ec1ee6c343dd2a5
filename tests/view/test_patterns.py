import random

import robustbo as rb
from robustbo.report.page.outliers_section import outliers_section
from robustbo.report.summary.overview import overview
from robustbo.report.summary.text_summary import lines


def test_an_hour_of_noise_is_said_in_the_view_the_overview_its_lines_and_the_page():
    draws = random.Random(0)
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0)
    for i in range(60):
        x = draws.random()
        opt.tell(
            {"x": x}, x * x + draws.gauss(0, 0.01) + (draws.choice((-3, 3)) * draws.random() if 30 <= i < 40 else 0)
        )
    view = opt.view
    pattern = next(pattern for pattern in view.flag_patterns() if pattern.kind == "time")
    assert "measured from trial 3" in pattern.text
    summary = overview(view)
    assert f"flagged values: {pattern}" in lines("it", summary)
    section = outliers_section(view.settings, summary)
    assert str(pattern) in section.patterns
