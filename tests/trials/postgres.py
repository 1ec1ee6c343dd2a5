"""A PostgreSQL server of one's own: in a folder of its own, on a free port of this machine, gone at the end.

    python tests/trials/postgres.py python -m benchmarks.hardening.kills --journal ADDRESS#kills --kills 200

runs a command with the server's address in place of ADDRESS.
"""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PASSWORD = "not-to-be-shown"
NOBODY = 65534
START_S = 30.0
MISSING = "no PostgreSQL here: pip install pgserver, or apt-get install postgresql"


@dataclass(frozen=True)
class Server:
    """A running server, and what starts and stops it."""

    programs: Path
    folder: Path
    port: int

    @property
    def address(self) -> str:
        """Its URL, for `robustbo.Optimizer`."""
        return f"postgresql+psycopg://postgres:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *args: str) -> None:
        """Run one of PostgreSQL's programs, which refuse to be run by root."""
        user: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if _is_root() else {}
        with (self.folder / "output").open("ab") as output:
            done = subprocess.run(
                [self.programs / program, *args], cwd=self.folder, stdout=output, stderr=output, check=False, **user
            )
        if done.returncode:
            raise RuntimeError(f"{program} has failed:\n{(self.folder / 'output').read_text()}")

    def start(self) -> None:
        """Start it; it answers when this returns."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=60"
        self.run("pg_ctl", "start", "-w", "-D", "data", "-l", "log", "-t", f"{START_S:.0f}", "-o", options)

    def stop(self) -> None:
        """Stop it at once, and with it all connections."""
        self.run("pg_ctl", "stop", "-w", "-D", "data", "-m", "immediate")


@contextmanager
def server() -> Iterator[Server]:
    """A server.

    Raises:
        FileNotFoundError: If there is no PostgreSQL on this machine.
    """
    programs = found()
    if programs is None:
        raise FileNotFoundError(MISSING)
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as name:
        made = Server(_usable(programs, Path(name)), Path(name), _free_port())
        (made.folder / "password").write_text(PASSWORD)
        if _is_root():
            for path in (made.folder, made.folder / "password"):
                os.chown(path, NOBODY, NOBODY)
        given = "--auth=scram-sha-256", "--pwfile=password", "--username=postgres", "--encoding=UTF8", "--locale=C"
        made.run("initdb", "-D", "data", *given)
        made.start()
        try:
            yield made
        finally:
            made.stop()


def found() -> Path | None:
    """The folder of PostgreSQL's programs: those of the package pgserver, or of the system."""
    spec = importlib.util.find_spec("pgserver")
    places = [Path(spec.origin).parent / "pginstall" / "bin"] if spec is not None and spec.origin else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    if (installed := shutil.which("initdb")) is not None:
        places.append(Path(installed).parent)
    return next((place for place in places if (place / "initdb").exists()), None)


def _usable(programs: Path, folder: Path) -> Path:
    """The programs where somebody else than root may run them; a virtual environment may be in a folder of root's."""
    if not _is_root() or "pgserver" not in programs.parts:
        return programs
    package = programs.parents[1]
    for place in (package, package.with_name("pgserver.libs")):  # which are found by their place beside each other
        shutil.copytree(place, folder / place.name, ignore=shutil.ignore_patterns("include", "*.a", "__pycache__"))
    return folder / programs.relative_to(package.parent)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def main() -> int:
    """Run a command beside a server."""
    with server() as running:
        return subprocess.run([arg.replace("ADDRESS", running.address) for arg in sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
