"""Loops that begin with old studies: peers in processes of their own, and what tables say of them."""

import sys

import numpy as np
import pandas as pd
import pytest

from benchmarks.league.protocol import PeerError
from benchmarks.transfer import old
from benchmarks.transfer.data import Values
from benchmarks.transfer.peers import ALONE, OURS, Ours, Piped
from benchmarks.transfer.run import claim


def test_a_peer_answers_from_a_process_of_its_own_and_ends_with_it():
    old = Values(np.array([[0.1, 0.2]]), np.array([-9.0]), np.zeros(1, dtype=bool))
    with Piped(sys.executable, "random", old, 2, 0) as peer:
        assert all(0 <= u <= 1 for u in peer.ask())
        peer.tell([0.5, 0.5], 2.0)
        peer.tell([0.25, 1.0], -1.5)
        assert peer.best() == [0.25, 1.0]
        assert peer._process.is_alive
    with pytest.raises(PeerError, match="the peer ended"):
        peer.ask()
    with pytest.raises(PeerError):
        Piped(sys.executable, "nobody", old, 2, 0)


def test_pooled_values_are_the_targets_and_none_of_them_is_recommended():
    old = Values(np.array([[0.1], [0.2], [0.3]]), np.array([-5.0, 1.0, 2.0]), np.zeros(3, dtype=bool))
    peer = Ours(old, 1, 0, "pooled")
    for x, y in (([0.5], 1.0), ([0.6], 0.5)):
        peer.tell(x, y)
    assert len(peer._study.history) == 5
    assert peer.best() == [0.6]


def test_regrets_are_paired_with_the_target_alone_and_with_ours():
    rows = [
        {"problem": "p", "case": case, "seed": seed, "method": method, "regret": regret + 0.1 * seed, "seconds": 2.0}
        for seed in range(2)
        for case, method, regret in [
            ("identical", ALONE, 0.5),
            ("identical", OURS, 0.2),
            ("unrelated", OURS, 0.4),
            ("unrelated", "pooled", 0.9),
        ]
    ]
    table = old.summary(pd.DataFrame(rows)).set_index(["old study", "method"])
    assert table["loops"].tolist() == [2, 2, 2]
    assert table.loc[("identical", OURS), "less target alone"] == "-0.300 ± 0.000"
    assert table.loc[("unrelated", "pooled"), "less target alone"] == "0.400 ± 0.000"
    assert table.loc[("unrelated", "pooled"), "less ours"] == "0.500 ± 0.000"
    one = old.summary(pd.DataFrame([row for row in rows if row["method"] == "pooled"]))  # --methods pooled
    assert one[["regret", "less target alone", "less ours"]].values.tolist() == [["0.950", "", ""]]


def test_the_claim_has_a_source_a_row_and_both_sizes():
    rows = [
        {"case": "offset", "n": n, f"{ALONE}: rmse": alone, "averaged: rmse": 0.1 + 0.1 * i}
        for n, alone in ((6, 1.0), (20, 0.5))
        for i in range(2)
    ]
    (line,) = claim(pd.DataFrame(rows)).to_dict("records")
    assert (line["cells"], line["alone, 6 values"], line["with it, 20"]) == (4, "1.00", "0.15")
    assert line["difference, 6"] == "-0.85 ± 0.05"
