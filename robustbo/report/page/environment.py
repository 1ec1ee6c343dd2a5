"""The templates of pages, and what they can do with data."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from robustbo.report.charts import svg
from robustbo.report.charts.chart import Chart
from robustbo.report.page.table import Wrapped
from robustbo.report.summary.text_times import in_utc


def _sentence(text: str) -> str:
    """A text with a capital letter."""
    return text[:1].upper() + text[1:]


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("robustbo.report.page"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "svg": lambda chart: Markup(svg.draw(chart)),
        "legend": lambda charts: Markup(svg.legend(*charts)),
        "sentence": _sentence,
        "utc": in_utc,
    }
    environment.tests["wrapped"] = lambda cell: isinstance(cell, Wrapped)
    environment.tests["chart"] = lambda piece: isinstance(piece, Chart)
    return environment


ENVIRONMENT = _environment()


def render(template: str, **data: Any) -> str:
    """A template filled with data, all text of which is escaped."""
    return ENVIRONMENT.get_template(template).render(**data)
