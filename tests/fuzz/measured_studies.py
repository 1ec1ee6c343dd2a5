"""Random studies in which all is mixed that happens to measurements: readbacks outside the space, values off their
steps, means and known noise, late and corrected values, withdrawn trials, and a space that changes, in some of which at
most so many parameters are on.
"""

import shutil
import warnings

import numpy as np

import robustbo as rb

ACTIONS = {
    "ask": 6, "tell": 6, "read_back": 4, "tell_elsewhere": 2, "late": 2, "amend": 1, "withdraw": 2, "fail": 2,
    "enqueue": 1, "exclude": 1, "change": 1, "resume": 1,
}  # fmt: skip


def space_of(rng, names):
    """A space of these parameters, with random bounds; of the same kinds for the same names."""
    low, width = float(rng.integers(-2, 3)), float(rng.integers(1, 6))
    kinds = {
        "x": lambda: rb.Float(low, low + width),
        "s": lambda: rb.Float(low, low + width, step=0.5),
        "k": lambda: rb.Int(int(low), int(low + width) + 1),
        "g": lambda: rb.Float(10.0**low, 10.0 ** (low + width), log=True),
        "o": lambda: rb.Ordinal(*sorted({1, 2, 5, *rng.integers(3, 9, 2).tolist()})),
        "c": lambda: rb.Choice(*[("a", "b", "d")[i] for i in sorted(rng.choice(3, rng.integers(2, 4), replace=False))]),
        "new": lambda: rb.Float(low, low + width),
    }
    parameters = {name: kinds[name]() for name in names}
    group = [name for name in names if name in ("x", "s", "k", "new") and low <= 0 <= low + width]
    is_grouped = len(group) > 1 and rng.random() < 0.7
    return rb.Space(parameters, constraints=[rb.AtMost(int(rng.integers(1, len(group))), *group)] if is_grouped else [])


class Lab:
    """A study, and what must be found in it: the value, the noise and the count of each trial that was told.

    Args:
        number: By which all that is random is drawn.
        path: Of the journal.
        options: Of the optimizer.
    """

    def __init__(self, number, path, **options):
        self.rng, self.path = np.random.default_rng(number), path
        self.names = ["x", *(name for name in ("s", "k", "g", "o", "c") if self.rng.random() < 0.5)]
        options = {"direction": "minimize", "seed": number, "num_initial": 4, "surrogate": "standard"} | options
        self.opt = rb.Optimizer(space_of(self.rng, self.names), journal=path, **options)
        self.told, self.asks = {}, 0

    def run(self, count):
        """So many actions, after each of which nothing is lost."""
        names, weights = zip(*ACTIONS.items(), strict=True)
        for action in self.rng.choice(names, count, p=np.array(weights) / sum(weights)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rb.SpaceWarning)
                warnings.simplefilter("ignore", rb.ExhaustedWarning)
                getattr(self, action)()
            self.check()

    def check(self):
        """Each value that was told is there, once, with its noise."""
        history = self.opt.history
        found = {t.number: (t.value, t.sd, t.n) for t in history if t.value is not None}
        assert found == self.told
        assert [t.number for t in history] == list(range(len(history)))

    def _one(self, *states):
        trials = [trial for trial in self.opt.history if trial.state in states]
        return trials[self.rng.integers(len(trials))] if trials else None

    def _place(self, params, reach=0.3):
        """Where a point is read back: its numbers a little off, beyond the bounds too."""
        moved = dict(params)
        for name, parameter in self.opt.settings.space.parameters:
            number = moved.get(name)
            if parameter.interval is not None and not isinstance(number, str) and self.rng.random() < 0.7:
                low, high = parameter.interval
                off = float(self.rng.normal(0, reach)) * (high - low)
                moved[name] = number * float(np.exp(0.1 * off / (high - low))) if name == "g" else number + off
        return moved

    def _noise(self):
        """What is told of a value's noise, and what is to be found of it."""
        sd, n = self.rng.choice([None, 0.25]), int(self.rng.choice([1, 1, 4]))
        return {"sd": sd, "n": n}, (None if sd is None else sd / n**0.5, n)

    def _tell(self, place, **more):
        value, (told, kept) = float(self.rng.integers(100)), self._noise()
        trial = self.opt.tell(place, value, **told, **more)
        self.told[trial.number] = (value, *kept)
        return trial

    def ask(self):
        try:
            trials = self.opt.ask(int(self.rng.integers(1, 3)))
        except rb.SpaceExhausted:
            return
        self.asks += len(trials)
        space = self.opt.settings.space
        assert all(space.allows(trial.params) for trial in trials), trials

    def tell(self):
        if (trial := self._one("pending", "queued", "withdrawn")) is not None:
            assert self._tell(trial).params == trial.params

    def read_back(self):
        if (trial := self._one("pending")) is not None:
            place = self._place(trial.params)
            told = self._tell(trial, params=place)
            assert told.params == place
            assert told.target == (None if place == trial.params else trial.params)

    def tell_elsewhere(self):
        self._tell(self._place(self.opt.settings.space.sobol(0, int(self.rng.integers(1000))), reach=1.0))

    def late(self):
        if (trial := self._one("pending")) is None:
            return
        self.opt.requeue(trial)
        given = self.opt.ask()
        if given.handouts > 1:
            self._tell(given)
            late = self._tell(given, **({"params": self._place(given.params)} if self.rng.random() < 0.5 else {}))
            assert late.repeats == given.number

    def amend(self):
        if (trial := self._one("told", "excluded")) is not None:
            told, kept = self._noise()
            self.opt.amend(trial, 7.0, **told)
            self.told[trial.number] = (7.0, *kept)

    def withdraw(self):
        if (trial := self._one("pending", "queued", "failed")) is not None:
            self.opt.withdraw(trial, "no reagent")
            assert trial.number not in [t.number for t in self.opt.pending()]

    def fail(self):
        if (trial := self._one("pending")) is not None:
            params = {"params": self._place(trial.params)} if self.rng.random() < 0.5 else {}
            self.opt.fail(trial, "no flow", retry=self.rng.choice([None, True]), **params)

    def enqueue(self):
        point = self.opt.settings.space.sobol(1, int(self.rng.integers(1000)))
        if self.opt.settings.space.allows(point):
            self.opt.enqueue(point)

    def exclude(self):
        if (trial := self._one("told")) is not None:
            self.opt.exclude(trial)

    def change(self):
        is_grown = "new" not in self.names and self.rng.random() < 0.5
        names = [*self.names, *(["new"] if is_grown else [])]
        space, before = space_of(self.rng, names), self.opt.history
        self.opt.change(space, was={"new": 3.25} if is_grown else {})
        self.names = names
        for trial, old in zip(self.opt.history, before, strict=True):
            assert trial.params == old.params | ({"new": 3.25} if is_grown else {})

    def resume(self):
        """Go on with the journal, from which the same follows to the bit."""
        again = rb.Optimizer.resume(self.path)
        assert again.history == self.opt.history
        copy = self.path.with_suffix(".copy.jsonl")
        shutil.copy(self.path, copy)
        try:
            there, here = rb.Optimizer.resume(copy).ask(), again.ask()
        except rb.SpaceExhausted:
            pass
        else:
            assert (there.params, there.expected, there.number) == (here.params, here.expected, here.number)
        self.opt = again
