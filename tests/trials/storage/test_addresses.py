import pickle

import pytest

from robustbo.errors import JournalError
from robustbo.trials.storage.addresses import LONGEST_STUDY, parse


@pytest.mark.parametrize(
    ("text", "dialect", "study"),
    [
        ("sqlite:///lab.db#oven", "sqlite", "oven"),
        ("sqlite:///lab.db", "sqlite", "study"),
        ("sqlite:////tmp/lab.db#oven", "sqlite", "oven"),
        ("postgresql://user@host/lab#oven 3/4 #2", "postgresql", "oven 3/4 #2"),
        ("mysql+pymysql://user@host/lab#Öfen", "mysql", "Öfen"),
    ],
)
def test_the_study_stands_behind_the_url(text, dialect, study):
    address = parse(text)
    assert (address.dialect, address.study) == (dialect, study)
    assert address.name.endswith(f"#{study}")
    assert pickle.loads(pickle.dumps(address)) == address


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_postgresql_has_the_driver_that_the_extra_installs(scheme):
    assert parse(f"{scheme}://user@host/lab").url.drivername == "postgresql+psycopg"


def test_another_driver_is_kept():
    assert parse("postgresql+pg8000://user@host/lab").url.drivername == "postgresql+pg8000"


def test_a_file_is_the_same_from_everywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    address = parse("sqlite:///lab.db")
    monkeypatch.chdir("/")
    assert address.is_file
    assert address.file == tmp_path / "lab.db"
    assert address.is_gone
    address.file.touch()
    assert not address.is_gone


def test_what_is_no_file_is_never_gone():
    assert not parse("postgresql://host/lab").is_file
    assert not parse("postgresql://host/lab").is_gone


def test_studies_and_databases_have_locks_of_their_own():
    one, other, elsewhere = (parse(f"sqlite:///{name}") for name in ("a.db#one", "a.db#other", "b.db#one"))
    assert len({one.lock_file, other.lock_file, elsewhere.lock_file}) == 3
    assert one.lock_file.parent == one.file.parent
    assert one.key != other.key


def test_the_numbers_of_a_study_never_change():
    assert parse("sqlite:///lab.db#oven").key == (1320242056, -595325984)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://user:s3cret@host/lab#oven",
        "postgresql://user@host/lab?password=s3cret#oven",
        "postgresql://user@host/lab?pwd=s3cret#oven",
        "postgresql://user@host/lab?passwort=s3cret&passwort=s3cret#oven",
        "postgresql://user@host/lab&password=s3cret",
        "postgresql:///user:s3cret@host/lab",
        "postgresql://user@host/lab?sslpassword=s3cret&connect_timeout=3#oven",
    ],
)
def test_a_password_is_not_shown(text):
    assert "s3cret" not in parse(text).name
    assert "***" in parse(text).name or "hidden" in parse(text).name
    said = f"bad password: {parse(text).url.database if 'hidden' in parse(text).name.partition('?')[0] else 's3cret'}"
    assert parse(text).without_passwords(said) == "bad password: ***"


def test_nor_is_one_that_is_written_with_escapes():
    address = parse("postgresql://user:s3%40c%2Fr+et@host/lab")
    assert address.without_passwords("s3@c/r+et, s3%40c%2Fr+et or s3%40c%2Fr%2Bet") == "***, *** or ***"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("postgresql://user:s3#cret@host/lab#oven", "write a # in a password as %23"),
        ("postgresql://user:s3#cret@host/lab", "write a # in a password as %23"),
        ("postgresql://host:s3cret/lab", "must be like"),
        ("://s3cret", "must be like"),
        (f"sqlite:///lab.db#{'x' * (LONGEST_STUDY + 1)}", "at most 200 printable"),
        ("postgresql://user:s3@cret@host/lab", "a password in an address must be written with %-escapes"),
        ("postgresql://host/lab#oven?password=s3cret", "options must stand before the #"),
        ("sqlite:///lab.db#a\nb", "at most 200 printable"),
        ("sqlite:///file:lab.db?mode=ro&uri=true", "must have the file's path"),
    ],
)
def test_what_is_no_address_is_an_error_without_the_password(text, match):
    with pytest.raises(JournalError, match=match) as caught:
        parse(text)
    assert "cret" not in str(caught.value)
