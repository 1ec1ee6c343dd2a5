"""Inside BoFire: our surrogates in its strategies, and their word on its experiments.

    SoboStrategy.make(domain, surrogate_specs=BotorchSurrogates(surrogates=[RobustSurrogate(inputs=..., outputs=...)]))

Importing this registers the surrogate with BoFire, so that strategies that use it can be made, saved and read again.
"""

from robustbo.bofire.data_model import RobustSurrogate
from robustbo.bofire.strategies import outliers, read_anew

__all__ = ["RobustSurrogate", "outliers"]

read_anew()
