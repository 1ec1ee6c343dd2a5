"""Joint evidence: does it find and predict more, where one failure spoils several outcomes of a trial at once?

Data sets of several outcomes (`joint_data.py`) are fitted by the default surrogate, every outcome alone. A rule says
which further values are disbelieved; outcomes that lose one are fitted again without it. The rules:

    alone     what each outcome's own surrogate takes for an outlier; predictions are as they are
    laxer     and what is wrong with a probability of more than 0.2 by its own outcome: does it help to leave out more?
    sum       and all values of a trial whose log-likelihood ratios and prior log odds of failing add up to more than 0
    failed    and those of a trial that has more probably failed than not, by
              `robustbo.loop.belief.trial_failure`, which knows of errors of single values as well
    learned   the same, where the rates of both are learned from the trials (20 steps of EM)
    told      the wrong values are left out, and these alone

Scored on clean measurements at 256 points like the training's, in units of each outcome's spread, means over the
outcomes: log of the root mean squared error; and the negative log density (NLPD), also `capped` at 5 nats a point,
since where outcomes have heavy tails a few points are all of it. Of the values of a data set: how many are found, false
and wrong; and the AUC of values and of trials (by the greatest score in each). What is printed is paired by data set
against `alone`; 0.01 of log RMSE is 1 %. Standard errors are over the means of each problem, size and seed, since what
is struck in other ways has the same points and noise. Constants were chosen on the problems CHOOSING; JUDGING
are those to report.

    python -m benchmarks.quality.joint_evidence

takes a quarter of an hour; a run that was broken off goes on where it was. The file has one row a data set.
"""

import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from benchmarks.common.csv_rows import read, row_writer
from benchmarks.common.parsers import parser_of
from benchmarks.quality.joint_data import CHOOSING, JUDGING, Cell, Data, cells, data
from robustbo.loop.belief.trial_failure import failure_probabilities, log_likelihood_ratio
from robustbo.numerics.pursuit.penalty import RATE
from robustbo.surrogates.common.contract import diagnose, fit, marginals, probability_right, quiet
from robustbo.surrogates.pursuit.model import RelevancePursuitGP

LAX, EVEN, CAP = 0.2, 0.5, 5.0
STEPS, STRENGTH = 20, 10.0  # of the EM, and how many trials its prior rates count for
RULES = ("alone", "laxer", "sum", "failed", "learned", "told")
SCORES = ("found", "false", "auc", "trial_auc", "log_rmse", "nlpd", "capped")
COLUMNS = (*Cell._fields, "wrong", *(f"{rule}.{score}" for rule in RULES for score in SCORES))
Verdicts = tuple[Tensor, Tensor]  # ``n x M``: a score, and what is disbelieved
Scored = dict[tuple[int, ...], list[float]]  # by what is left out: log RMSE, NLPD, and capped


def rules(q: Tensor, flagged: Tensor) -> dict[str, Verdicts]:
    """Scores of each rule, by the probabilities of single outcomes and what their surrogates flag (``n x M``)."""
    total = log_likelihood_ratio(q, RATE).sum(-1, keepdim=True) + math.log(RATE / (1 - RATE))
    p, learned = (
        failure_probabilities(q, RATE).unsqueeze(-1),
        _failure_probabilities(log_likelihood_ratio(q, RATE)).unsqueeze(-1),
    )
    return {
        "alone": (q, flagged),
        "laxer": (q, flagged | (q > LAX)),
        "sum": (total.expand_as(q), flagged | (total > 0)),
        "failed": (p + (1 - p) * q, flagged | (p > EVEN)),
        "learned": (learned + (1 - learned) * q, flagged | (learned > EVEN)),
    }


def _failure_probabilities(L: Tensor) -> Tensor:
    """Probabilities that trials failed, with the rates of that and of errors of single values learned; ``n``."""
    n, c, i = len(L), RATE / 2, RATE / 2
    for _ in range(STEPS):
        own = (math.log(i / (1 - i)) + L).sigmoid()
        either = torch.logaddexp(torch.full_like(L, math.log(1 - i)), math.log(i) + L)
        p = (math.log(c / (1 - c)) + (L - either).sum(-1)).sigmoid()
        c = ((p.sum() + STRENGTH * RATE / 2) / (n + STRENGTH)).item()
        i = (((1 - p) @ own.mean(-1) + STRENGTH * RATE / 2) / ((1 - p).sum() + STRENGTH)).item()
    return p


def scores(cell: Cell) -> dict[str, float]:
    """A data set's row, without what it is of."""
    dataset = data(cell)
    alone = [_fit_outcome(dataset, m, torch.zeros(cell.n, dtype=torch.bool)) for m in range(dataset.Y.shape[1])]
    with quiet():
        diagnoses = [diagnose(model) for model in alone]
        right = [probability_right(model) for model in alone]
        q = torch.stack([1 - p for p in right if p is not None], -1)
    flagged = torch.stack([diagnosis.is_outlier for diagnosis in diagnoses], -1)
    scored_sets = [{(): _predictive(model, dataset, m)} for m, model in enumerate(alone)]
    row: dict[str, float] = {"wrong": int(dataset.bad.sum())}
    for name, (score, disbelieved) in {**rules(q, flagged), "told": (dataset.bad.double(), dataset.bad)}.items():
        further = disbelieved if name == "told" else disbelieved & ~flagged
        predicted = np.mean([_again(scored_sets[m], dataset, m, further[:, m]) for m in range(len(alone))], axis=0)
        figures = [*_detection(score, disbelieved, dataset.bad), *predicted]
        row |= {f"{name}.{key}": value for key, value in zip(SCORES, figures, strict=True)}
    return row


