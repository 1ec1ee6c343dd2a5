"""The pool and the constraints of an optimization, and the trials that break them, in words."""

from typing import Any

SHOWN = 10  # trials that a line tells of


def lines(overview: dict[str, Any]) -> list[str]:
    """The pool, the constraints and the trials that break them, a line each."""
    texts = list[str]()
    if pool := overview.get("pool"):
        added = f", {pool['added']} of them added later" if pool["added"] else ""
        texts.append(f"chooses from a pool of {pool['rows']} rows{added}; {pool['told']} have been told")
    if constraints := overview.get("constraints"):
        texts.append(f"keeps {' and '.join(map(repr, constraints))}")
    if breaking := overview.get("breaking"):
        numbers = [str(row["trial"]) for row in breaking]
        more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
        subject, verb = ("trials", "break") if len(numbers) > 1 else ("trial", "breaks")
        broken = list(dict.fromkeys(text for row in breaking for text in row["constraints"]))
        constraints_text = (" or " if len(numbers) > 1 else " and ").join(map(repr, broken))
        trials = f"{subject} {', '.join(numbers[:SHOWN])}{more}"
        texts.append(f"{trials} {verb} {constraints_text}: kept, since measured, but never the best")
    if outside := overview.get("outside"):
        subject, verb = ("trials", "were") if len(outside) > 1 else ("trial", "was")
        more = f" and {len(outside) - SHOWN} more" if len(outside) > SHOWN else ""
        trials = f"{subject} {', '.join(map(str, outside[:SHOWN]))}{more}"
        texts.append(f"{trials} {verb} measured outside the space: kept there, and not asked for")
    return texts
