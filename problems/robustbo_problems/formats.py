"""The formats that data sets come in, as arrays."""

import gzip
import io
import zipfile
from pathlib import Path

import numpy as np

Arrays = tuple[np.ndarray, ...]


def arrays(path: Path) -> Arrays:
    """The arrays X and y of an npz file; nothing is unpickled."""
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no archive of arrays")
    with np.load(path, allow_pickle=False) as found:
        return found["X"].astype("<f8"), found["y"].astype("<f8")


def text(path: Path) -> Arrays:
    """Rows of numbers, the target last; between them spaces or commas."""
    content = path.read_text(encoding="utf-8").replace(",", " ")
    if not content.strip():
        raise ValueError("it is empty")
    rows = np.loadtxt(io.StringIO(content), dtype="<f8", ndmin=2)
    return rows[:, :-1], rows[:, -1]


KNOWN_SLICES = 682  # rows of which all is known here; of the others the targets, and the range of the features


def either(path: Path) -> Arrays:
    """The one or the other."""
    return arrays(path) if path.suffix == ".npz" else text(path)


def slices(path: Path) -> Arrays:
    """The CT slices' CSV (in its archive or out of it): a header, then patient, features, and the target last.

    Raises:
        ValueError: If a row is not the number of one of the 97 patients and 384 features in their range.
    """
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open("slice_localization_data.csv") as file:
            rows = np.loadtxt(file, delimiter=",", skiprows=1, dtype="<f8")
    else:
        rows = np.loadtxt(path, delimiter=",", skiprows=1, dtype="<f8")
    X = rows[:, :-1]
    if X.shape[1] != 385 or not (abs(X[:, 1:] - 0.375) <= 0.625).all() or not np.isin(X[:, 0], range(97)).all():
        raise ValueError("a slice must be the number of a patient (0 to 96) and 384 features in [-0.25, 1]")
    return X, rows[:, -1]


def minutes(path: Path) -> Arrays:
    """The rows' numbers, which are minutes, and the opening values."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(0, 2), dtype="<f8")
    return rows[:, :1], rows[:, 1]


def idx(path: Path) -> Arrays:
    """A file of bytes in MNIST's format: magic number, as many sizes as its last byte says, then the bytes."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    header = 4 * (1 + data[3])
    sizes = np.frombuffer(data[4:header], dtype=">i4")
    return (np.frombuffer(data[header:], dtype=np.uint8).reshape(sizes),)
