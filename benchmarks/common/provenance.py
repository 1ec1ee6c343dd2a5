"""Origin of a benchmark's rows: the code's commit, the libraries' versions, the processor and the day."""

import datetime
import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from robustbo.trials.codec import versions

CODE = (":/robustbo", ":/problems", ":/benchmarks", ":/runs/*.toml")


def about(commit: str, distributions: Iterable[str] = ()) -> dict[str, str]:
    """Origin of what is recorded now, in words.

    Args:
        commit: Of the code.
        distributions: Distributions besides those that our numbers depend on.
    """
    all_versions = {**versions(), **{name: importlib.metadata.version(name) for name in distributions}}
    libraries = " ".join(f"{name}=={version}" for name, version in all_versions.items())
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
    folder = Path(__file__).parent
    commands = ("rev-parse", "--short", "HEAD"), ("status", "--porcelain", "--untracked-files=no", "--", *CODE)
    try:
        outputs = [
            subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
            for words in commands
        ]
    except (OSError, subprocess.CalledProcessError):
        return ""
    return outputs[0] + ("+" if outputs[1] else "")


def note(file: Path, commit: str, seconds: float, libraries: Iterable[str] = ()) -> None:
    """Write down by which code, with what and when something was recorded, and in how many seconds of one core."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(about(commit, libraries) | {"seconds": round(seconds, 3)}), encoding="utf-8")


def notes(files: Iterable[tuple[dict[str, Any], Path]]) -> pd.DataFrame:
    """Origins of records, a row for all that are alike: how many, from when to when, and their hours.

    Args:
        files: Each with what else tells rows apart.
    """
    records = pd.DataFrame([of | json.loads(file.read_text(encoding="utf-8")) for of, file in files])
    by = [name for name in records.columns if name not in ("date", "seconds")]
    return origins(records.assign(hours=records["seconds"] / 3600).groupby(by, sort=False)).round(5)


def origins(alike: Any) -> pd.DataFrame:
    """A row for each group of records, which have a date and hours: how many, from when to when, and their hours."""
    sums = alike.agg(cells=("hours", "size"), since=("date", "min"), until=("date", "max"), hours=("hours", "sum"))
    return sums.reset_index()
