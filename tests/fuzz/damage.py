"""What happens to files between one who writes and one who reads: bytes, and what the format means, are changed."""

import csv
import gzip
import io
import json
import sqlite3
import tomllib
import zipfile
from contextlib import suppress

import numpy as np

from tests.trials import forged

CELLS = ["", " ", "nan", "NaN", "inf", "-inf", "1e999", "-1", "0", "1" * 400, "9" * 5000, "0x1f", "1,5", "=1+1", "TRUE"]
CELLS += ["x" * 70_000, '"', "'", "\u202e", "\ud83d", "\x00", "\x1b[2J", "None", "[]", "{}", "1e-320", "٣", "1_000"]


def bytes_of(data, random):
    """Bytes flipped, left out, put in, doubled, or cut off."""
    for _ in range(random.choice([1, 1, 1, 2, 4, 16])):
        a, b = sorted(random.randrange(len(data) + 1) for _ in range(2))
        near = min(b, a + random.choice([1, 2, 8, 200]))
        junk = random.choice([random.randbytes(8), b"\0" * 9, b"\xff\xfe", b'"', b"[" * 9999, b"9" * 999, b"\n", b"}"])
        changes = [
            data[:a] + bytes([random.randrange(256)]) + data[a + 1 :],
            data[:a] + data[near:],
            data[:a] + junk + data[a:],
            data[:near] + data[a:],
            data[:b],
            data[a:],
        ]
        data = random.choice(changes)
    return data


def rows(data, random):
    """A CSV file whose cells, columns or lines are others."""
    table = [*csv.reader(io.StringIO(data.decode("utf-8-sig")))] or [[]]
    for _ in range(random.choice([1, 1, 2, 5])):
        line = random.choice(table) or table[0]
        column, other = (random.randrange(len(table[0]) or 1) for _ in range(2))
        match random.choice(
            ["cell"] * 6 + ["drop", "double", "rename", "swap", "order", "line", "short", "head", "many"]
        ):
            case "cell" if column < len(line):
                line[column] = random.choice(CELLS)
            case "drop":
                table = [row[:column] + row[column + 1 :] for row in table]
            case "double":
                table = [[*row, *row[column : column + 1]] for row in table]
            case "rename" if column < len(table[0]):
                table[0][column] = random.choice([*CELLS, *table[0]])
            case "swap" if max(column, other) < len(line):
                line[column], line[other] = line[other], line[column]
            case "order":
                random.shuffle(table)
            case "line":
                table.insert(random.randrange(len(table) + 1), list(line))
            case "short":
                del line[column:]
            case "head":
                del table[0]
            case "many":
                table = [[*row, *["1"] * random.choice([300, 12_000])] for row in table[:3]]
        table = table or [[]]
    made = io.StringIO()
    csv.writer(made, delimiter=random.choice([*",,,,,;\t"])).writerows(table)
    return made.getvalue().encode("utf-8", "surrogatepass")


def tree(value, random):
    """What TOML or JSON says, with some entries changed; `forged` knows what nobody expects."""
    changed = [json.loads(json.dumps(value))]  # in a list, so that it can be replaced as a whole
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        forged._change(random, changed, "tcp://127.0.0.1:9")
    return changed[0] if changed else None


def as_json(data, random):
    """JSON that says something else, or twice."""
    return forged.text_of(tree(json.loads(data), random)).encode("utf-8", "surrogatepass")


def as_toml(data, random):
    """TOML that says something else."""
    changed = tree(tomllib.loads(data.decode()), random)
    if not isinstance(changed, dict):
        return forged.text_of(changed).encode("utf-8", "surrogatepass")
    lines = [f"{json.dumps(str(key))} = {forged._toml(value)}\n" for key, value in changed.items()]
    lines += random.choice([[], [], lines[:1]])
    return "".join(lines).encode("utf-8", "surrogatepass")


def journal(data, random):
    """A journal forged, with right checksums, or with lines that are others' or elsewhere."""
    return forged.forged(data, random) if random.random() < 0.7 else forged.damaged(data, random)


def packed(change):
    """What gzip has packed changed by another damage, or the packed bytes."""

    def changed(data, random):
        if random.random() < 0.3:
            return bytes_of(data, random)
        return gzip.compress(change(gzip.decompress(data), random), mtime=0)

    return changed


