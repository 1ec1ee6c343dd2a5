"""The spec of what was run, beside its record: so that the folder says by itself what it is, and can be run again."""

from pathlib import Path

import tomli_w

from robustbo.replay.spec.reading import SPEC_FILE, AnySpec
from robustbo.trials.storage.whole import replace_text

FIRST = "# What was run here last; `robustbo replay` writes this file.\n"


def keep(spec: AnySpec, folder: Path) -> None:
    """Write a spec into the folder of its results, unless somebody put one there, or beside it.

    Raises:
        OSError: If it cannot be written.
    """
    path = folder / SPEC_FILE
    if path.exists():
        if not path.read_text(encoding="utf-8", errors="replace").startswith(FIRST):
            return
    elif folder.with_name(f"{folder.name}.toml").is_file():
        return
    text = FIRST + tomli_w.dumps(_plain(spec))
    if not (path.exists() and path.read_text(encoding="utf-8") == text):
        replace_text(path, text)


def _plain(spec: AnySpec) -> dict[str, object]:
    """What TOML can say: nothing that is not said, and paths that mean the same in another folder."""
    made = spec.model_dump(mode="json", exclude_none=True)
    if "published" in made:
        made["published"] = str(Path(made["published"]).absolute())
    return made
