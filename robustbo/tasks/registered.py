"""Groups of entry points under which anybody registers problems and regression tasks."""

PROBLEMS = "robustbo.problems"
REGRESSION = "robustbo.regression"
