from robustbo.optuna import RobustSampler


__all__ = ["RobustSampler"]
