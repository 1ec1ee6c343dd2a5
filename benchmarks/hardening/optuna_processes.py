"""Several processes on one study of Optuna's, some of which are killed in the middle of a trial: the others go on.

Each process runs ``study.optimize`` with our sampler on Levy in six dimensions, a tenth of the values wrong, until so
many trials are complete. So many processes are killed (SIGKILL) at even distances. Afterwards the study is whole: each
trial has a number, no two complete ones have the same point but where one repeats another, and nothing is pending but
what the killed left (which a database's heartbeat fails).

    python -m benchmarks.hardening.optuna_processes --storage study.log --trials 200 --processes 4 --kills 2 --out FILE
    python tests/trials/postgres.py python -m benchmarks.hardening.optuna_processes --storage ADDRESS --out FILE
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import optuna
import torch
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put_in
from robustbo import seeds
from robustbo.optuna import RobustSampler, best, notes, outliers
from robustbo.searchspace.parameters import Float
from robustbo_problems.synthetic import levy

NAME = "levy"
PROBLEM = levy(6)
POLL_S = 0.1
COMPLETE = (TrialState.COMPLETE,)


def storage_of(address: str) -> BaseStorage:
    """A database's, with a heartbeat, or that of a journal's file."""
    if "://" in address:
        return RDBStorage(address, heartbeat_interval=5, grace_period=15)
    return JournalStorage(JournalFileBackend(address))


def objective(trial: optuna.Trial) -> float:
    """Levy's function; a tenth of the values are wrong, by up to 200."""
    value = PROBLEM.objective(
        {name: trial.suggest_float(name, p.low, p.high) for name, p in PROBLEM.space.parameters if isinstance(p, Float)}
    )
    trial.set_user_attr("true", value)
    generator = seeds.generator(0, trial.number, "wrong")
    return value + (generator.random() < 0.1) * 200 * generator.random()


def work(address: str, trials: int) -> None:
    """Run the trials of one process."""
    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(study_name=NAME, storage=storage_of(address), sampler=RobustSampler(seed=0))
    study.optimize(objective, callbacks=[optuna.study.MaxTrialsCallback(trials, states=COMPLETE)])


def run_shared_study(address: str, trials: int, processes: int, kills: int) -> dict[str, Any]:
    """A row: a study that so many processes have worked on."""
    study = optuna.create_study(study_name=NAME, storage=storage_of(address))
    command = [sys.executable, "-m", __spec__.name, "--storage", address, "--trials", str(trials), "--worker"]
    started = time.perf_counter()
    workers = [subprocess.Popen(command) for _ in range(processes)]
    marks = [trials * (k + 1) // (kills + 1) for k in range(kills)]
    while any(worker.poll() is None for worker in workers):
        time.sleep(POLL_S)
        if marks and len(study.get_trials(deepcopy=False, states=COMPLETE)) >= marks[0]:
            killed = workers.pop()
            killed.kill()
            killed.wait()
            marks.pop(0)
    seconds = time.perf_counter() - started
    assert not marks
    assert all(worker.returncode == 0 for worker in workers)
    return {"storage": address.partition("://")[0] if "://" in address else "journal"} | _row(study, seconds)


def _row(study: optuna.Study, seconds: float) -> dict[str, Any]:
    complete = study.get_trials(deepcopy=False, states=COMPLETE)
    assert [t.number for t in study.get_trials(deepcopy=False)] == [*range(len(study.trials))]
    new = [tuple(t.params.items()) for t in complete if "repeats" not in notes.read(t)]
    flagged = outliers(study)["flagged"]
    wrong = {t.number for t in complete if t.value != t.user_attrs["true"]}
    flagged_numbers = {int(number) for number in flagged[flagged].index}
    return {
        "complete": len(complete),
        "running": len(study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))),
        "failed": len(study.get_trials(deepcopy=False, states=(TrialState.FAIL,))),
        "repeats": len(complete) - len(new),
        "same_points": len(new) - len(set(new)),
        "wrong": len(wrong),
        "flagged_rightly": len(flagged_numbers & wrong),
        "flagged_wrongly": len(flagged_numbers - wrong),
        "regret": round(study.trials[best(study).number].user_attrs["true"] - (PROBLEM.optimum or 0.0), 4),
        "seconds": round(seconds, 1),
    }


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--storage", required=True, help="a database's address, or the file of a journal")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.storage, options.trials)
    else:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        put_in([run_shared_study(options.storage, options.trials, options.processes, options.kills)], options.out)
