"""Forged and damaged journals, and every command that reads one, watched; a seed makes the same one each time.

    python tests/trials/forged.py --seeds 0 1000

The checksums of a forged journal are right: it is the schema that has to hold. What is broken is printed with its seed.
"""

import contextlib
import io
import json
import logging
import math
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import tomllib
import warnings
import zlib
from collections import Counter
from copy import deepcopy
from pathlib import Path
from random import Random

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import pandas as pd

import robustbo as rb
from robustbo.cli.app import main
from robustbo.errors import RobustBOError
from robustbo.surrogates.common.contract import own_options
from robustbo.surrogates.registry import SURROGATES

LIMIT_S, HANG_S = 5.0, 60.0  # of the processor, and of the clock
EVIL = "robustbo_forged_evil"  # a module on the path; the import of it leaves a mark
ESCAPES = "\x1b]0;evil\x07\x1b[2J"
EXTRA = ["unseen", "by", "at", "origin", "repeats", "reason", "expected", "expected_sd", "fallback", "salvaged"]
EXTRA += ["params", "value", "sd", "trial", "event", "outliers", "percentiles", "void", "observations", "check"]
KINDS = ["ask", "tell", "fail", "exclude", "include", "amend", "enqueue", "assign", "requeue", "diagnose", "eval", ""]


class Raw(str):
    """JSON, or what is none, as it is to stand in the file."""


class Entries(list):
    """An object's entries; a key may come twice."""


