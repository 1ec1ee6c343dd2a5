"""TOML and JSON of others are looked at before they are parsed."""

import io

import pytest

from robustbo.cli.arguments import json_object
from robustbo.cli.typed import description_of
from robustbo.errors import FileError, SpaceError
from robustbo.foreign.texts import check_shape, json_of, toml_of

DEEP = 60_000


def named(text, name):
    file = io.BytesIO(text.encode())
    file.name = name
    return file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a." * 50_000 + "a = 1", "nested at most 64 deep"),
        ('"a" . ' * 50_000 + "a = 1", "nested at most 64 deep"),
        (r'"\"".' * 50_000 + "a = 1", "nested at most 64 deep"),
        (f"x = {'[' * DEEP}", "nested at most 64 deep"),
        (f"x = {'9' * 5000}", "at most 400 digits, got 5000"),
        ("x = 1\nx = 2", "Cannot overwrite"),
    ],
)
def test_toml_is_bounded(text, said):
    with pytest.raises(FileError, match=rf"s.toml: expected TOML: .*{said}"):
        toml_of(text, "s.toml")
    with pytest.raises(ValueError, match=rf"s.toml: expected TOML: .*{said}"):
        description_of(named(text, "s.toml"), None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * DEEP, "nested at most 64 deep"),
        ('{"a":' * DEEP, "nested at most 64 deep"),
        (f'{{"x": {"9" * 5000}}}', "at most 400 digits, got 5000"),
        ('{"x": {"a": 1, "b": 2, "a": 3}}', "each name must occur once, got 'a' twice"),
    ],
)
def test_json_is_bounded_and_says_each_name_once(text, said):
    with pytest.raises(FileError, match=rf"s.json: expected JSON: .*{said}"):
        json_of(text, "s.json")
    with pytest.raises(ValueError, match=rf"s.json: expected JSON: .*{said}"):
        description_of(named(text, "s.json"), None)
    for option in ("--params", "--surrogate-options"):
        with pytest.raises(ValueError, match=rf"{option} must be a JSON object, such as .*{said}") as raised:
            json_object(option, text)
        assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    "text",
    [
        "x = [" + "1.5, " * 5000 + "]",
        f'x = "{"." * 5000}"',
        f"x = '{'[' * 5000}'  # {'[' * 5000}",
        f'x = """\n{"[." * 5000}"\n"""\ny = \'\'\'{"[" * 100}\'\'\'',
        "[a.b]\n" + "\n".join(f"k{i} = 1.5" for i in range(500)),
    ],
)
def test_long_lists_and_texts_are_not_deep(text):
    check_shape(text)
    toml_of(text, "s.toml")


@pytest.mark.parametrize("piece", ['"', "'", '\\"', "'''x", '"""', '"\\', "a-", "#"])
def test_looking_takes_one_pass(piece):
    """Of a megabyte, which quadratic looking would take hours for."""
    check_shape(piece * (2**20 // len(piece)))


def test_a_byte_order_mark_is_taken():
    space, _, _ = description_of(named('\ufeffx = {kind = "float", low = 0, high = 1}', "s.toml"), None)
    assert space.names == ["x"]


def test_values_are_a_list():
    for values in ("{a = 1, b = 2}", "7", '"ab"'):
        with pytest.raises(ValueError, match="c: must be like"):
            description_of(named(f'c = {{kind = "choice", values = {values}}}', "s.toml"), None)


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_that_no_float_holds_is_refused_in_a_pool(digits):
    with pytest.raises((SpaceError, ValueError), match=r"p\.csv: x: must "):
        description_of(None, named(f"x,y\n{'9' * digits},1\n1,2\n", "p.csv"))
