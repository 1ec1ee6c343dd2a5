"""The page of several outcomes: their front (or the best under constraints), what looks wrong, and each by itself."""

from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

from robustbo.loop.attempt import attempt
from robustbo.loop.cache import FitCache
from robustbo.loop.several.candidates import FrontPoint
from robustbo.loop.several.front import best, raw_best
from robustbo.report import fronts, outcomes, pool_rows, several_charts, suspects, svg, through, where_failed
from robustbo.report.html import share, table
from robustbo.report.part import part
from robustbo.report.several_charts import Known
from robustbo.report.words import chosen as chosen_words
from robustbo.report.words import outcomes as outcome_words
from robustbo.report.words.summary import how, how_far
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

FRONT = (
    "Bars: a posterior standard deviation to each side. Green: what no other point measured beats, and {}; blue: the "
    "other points; pale: they probably break a bound. Orange cross: a value called wrong, joined to where the others "
    "expect it; hollow: another outcome of the trial is called wrong. Hollow diamond: the reference point. What is "
    "beyond the frame is drawn at its edge."
)
WIDE = "min-width:12rem"
SHORT = 4  # digits of a number in a table of many columns
STEPS = "steps along what none beats in these two objectives"
PROGRESS = (
    "What the points measured up to each trial dominate beyond the reference point, by what is believed now: values "
    "that are called wrong never counted."
)
CHOSEN = "<p>Of the front it is the point that by itself dominates the most.</p>"
LIKELIEST = "<p>It is the point that most probably keeps all bounds.</p>"
TIMELINE = (
    "Blue: believed; pale: its point probably breaks a bound; orange cross: called wrong; ringed: replicates; ticks: "
    "not measured. Dashed, with gray beyond it: a bound. Values beyond the frame are drawn at its edge, with "
    "their numbers."
)
BEST = " Green, dashed: the incumbent among the points measured so far, by what is believed now."


def parts(settings: Settings, history: History, fits: FitCache, found: dict[str, Any]) -> list[str]:
    """The sections of the page.

    Args:
        settings: What the study was told at its beginning.
        history: What has happened in it.
        fits: The last fits.
        found: Its overview.
    """
    made = [f"<p>{escape(how(found))}; {escape(how_far(found))}.</p>"]
    made += [f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in chosen_words.lines(found)]
    known, why = attempt(partial(several_charts.known, settings, history, fits), settings.surrogate)
    if known is None:
        made.append(f"<p>What is believed could not be computed: {escape(why or '')}.</p>")
        return [*made, where_failed.section(settings, history, fits, found)]
    if missing := outcomes.without_value(settings, history):
        what = f"No value of {' and of '.join(missing)}" if known.seen else "Nothing"
        made.append(f"<p>{escape(what)} has been told yet.</p>")
        failing = where_failed.section(settings, history, fits, found)
        return [*made, *_suspects(known, found), *_each(known), failing]
    return [*made, *_of_all(settings, history, fits, found, known)]


def _of_all(settings: Settings, history: History, fits: FitCache, found: dict[str, Any], known: Known) -> list[str]:
    """The sections where something is known of each outcome."""
    params, where, why = _here(known, history, fits)
    made = (
        [part(settings, lambda: "".join(_front(known, found["front"]))), *_progress(known)]
        if known.front is not None
        else [_incumbent(settings, history, fits)]
    )
    found["incumbent"] = {"params": params}
    made += [*_suspects(known, found), *_each(known)]
    made.append(where_failed.section(settings, history, fits, found, where))
    if settings.space.is_pool:
        return [*made, part(settings, lambda: pool_rows.of_several(settings, history, fits, known.seen))]
    surfaces = [
        through.Surface(of.fitted, of.wanted.quantity, of.wanted, values)
        for of in known.seen
        for values in [through.measured(of.history, found["outliers"], of.wanted.name)]
    ]
    made.append(f"<h2>The surrogates, through {escape(where)}</h2>{why}")
    return [*made, part(settings, lambda: through.section(space_of(settings, history), params, surfaces, where))]


