"""The formats that data sets come in, as arrays; each file is read within limits."""

import io
import zipfile
from pathlib import Path

import numpy as np

from robustbo import limits
from robustbo.foreign.reading import bytes_of, decompress_file, text_of, too_large

Arrays = tuple[np.ndarray, ...]


def arrays(path: Path) -> Arrays:
    """The arrays X and y of an npz file; nothing is unpickled."""
    if not zipfile.is_zipfile(file := io.BytesIO(bytes_of(path, limits.DATA_BYTES))):
        raise ValueError("it is no archive of arrays")
    with zipfile.ZipFile(file) as archive:
        _check_sizes(path, archive)
    with np.load(file, allow_pickle=False) as named:
        return named["X"].astype("<f8"), named["y"].astype("<f8")


def text(path: Path) -> Arrays:
    """Rows of numbers, the target last; between them spaces or commas."""
    content = text_of(path, limits.DATA_BYTES).replace(",", " ")
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
    data = bytes_of(path, limits.DATA_BYTES)
    if path.suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_sizes(path, archive)
            data = archive.read("slice_localization_data.csv")
    rows = np.loadtxt(io.BytesIO(data), delimiter=",", skiprows=1, dtype="<f8")
    X = rows[:, :-1]
    if X.shape[1] != 385 or not (abs(X[:, 1:] - 0.375) <= 0.625).all() or not np.isin(X[:, 0], range(97)).all():
        raise ValueError("a slice must be the number of a patient (0 to 96) and 384 features in [-0.25, 1]")
    return X, rows[:, -1]


def minutes(path: Path) -> Arrays:
    """The rows' numbers, which are minutes, and the opening values."""
    rows = np.loadtxt(
        io.StringIO(text_of(path, limits.DATA_BYTES)), delimiter=",", skiprows=1, usecols=(0, 2), dtype="<f8"
    )
    return rows[:, :1], rows[:, 1]


def idx(path: Path) -> Arrays:
    """A file of bytes in MNIST's format: magic number, as many sizes as its last byte says, then the bytes."""
    data = decompress_file(path, limits.DATA_BYTES)
    header = 4 * (1 + data[3])
    sizes = np.frombuffer(data[4:header], dtype=">i4")
    return (np.frombuffer(data[header:], dtype=np.uint8).reshape(sizes),)


def _check_sizes(path: Path, archive: zipfile.ZipFile) -> None:
    if sum(part.file_size for part in archive.infolist()) > limits.DATA_BYTES:
        raise ValueError(too_large(path, limits.DATA_BYTES, "must unpack to"))