def _fit_outcome(dataset: Data, m: int, without: Tensor) -> RelevancePursuitGP:
    return fit(RelevancePursuitGP(dataset.X[~without], dataset.Y[~without, m : m + 1]))


def _predictive(model: RelevancePursuitGP, dataset: Data, m: int) -> list[float]:
    with torch.no_grad(), quiet():
        mean, sd = marginals(model, dataset.X_test, is_noisy=True)
    error, sd = (mean - dataset.Y_test[:, m]) / dataset.spread[m], sd / dataset.spread[m]
    nlpd = sd.log() + 0.5 * math.log(2 * math.pi) + 0.5 * (error / sd).square()
    return [0.5 * error.square().mean().log().item(), nlpd.mean().item(), nlpd.clamp(max=CAP).mean().item()]


def _again(scored_sets: Scored, dataset: Data, m: int, without: Tensor) -> list[float]:
    """Scores of an outcome's surrogate without some of its values; each set is fitted once."""
    key = tuple(without.nonzero().flatten().tolist())
    if key not in scored_sets:
        scored_sets[key] = _predictive(_fit_outcome(dataset, m, without), dataset, m)
    return scored_sets[key]


def _detection(score: Tensor, disbelieved: Tensor, bad: Tensor) -> list[float]:
    counts = [int((disbelieved & bad).sum()), int((disbelieved & ~bad).sum())]
    pairs = ((bad.flatten(), score.flatten()), (bad.any(-1), score.amax(-1)))
    return [*counts, *(float(roc_auc_score(*pair)) if bad.any() else math.nan for pair in pairs)]


def fill(path: Path, todo: list[Cell]) -> None:
    """Append the rows of the data sets that a file lacks."""
    finished = {tuple(row[key] for key in Cell._fields) for row in read(path)}
    with row_writer(path, COLUMNS) as append:
        for k, cell in enumerate(todo):
            if tuple(map(str, cell)) not in finished:
                append({**cell._asdict(), **{key: round(value, 4) for key, value in scores(cell).items()}})
                print(f"\r{k + 1} of {len(todo)}", end="", file=sys.stderr)


def table(rows: pd.DataFrame, by: list[str]) -> str:
    """Each rule against `alone`, paired by data set."""
    head = f"{' '.join(f'{x:15s}' for x in [*by, 'rule'])} sets   AUC trial  prec   rec    F1 false"
    lines = [f"{head}   log RMSE against alone     capped NLPD against alone"]
    for name, group in rows.groupby(by, sort=False):
        lines += [f"{' '.join(f'{x!s:15s}' for x in [*name, rule])} {_line(group, rule)}" for rule in RULES]
    return "\n".join(lines)


def _line(group: pd.DataFrame, rule: str) -> str:
    true, false, wrong = group[f"{rule}.found"].sum(), group[f"{rule}.false"].sum(), group["wrong"].sum()
    ratios = ((true, true + false), (true, wrong), (2 * true, true + false + wrong))  # precision, recall, F1
    shares = [x / y if y else math.nan for x, y in ratios]
    aucs = [group[f"{rule}.{score}"].mean() for score in ("auc", "trial_auc")]
    lost = pd.DataFrame({score: group[f"{rule}.{score}"] - group[f"alone.{score}"] for score in ("log_rmse", "capped")})
    means = lost.groupby([group[key] for key in ("problem", "n", "seed")]).mean()
    changes = " ".join(f"{x.mean():+9.4f} +- {x.std() / math.sqrt(len(x)):6.4f}    " for _, x in means.items())
    numbers = " ".join(f"{x:5.3f}" for x in [*aucs, *shares])
    return f"{len(group):4d} {numbers} {false / len(group):5.2f} {changes}"


def start() -> None:
    """One thread, in double precision."""
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)


def main() -> None:
    """Score what the file lacks, and print the tables."""
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--problems", nargs="+", choices=[*CHOOSING, *JUDGING], default=list(JUDGING))
    parser.add_argument("--out", type=Path, default=Path("runs/joint-evidence/rows.csv"))
    options = parser.parse_args()
    start()
    fill(options.out, cells(tuple(options.problems), options.seeds))
    rows = pd.read_csv(options.out, keep_default_na=False, na_values=["nan"])  # "none" is a name
    rows = rows[rows["problem"].isin(options.problems) & (rows["seed"] < options.seeds)]
    for by in (["strikes"], ["strikes", "n"], ["strikes", "mode"], ["strikes", "rate"], ["strikes", "problem"]):
        print("\n" + table(rows, by))


if __name__ == "__main__":
    main()
