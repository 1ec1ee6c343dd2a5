"""No command says a password, whatever it is given an address for, and however that was typed."""

import pytest
import typer

from robustbo.cli.app import app
from robustbo.errors import JournalError
from robustbo.trials.storage.passwords import hide_passwords, is_mistyped
from robustbo.trials.storage.places import is_address
from tests.trials.forged import command as run_command

SPACE = 'x = {kind = "float", low = 0, high = 1}\n'  # of the fixture `cli`
NOWHERE = "127.0.0.1:1"  # refuses at once
NOT_OURS = {"serve": ["--host", "203.0.113.1"]}  # where nothing can be served, so that it ends
COMMANDS = typer.main.get_command(app).commands
ADDRESSES = [
    f"postgresql://u:s3cret@{NOWHERE}/db#s",
    f"postgresql://u@{NOWHERE}/db?pwd=s3cret#s",
    f"postgresql://u@{NOWHERE}/db?password=s3cret#s",
    f"postgresql://u@{NOWHERE}/db&password=s3cret#s",
    f"postgresql://u@{NOWHERE}/db#s?password=s3cret",
    f"postgresql://u:hard@s3cret@{NOWHERE}/db#s",
    f"postgresql://u:hard#s3cret@{NOWHERE}/db#s",
    f"postgresql:///u:s3cret@{NOWHERE}/db#s",
    f"postgresql:/u:s3cret@{NOWHERE}/db",
    f"postgresql:u:s3cret@{NOWHERE}/db",
    f"postgresql//u:s3cret@{NOWHERE}/db",
    f"u:s3cret@{NOWHERE}/db",
    "postgres://u:s3cret/db",
    f"postgresq://u:s3cret@{NOWHERE}/db#s",
    f"sqlite://u:s3cret@{NOWHERE}/db#s",
]


def places_of(name):
    """What a command takes a file, a journal or an address for; or by mistake, as all that has no name of its own."""
    options = ("cluster", "out", "pool", "sheet")
    return [each for each in COMMANDS[name].params if each.param_type_name == "argument" or each.name in options]


def calls(name, address):
    """The command with the address in each of these places, and files that are there in those that it must have."""
    parameters = COMMANDS[name].params
    must = [each for each in parameters if each.param_type_name == "argument"]
    for at in places_of(name):
        typed = [address if each is at else "j.jsonl" if each.name in ("journal", "runs") else "1" for each in must]
        yield [name, *typed, *([] if at in must else [at.opts[0], address]), *NOT_OURS.get(name, [])]


@pytest.mark.few(6)
@pytest.mark.filterwarnings("ignore:.*the page begins a new study there")
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_command_says_a_password_or_names_a_file_by_it(cli, tmp_path, address):
    assert cli("create", "j.jsonl", "space.toml", "--objective", "a:minimize", "--objective", "b:maximize")[0] == 0
    before = {*tmp_path.rglob("*")}
    count = 0
    for name in COMMANDS:
        for arguments in calls(name, address):
            code, out, err = run_command(*arguments)
            said = out + err + " ".join(map(str, {*tmp_path.rglob("*")} - before))
            assert "cret" not in said, (arguments, code, said)
            assert "Traceback" not in said
            count += 1
    code, out, err = run_command(address)  # in the place of a command
    assert code == 2
    assert "cret" not in out + err
    assert count > 30


@pytest.mark.filterwarnings("ignore:Query string argument")  # of SQLAlchemy: SQLite knows no such option
def test_a_database_of_several_objectives_is_named_without_its_options(cli):
    address = "sqlite:///lab.db?pwd=s3cret&timeout=3#s"
    made = cli("create", address, "space.toml", "--objective", "a:minimize", "--objective", "b:maximize")
    assert "cret" not in "".join(map(str, made))
    code, _, err = cli("best", address)
    assert code == 2
    assert "cret" not in err


@pytest.mark.parametrize(
    "text", ["runs/lab.jsonl", "C:/me/a@b.jsonl", "./a:b@c.jsonl", "/tmp/a:b@c", "postgres/lab.jsonl"]
)
def test_files_are_no_addresses(text):
    assert not is_mistyped(text)
    assert not is_address(text)


def test_an_address_with_one_slash_is_refused():
    with pytest.raises(JournalError, match=r"like postgresql://user:password@host.*'postgresql:/u:\*\*\*@h/d'"):
        is_address("postgresql:/u:s3cret@h/d")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a://u:p@q@h/d and more", "a://u:***@h/d and more"),
        ("got 'u:p@h/d'", "got 'u:***@h/d'"),
        ("a://h/d?sslpassword=p&x=1", "a://h/d?sslpassword=***&x=1"),
        ("trial 3: 1.5 @ 2", "trial 3: 1.5 @ 2"),
        ("a://u:***@h/d#s", "a://u:***@h/d#s"),
    ],
)
def test_what_looks_like_a_password_is_hidden_in_any_text(text, shown):
    assert hide_passwords(text) == shown