def _here(known: Known, history: History, fits: FitCache) -> tuple[Mapping[str, Any], str, str]:
    """The point that slices go through, what it is called, and why it is that one."""
    if known.front is None:
        return best(known.settings, history, fits).params, through.INCUMBENT, ""
    if len(known.front):
        here, why = fronts.compromise(known.settings, known.front), CHOSEN
    else:
        here, why = max(known.points, key=lambda point: point.probability_feasible), LIKELIEST
    return here.params, f"the point of trial {here.trial.number}", why


def _front(known: Known, found: dict[str, Any]) -> list[str]:
    settings, around = known.settings, known.front
    assert around is not None
    title = outcome_words.title(found)
    made = ["<h2>The front</h2>", *map(svg.draw, known.fronts)]
    made.append(f"<p>{FRONT.format('what that dominates' if len(settings.objectives) == 2 else STEPS)}</p>")
    shown = outcome_words.rows(found, dict(zip(_names(settings), _labels(settings), strict=True)))
    rows = [{key: value for key, value in row.items() if key not in ("trial", "at")} for row in shown]
    if rows:
        lines = [[_trial(point), *map(escape, row.values())] for point, row in zip(around, rows, strict=True)]
        made.append(table(["trial", *rows[0]], lines, is_safe=True))
    whose = f"; the reference point {'was given' if settings.reference_point else 'is from what is believed'}"
    made.append(f"<p>{escape(title[0].upper() + title[1:] + (whose if rows else ''))}.</p>")
    return made


def _progress(known: Known) -> list[str]:
    return ["<h2>Hypervolume by trial</h2>", svg.draw(fronts.progress(known.volumes)), f"<p>{PROGRESS}</p>"]


def _names(settings: Settings) -> list[str]:
    return [wanted.name for wanted in settings.outcomes]


def _labels(settings: Settings) -> list[str]:
    return [wanted.quantity.label for wanted in settings.outcomes]


def _kept(settings: Settings) -> list[str]:
    return ["keeps bounds"] if settings.outcome_constraints else []


def _trial(point: FrontPoint) -> str:
    """A trial's number and point, as HTML of a table's wide column."""
    return f'<div style="{WIDE}">{escape(f"{point.trial.number}: {_at(point.params)}")}</div>'


def _at(params: Mapping[str, Any]) -> str:
    """A point in short."""
    return ", ".join(f"{k}={v:.{SHORT}g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in params.items())


def _incumbent(settings: Settings, history: History, fits: FitCache) -> str:
    """The point of the best believed objective that probably keeps the bounds, and that of the best raw value."""
    found, raw = best(settings, history, fits), raw_best(settings, history)
    said = [f"{mean:.{SHORT}g} (sd {sd:.2g})" for mean, sd in found.outcomes.values()]
    told = [f"{raw.trial.values[name]:.{SHORT}g}" if name in raw.trial.values else "" for name in _names(settings)]
    chance = [[share(found.probability_feasible)], [""]] if settings.outcome_constraints else [[], []]
    lines = [
        ["incumbent", found.trial.number, *said, *chance[0], _at(found.params)],
        ["best raw value", raw.trial.number, *told, *chance[1], _at(raw.params)],
    ]
    return "<h2>Incumbent</h2>" + table(["", "trial", *_labels(settings), *_kept(settings), "at"], lines)


def _suspects(known: Known, found: dict[str, Any]) -> list[str]:
    if not known.seen:
        return []
    failed = {(o.trial.number, o.outcome): o.failed for of in known.seen for o in of.judged}
    with_failed = [each | {"failed": failed[each["trial"], each["outcome"]]} for each in found["outliers"]]
    judged = found | {"outliers": with_failed}
    return ["<h2>Values that look wrong, and why</h2>", suspects.section(judged, known.settings.quantities)]


def _each(known: Known) -> list[str]:
    """Each outcome's values by trial."""
    if not known.seen:
        return []
    made = ["<h2>Each outcome by trial</h2>"]
    for chart in known.timelines:
        made += [f"<h3>{escape(chart.y.label)}</h3>", svg.draw(chart)]
    return [*made, f"<p>{TIMELINE}{BEST if known.best else ''}</p>"]
