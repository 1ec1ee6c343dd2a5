import gzip
import http.server
import os
import threading
from functools import partial

import numpy as np
import pytest

from robustbo.errors import DataError
from robustbo_problems import formats
from robustbo_problems.data_source import DataSource, digest, fetch
from robustbo_problems.formats import idx

TEXT = "1 2 3.5\n4 5 6.25\n"
ARRAYS = np.array([[1.0, 2.0], [4.0, 5.0]]), np.array([3.5, 6.25])


@pytest.fixture(autouse=True)
def apart(monkeypatch, tmp_path):
    """A cache of each test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ROBUSTBO_DATA", raising=False)


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
    made = DataSource(("numbers.txt", "numbers.npz"), url, digest(ARRAYS), formats.either)
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
        wanted = DataSource(("bytes.gz",), f"{url}/bytes.gz", "none", idx)
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
