"""The MNIST data set of handwritten digits; `robustbo_problems.data_source` fetches and checks its files."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from robustbo_problems import formats
from robustbo_problems.data_source import DataSource, fetch

MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"

PARTS = {
    "train-images-idx3": "783b1c0807cfc66ca1ef125e96f8a41ab816d75b1d8d28920718b6428b08cb9e",
    "train-labels-idx1": "a79c46cff32cade98d7ade6d1dab8916171d8d1c65cb276c8998bc34d3e2707b",
    "t10k-images-idx3": "010c0c13f96d5658bae4c04d605aa85a9ac8bc6ce619f5cb5f05aeb402f41514",
    "t10k-labels-idx1": "b3b5727c195d9df958a13e9da4e1717a11307903ed50d26abca19d49bb33a8cb",
}


class Images(NamedTuple):
    """``n x 28 x 28`` bytes and ``n`` digits, to train on and to test on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def _mnist(part: str, digest: str) -> DataSource:
    names = (f"mnist-{part}-ubyte.gz", f"mnist-{part}-ubyte", f"{part}-ubyte.gz", f"{part}-ubyte")
    return DataSource(names, f"{MNIST}/{part}-ubyte.gz", digest, formats.idx)


@lru_cache(maxsize=1)
def mnist() -> Images:
    """Handwritten digits.

    Raises:
        DataError: If they cannot be had, or are not what they should be.
    """
    return Images(*(fetch(_mnist(part, digest))[0] for part, digest in PARTS.items()))
