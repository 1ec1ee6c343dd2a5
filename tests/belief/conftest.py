import numpy as np
import pytest

from robustbo.loop.belief.outliers import outliers
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from tests.belief.studies import line, noisy


@pytest.fixture(scope="session")
def told_as_asked():
    """Reports, in the order of trials, of a study whose last value was asked for by a model that expected something.

    Fourteen values with a known noise of 0.05 stand before it, by default; all is multiplied by a factor.
    """

    def judge(value, *, expected, expected_sd, factor=1.0, sd=None, known=None, **settings):
        x = np.append(np.linspace(0, 1, 14), 0.53)
        values = np.append(5 + np.sin(3 * x[:-1]) + noisy(14, 0.05) - np.sin(1.6), value)
        history = History()
        for number, (at, y) in enumerate(zip(x.tolist(), (factor * values).tolist(), strict=True)):
            ask = {"event": "ask", "trial": number, "params": {"x": at}, "origin": "sobol"}
            noise = None if known is None else factor * known
            if number == len(x) - 1:
                ask |= {"origin": "model", "expected": factor * expected, "expected_sd": factor * expected_sd}
                noise = None if sd is None else factor * sd
            history = history.apply(ask)
            history = history.apply({"event": "tell", "trial": number, "value": y, "sd": noise})
        judged = outliers(Settings(line(), "minimize", **settings), history)
        return sorted(judged, key=lambda report: report.trial.number)

    return judge
