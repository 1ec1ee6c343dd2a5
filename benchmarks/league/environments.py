"""Environments of the peers: a virtual environment for each group of libraries that can live together.

What a group has is in `requirements/GROUP.txt`, every version pinned. PyTorch comes first, so that pip takes the build
that it is told of (README, "Which PyTorch"), and a group without it stays small.
"""

import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements")
GROUPS = tuple(sorted(file.stem for file in REQUIREMENTS.glob("*.txt")))
TORCH = "torch=="


def python_of(work: Path, group: str) -> Path:
    """The interpreter of a group's environment.

    Raises:
        FileNotFoundError: If it is not there.
    """
    python = work / "environments" / group / "bin" / "python"
    if not python.exists():
        advice = f"python -m benchmarks.league.run environments --work {work} --groups {group}"
        raise FileNotFoundError(f"{python} must be there, and is not: {advice}")
    return python


def make(work: Path, group: str) -> None:
    """Make the environment of a group, unless it is there.

    Raises:
        CalledProcessError: If something cannot be installed.
    """
    folder, file = work / "environments" / group, REQUIREMENTS / f"{group}.txt"
    finished = folder / "finished.txt"
    if finished.exists() and finished.read_text(encoding="utf-8") == file.read_text(encoding="utf-8"):
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
    install = [str(folder / "bin" / "python"), "-I", "-m", "pip", "install", "--quiet"]
    lines = file.read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line.startswith(TORCH):
            subprocess.run([*install, line], check=True)
    subprocess.run([*install, "--no-deps", "-r", str(file)], check=True)
    finished.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
