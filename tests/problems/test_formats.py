import gzip
import zipfile

import numpy as np
import pytest

from robustbo import limits
from robustbo_problems import formats


@pytest.mark.parametrize("packed", ["x.gz", "x.zip", "x.npz"])
def test_what_is_packed_is_bounded(tmp_path, monkeypatch, packed):
    path = tmp_path / packed
    if packed == "x.gz":
        path.write_bytes(gzip.compress(b"0" * 9999))
    elif packed == "x.zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("slice_localization_data.csv", "0" * 9999)
    else:
        np.savez_compressed(path, X=np.zeros((999, 2)), y=np.zeros(999))
    monkeypatch.setattr(limits, "DATA_BYTES", 5000)
    assert path.stat().st_size < 5000
    read = {"x.gz": formats.minutes, "x.zip": formats.slices, "x.npz": formats.arrays}[packed]
    with pytest.raises(ValueError, match=f"{packed}: must unpack to at most"):
        read(path)


class TestSlices:
    ROW = ("3", *["0.5"] * 383, "-0.25", "21.5")

    def read(self, path, row, is_packed):
        text = "\n".join(["patientId,value0,reference", ",".join(self.ROW), ",".join(row), ""])
        if is_packed:
            path = path.with_suffix(".zip")
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("slice_localization_data.csv", text)
        else:
            path.write_text(text)
        return formats.slices(path)

    @pytest.mark.parametrize("is_packed", [True, False])
    def test_are_read_packed_and_unpacked(self, tmp_path, is_packed):
        X, y = self.read(tmp_path / "slices.csv", self.ROW, is_packed)
        assert X.shape == (2, 385)
        assert X[1, [0, 1, 384]].tolist() == [3.0, 0.5, -0.25]
        assert y.tolist() == [21.5, 21.5]

    @pytest.mark.parametrize(
        "row", [["97", *ROW[1:]], ["0.5", *ROW[1:]], ["3", "1.5", *ROW[2:]], ["3", "nan", *ROW[2:]]]
    )
    def test_of_no_patient_or_out_of_range_are_refused(self, tmp_path, row):
        with pytest.raises(ValueError, match=r"a slice must be the number of a patient \(0 to 96\) and 384 features"):
            self.read(tmp_path / "slices.csv", row, is_packed=False)
