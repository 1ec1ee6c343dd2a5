"""Pictures of a study in Optuna's own style, by what is believed of its values; plotly draws them.

    from robustbo.optuna import visualization
    visualization.plot_optimization_history(study).show()

They are called as those of `optuna.visualization` are, and give figures of plotly that can be changed on. A value that
would crush all others into a line is drawn at the edge, with what it was beside it.
"""

import json
import logging
from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import plotly.graph_objects as go
from optuna.study import Study
from plotly.colors import qualitative

from robustbo.optuna.believed import Believed, Fate, Valued, beliefs_of
from robustbo.rounding import format_number

log = logging.getLogger("robustbo")

MARGIN = 0.06  # of the range, beyond what is drawn
REACH = 1.0  # ranges of the believed values, that another may be away from them and still be drawn where it is
FARTHEST = 1e300  # so that a range has a finite width
BEST = "#ef553b"  # Optuna's colors: of the line, and of the values
VALUE = "#636efa"
LOOKS: dict[
    Fate, tuple[str, dict[str, Any]]
] = {  # of each fate: its name, and its mark; the believed have the target's
    "believed": ("", {"color": VALUE}),
    "wrong": ("Looks Wrong", {"color": "#000000", "symbol": "x", "size": 8}),
    "excluded": ("Excluded", {"color": "#7f7f7f", "symbol": "circle-open"}),
    "infeasible": ("Infeasible Trial", {"color": "#cccccc"}),
    "not judged": ("Not Judged", {"color": VALUE, "symbol": "circle-open"}),
}


def plot_optimization_history(study: Study | Sequence[Study], *, target_name: str = "Objective Value") -> go.Figure:
    """The values of all trials, which of them look wrong, and the best believed after each.

    The line is the best posterior mean at a point measured until then, by what is believed today. So it takes one fit,
    which the sampler has made already as a rule, and ends at or near ``best(study).mean``; a value that looked good at
    first and is disbelieved by now never moves it.

    Args:
        study: With any sampler; or several, to be compared.
        target_name: On the axis and in the legend.

    Raises:
        ValueError: If a study has several objectives.
        FitError: If no surrogate can be fitted.

    Example:
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.ERROR)
        >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
        >>> study.optimize(lambda trial: trial.suggest_float("x", -1, 1), n_trials=8)
        >>> [trace.name for trace in plot_optimization_history(study).data]
        ['Objective Value', 'Best Believed Value']
    """
    pairs = _beliefs([study] if isinstance(study, Study) else study)
    figure = go.Figure(layout=_layout("Optimization History Plot", "Trial", target_name))
    if not pairs:
        return figure
    up = _frame(value for _, beliefs in pairs for value in beliefs.values)
    for color, (study_drawn, beliefs) in zip(cycle(qualitative.Plotly), pairs, strict=False):
        of = f" of {study_drawn.study_name}" if len(pairs) > 1 else ""
        places = [_Place(float(v.number), v, _hover(study_drawn, v)) for v in beliefs.values]
        figure.add_traces(_dots(places, up, target_name, of, color if len(pairs) > 1 else None))
        numbers, line = [v.number for v in beliefs.values], {"color": color if len(pairs) > 1 else BEST}
        figure.add_scatter(x=numbers, y=beliefs.best, mode="lines", name=f"Best Believed Value{of}", line=line)
    return figure.update_yaxes(range=list(up))


def plot_outliers(study: Study, *, target_name: str = "Objective Value") -> go.Figure:
    """Each value against what all the others predict for it: what is right lies at the line, as far as its bar goes.

    A bar is two standard deviations of that prediction, noise included. Pointing at a value shows the evidence that it
    is wrong, what another measurement at its point said of it, and the point. What was not judged is not drawn.

    Args:
        study: With any sampler.
        target_name: On the axes.

    Raises:
        ValueError: If the study has several objectives.
        FitError: If no surrogate can be fitted.
    """
    figure = go.Figure(layout=_layout("Outlier Plot", f"Expected {target_name} (± 2 SD)", f"Measured {target_name}"))
    values = [value for _, beliefs in _beliefs([study]) for value in beliefs.values if value.word is not None]
    if not values:
        return figure
    up = _frame(values)
    places = [_Place(v.word.expected, v, _hover(study, v), 2 * v.word.sd) for v in values if v.word is not None]
    across = _pad([place.x for place in places] + [up.clip(v.value) for v in values if v.fate == "believed"])
    ends = [min(*up, *across), max(*up, *across)]
    line = {"color": "#7f7f7f", "dash": "dot"}
    figure.add_scatter(x=ends, y=ends, mode="lines", name="Measured as Expected", line=line, hoverinfo="skip")
    figure.add_traces(_dots(places, up, "Believed"))
    return figure.update_yaxes(range=list(up)).update_xaxes(range=list(across))


