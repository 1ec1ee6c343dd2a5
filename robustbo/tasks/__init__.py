"""Tasks for surrogates and loops: problems, regression tasks, and their corruptions."""
