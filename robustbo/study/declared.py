"""Declared sources in what people say: labels that are known, and tables of old studies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustbo.errors import SpaceError
from robustbo.study.prior import Content, Prior, prior_contents
from robustbo.trials.declared import check_source_name, label_in, target_of
from robustbo.trials.settings import DEFAULT_SURROGATE, Settings
from robustbo.trials.sources import DEFAULT_KIND, Source, labels_to_record
from robustbo.trials.trial import Trial
from robustbo.validation import short_list


def check_settings_for_sources(settings: Settings) -> None:
    """Raise a `ValueError` unless the settings can learn from the sources that they declare, if they declare any."""
    if settings.sources and settings.surrogate != DEFAULT_SURROGATE:
        raise ValueError(f"sources need the surrogate {DEFAULT_SURROGATE!r}, got {settings.surrogate!r}; leave it out")
    if settings.sources and settings.acquisition not in ("auto", "sobol"):
        raise ValueError(f"sources need the acquisition 'auto', got {settings.acquisition!r}; leave it out")


def contents_by_source(settings: Settings, prior: Prior | Mapping[str, Prior] | None) -> list[Content]:
    """The measurements of old studies: of one, or of several by the names of their sources.

    Raises:
        TypeError, ValueError: If the sources are not declared, or cannot be learned from, or a table breaks a rule.
    """
    check_settings_for_sources(settings)
    if prior is None:
        return []
    if not isinstance(prior, Mapping):
        return prior_contents(settings, prior)
    if not settings.sources:
        names = short_list([*prior])
        raise ValueError(f"prior_data by source needs declared sources, got {names}; give sources={{...}}")
    contents = list[Content]()
    for name, of_source in prior.items():
        label = labels_to_record(name)
        check_source_name(settings.sources, label)
        try:
            of_name = prior_contents(settings, of_source, label.get(DEFAULT_KIND))
        except SpaceError as error:
            raise SpaceError(f"source {name!r}: {error}") from None
        for params, kind, content in of_name:
            contents.append((params, kind, {**content, "source": {**content.get("source", {}), **label}}))
    return contents


def source_to_measure(settings: Settings, by: Source | None, source: str | None) -> Source | None:
    """The source that will measure what is asked for: of several arguments that say so the one that is given.

    Raises:
        ValueError: If both are given, sources are not declared, or this one may not be asked.
    """
    if source is None:
        return by
    if by is not None and DEFAULT_KIND in labels_to_record(by):
        raise ValueError("ask takes source or by, got both")
    if not settings.sources:
        raise ValueError(f"source must be declared, got {source!r}; give sources={{...}} to Optimizer, or write by=")
    label = labels_to_record(source)
    check_source_name(settings.sources, label)
    declared = dict(settings.sources)[label[DEFAULT_KIND]]
    if not declared.ask:
        raise ValueError(
            f"source {source!r} is declared with ask=False, so no point can be asked of it; tell its values"
        )
    return {**labels_to_record(by), **label}


def target_labels(settings: Settings) -> dict[str, Any]:
    """The label of the target, where sources are declared."""
    name = target_of(settings.sources)
    return {} if name is None else {DEFAULT_KIND: name}


def waits_for(settings: Settings, trial: Trial, asker: Mapping[str, str]) -> bool:
    """Return whether a trial that waits may be given to a source: one that waits for a declared source, to that alone.

    Args:
        settings: Those of the study.
        trial: One that waits.
        asker: The labels of who asks; whoever names no declared source takes what comes.
    """
    own, name = (label_in(settings.sources, labels) for labels in (trial.sources, asker))
    return not own or not name or own == name


def queue_labels(settings: Settings, trial: Trial) -> dict[str, str]:
    """The declared source that a trial waits for; the target where it waits for none."""
    return target_labels(settings) | label_in(settings.sources, trial.sources)
