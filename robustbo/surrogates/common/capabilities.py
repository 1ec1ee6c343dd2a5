"""Capabilities of a surrogate with given options."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a surrogate; a BoTorch model that is not ours has the defaults.

    They belong to the instance: a committee with normal noise is not robust, though its class is made to be.

    Attributes:
        is_robust: Whether it expects single values to be wrong, and predicts nearly without these.
        is_heeded: Whether the loop acts on its flags: quarantines values, and replicates them. A peer of other authors
            is run as they wrote it.
        is_cubic: Whether its cost is the cube of the number of observations: of very many it is fitted to a part, and
            judges the others by a method ``diagnose_others(X, Y, sds)``.
        judges_alone: Whether it must see all values, since it excludes some itself; it has a ``verdict`` then.
        trims: Whether it leaves out a given share of the values, wrong or not.
        is_normal: Whether its predictions are normal distributions.
        has_predictive: Whether a measurement has a density of its own, by a method ``predictive(X)``.
        continues: Whether its search can begin where one of fewer observations ended, by a method
            ``continue_from(before, rows)``, which takes the ``warm_start`` of the other model.
        is_sequential: Whether the order of observations matters to it: they come in that of trials.
        leaves_one_out: Whether its diagnosis compares a value with the prediction of the others, or of all.
        hears_replicates: Whether values that agree at a point clear each other.
        mixes_noise: Whether it learns the noise of some values beside that of others, which is known.
    """

    is_robust: bool = False
    is_heeded: bool = False
    is_cubic: bool = False
    judges_alone: bool = False
    trims: bool = False
    is_normal: bool = True
    has_predictive: bool = False
    continues: bool = False
    is_sequential: bool = False
    leaves_one_out: bool = True
    hears_replicates: bool = True
    mixes_noise: bool = False
