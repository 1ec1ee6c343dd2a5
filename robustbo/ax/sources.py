"""The sources of an Ax client: what each says of the target, and whom to ask; Ax is only looked at, never imported."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robustbo.ax.experiment import SOURCE, source_labels
from robustbo.ax.seen import ClientReader
from robustbo.study.declared import source_to_measure
from robustbo.trials.declared import check_source_name, target_of
from robustbo.trials.sources import DEFAULT_KIND, Source, labels_to_record
from robustbo.view.sources import SourceFrame, relation_frame


def sources(client: Any) -> SourceFrame:
    """A report on each source of a client beside its target, a row each; printed, a sentence each.

    Columns as in `robustbo.Study.sources`; the numbers of trials are Ax's, of an old experiment its own.

    Args:
        client: An Ax client; it is only read.

    Raises:
        ValueError: If it has none: neither its strategy declares one, nor an old experiment is attached.
        FitError: If no surrogate can be fitted.

    Example:
        >>> def measure(client, simulate, experiment):
        ...     for index, parameters in client.get_next_trials(max_trials=1).items():
        ...         run = simulate if source_of(client, index) == "simulator" else experiment
        ...         client.complete_trial(index, {"loss": run(**parameters)})
        ...     print(sources(client))
    """
    view, runs = _reader(client).view()
    at = [run.trial_index for run in runs]
    reports = [
        replace(report, trials=tuple(at[i] for i in report.trials), wrong=tuple(at[i] for i in report.wrong))
        for report in view.relations()
    ]
    return relation_frame(reports)


def source_of(client: Any, trial_index: int) -> str | None:
    """The source that measured a trial, or is to; the target where nothing else was said, None without any sources.

    Args:
        client: An Ax client; it is only read.
        trial_index: Of the trial.

    Raises:
        ValueError: If there is no such trial.
    """
    trials = client._experiment.trials
    if trial_index not in trials:
        raise ValueError(f"trial_index must be one of the {len(trials)} trials of the experiment, got {trial_index!r}")
    trial = trials[trial_index]
    target = target_of(ClientReader(client).sources.declared)
    return source_labels(trial, trial.arms[0]).get(DEFAULT_KIND, target)


def attach_trial(client: Any, parameters: Mapping[str, Any], source: Source, arm_name: str | None = None) -> int:
    """Attach a trial that a source measures, as `Client.attach_trial` does; the source is kept in its run metadata.

    Args:
        client: An Ax client.
        parameters: All parameters; those that the source does not have may be left out.
        source: A declared source by its name; or labels of what measures it, by kind.
        arm_name: Of the arm.

    Returns:
        The index of the trial.

    Raises:
        ValueError: If sources are declared, and this is none of them.
    """
    reader, labels = ClientReader(client), labels_to_record(source)
    check_source_name(reader.sources.declared, labels)
    declared = dict(reader.sources.declared).get(labels.get(DEFAULT_KIND, ""))
    own = {} if declared is None else {name: v for name, v in declared.values.items() if name not in parameters}
    index: int = client.attach_trial({**dict(parameters), **own}, arm_name)
    trial = client._experiment.trials[index]
    trial.update_run_metadata({SOURCE: labels})
    client._save_or_update_trial_in_db_if_possible(experiment=client._experiment, trial=trial)
    return index


def next_from_source(client: Any, source: str, fixed_parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The parameters that a source is to measure next, where you decide which source it is.

    `Client.get_next_trials` chooses the source itself. Attach the trial by `attach_trial`.

    Args:
        client: An Ax client; it is only read.
        source: A declared source by its name, the target too.
        fixed_parameters: Values of some parameters.

    Raises:
        ValueError: If it is none of the declared sources, or may not be asked.
    """
    view, _ = _reader(client).view()
    by = labels_to_record(source_to_measure(view.settings, None, source))
    fixed = view.space.partial(fixed_parameters)
    return dict(view.suggest(len(view.history), fixed, tuple(by.items())).params)


def _reader(client: Any) -> ClientReader:
    """The client, which has sources."""
    reader = ClientReader(client)
    if not reader.sources.declared:
        advice = "generation_strategy(sources={...}), or attach an old experiment"
        raise ValueError(f"the experiment must have sources, got none; {advice}")
    return reader
