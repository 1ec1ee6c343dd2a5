"""What an optimization chooses from, and who breaks its constraints, in words."""

from typing import Any

SHOWN = 10  # trials that a line tells of


def lines(found: dict[str, Any]) -> list[str]:
    """The same in words, a line each."""
    said = []
    if pool := found.get("pool"):
        added = f", {pool['added']} of them added later" if pool["added"] else ""
        said.append(f"chooses from a pool of {pool['rows']} rows{added}; {pool['told']} have been told")
    if texts := found.get("constraints"):
        said.append(f"keeps {' and '.join(map(repr, texts))}")
    if breaking := found.get("breaking"):
        numbers = [str(each["trial"]) for each in breaking]
        more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
        who, verb = ("trials", "break") if len(numbers) > 1 else ("trial", "breaks")
        texts = list(dict.fromkeys(text for each in breaking for text in each["constraints"]))
        what = (" or " if len(numbers) > 1 else " and ").join(map(repr, texts))
        said.append(f"{who} {', '.join(numbers[:SHOWN])}{more} {verb} {what}: kept, since measured, but never the best")
    return said
