"""The point that was asked for of a trial that was measured elsewhere, for people."""

from robustbo.trials.trial import Trial


def target_text(trial: Trial) -> str:
    """The values that were asked for, of parameters that were measured elsewhere, in words.

    Example:
        >>> target_text(Trial(0, {"x": 90.03}, target={"x": 90.0}))
        'asked for x=90.0'
    """
    moved = {name: value for name, value in trial.target_params.items() if trial.params.get(name) != value}
    return f"asked for {', '.join(f'{name}={value!r}' for name, value in moved.items())}" if moved else ""
