"""A generator for every loop that speaks gest-api: Xopt, optimas, libEnsemble.

X = Xopt(generator=RobustGenerator(vocs, seed=0), evaluator=evaluator, strict=False)
"""

from robustbo.gest.generator import RobustGenerator

__all__ = ["RobustGenerator"]
