import ast
import random
import sys
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[3] / "benchmarks" / "league" / "server"
MIXED = {
    "x": {"kind": "float", "low": -2.0, "high": 3.0},
    "rate": {"kind": "float", "low": 1e-4, "high": 1.0, "log": True},
    "n": {"kind": "int", "low": 1, "high": 9},
    "trees": {"kind": "int", "low": 5, "high": 500, "log": True},
    "size": {"kind": "ordinal", "values": [1, 3, 10]},
    "kernel": {"kind": "choice", "values": ["rbf", "poly", None]},
}


@pytest.fixture(scope="module")
def plan(load):
    return load("league.plan")


@pytest.fixture(scope="module")
def methods(load):
    return load("league.methods")


@pytest.fixture
def peer(methods, plan):
    """A way to begin random search on a problem, in this Python; each is ended."""
    peers = []

    def begin(problem, setting, root=0):
        peers.append(methods.PipedPeer("random", plan.spec_of(problem, setting), root, sys.executable))
        return peers[-1]

    yield begin
    for one in peers:
        one.close()


def test_the_far_end_of_the_pipe_needs_nothing_of_ours():
    for path in SERVER.glob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
        ours = [name for name in names if name.split(".")[0] in ("robustbo", "benchmarks")]
        assert all(name.startswith("benchmarks.league.server") for name in ours), path


def test_a_peer_is_asked_through_a_pipe(peer, methods, plan):
    space = plan.problem_of("branin").space
    one, other = peer("branin", "noise-5", root=3), peer("branin", "noise-5", root=3)
    points = []
    for number, value in enumerate([2.0, 1.0, None]):
        points.append(one.ask(number))
        assert points[-1] == other.ask(number) == space.validate(points[-1])
        one.tell(methods.Measurement(value, 0.0, False))
    assert one.recommend() == points[1]
    assert one.seconds > 0
    assert one.close() == {"peer": {"python": sys.version.split()[0]}, "refused": 0, "drawn": 0, "error": ""}


def test_a_peer_that_fails_can_be_asked_again(load):
    protocol = load("league.protocol")
    process = protocol.PeerProcess(sys.executable, "random")
    with pytest.raises(protocol.PeerError, match="AttributeError"):
        process.call("ask")  # before it has begun
    assert process.is_alive
    assert process.call("end")["versions"]
    with pytest.raises(protocol.PeerError, match="the peer ended"):
        process.call("ask")
    process.close()


def test_suggestions_beyond_a_constraint_cost_no_trial(peer, methods, plan):
    space, search = plan.problem_of("mixture").space, peer("mixture", "clean")
    for number in range(6):
        point = search.ask(number)
        assert sum(point.values()) == pytest.approx(1)
        assert not space.broken(point)
        search.tell(methods.Measurement(float(number), 0.0, False))
    assert search.recommend() == point  # it is maximized
    assert search.close()["refused"] > 0


def test_scattered_rows_of_a_pool_are_measured_once(peer, methods, plan):
    pool, search = plan.problem_of("hplc").space, peer("hplc", "repeats")
    points = []
    for number in range(8):
        points.append(search.ask(number))
        assert pool.validate(points[-1]) == points[-1]
        search.tell(methods.Measurement(0.0, 0.0, False))
    assert len({tuple(point.values()) for point in points}) == 8
    assert search.recommend() in points


def test_those_who_know_more_are_told_more(methods, plan):
    def state(name):
        method = methods.Ours(name, plan.spec_of("branin", "any-20"), 0)
        method.ask(0)
        method.tell(methods.Measurement(99.0, 5.0, True))
        trial = method._optimizer.history[0]
        return trial.state, trial.value

    assert [state(name) for name in ("standard", "informed", "oracle")] == [
        ("told", 99.0),
        ("excluded", 99.0),
        ("told", 5.0),
    ]


def test_points_of_a_box_come_back(load):
    box = load("league.server.box")
    unit, generator = load("league.server.unit"), random.Random(0)
    cube = box.Box(MIXED)
    assert (cube.dim, cube.blocks) == (8, [(5, 3)])
    for _ in range(50):
        point = box.draw(MIXED, generator)
        for again in (cube.point(cube.row(point)), unit.decode(MIXED, unit.encode(MIXED, point))):
            assert again == {name: pytest.approx(v) if isinstance(v, float) else v for name, v in point.items()}
        assert all(0 <= u <= 1 for u in cube.row(point))


def test_a_constraint_holds_in_the_box_where_it_holds(load):
    box, unit, generator = load("league.server.box"), load("league.server.unit"), random.Random(0)
    space = {"a": {"kind": "float", "low": -1.0, "high": 4.0}, "b": {"kind": "float", "low": 2.0, "high": 3.0}}
    constraints = [({"a": 2.0, "b": -1.0}, 0.5)]
    ((row, constant),), ((named, bound),) = box.Box(space).linear(constraints), unit.linear(space, constraints)
    for _ in range(20):
        point = box.draw(space, generator)
        u = box.Box(space).row(point)
        excess = 2 * point["a"] - point["b"] + 0.5
        assert row[0] * u[0] + row[1] * u[1] + constant == pytest.approx(excess)
        assert named["a"] * u[0] + named["b"] * u[1] - bound == pytest.approx(excess)
    with pytest.raises(NotImplementedError, match="a constraint of rate"):
        box.Box(MIXED).linear([({"rate": 1.0}, 0.0)])


def test_a_constraint_of_one_parameter_is_a_bound(load):
    unit = load("league.server.unit")
    space = {name: {"kind": "float", "low": 0.0, "high": 2.0} for name in "ab"}
    intervals, inequalities = unit.bounds(space, [({"a": -1.0}, 0.5), ({"b": 2.0}, -1.0), ({"a": 1.0, "b": 1.0}, -3.0)])
    assert intervals == {"a": (0.25, 1.0), "b": (0.0, 0.25)}  # 0.5 <= a, b <= 0.5
    assert inequalities == [({"a": 2.0, "b": 2.0}, 3.0)]