def archive(data, random):
    """A part of a zip file (a workbook's, an array's) changed, left out, or there twice."""
    with zipfile.ZipFile(io.BytesIO(data)) as read:
        parts = {name: read.read(name) for name in read.namelist()}
    name, other = random.choice([*parts]), random.choice([*parts])
    made = io.BytesIO()
    match random.choice(["bytes"] * 4 + ["text"] * 3 + ["drop", "swap", "huge"]):
        case "bytes":
            parts[name] = bytes_of(parts[name], random)
        case "text":
            words = parts[name].split(b'"')
            at = random.randrange(len(words))
            words[at] = random.choice(CELLS).encode("utf-8", "surrogatepass")
            parts[name] = b'"'.join(words)
        case "drop":
            del parts[name]
        case "swap":
            parts[name], parts[other] = parts[other], parts[name]
        case "huge":
            parts[name] += b" " * 2 * 10**7
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as written:
        for part, content in parts.items():
            written.writestr(part, content)
    return made.getvalue()


def cells(data, random):
    """A workbook whose cells hold something else."""
    openpyxl = __import__("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(data))
    sheet, made = book.active, io.BytesIO()
    odd = ["", 0, -1, 10**300, 1e-320, True, "=1/0", "=A1", "#N/A", "nan", "1,5", "x" * 32_000, "\u202e", None]
    for _ in range(random.choice([1, 1, 2, 6])):
        row, column = random.randint(1, sheet.max_row + 1), random.randint(1, sheet.max_column + 1)
        match random.choice(["cell"] * 6 + ["rows", "columns", "far"]):
            case "rows":
                random.choice([sheet.delete_rows, sheet.insert_rows])(row)
            case "columns":
                random.choice([sheet.delete_cols, sheet.insert_cols])(column)
            case "far":
                sheet.cell(random.choice([row, 10**6]), random.choice([column, 16_000])).value = 1
                break  # rows that are put in or taken out before it would be moved cell by cell, all 10^10
            case _:
                sheet.cell(row, column).value = random.choice(odd)
    book.save(made)
    return made.getvalue()


def database(data, random, path):
    """A SQLite file whose rows are others; their checksums are right where `forged` has made them."""
    path.write_bytes(data)
    connection = sqlite3.connect(path)
    with suppress(sqlite3.Error, UnicodeError):
        lines = [line for (line,) in connection.execute("SELECT line FROM robustbo_events ORDER BY number")]
        changed = journal("".join(f"{line}\n" for line in lines).encode(), random).decode(errors="replace").splitlines()
        match random.choice(["lines"] * 4 + ["number", "null", "blob", "study", "drop", "column"]):
            case "lines":
                connection.execute("DELETE FROM robustbo_events")
                rows = [("study", number, line) for number, line in enumerate(changed)]
                connection.executemany("INSERT INTO robustbo_events VALUES (?, ?, ?)", rows)
            case "number":
                connection.execute("UPDATE robustbo_events SET number = number * 1.5 WHERE number > 2")
            case "null" | "blob" as kind:
                value = None if kind == "null" else random.randbytes(50)
                connection.execute("UPDATE OR IGNORE robustbo_events SET line = ? WHERE number = 3", [value])
            case "study":
                connection.execute("UPDATE robustbo_events SET study = 7 WHERE number > ?", [random.randrange(9)])
            case "drop":
                connection.execute(random.choice(["DROP TABLE robustbo_events", "DELETE FROM robustbo_events"]))
            case "column":
                connection.execute("ALTER TABLE robustbo_events RENAME COLUMN line TO other")
    with suppress(sqlite3.Error):
        connection.commit()
    connection.close()
    return path.read_bytes()


def arrays(data, random):
    """An npz file whose arrays are of other shapes and kinds, or a part of it is changed."""
    if random.random() < 0.5:
        return archive(data, random)
    with np.load(io.BytesIO(data)) as named:
        parts = dict(named)
    name, made = random.choice([*parts]), io.BytesIO()
    kinds = ["i1", "U9", "c16", "f2", "O", "S3"]
    parts[name] = random.choice(
        [parts[name].T, parts[name][:0], parts[name] * np.nan, parts[name].astype(random.choice(kinds))]
    )
    np.savez(made, **parts)
    return made.getvalue()