def _layout(title: str, across: str, up: str) -> go.Layout:
    return go.Layout(title=title, xaxis={"title": across}, yaxis={"title": up})


def _beliefs(studies: Sequence[Study]) -> list[tuple[Study, Believed]]:
    """Beliefs of each study that has a value; as Optuna's own, a picture of nothing is no error."""
    pairs = list[tuple[Study, Believed]]()
    for study in studies:
        has_values = any(trial.state.is_finished() and trial.values for trial in study.get_trials(deepcopy=False))
        if has_values and (beliefs := beliefs_of(study)).values:
            pairs.append((study, beliefs))
        else:
            log.warning("no value to draw in the study %r", study.study_name)
    return pairs


class _Frame(NamedTuple):
    """The range and the labels of an axis."""

    low: float
    high: float

    def clip(self, value: float) -> float:
        return min(max(value, self.low), self.high)


class _Place(NamedTuple):
    """The place where a value is drawn, its text, and half its bar across."""

    x: float
    valued: Valued
    hover: str
    bar: float = 0.0


def _frame(values: Iterable[Valued]) -> _Frame:
    """Around the values that are believed, and others that are not far from them; around all if none is believed."""
    every = [*values]
    shown = [v.value for v in every if v.fate in ("believed", "not judged")] or [v.value for v in every]
    low, high = min(shown), max(shown)
    reach = REACH * (high - low)
    return _pad([v.value for v in every if low - reach <= v.value <= high + reach] or shown)


def _pad(values: Sequence[float]) -> _Frame:
    low, high = (_Frame(-FARTHEST, FARTHEST).clip(value) for value in (min(values), max(values)))
    margin = MARGIN * (high - low) or max(abs(high), 1.0) * MARGIN
    return _Frame(low - margin, high + margin)


def _dots(places: Sequence[_Place], up: _Frame, name: str, of: str = "", color: str | None = None) -> list[go.Scatter]:
    """A trace of each fate, and one of what lies beyond the frame, by its edge and with its value in words."""
    beyond = [place for place in places if up.clip(place.valued.value) != place.valued.value]
    traces = list[go.Scatter]()
    for fate, (label, look) in LOOKS.items():
        marker = look if color is None or fate == "infeasible" else {**look, "color": color}
        places_of_fate = [place for place in places if place.valued.fate == fate and place not in beyond]
        if places_of_fate:
            traces.append(
                _trace(places_of_fate, [place.valued.value for place in places_of_fate], f"{label or name}{of}", marker)
            )
    if beyond:
        y = [up.clip(place.valued.value) for place in beyond]
        trace = _trace(beyond, y, f"Beyond the Frame{of}", {"color": color or "#000000", "size": 9})
        is_low = [place.valued.value < up.low for place in beyond]
        trace.marker.symbol = ["triangle-down" if low else "triangle-up" for low in is_low]
        trace.textposition = "middle right"
        trace.text = [f"{place.valued.value:.4g}" for place in beyond]
        traces.append(trace.update(mode="markers+text", cliponaxis=False))
    return traces


def _trace(places: Sequence[_Place], y: Sequence[float], name: str, marker: dict[str, Any]) -> go.Scatter:
    bars = {"array": [place.bar for place in places], "thickness": 1, "width": 0, "color": marker["color"]}
    return go.Scatter(
        x=[place.x for place in places],
        y=y,
        mode="markers",
        name=name,
        marker=marker,
        error_x=bars if any(place.bar for place in places) else None,
        hovertext=[place.hover for place in places],
        hoverinfo="text",
    )


def _hover(study: Study, valued: Valued) -> str:
    """Text of a value, a line a fact."""
    trial, word = study.get_trials(deepcopy=False)[valued.number], valued.word
    lines = [f"trial {valued.number}: {valued.value:.6g}", valued.fate if valued.fate != "wrong" else "looks wrong"]
    if trial.values and trial.values[0] != valued.value:
        lines.append(f"amended, was {trial.values[0]:.6g}")
    if word is not None:
        lines += [
            f"expected {format_number(word.expected, 6, word.sd)} (sd {word.sd:.2g})",
            f"evidence {word.evidence:.3g} nats",
        ]
        lines += [] if word.weight is None else [f"weight {word.weight:.2g}"]
        lines += [] if word.remeasured == "not yet" else [f"{word.remeasured} by another measurement"]
    lines += [f"{name}: {json.dumps(value, default=str)}" for name, value in trial.params.items()]
    return "<br>".join(line.replace("<", "&lt;") for line in lines)
