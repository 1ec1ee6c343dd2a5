"""What a benchmark's rows are recorded with: the code's commit, the libraries' versions, the processor and the day."""

import datetime
import importlib.metadata
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path

from robustbo.trials.codec import versions

CODE = (":/robustbo", ":/problems", ":/benchmarks", ":/runs/*.toml")


def about(commit: str, others: Iterable[str] = ()) -> dict[str, str]:
    """What is recorded now, in words.

    Args:
        commit: Of the code.
        others: Distributions besides those that our numbers depend on.
    """
    found = {**versions(), **{name: importlib.metadata.version(name) for name in others}}
    libraries = " ".join(f"{name}=={version}" for name, version in found.items())
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"commit": commit, "date": today, "processor": processor(), "versions": libraries}


def processor() -> str:
    """The processor's name, where Linux gives one."""
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def commit() -> str:
    """The commit that is checked out, with a plus where its code or a spec differs; empty where there is no git.

    What was recorded since, rows and pages, makes no difference.
    """
    here = Path(__file__).parent
    commands = ("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "--untracked-files=no", "--", *CODE)
    try:
        found = [
            subprocess.run(["git", *words], cwd=here, check=True, capture_output=True, text=True).stdout.strip()
            for words in commands
        ]
    except (OSError, subprocess.CalledProcessError):
        return ""
    return found[0] + ("+" if found[1] else "")
