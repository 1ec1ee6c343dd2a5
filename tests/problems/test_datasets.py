import gzip
import http.server
import os
import threading
import zipfile
from functools import partial

import numpy as np
import pytest

from robustbo import limits
from robustbo.errors import DataError
from robustbo_problems import datasets, formats
from robustbo_problems.datasets import TABLES, digest, fetch, mnist, table
from robustbo_problems.formats import idx

TEXT = "1 2 3.5\n4 5 6.25\n"
ARRAYS = np.array([[1.0, 2.0], [4.0, 5.0]]), np.array([3.5, 6.25])


@pytest.fixture(autouse=True)
def apart(monkeypatch, tmp_path):
    """Nothing kept between tests, and a cache of each test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ROBUSTBO_DATA", raising=False)
    table.cache_clear()
    mnist.cache_clear()


@pytest.fixture
def cached(tmp_path):
    return tmp_path / "cache" / "robustbo"


@pytest.fixture
def server(tmp_path):
    """A real one on this machine, of the files in its folder."""
    folder = tmp_path / "published"
    folder.mkdir()

    class Silent(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=folder))
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    thread.join()
    made.server_close()


def kept(cached):
    """What is in the cache, but for its lock."""
    return [path.name for path in cached.iterdir() if path.name != ".lock"]


def source(url, **changes):
    made = datasets.Source(("numbers.txt", "numbers.npz"), url, digest(ARRAYS), datasets.formats.either)
    return made._replace(**changes)


class TestDownload:
    def test_a_file_arrives_once(self, server, cached, capfd):
        folder, url = server
        (folder / "numbers.txt").write_text(TEXT)
        wanted = source(f"{url}/numbers.txt")
        for found in (fetch(wanted), fetch(wanted)):
            np.testing.assert_array_equal(found[0], ARRAYS[0])
            np.testing.assert_array_equal(found[1], ARRAYS[1])
            (folder / "numbers.txt").unlink(missing_ok=True)  # the second time it must come from the cache
        assert kept(cached) == ["numbers.txt"]
        assert "100%" in capfd.readouterr().err

    @pytest.mark.parametrize("text", ["1 2 3.5\n4 5 7\n", "1 2 3.5\n4", "", "nonsense"])
    def test_what_is_not_right_does_not_stay(self, server, cached, text):
        folder, url = server
        (folder / "numbers.txt").write_text(text)
        with pytest.raises(DataError, match=r"numbers\.txt.*fetch http://.* by hand, name it numbers\.txt"):
            fetch(source(f"{url}/numbers.txt"))
        assert kept(cached) == []

    def test_a_transfer_that_is_cut_short_leaves_nothing(self, server, cached):
        folder, url = server
        whole = gzip.compress(bytes([0, 0, 8, 1, 0, 0, 16, 0]) + bytes(range(256)) * 16)
        (folder / "bytes.gz").write_bytes(whole[: len(whole) // 2])
        wanted = datasets.Source(("bytes.gz",), f"{url}/bytes.gz", "none", idx)
        with pytest.raises(DataError, match=r"must be a whole gzip file.*put it into"):
            fetch(wanted)
        assert kept(cached) == []

    def test_no_network_and_no_such_page_are_explained(self, server, cached):
        _, url = server
        for address in ("http://127.0.0.1:9/numbers.txt", f"{url}/nothing.txt"):
            with pytest.raises(DataError, match=r"numbers\.txt: not in .*cache.*fetch http.*put it into"):
                fetch(source(address))
            assert kept(cached) == []

    def test_a_cache_that_cannot_be_written_is_explained(self, server, tmp_path):
        folder, url = server
        (folder / "numbers.txt").write_text(TEXT)
        (tmp_path / "cache").write_text("a file, not a folder")
        with pytest.raises(DataError, match=r"numbers\.txt"):
            fetch(source(f"{url}/numbers.txt"))

    def test_two_that_download_at_once_do_not_get_in_each_others_way(self, server, cached):
        folder, url = server
        (folder / "numbers.txt").write_text(TEXT)
        found = []
        threads = [threading.Thread(target=lambda: found.append(fetch(source(f"{url}/numbers.txt")))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        assert kept(cached) == ["numbers.txt"]

    def test_what_a_killed_download_left_is_swept_away(self, server, cached):
        folder, url = server
        (folder / "numbers.txt").write_text(TEXT)
        (cached / "arriving").mkdir(parents=True)
        (cached / "arriving" / "numbers.txt").write_text("1 2")
        np.testing.assert_array_equal(fetch(source(f"{url}/numbers.txt"))[1], ARRAYS[1])
        assert kept(cached) == ["numbers.txt"]


class TestFolder:
    @pytest.fixture(autouse=True)
    def folder(self, monkeypatch, tmp_path):
        (made := tmp_path / "mine").mkdir()
        monkeypatch.setenv("ROBUSTBO_DATA", str(made))
        return made

    @pytest.mark.parametrize("kind", ["txt", "npz"])
    def test_it_is_looked_at_first_and_any_format_will_do(self, folder, kind):
        if kind == "txt":
            (folder / "numbers.txt").write_text(TEXT)
        else:
            np.savez(folder / "numbers.npz", X=ARRAYS[0], y=ARRAYS[1])
        np.testing.assert_array_equal(fetch(source(None))[1], ARRAYS[1])

    def test_a_wrong_digest_is_refused_and_the_users_file_stays(self, folder):
        (folder / "numbers.txt").write_text("1 2 3\n")
        with pytest.raises(DataError, match=r"mine/numbers\.txt: its content must have the SHA-256 .*, got "):
            fetch(source(None))
        assert (folder / "numbers.txt").exists()

    def test_what_is_kept_cannot_be_changed(self, folder):
        (folder / "numbers.txt").write_text(TEXT)
        with pytest.raises(ValueError, match="read-only"):
            fetch(source(None))[0][0] = 7.0

    def test_an_array_of_another_kind_is_explained(self, folder):
        np.save(folder / "numbers.npy", ARRAYS[0])
        (folder / "numbers.npy").rename(folder / "numbers.npz")
        with pytest.raises(DataError, match=r"numbers\.npz: cannot be read.*it is no archive of arrays"):
            fetch(source(None))

    def test_a_folder_that_is_none_is_refused(self, folder, monkeypatch):
        for wrong in (folder / "nowhere", folder / "numbers.txt"):
            (folder / "numbers.txt").write_text(TEXT)
            monkeypatch.setenv("ROBUSTBO_DATA", str(wrong))
            with pytest.raises(DataError, match="ROBUSTBO_DATA must name a folder, got"):
                fetch(source(None))

    def test_pickles_are_not_opened(self, folder):
        np.savez(folder / "numbers.npz", X=np.array([{}], dtype=object), y=ARRAYS[1])
        with pytest.raises(DataError, match="cannot be read"):
            fetch(source(None))

    @pytest.mark.parametrize("packed", ["x.gz", "x.zip", "x.npz"])
    def test_what_is_packed_is_bounded(self, tmp_path, monkeypatch, packed):
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

    def test_what_is_nowhere_and_not_published_is_explained(self):
        with pytest.raises(DataError, match=r"mine \(ROBUSTBO_DATA\) nor .*not published; ask whoever has it"):
            fetch(source(None))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_folder_without_permission_is_explained(self, folder):
        (folder / "numbers.txt").write_text(TEXT)
        folder.chmod(0)
        try:
            with pytest.raises(DataError, match="cannot be"):
                fetch(source(None))
        finally:
            folder.chmod(0o700)

    def test_a_file_that_may_not_be_opened_is_explained(self, folder):
        def refuse(path):
            raise PermissionError(13, "Permission denied")

        (folder / "numbers.txt").write_text(TEXT)
        with pytest.raises(DataError, match=r"numbers\.txt: cannot be read.*Permission denied"):
            fetch(source(None, read=refuse))


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match=r"data set must be one of \['boston', .*got 'mars'"):
        table("mars")


SHAPES = {"boston": (506, 13), "concrete": (1030, 8), "energy": (768, 8), "yacht": (308, 6), "california": (20640, 8)}
SHAPES |= {"neal": (200, 1), "ct-slices-partial": (682, 385), "djia": (809, 1)}


@pytest.mark.usefixtures("real_data")
class TestRealData:
    @pytest.mark.parametrize("name", SHAPES)
    def test_every_table_is_what_it_should_be(self, name):
        X, y = table(name)
        assert X.shape == SHAPES[name]
        assert y.shape == SHAPES[name][:1]
        assert np.isfinite(X).all()
        assert np.isfinite(y).all()

    def test_first_rows(self):
        assert table("boston").y[0] == 24.0
        assert table("california").X[0].tolist() == [-122.23, 37.88, 41, 880, 129, 322, 126, 8.3252]
        assert table("djia").y[0] == 14566.8

    def test_digits(self):
        found = mnist()
        assert found.X.shape == (60000, 28, 28)
        assert found.X_test.shape == (10000, 28, 28)
        assert found.y[:5].tolist() == [5, 0, 4, 1, 9]
        assert found.y_test[:5].tolist() == [7, 2, 1, 0, 4]
        assert np.bincount(found.y).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]

    def test_the_slices_are_known_by_their_targets_and_the_first_rows(self, real_data):
        """All 53,500 real targets, and the features of the first 682; the others cannot be had here, and may be any."""
        with np.load(real_data / "ct_slice_PARTIAL_682rows.npz") as partial_:
            known, y = partial_["X"].astype("<f8"), partial_["y_all_53500"]
        X = np.vstack([known, np.full((53500 - len(known), 385), 0.5)])
        source = TABLES["ct-slices"]
        assert digest(source.to_digest((X, y))) == source.digest
        X[681, 384] += 0.001
        assert digest(source.to_digest((X, y))) != source.digest
        X[681, 384] = known[681, 384]
        y = y.copy()
        y[-1] += 1e-6
        assert digest(source.to_digest((X, y))) != source.digest

    def test_all_have_a_test(self):
        assert set(SHAPES) == set(TABLES) - {"ct-slices"}


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