def text_of(value):
    """A value as JSON, in the form in which robustbo writes it."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict | Entries):
        entries = value.items() if isinstance(value, dict) else value
        return "{" + ", ".join(f"{json.dumps(str(key))}: {text_of(each)}" for key, each in entries) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return json.dumps(value)


def chained(objects):
    """The bytes of a journal, its checksums right."""
    lines, check = [], 0
    for each in objects:
        text = text_of(each).encode("utf-8", "surrogatepass")
        check = zlib.crc32(text, check)
        lines.append(text[:-1] + f', "check": "{check:08x}"}}\n'.encode())
    return b"".join(lines)


def objects_in(data):
    """What the lines of a journal say, without their checksums."""
    found = [json.loads(line) for line in data.splitlines()]
    return [{key: value for key, value in each.items() if key != "check"} for each in found]


# ---------------------------------------------------------------- what is put in


def nested(depth, begin="[", end="]"):
    return Raw(begin * depth + end * depth)


def any_value(random, address="tcp://127.0.0.1:9"):
    """A value that nobody expects."""
    numbers = [0, 1, -1, 3, 2**31, 2**63, -(2**64), 10**400, 10**308, 0.5, -0.0, 5e-324, 1e308, -1.7e308, 1e16]
    raw = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 5000, "'x'", "1,", "\x00", "nul", "01"]
    texts = [
        "",
        " ",
        "x" * 100_000,
        ESCAPES,
        "\ud800",
        "\udfff\ud800",
        "\x00",
        "a\nb",
        "\u2028\u202e",
        "'; DROP TABLE x",
    ]
    texts += [
        "<script>alert(1)</script>",
        "%s {x} $x^$ [red]",
        "os:system",
        f"{EVIL}:Evil",
        address,
        "../../x",
        "größe",
    ]
    deep = [nested(100_000), nested(900), nested(200), nested(400, '{"x": ', "1").replace("1" * 400, "1" + "}" * 400)]
    deep = [Raw(each) for each in deep]
    plain = [None, True, False, [], {}, [[]], {"": 1}, [None], [1, 2], {"kind": "float"}, list(range(2000))]
    pool = random.choice(
        [numbers, numbers, [Raw(r) for r in raw], texts, texts, [Raw(json.dumps(t)) for t in texts], deep]
    )
    return random.choice(random.choice([pool, plain]))


def any_parameter(random):
    """A parameter of a space: odd, and yet often one that is allowed."""
    name = random.choice(
        ["x", "", ESCAPES, "\ud800", "<b>", "y" * 50_000, "trial", "self", "a\nb", "$\\frac$", "value"]
    )
    bounds = [0, 1, -1, 1e-308, 1e308, -1e308, 5e-324, 1e-5, 2**45, -(2**45), 10**300, 0.5, True, None, 10**400, "1"]
    numbers = {
        "low": random.choice(bounds),
        "high": random.choice(bounds),
        "log": random.choice([False, False, True, 1]),
    }
    if isinstance(numbers["low"], int | float) and isinstance(numbers["high"], int | float) and random.random() < 0.8:
        numbers["low"], numbers["high"] = sorted((numbers["low"], numbers["high"]))
    several = [
        [],
        [1],
        [1, True],
        [1, 1.0],
        [0.5, None, "x"],
        [ESCAPES, "\ud800"],
        ["", " "],
        [[], {}],
        "abc",
        [10**400, 1],
    ]
    several += [list(range(3000)), [f"{i}" for i in range(40)], ["x" * 50_000, "y"], [-0.0, 1e308], [True, False]]
    kind = random.choice(["float", "int", "choice", "choice", "evil", None])
    return name, {"kind": kind, **({"values": random.choice(several)} if kind == "choice" else numbers)}


_SOURCES = [
    {"a": {"target": True}, "b": {"was": {"x": 0.5}, "had": {"c": ["z", [1]]}}},
    {"a": {"target": True}, "b": {"was": {"nonsense": 1}}, "c": {"had": {"x": [1]}}},
    {"a": {"target": True}, "b": {"was": {"x": 10**400}, "cost": 1e-300, "ask": False}},
    {"a": {"target": True}, **{f"b{i}": {} for i in range(9)}},
]


def any_settings(random, address):
    """Entries of the settings that contradict each other or mean harm, some of which are allowed."""
    name = random.choice([*SURROGATES])
    known = [*own_options(SURROGATES[name])]
    options = {random.choice(known): any_value(random, address)} if known else {}
    chosen = {
        "surrogate": ["os:system", f"{EVIL}:Evil", f"{EVIL}:", ":", "auto", "subprocess:Popen", "a:b:c", *SURROGATES],
        "num_initial": [0, 1, 2, 10**12, 10**400, 2.0, True, "5"],
        "seed": [0, -1, 2**63, 10**400, 1.5, True, "0"],
        "max_repeats": [0, 1, 10**400, -1],
        "committee_from": [0, 1, 3, 10**400, None, "x", 2.0],
        "acquisition": ["auto", "qLogNEI", "qLogEI", "LogEI", "sobol", "evil"],
        "remeasure": ["promising", "suspicious", "never", ""],
        "direction": ["minimize", "maximize", "both"],
        "set_aside": [True, False, 1, None],
        "sources": [{}, [], "a", {"a": {}}, {"a": {"target": True}}, {"a": {"target": 1}, "b": {"evil": 1}}, *_SOURCES],
        "surrogate_options": [{"cluster": address}, {"kernel": "evil"}, {"nonsense": 1}, {"": None}, [], "{}"],
    }
    both = {"surrogate": name, "surrogate_options": options}
    committee = {"surrogate": "committee", "surrogate_options": {"cluster": address}}
    one = {key: random.choice(values) for key, values in random.sample([*chosen.items()], random.randint(1, 3))}
    return random.choice([one, one, both, committee | one, committee])


# ---------------------------------------------------------------- what is done with a whole one


def _places(value, into):
    """Each dict or list in a value, with each of its keys."""
    if isinstance(value, dict | list):
        for key in value.keys() if isinstance(value, dict) else range(len(value)):
            into.append((value, key))
            _places(value[key], into)
    return into


def _change(random, line, address):
    """Change something in a line's object."""
    places = _places(line, [])
    if not places:
        return
    (where, key), (other, other_key) = random.choice(places), random.choice(places)
    match random.choice(["replace"] * 5 + ["delete", "add", "rename", "swap", "number"]):
        case "delete":
            del where[key]
        case "add" if isinstance(where, dict):
            where[random.choice([*EXTRA, "", ESCAPES, "\ud800", "schema"])] = any_value(random, address)
        case "rename" if isinstance(where, dict):
            where[random.choice([*EXTRA, str(key).upper(), f"{key} "])] = where.pop(key)
        case "swap":
            where[key], other[other_key] = deepcopy(other[other_key]), deepcopy(where[key])
        case "number" if isinstance(where[key], int | float) and not isinstance(where[key], bool):
            number = min(max(where[key], -1e300), 1e300)  # an integer may be larger than any float
            where[key] = random.choice([-where[key], where[key] + 1, number * 1e300, float(number), 10**18])
        case _:
            where[key] = any_value(random, address)


