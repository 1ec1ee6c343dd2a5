"""What to do next, in words: which values to check or measure again, whose values to tell, and when to ask."""

import json
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from robustbo.report.summary.text_outcomes import brief
from robustbo.report.summary.text_quantities import quantity

SHOWN = 3  # values to check, or trials that are being measured, one by one
DOUBTED = ("flagged", "quarantined")  # states of a value that nothing has settled yet
SURE = 0.999  # probability from which on its digits say nothing


class Step(NamedTuple):
    """Something to do: a sentence, and the commands that do it, each with what it does."""

    text: str
    commands: tuple[tuple[str, str], ...] = ()


def todo(journal: str, found: dict[str, Any]) -> list[Step]:
    """What to do next, the most urgent first.

    Args:
        journal: Its place, for the commands.
        found: The overview.
    """
    doubts, pending = _checks(journal, found), [*_ended(journal, found), *_open(journal, found)]
    return [*_all_failed(found), *doubts, *pending, _next(journal, found)]


def lines(journal: str, found: dict[str, Any]) -> list[str]:
    """The same for a terminal."""
    said = ["what to do next:"]
    for step in todo(journal, found):
        said.append(f"- {step.text}")
        said += [f"    {what + ': ' if what else ''}{command}" for what, command in step.commands]
    return said


def _all_failed(found: dict[str, Any]) -> list[Step]:
    if found["trials"]["told"] + found["trials"]["excluded"] or len(found["failed"]) < 2:
        return []
    return [Step("Look at what evaluates the points: no trial has given a value yet, and it may not be the points.")]


def _checks(journal: str, found: dict[str, Any]) -> list[Step]:
    """The values that are called wrong, and that no other measurement at their point has settled."""
    again = {trial["repeats"] for trial in found["pending"]}
    doubts = [o for o in found["outliers"] if o["status"] in DOUBTED and o["trial"] not in again]
    steps = [_check(journal, found, o) for o in doubts[:SHOWN]]
    if more := doubts[SHOWN:]:
        values = f"{len(more)} more values look" if len(more) > 1 else "1 more value looks"
        which = _numbers(list(dict.fromkeys(o["trial"] for o in more)))
        steps.append(Step(f"{values} wrong, of {which}: check {'them' if len(more) > 1 else 'it'} likewise."))
    return steps


def _check(journal: str, found: dict[str, Any], o: dict[str, Any]) -> Step:
    name, number = o.get("outcome"), str(o["trial"])
    of, value = quantity(found, name), f"{name}=VALUE" if name else "VALUE"
    p = o["probability_wrong"]
    sure = "almost certainly wrong" if p > SURE else f"wrong with probability {p:.2g}"
    what = f"{of.name} was measured as " if of.name else ""
    measured = f"{what}{of.number(o['value'], 4)}" + ("" if what else " was measured")
    expected = f"the other values predict {of.amount(o['expected'], o['sd'], digits=4)}"
    text = f"Check the value of trial {number}: {measured}, {expected}, and it is {sure}."
    of_one = ["--outcome", name] if name else []
    point = json.dumps(o["params"], ensure_ascii=False)
    again = _command("tell", journal, "--params", point, *_values(found))
    commands = (
        ("if it was a slip, correct it", _command("amend", journal, number, value)),
        ("if it is right, say so", _command("include", journal, number, *of_one)),
        ("if you cannot tell, measure the point again, and tell that value too", again),
    )
    return Step(text, commands)


def _ended(journal: str, found: dict[str, Any]) -> list[Step]:
    """Trials that nobody measures any more."""
    gone = [trial["trial"] for trial in found["pending"] if trial["has_ended"]]
    if not gone:
        return []
    again, who = "it", "The process that asked for it has ended"
    if len(gone) > 1:
        again, who = "them", "The processes that asked for them have ended"
    text = f"See to {_numbers(gone)}. {who}: tell what was measured, or let the next ask give {again} out again."
    tell = _command("tell", journal, str(gone[0]) if len(gone) == 1 else "TRIAL", *_values(found))
    return [Step(text, (("tell a value", tell), ("give out again", _command("requeue", journal))))]


def _open(journal: str, found: dict[str, Any]) -> list[Step]:
    """Trials that are being measured."""
    here = [trial for trial in found["pending"] if not trial["has_ended"]]
    if not here:
        return []
    number = str(here[0]["trial"]) if len(here) == 1 else "TRIAL"
    command = (("", _command("tell", journal, number, *_values(found))),)
    if len(here) > SHOWN:
        return [Step(f"Tell the values of {_numbers([t['trial'] for t in here])}, which are being measured.", command)]
    each = [f"trial {t['trial']} ({_place(t)})" for t in here]
    verb = "is" if len(here) == 1 else "are"
    return [Step(f"Tell the value of {_listed(each)}, which {verb} being measured.", command)]


def _place(trial: dict[str, Any]) -> str:
    again = "" if trial["repeats"] is None else f", trial {trial['repeats']} again"
    return brief(trial["params"]) + again


def _next(journal: str, found: dict[str, Any]) -> Step:
    pool, waiting = found.get("pool"), [trial["trial"] for trial in found["queued"]]
    if pool and pool["told"] >= pool["rows"]:
        return Step("Every row of the pool has been measured: there is nothing new to ask for.")
    if waiting:
        text = f"Ask for the next point: {_numbers(waiting)}, which {'waits' if len(waiting) == 1 else 'wait'}, first."
    elif found["pending"]:
        text = "Ask for another point, if more than these can be measured at a time."
    else:
        text = f"Ask for the {'next' if any(found['trials'].values()) else 'first'} point to measure."
    return Step(text, (("", _command("ask", journal)),))


def _values(found: dict[str, Any]) -> list[str]:
    """What `tell` takes."""
    return [f"{each['outcome']}=VALUE" for each in found.get("outcomes", ())] or ["VALUE"]


def _command(command: str, journal: str, *rest: str) -> str:
    return shlex.join(["robustbo", command, journal, *rest])


def _numbers(trials: Sequence[int]) -> str:
    """Trials by their numbers, of many the first."""
    if len(trials) == 1:
        return f"trial {trials[0]}"
    shown = [*map(str, trials[:SHOWN])]
    return f"trials {_listed([*shown, f'{len(trials) - SHOWN} more'] if len(trials) > SHOWN else shown)}"


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
