"""`Optimizer.optimize`: the loop that asks, evaluates and tells until the study has enough."""
