"""Everything that may happen to a study, in any order: a stateful test whose promises are those of the documentation.

What is valid must never raise; what is not must raise what the docstrings say, and change nothing. Each asked point is
one of the space, each recommendation finite, each trial kept, and what is read from the journal is what was told, down
to the next ask.
"""

import math
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import robustbo as rb
from robustbo.errors import FitError
from robustbo.study.recomputing import recompute_asks
from robustbo.trials.codec import settings_of
from robustbo.trials.storage.reading import read
from robustbo.trials.tree import OPENED
from tests.fuzz import hostile

DOCUMENTED = (ValueError, TypeError)  # of what is no number, no point, or not allowed for a trial in its state
ADVICE = (rb.NumericsWarning, rb.ExhaustedWarning, RuntimeWarning)
COUNTS: Counter[str] = Counter()  # what has happened in this process, for the record

picks = st.integers(0, 10**6)
number_or_trial = st.booleans()


@contextmanager
def refused(*kinds):
    """What is in the block must raise one of these, with words."""
    with pytest.raises(kinds) as caught:
        yield
    assert str(caught.value)
    COUNTS["refused"] += 1


class Hostile(RuleBasedStateMachine):
    """One study in a journal, and whatever hostile people do to it."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="robustbo-fuzz-")
        self.path = Path(self.folder.name) / "study.jsonl"
        self.ledger = {}  # what has been acknowledged: number -> (state, value, sd)
        self.caught = warnings.catch_warnings()
        self.caught.__enter__()
        for category in ADVICE:
            warnings.simplefilter("ignore", category)
        warnings.filterwarnings("ignore", ".* rows are in this study already", rb.SpaceWarning)

    @initialize(
        space=hostile.spaces(),
        settings=hostile.settings,
        sd_kind=st.sampled_from(hostile.SD_KINDS),
        data=st.data(),
        count=st.sampled_from([0, 0, 0, 0, 0, 2, 5, 8]),
        asks_again=st.sampled_from([True, False, False]),
    )
    def begin(self, space, settings, sd_kind, data, count, asks_again):
        """A study, with some values from the start, so that more asks are a model's."""
        self.asks_again = asks_again
        self.space, self.sd_kind = space, sd_kind
        self.opt = rb.Optimizer(space, **settings, journal=self.path)
        COUNTS["histories"] += 1
        COUNTS[settings["surrogate"]] += 1
        for params in data.draw(st.lists(hostile.points(self.space), min_size=count, max_size=count)):
            self._keep_value(self.opt.tell(params, value := data.draw(hostile.finite), **self._sd(1.0, count)), value)

    # ------------------------------------------------------------ what is valid

    @rule(count=st.sampled_from([None, None, None, 1, 2, 3]))
    def ask(self, count):
        if self._room() < (count or 1) - len(self._having("queued")):
            with self._changing_nothing(rb.SpaceExhausted):
                self.opt.ask(count)
            return
        asked = self.opt.ask(count)
        for trial in [asked] if count is None else asked:
            assert hostile.is_in(self.space, trial.params), trial
            assert trial.state == "pending"
            self._keep(trial)
            COUNTS["asked"] += 1
            COUNTS[f"asked: {trial.origin}"] += 1
            COUNTS["fallback"] += trial.fallback is not None

    @precondition(lambda self: self._having("pending", "queued"))
    @rule(pick=picks, is_whole=number_or_trial, value=hostile.values, sd=hostile.sds)
    def tell(self, pick, is_whole, value, sd):
        trial = self._pick(pick, "pending", "queued")
        self._keep_value(self.opt.tell(trial if is_whole else trial.number, value, **self._sd(sd, pick)), value)

    @rule(data=st.data(), value=hostile.values, sd=hostile.sds, pick=picks)
    def tell_of_elsewhere(self, data, value, sd, pick):
        params = data.draw(hostile.points(self.space))
        self._keep_value(self.opt.tell(params, value, **self._sd(sd, pick)), value)

    @precondition(lambda self: self._having("told"))
    @rule(pick=picks, value=hostile.values, sd=hostile.sds)
    def tell_again_at_a_point(self, pick, value, sd):
        params = self._pick(pick, "told").params
        self._keep_value(self.opt.tell(params, value, **self._sd(sd, pick)), value)

    @rule(data=st.data(), count=st.integers(0, 4))
    def tell_a_frame(self, data, count):
        rows = [data.draw(hostile.points(self.space)) for _ in range(count)]
        told = [data.draw(hostile.finite) for _ in range(count)]
        columns = {name: pd.Series([row[name] for row in rows], dtype=object) for name in self.space.names}
        value = next(name for name in ("value", "y", "measured", "result", "loss") if name not in columns)
        noise = next(name for name in ("sd", "noise", "error") if name not in columns)
        known = [self._sd(data.draw(hostile.sds), row).get("sd") for row in range(count)]
        frame = pd.DataFrame({**columns, value: told, noise: pd.Series(known, dtype=object)})
        for trial, number in zip(self.opt.tell_frame(frame, value=value, sd=noise), told, strict=True):
            self._keep_value(trial, number)

    @rule(data=st.data())
    def enqueue(self, data):
        for trial in self.opt.enqueue(data.draw(hostile.points(self.space))):
            assert trial.state == "queued"
            self._keep(trial)

    @precondition(lambda self: self._having("pending"))
    @rule(pick=picks)
    def requeue(self, pick):
        (trial,) = self.opt.requeue(self._pick(pick, "pending"))
        assert trial.state == "queued"
        self._keep(trial)

    @precondition(lambda self: self._having("pending", "queued"))
    @rule(pick=picks, reason=st.sampled_from(["failed", "", "out of memory\n\x1b[2J", "\ud800"]))
    def fail(self, pick, reason):
        trial = self.opt.fail(self._pick(pick, "pending", "queued"), reason)
        assert trial.state == "failed"
        self._keep(trial)

    @precondition(lambda self: self._having("told"))
    @rule(pick=picks)
    def exclude(self, pick):
        self._keep(self.opt.exclude(self._pick(pick, "told")))

    @precondition(lambda self: self._having("told", "excluded"))
    @rule(pick=picks)
    def include(self, pick):
        trial = self.opt.include(self._pick(pick, "told", "excluded"))
        assert trial.is_vouched
        self._keep(trial)

    @precondition(lambda self: self._having("told", "failed", "excluded"))
    @rule(pick=picks, value=hostile.typed(hostile.finite), sd=hostile.sds)
    def amend(self, pick, value, sd):
        trial = self._pick(pick, "told", "failed", "excluded")
        if not math.isfinite(float(value)):
            with self._changing_nothing(ValueError):
                self.opt.amend(trial, value)
            return
        self._keep_value(self.opt.amend(trial, value, **self._sd(sd, pick)), value)

    # ------------------------------------------------------------ what is not

    @precondition(lambda self: self.ledger)
    @rule(pick=picks, value=hostile.no_numbers)
    def tell_no_number(self, pick, value):
        with self._changing_nothing(TypeError):
            self.opt.tell(self._pick(pick), value)

    @precondition(lambda self: self._having("pending", "queued"))
    @rule(pick=picks, sd=hostile.no_sds)
    def tell_with_no_sd(self, pick, sd):
        with self._changing_nothing(*DOCUMENTED):
            self.opt.tell(self._pick(pick, "pending", "queued"), 1.0, sd=sd)

    @precondition(lambda self: self._having("told", "failed", "excluded"))
    @rule(pick=picks, what=st.sampled_from(["tell", "fail", "include", "exclude", "requeue"]))
    def do_what_the_state_forbids(self, pick, what):
        trial = self._pick(pick, "told", "failed", "excluded")
        if (trial.state, what) in [("told", "exclude"), ("told", "include"), ("excluded", "include")]:
            return
        if trial.handouts > 1 and what in ("tell", "fail"):  # a late value is kept
            return
        with self._changing_nothing(ValueError):
            getattr(self.opt, what)(trial, *([1.0] if what == "tell" else []))

    @rule(
        what=st.sampled_from(["tell", "fail", "exclude"]),
        trial=st.sampled_from([-1, 10**9, 1.5, None, "0", True, math.nan, {}, {"nowhere": 1.0}, []]),
    )
    def name_no_trial(self, what, trial):
        with self._changing_nothing(*DOCUMENTED):
            getattr(self.opt, what)(trial, *([1.0] if what == "tell" else []))

    @rule(data=st.data(), value=st.sampled_from([math.nan, math.inf, "?", None, 1e309, [0], 1j, 10**400]))
    def tell_at_no_point(self, data, value):
        params = data.draw(hostile.points(self.space))
        name = data.draw(st.sampled_from(self.space.names))
        if any(value is v for v in getattr(dict(self.space.parameters)[name], "values", ())):
            return
        with self._changing_nothing(rb.SpaceError):
            self.opt.tell({**params, name: value}, 1.0)

    # ------------------------------------------------------------ what only looks

    @precondition(lambda self: self._having("told"))
    @rule(raw=st.booleans())
    def best(self, raw):
        found = self.opt.best(raw=raw)
        assert math.isfinite(found.mean), found
        assert not math.isinf(found.sd), found
        assert hostile.is_in(self.space, found.params)
        assert self.ledger[found.trial.number][0] == "told"

    @rule()
    def look(self):
        try:
            report = self.opt.outliers()
            frame = self.opt.frame()
        except FitError:
            COUNTS["could not be judged"] += 1
            frame = self.opt.frame(evidence=False)
        else:
            assert len(report) == len(self._having("told"))
            for each in report:
                assert all(map(math.isfinite, (each.expected, each.sd, each.evidence))), each
                assert each.weight is None or 0 <= each.weight <= 1, each
        assert len(frame) == len(self.ledger)

    @precondition(lambda self: self._having("told"))
    @rule(data=st.data())
    def predict(self, data):
        try:
            mean, sd = self.opt.predict(data.draw(hostile.points(self.space)))
        except FitError:
            COUNTS["could not be judged"] += 1
        else:
            assert math.isfinite(mean)
            assert math.isfinite(sd)
            assert sd >= 0

    @rule()
    def go_on_elsewhere(self):
        """Another process goes on, from the journal alone."""
        self._same(rb.Optimizer.resume(self.path))

    def teardown(self):
        try:
            if hasattr(self, "opt") and sys.exc_info()[0] is None:
                self._end()
        finally:
            self.caught.__exit__(None, None, None)
            self.folder.cleanup()

    def _end(self):
        COUNTS["trials"] += len(self.ledger)
        again = rb.Optimizer.resume(self.path)
        self._same(again)
        if not self.asks_again or (self._room() < 1 and not self._having("queued")):
            return
        next_one = again.ask()
        assert hostile.is_in(self.space, next_one.params), next_one
        COUNTS[f"asked: {next_one.origin}"] += 1
        COUNTS["fallback"] += next_one.fallback is not None
        contents = read(self.path)
        for recorded, made in list(recompute_asks(settings_of(self.path, contents.header), contents.events))[-2:]:
            assert all(recorded[key] == made[key] for key in made if not key.endswith("_s")), (recorded, made)
            COUNTS["asked again"] += 1

    # ------------------------------------------------------------ the ledger

    def _having(self, *states):
        return [number for number, (state, *_) in self.ledger.items() if not states or state in states]

    def _room(self):
        """How many points are open to none."""
        size = self.space.size
        return math.inf if size is None else size - len({t.point for t in self.opt.history.trials.having(OPENED)})

    def _pick(self, pick, *states):
        numbers = self._having(*states)
        return self.opt.history[numbers[pick % len(numbers)]]

    def _sd(self, sd, pick):
        match self.sd_kind:
            case "always":
                return {"sd": sd}
            case "zero":
                return {"sd": 0.0}
            case "sometimes":
                return {"sd": sd} if pick % 2 else {}
        return {}

    def _keep(self, trial):
        self.ledger[trial.number] = (trial.state, repr(trial.value), repr(trial.sd))

    def _keep_value(self, trial, value):
        number = float(value)
        if math.isfinite(number):
            assert trial.state in ("told", "excluded")
            assert trial.value == number
            assert math.copysign(1, trial.value) == math.copysign(1, number)
        else:
            assert trial.state == "failed"
        assert hostile.is_in(self.space, trial.params)
        self._keep(trial)
        COUNTS["told"] += 1

    @contextmanager
    def _changing_nothing(self, *kinds):
        before = self.path.read_bytes()
        with refused(*kinds):
            yield
        assert self.path.read_bytes() == before

    def _same(self, again):
        assert again.settings == self.opt.settings
        assert again.history == self.opt.history
        found = {t.number: (t.state, repr(t.value), repr(t.sd)) for t in again.history.trials}
        assert found == self.ledger
        self.opt = again


def run(machine, count, **others):
    """So many histories by a machine; the rest is hypothesis's settings."""
    chosen = settings(
        max_examples=count,
        stateful_step_count=12,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        **others,
    )
    run_state_machine_as_test(machine, settings=chosen)