def _event(random, objects):
    """A new event, or a copy of one, in which each entry may be odd."""
    count = sum("params" in each for each in objects)
    like = random.choice(objects[1:] or [{"event": "ask", "trial": 0, "params": {"x": 0.5}}])
    made = {**like, "event": random.choice([like.get("event")] * 20 + KINDS)}
    made["trial"] = random.choice([count] * 4 + [count - 1, 0, random.randint(0, max(0, count)), -1, 10**30, True, "0"])
    extras = {
        "unseen": [[0, 0], [0, 1], [1, 3], [5, 2], [0, 10**9], [-1, 0], [count, count], [2, 7]],
        "at": ["0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999999+00:00", "2026-13-01T00:00:00+00:00", "now", 0],
        "by": [ESCAPES, "", ":::", "host:1:token", f"{socket.gethostname()}:99999999999999999999:1", None, "\ud800", 1],
        "value": [1e308, -1e308, 5e-324, 0, 10**308, 10**400, True, None],
        "sd": [0, 0.0, 1e308, 5e-324, None, -1, 10**400],
        "expected": [1e308, 0.0, None],
        "expected_sd": [0.0, 1e308, None, 5e-324],
        "repeats": [0, count - 1, count, 10**30, None],
        "reason": [ESCAPES, "", "re-measure", "Traceback\n" * 1000, "nothing new left"],
        "observations": [0, 10**30],
        "outliers": [[0], [0, 0], [10**9], [], [count - 1, 0]],
        "percentiles": [[0.5], [0.0, 1.0], [1e308], [], [-1.0, 5e-324]],
        "void": [True, False],
        "fallback": [ESCAPES, "x" * 10_000],
        "origin": ["model", "sobol", "late", ESCAPES],
    }
    own = [key for key in extras if key in made] + ["unseen"] * (made["event"] == "ask")
    wanted = random.choice(
        [own, own, random.sample(own, min(1, len(own))), random.sample([*extras], random.randint(0, 3))]
    )
    return made | {key: random.choice(extras[key]) for key in wanted}


def forged(data, random, address="tcp://127.0.0.1:9"):
    """A journal that somebody has made of another one; its checksums are right."""
    objects = objects_in(data)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        header, settings = objects[0] if objects else {}, objects[0].get("settings") if objects else None
        at = random.randrange(len(objects)) if objects else 0
        how = random.choice(
            ["settings"] * 4 + ["space"] * 3 + ["header"] * 2 + ["line"] * 5 + ["event"] * 5 + ["order", "twice"]
        )
        if how == "settings" and isinstance(settings, dict):
            settings |= any_settings(random, address)
        elif how == "space" and isinstance(settings, dict):
            space = dict(any_parameter(random) for _ in range(random.choice([1, 1, 2, 3])))
            many = {f"x{i}": {"kind": "float", "low": 0, "high": 1} for i in range(random.choice([100, 10_000]))}
            settings["space"] = random.choice([space] * 8 + [{}, many])
            del objects[random.choice([1, 1, 1, len(objects)]) :]
        elif how == "header":
            _change(random, header, address)
        elif how == "line" and objects:
            _change(random, objects[at], address)
        elif how == "event":
            place = random.choice([at + 1, len(objects), len(objects)])
            objects[place : place + random.choice([0, 0, 1])] = [_event(random, objects)]
        elif how == "order" and objects:
            objects.insert(random.randrange(len(objects)), objects.pop(at))
        elif how == "twice" and objects and isinstance(objects[at], dict) and objects[at]:
            key = random.choice([*objects[at]])
            objects[at] = Entries([*objects[at].items(), (key, any_value(random, address))])
            return chained(objects)
    return chained(objects)


