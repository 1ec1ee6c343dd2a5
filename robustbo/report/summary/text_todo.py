"""Steps to take next, in words: which values to check or replicate, whose values to tell, and when to ask."""

import json
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from robustbo.censored import from_json
from robustbo.report.summary.names import title
from robustbo.report.summary.text_outcomes import brief
from robustbo.report.summary.text_quantities import quantity
from robustbo.report.summary.text_sources import name_of, options

SHOWN = 3  # values to check, or trials that are being measured, one by one
DOUBTED = ("flagged", "quarantined")  # states of a value that nothing has settled yet
SURE = 0.999  # probability from which on its digits say nothing


class Step(NamedTuple):
    """Something to do: a sentence, and the commands that do it, each with what it does."""

    text: str
    commands: tuple[tuple[str, str], ...] = ()


def todo(journal: str, overview: dict[str, Any]) -> list[Step]:
    """The steps to take next, the most urgent first.

    Args:
        journal: Its place, for the commands.
        overview: Of an optimization.
    """
    pending = [*_orphan_steps(journal, overview), *_open_steps(journal, overview)]
    urgent = [*_failure_steps(overview), *_source_steps(journal, overview), *_check_steps(journal, overview)]
    return [*urgent, *pending, _ask_step(journal, overview)]


def lines(journal: str, overview: dict[str, Any]) -> list[str]:
    """The steps to take next, for a terminal."""
    texts = ["what to do next:"]
    for step in todo(journal, overview):
        texts.append(f"- {step.text}")
        texts += [f"    {purpose + ': ' if purpose else ''}{command}" for purpose, command in step.commands]
    return texts


def _failure_steps(overview: dict[str, Any]) -> list[Step]:
    if overview["trials"]["told"] + overview["trials"]["excluded"] or len(overview["failed"]) < 2:
        return []
    return [Step("Look at what evaluates the points: no trial has given a value yet, and it may not be the points.")]


def _source_steps(journal: str, overview: dict[str, Any]) -> list[Step]:
    """The sources in doubt."""
    doubts = [report for report in overview.get("sources", ()) if report["in_doubt"]]
    return [_source_step(journal, report) for report in doubts[:SHOWN]]


def _source_step(journal: str, report: dict[str, Any]) -> Step:
    of, error = options(report), f"{report['error']:.4g}"
    correction = [] if report["kind"] in ("broken", "drift") else [("if you know it too", "correct", [error])]
    calls = [*correction, ("if its values are worth nothing", "exclude", list[str]())]
    commands = tuple((text, _command(verb, journal, *first, *of)) for text, verb, first in calls)
    text = report["text"][:1].upper() + report["text"][1:]
    return Step(f"{text}. Look at {name_of(report)}; its values are corrected as that is learned.", commands)


def _check_steps(journal: str, overview: dict[str, Any]) -> list[Step]:
    """The values that are called wrong, and that no other measurement at their point has settled."""
    again = {trial["repeats"] for trial in overview["pending"]}
    doubts = [o for o in overview["outliers"] if o["status"] in DOUBTED and o["trial"] not in again]
    steps = [_check_step(journal, overview, o) for o in doubts[:SHOWN]]
    if rest := doubts[SHOWN:]:
        values = f"{len(rest)} more values look" if len(rest) > 1 else "1 more value looks"
        trials = _numbers(list(dict.fromkeys(o["trial"] for o in rest)))
        steps.append(Step(f"{values} wrong, of {trials}: check {'them' if len(rest) > 1 else 'it'} likewise."))
    return steps


