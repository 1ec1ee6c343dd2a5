"""The spec of what was run, beside its record: so that the folder says by itself what it is, and can be run again."""

from pathlib import Path

import tomli_w

from robustbo import limits
from robustbo.foreign.reading import bytes_of
from robustbo.replay.spec.reading import SPEC_FILE, AnySpec
from robustbo.replay.spec.regression import RegressionSpec
from robustbo.trials.storage.whole import replace_text

PUBLISHED = "published.csv"
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
    if isinstance(spec, RegressionSpec) and spec.published is not None and spec.published != folder / PUBLISHED:
        (folder / PUBLISHED).write_bytes(bytes_of(spec.published, limits.TABLE_BYTES))
    text = FIRST + tomli_w.dumps(_plain(spec))
    if not (path.exists() and path.read_text(encoding="utf-8") == text):
        replace_text(path, text)


def _plain(spec: AnySpec) -> dict[str, object]:
    """Spec as TOML values: unset ones left out, published figures by the name of their copy beside it."""
    values = spec.model_dump(mode="json", exclude_none=True)
    return values | ({"published": PUBLISHED} if "published" in values else {})
