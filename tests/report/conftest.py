import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture
def in_a_browser():
    """Open a page without a screen; gives its elements as drawn, and fails where anything is said on its console."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")

    def drawn(path):
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
        done = subprocess.run([*command, path.as_uri()], capture_output=True, text=True, timeout=120, check=True)
        assert "CONSOLE" not in done.stderr
        return done.stdout

    return drawn