def damaged(data, random):
    """A journal that something has happened to; what has no right checksum any more is damage."""
    for _ in range(random.choice([1, 1, 2, 5])):
        a, b = sorted(random.randrange(len(data) + 1) for _ in range(2))
        lines = data.split(b"\n")
        i, j = random.randrange(len(lines)), random.randrange(len(lines))
        match random.choice(
            ["flip", "cut", "end", "insert", "repeat", "swap", "crlf", "bom", "nuls", "utf-16", "copy"]
        ):
            case "flip" if a < len(data):
                data = data[:a] + bytes([data[a] ^ 1 << random.randrange(8)]) + data[a + 1 :]
            case "cut":
                data = data[:a] + data[min(b, a + random.choice([1, 10, 10_000])) :]
            case "end":
                data = data[:b]
            case "insert":
                junk = random.choice(
                    [random.randbytes(20), b"\xff" * 50, ESCAPES.encode(), b"\n", b"{}", b"[" * 100_000]
                )
                data = data[:a] + junk + data[a:]
            case "repeat":
                data = data[:b] + data[a:]
            case "swap":
                lines[i], lines[j] = lines[j], lines[i]
                data = b"\n".join(lines)
            case "copy":
                data = b"\n".join([*lines[:i], lines[j], *lines[i:]])
            case "crlf":
                data = data.replace(b"\n", b"\r\n")
            case "bom":
                data = b"\xef\xbb\xbf" + data
            case "nuls":
                data = data[:a] + bytes(b - a) + data[b:]
            case "utf-16":
                data = data.decode(errors="replace").encode("utf-16")
    return data


# ---------------------------------------------------------------- who reads, and who watches


class Hang(BaseException):
    """It took too long."""


class Evil:
    """A module that leaves a mark, a scheduler that counts who calls, and a record of all connections."""

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="forged-evil-"))
        self.mark = self.folder / "mark"
        (self.folder / f"{EVIL}.py").write_text(f"open({str(self.mark)!r}, 'w').close()\nclass Evil: pass\n")
        sys.path.insert(0, str(self.folder))
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.setblocking(False)
        self.address = f"tcp://127.0.0.1:{self.server.getsockname()[1]}"
        self.called = []
        self.connects = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex")}
        for name, connect in self.connects.items():
            setattr(socket.socket, name, self._recording(connect))
        return self

    def _recording(self, connect):
        def recorded(this, where):
            self.called.append(where)
            return connect(this, where)

        return recorded

    def __exit__(self, *_):
        for name, connect in self.connects.items():
            setattr(socket.socket, name, connect)
        sys.path.remove(str(self.folder))
        sys.modules.pop(EVIL, None)
        self.server.close()
        shutil.rmtree(self.folder)

    def deeds(self):
        """What has happened that must not."""
        if self.mark.exists() or EVIL in sys.modules:
            yield f"imported {EVIL}"
        if self.called:
            yield f"connected to {self.called}"
        with contextlib.suppress(BlockingIOError):
            self.server.accept()[0].close()
            yield "a connection came in"