def _check_step(journal: str, overview: dict[str, Any], o: dict[str, Any]) -> Step:
    name, number = o.get("outcome"), str(o["trial"])
    of, value = quantity(overview, name), f"{name}=VALUE" if name else "VALUE"
    p = o["probability_wrong"]
    sure = "almost certainly wrong" if p > SURE else f"wrong with probability {p:.2g}"
    number_text = of.number(from_json(o["value"]), 4, o["sd"])
    measured = f"{of.name} was measured as {number_text}" if of.name else f"{number_text} was measured"
    expected = f"the other values predict {of.amount(o['expected'], o['sd'], digits=4)}"
    text = f"Check the value of {title(o)}: {measured}, {expected}, and it is {sure}."
    of_one = ["--outcome", name] if name else []
    point = json.dumps(o["params"], ensure_ascii=False)
    again = _command("tell", journal, "--params", point, *_values(overview))
    commands = (
        ("if it was a slip, correct it", _command("amend", journal, number, value)),
        ("if it is right, say so", _command("include", journal, number, *of_one)),
        ("if you cannot tell, measure the point again, and tell that value too", again),
    )
    return Step(text, commands)


def _orphan_steps(journal: str, overview: dict[str, Any]) -> list[Step]:
    """Trials that nobody measures any more."""
    ended = [trial["trial"] for trial in overview["pending"] if trial["has_ended"]]
    if not ended:
        return []
    pronoun, asker = "it", "The process that asked for it has ended"
    if len(ended) > 1:
        pronoun, asker = "them", "The processes that asked for them have ended"
    text = f"See to {_numbers(ended)}. {asker}: tell what was measured, or let the next ask give {pronoun} out again."
    tell = _command("tell", journal, str(ended[0]) if len(ended) == 1 else "TRIAL", *_values(overview))
    return [Step(text, (("tell a value", tell), ("give out again", _command("requeue", journal))))]


def _open_steps(journal: str, overview: dict[str, Any]) -> list[Step]:
    """Trials that are being measured."""
    running = [trial for trial in overview["pending"] if not trial["has_ended"]]
    if not running:
        return []
    number = str(running[0]["trial"]) if len(running) == 1 else "TRIAL"
    command = (("", _command("tell", journal, number, *_values(overview))),)
    if len(running) > SHOWN:
        trials = _numbers([t["trial"] for t in running])
        return [Step(f"Tell the values of {trials}, which are being measured.", command)]
    places = [f"{title(t)} ({_place(t)})" for t in running]
    verb = "is" if len(running) == 1 else "are"
    return [Step(f"Tell the value of {_enumeration(places)}, which {verb} being measured.", command)]


def _place(trial: dict[str, Any]) -> str:
    again = "" if trial["repeats"] is None else f", trial {trial['repeats']} again"
    return brief(trial["params"]) + (f", by {trial['source']}" if trial.get("source") else "") + again


def _ask_step(journal: str, overview: dict[str, Any]) -> Step:
    pool, waiting = overview.get("pool"), [trial["trial"] for trial in overview["queued"]]
    if pool and pool["told"] >= pool["rows"]:
        return Step("Every row of the pool has been measured: there is nothing new to ask for.")
    if waiting:
        text = f"Ask for the next point: {_numbers(waiting)}, which {'waits' if len(waiting) == 1 else 'wait'}, first."
    elif overview["pending"]:
        text = "Ask for another point, if more than these can be measured at a time."
    else:
        text = f"Ask for the {'next' if any(overview['trials'].values()) else 'first'} point to measure."
    return Step(text, (("", _command("ask", journal)),))


def _values(overview: dict[str, Any]) -> list[str]:
    """The values in a command to tell."""
    return [f"{outcome['outcome']}=VALUE" for outcome in overview.get("outcomes", ())] or ["VALUE"]


def _command(command: str, journal: str, *rest: str) -> str:
    return shlex.join(["robustbo", command, journal, *rest])


def _numbers(trials: Sequence[int]) -> str:
    """Trials by their numbers, of many the first."""
    if len(trials) == 1:
        return f"trial {trials[0]}"
    shown = [*map(str, trials[:SHOWN])]
    return f"trials {_enumeration([*shown, f'{len(trials) - SHOWN} more'] if len(trials) > SHOWN else shown)}"


def _enumeration(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
