"""Figure 2 of the source on distributed robust GPs: seconds of one evidence and its gradient, against n.

One input, a random linear function, normal noise of sd 0.35. One process with normal and with Student-t noise, and
committees of both, experts of 128, 256 and 512. Modes are found from nothing, to convergence (the source has twenty
steps of expectation maximization). Seconds of one core's processor; on a GPU, of the clock. Where a size is beyond what
was run, the picture has the last one's time times the ratio of sizes, dashed: an estimate, since time grows with n.

    python -m benchmarks.speed.committee_times --out runs/committee
    python -m benchmarks.speed.committee_times --device cuda --committees 10000000 --memory-gib 16 --out OUT  # on a GPU
"""

import math
import sys
import time
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import torch
from torch import Tensor

from benchmarks.common.csv_rows import read, row_writer
from benchmarks.common.parsers import parser_of
from robustbo.numerics.committee import evidence
from robustbo.numerics.committee.evidence import SharedHyperparameters
from robustbo.numerics.committee.partition import Shards, random_parts, shard
from robustbo.report.charts.palette import COLORS

NOISE_SD, ESTIMATED = 0.35, 10_000_000
KINDS = {"GP": (None, None), "RGP": (4.0, None)} | {
    f"{name}, {size}": (nu, size) for size in (128, 256, 512) for name, nu in (("DGP", None), ("DRGP", 4.0))
}
COLUMNS = ("kind", "n", "seconds", "device")


def data(n: int, size: int | None, device: str) -> Shards:
    """The observations by expert; one expert has all unless a size is said."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(n, 1, generator=generator, dtype=torch.float64)
    slope, level = torch.randn(2, generator=generator, dtype=torch.float64)
    y = level + slope * X.squeeze(-1) + NOISE_SD * torch.randn(n, generator=generator, dtype=torch.float64)
    return shard(X.to(device), y.to(device), random_parts(n, 1 if size is None else math.ceil(n / size), generator))


def seconds(kind: str, n: int, device: str, memory: float) -> float:
    """Seconds of an evaluation."""
    nu, size = KINDS[kind]
    shards = data(n, size, device)

    def number(x: float) -> Tensor:
        return torch.tensor(x, dtype=torch.float64, device=device)

    shared = SharedHyperparameters(
        "matern52", number(1.0)[None], number(1.0), number(NOISE_SD**2), None if nu is None else number(nu), number(0.0)
    )
    clock = time.process_time if device == "cpu" else time.perf_counter
    evidence.evidence(shards.part(slice(0, 2)), shared, memory=memory)  # libraries wake up
    started = clock()
    evidence.evidence(shards, shared, memory=memory).L.item()
    return clock() - started


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Log-log; the largest committees continued, dashed, to `ESTIMATED`."""
    figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
    styles = {None: "-", 128: ":", 256: "--", 512: "-."}
    for kind, (nu, size) in KINDS.items():
        at = sorted((int(r["n"]), float(r["seconds"])) for r in rows if r["kind"] == kind and r["device"] == "cpu")
        if not at:
            continue
        color, marker = COLORS[nu is None], "o" if size is None else "."
        axes.plot(*zip(*at, strict=True), color=color, linestyle=styles[size], marker=marker, label=kind)
        if size is not None and at[-1][0] < ESTIMATED:
            ahead = [at[-1], (ESTIMATED, at[-1][1] * ESTIMATED / at[-1][0])]
            axes.plot(*zip(*ahead, strict=True), color=color, linestyle=(0, (1, 4)), linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="observations", ylabel="seconds of one core")
    axes.set_title("Evidence and gradient; thin continuations are estimates", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure what the CSV does not have, then draw."""
    parser = parser_of(__doc__)
    parser.add_argument("--processes", type=int, nargs="*", default=[256, 512, 1024, 2048, 4096])
    parser.add_argument("--committees", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--memory-gib", type=float, default=2**-4)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = options.out / "figure-2.csv"
    rows = read(path)
    finished = {(r["kind"], int(r["n"]), r["device"]) for r in rows}
    with row_writer(path, COLUMNS) as append:
        for kind, (_, size) in KINDS.items():
            for n in options.processes if size is None else options.committees:
                if (kind, n, options.device) in finished:
                    continue
                took = seconds(kind, n, options.device, options.memory_gib * 2**30)
                rows.append({"kind": kind, "n": n, "seconds": f"{took:.4g}", "device": options.device})
                append(rows[-1])
                print(rows[-1], file=sys.stderr)
    draw(rows, path.with_suffix(".png"))


if __name__ == "__main__":
    main()