@contextlib.contextmanager
def limited():
    """A `Hang` where it takes too long; only the main thread can be interrupted."""

    def ring(*_):
        raise Hang

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, HANG_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def command(*arguments):
    """Run the command line: exit code, stdout, stderr."""
    out, err, argv, shown = io.StringIO(), io.StringIO(), sys.argv, warnings.showwarning
    sys.argv = ["robustbo", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        return ended.code or 0, out.getvalue(), err.getvalue()
    finally:
        sys.argv, warnings.showwarning = argv, shown
    raise AssertionError("a command ends with an exit code")


def by_command(*arguments, codes=()):
    """What the command line does with a file: "works" or "refused"; anything else is an AssertionError."""
    code, out, err = command(*arguments)
    said = [line for line in err.splitlines() if not line.startswith("warning: ")]
    errors = [line for line in said if line.startswith("error: ")]
    assert "Traceback (most" not in out + err, err
    assert all(c.isprintable() or c == "\n" for c in out + err), "a control character is printed"
    if code == 0 or code in codes:
        assert not errors, err
        return "works"
    assert code == 2, code
    assert len(errors) == 1, err
    is_spec = "another spec" in err or "spec.toml: " in errors[0]  # of which each line says what is wrong with a key
    assert said[-1:] == errors or is_spec, f"an error has one line, got {err!r}"
    return "refused"


def resumed(path, *, is_asking):
    """What Python does with a file."""
    try:
        if is_asking:
            opt = rb.Optimizer.resume(path)
            opt.ask()
            opt.pending()
            return "works"
        study = rb.Study.resume(path)
        str(study), study.pending(), study.frame(evidence=False)
        if study.history.having("told"):
            study.best()
            study.outliers()
        return "works"
    except RobustBOError:
        return "refused"


READERS = {
    "show": lambda path, out: by_command("show", path),
    "show --format json": lambda path, out: by_command("show", path, "--format", "json"),
    "show --html": lambda path, out: by_command("show", path, "--html", "--out", out / "page.html"),
    "report": lambda path, out: by_command("report", path, "--out", out / "picture.svg"),
    "verify": lambda path, out: by_command("verify", path, codes=(1,)),
    "best": lambda path, out: by_command("best", path),
    "repair": lambda path, out: by_command("repair", path, "--out", out / "repaired.jsonl"),
    "Study.resume": lambda path, out: resumed(path, is_asking=False),
    "Optimizer.resume": lambda path, out: resumed(path, is_asking=True),
}
RUN_READERS = {
    "verify RUN": lambda path, out: by_command("verify", path, codes=(1,)),
    "report RUN": lambda path, out: by_command("report", path, "--out", out / "page.html"),
}
WRITTEN = {"show --html": "page.html", "report": "picture.svg", "repair": "repaired.jsonl", "report RUN": "page.html"}
BESIDE = {"report RUN": "page"}  # the folder of its pictures


def _files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def read_by(name, read, path, out, evil):
    """How a reader takes a file, and what it did that it must not: (outcome, violations)."""
    root = path.parent
    before, started, broken = _files(root), time.process_time(), []
    try:
        with limited(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = read(path, out)
    except Exception as error:
        outcome, broken = "broken", [f"{type(error).__name__}: {str(error)[:300]!r}"]
    except Hang:
        outcome, broken = "broken", [f"took more than {HANG_S} s"]
    broken += evil.deeds()
    if (time_s := time.process_time() - started) > LIMIT_S and outcome != "broken":
        broken.append(f"took {time_s:.1f} s")
    for place, data in _files(root).items():
        was = before.pop(place, None)
        is_asked_for = place.name == WRITTEN.get(name) or place.parts[0] == BESIDE.get(name)
        if was == data or (was is None and (is_asked_for or place.name.endswith(".lock"))):
            continue
        whole = (was or b"").rpartition(b"\n")[0]
        if was is None or not (name == "Optimizer.resume" and data.startswith(whole)):
            broken.append(f"{place} was {'made' if was is None else 'changed'}")
    broken += [f"{place} is gone" for place in before]
    return outcome, [f"{name}: {each}" for each in broken]


def readings(data, folder, evil, readers=READERS):
    """What each reader does with a journal: (reader, outcome, violations)."""
    for name, read in readers.items():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        path = folder / "j.jsonl"
        path.write_bytes(data)
        yield name, *read_by(name, read, path, folder, evil)


def run_readings(run, changed, data, folder, evil):
    """What each reader does with a recorded run, one of whose files, a cell or its specification, is another now."""
    for name, read in RUN_READERS.items():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(run, folder / "run")
        (folder / "run" / changed).write_bytes(data)
        yield name, *read_by(name, read, folder / "run", folder, evil)


def journals(folder):
    """Journals with all kinds of events, of surrogates that are quickly fitted."""
    space = rb.Space(x=rb.Float(-1.0, 1.0), k=rb.Int(1, 8, log=True), c=rb.Choice("a", None, True, 1.5))
    filtered = {"surrogate": "filtered", "surrogate_options": {"start": 4, "every": 2, "tail": 0.01}}
    for name, options in [
        ("sobol.jsonl", {"acquisition": "sobol", "surrogate": "standard"}),
        ("model.jsonl", {"surrogate": "trimmed", "num_initial": 3}),
        ("filtered.jsonl", {**filtered, "num_initial": 4, "replicate": "never"}),
        ("auto.jsonl", {"num_initial": 3}),
    ]:
        opt = rb.Optimizer(space, direction="minimize", seed=1, journal=folder / name, **options)
        asked = opt.ask(5)
        for trial, value in zip(asked, (1.0, -2.0, 1e6, 0.5), strict=False):
            opt.tell(trial, value, sd=0.1 if name == "sobol.jsonl" else None)
        opt.fail(asked[4], "no power")
        opt.enqueue({"x": 0.25, "k": 3, "c": None})
        opt.tell(opt.ask(), 0.75)
        opt.tell({"x": 0.5, "k": 8, "c": "a"}, 3.0)
        opt.exclude(1)
        opt.include(1)
        opt.exclude(2)
        opt.amend(3, 0.25)
        opt.requeue(opt.ask())
        opt.tell(opt.ask(), 0.1)
        opt.ask()
        yield folder / name
    yield from _of_spaces(folder)


def _of_spaces(folder):
    """A pool to which rows were added, and a space with conditions and constraints, with fixed values."""
    pool = rb.Pool(pd.DataFrame({"x": [0.0, 0.5, 1.0, 1.5], "c": ["a", "b", "a", "b"]}), constraints=["x <= 3"])
    conditional = rb.Space(
        k=rb.Choice("t", "d"), x=rb.Float(0, 1, when={"k": "d"}), n=rb.Int(0, 8, step=2), constraints=["x + n <= 8"]
    )
    for name, space, fixed in (("pool.jsonl", pool, {"c": "a"}), ("conditional.jsonl", conditional, {"k": "d"})):
        opt = rb.Optimizer(
            space, direction="minimize", seed=1, journal=folder / name, surrogate="standard", num_initial=2
        )
        for value in (1.0, 2.0):
            opt.tell(opt.ask(fixed=fixed), value)
        if space.is_pool:
            opt.add_rows(pd.DataFrame({"x": [2.0, 2.5], "c": ["a", "c"]}))
        opt.tell(opt.ask(), 0.5)
        opt.ask()
        yield folder / name
    yield _of_sources(folder / "sources.jsonl")


def _of_sources(place):
    """A study with an old study and a simulator, which have no k."""
    space = rb.Space(x=rb.Float(-1.0, 1.0), k=rb.Int(1, 8), c=rb.Choice("a", "b"))
    old = rb.Source(ask=False, was={"k": 2}, had={"c": ["z"]})
    sources = {"lab": rb.Source(target=True), "old": old, "simulator": rb.Source(cost=0.05, was={"k": 2})}
    table = pd.DataFrame({"x": [-0.5, 0.0, 0.5, 0.9], "c": ["a", "b", "a", "z"], "value": [1.0, 2.0, 3.0, 4.0]})
    with warnings.catch_warnings(action="ignore"):  # of the old level
        opt = rb.Optimizer(
            space,
            direction="minimize",
            seed=1,
            journal=place,
            num_initial=2,
            sources=sources,
            prior_data={"old": table},
        )
    for value in (1.0, 2.0, 0.5):
        opt.tell(opt.ask(source="lab"), value)
    opt.tell(opt.ask(source="simulator"), 0.25)
    opt.fail(opt.ask(source="simulator"), "no convergence")
    opt.tell({"x": 0.1, "c": "a"}, 0.75, source="simulator")
    opt.exclude(0)
    opt.ask()
    return place


SPECS = {
    "optimization": 'problem = "branin"\nmethods = ["sobol", "trimmed"]\n'
    "trials = 4\nnum_initial = 2\nreplications = 1\n",
    "regression": 'kind = "regression"\ncorruptions = ["uniform"]\nrates = [0.1]\nreplications = 1\n'
    "[tasks.neal]\nn = 20\n[methods.standard]\n",
}


def runs(folder):
    """Recorded runs of both kinds."""
    for name, spec in SPECS.items():
        if name == "optimization":
            spec += '[corruption]\nkind = "constant"\nprobability = 0.3\nvalue = 100.0\n'
        (folder / f"{name}.toml").write_text(spec)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code, _, err = command("replay", folder / f"{name}.toml", "--out", folder / name)
        assert code == 0, err
        shutil.copy(folder / f"{name}.toml", folder / name / "spec.toml")  # beside the cells, as it may be sent
        yield folder / name


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float):
        return "nan" if math.isnan(value) else "inf" if value == math.inf else f"{value!r}"
    return json.dumps(value)


def forged_spec(data, random, address):
    """A run's specification with some odd entries."""
    given = tomllib.loads(data.decode())
    values = [0, -1, 10**30, 1e308, math.nan, math.inf, True, "", ESCAPES, "../x", "a/b", "$x^{", [], {}, [[]], [1]]
    values += [[{"a": 1}], {"": {}}, {"a": {"a": {}}}, f"{EVIL}:Evil", [f"{EVIL}:Evil"], address, "x" * 10_000]
    methods = {"x": {"surrogate": f"{EVIL}:Evil"}}, {"x": {"surrogate": "committee", "options": {"cluster": address}}}
    for _ in range(random.randint(1, 3)):
        inner, key = given, random.choice([*given, "tasks", "methods", "problem_options", "corruption", "unknown"])
        while isinstance(inner.get(key), dict) and inner[key] and random.random() < 0.7:
            inner = inner[key]
            key = random.choice(list(inner))
        is_method = key == "methods" and random.random() < 0.5
        inner[key] = random.choice(methods if is_method else values)
    return "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in given.items()).encode()


def made_by(seed, data, address):
    """What a seed makes of a journal: a forged one, or a damaged one."""
    random = Random(seed)
    return damaged(data, random) if random.random() < 0.2 else forged(data, random, address)


def counted(seeds, folder, evil, *, with_runs=True):
    """All readers on what some seeds make: how often each outcome, and what was broken, with its seed."""
    counts, broken, sources = Counter(), [], [path.read_bytes() for path in journals(folder)]
    cells = [(run, cell) for run in runs(folder) for cell in sorted((run / "cells").iterdir())] if with_runs else []
    for seed in seeds:
        data = made_by(seed, sources[seed % len(sources)], evil.address)
        found = [*readings(data, folder / "read", evil)]
        if cells and seed % 4 == 0:
            run, cell = cells[seed // 4 % len(cells)]
            changed = made_by(seed, cell.read_bytes(), evil.address)
            found += run_readings(run, f"cells/{cell.name}", changed, folder / "read", evil)
            changed = forged_spec((run / "spec.toml").read_bytes(), Random(seed), evil.address)
            found += run_readings(run, "spec.toml", changed, folder / "read", evil)
        for name, outcome, violations in found:
            counts[name, outcome] += 1
            broken += [(seed, each) for each in violations]
    return counts, broken


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 200))
    parser.add_argument("--no-runs", action="store_true")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="forged-") as place, Evil() as watched:
        counts, broken = counted(range(*asked.seeds), Path(place), watched, with_runs=not asked.no_runs)
    for seed, what in broken:
        print(f"seed {seed}: {what}")
    outcomes = Counter()
    for (_, outcome), count in counts.items():
        outcomes[outcome] += count
    print(
        f"{asked.seeds[1] - asked.seeds[0]} seeds, {dict(outcomes)}, {len(broken)} violations, "
        f"{time.perf_counter() - started:.0f} s"
    )
