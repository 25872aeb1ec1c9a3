#!/usr/bin/env python3
"""Tables that mean something else than they seem to: ids, thousands, measurements as labels, and files that are no tables.

Warnings come where they should and nowhere else: both sides are generated. $ARMILLA is the command. Exit status 77 (skipped)
where NumPy is missing."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import subprocess
import sys
import tempfile
import uuid
import zipfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True, errors="replace")
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stderr


def write(path, columns, names=None, separator=","):
    with open(path, "w", encoding="utf-8") as file:
        if names:
            file.write(separator.join(names) + "\n")
        for row in zip(*columns):
            file.write(separator.join(str(value) for value in row) + "\n")


def read(path, *options):
    """Samples x features as they are read, and what was said."""
    said = run("convert", path, "read.npy", "--force", *options)
    return np.load("read.npy"), said


def check_ids():
    for seed in range(4):
        random = np.random.default_rng(seed)
        n = [8, 30, 150, 1000][seed]
        floats = [random.normal(size=n).round(4) for _ in range(4)]
        small = [random.integers(0, 5, n) for _ in range(3)]
        ids = {
            "from 1": np.arange(1, n + 1),
            "from 0": np.arange(n),
            "from 1001": np.arange(1001, 1001 + n),
            "shuffled": random.permutation(n) + 1,
        }
        if n >= 30:
            ids["with gaps"] = np.cumsum(random.integers(1, 9, n))
        for what, column in ids.items():
            for others in (floats, small):
                for names in (None, ["first", "a", "b", "c", "d"][: 1 + len(others)]):
                    write("t.csv", [column, *others], names)
                    X, said = read("t.csv")
                    assert "as ids do" in said and "--name-column 1" in said and "--ignore-columns 1" in said, (what, said)
                    assert X.shape == (n, 1 + len(others))
                    # What it advises does what it says, and is silent.
                    for option in (("--name-column", 1), ("--ignore-columns", 1), ("--name-column", "none")):
                        X, said = read("t.csv", *option)
                        assert "as ids do" not in said, said
                        assert X.shape == (n, (1 if option[1] == "none" else 0) + len(others))
        # A header tells, wherever the column stands and whatever distinct numbers it has.
        for name in ("id", "ID", "sample_id", "CellID", "index", "Unnamed: 0"):
            write("t.csv", [*small, random.permutation(10 * n)[:n]], ["a", "b", "c", name])
            assert f"column 4 ({name})" in read("t.csv")[1], name
        # A feature is no id: decimals, ties, counts, negative numbers, columns of which all are such numbers.
        features = {
            "floats": floats[0],
            "ties": np.r_[np.arange(n - 1), 0],
            "counts": random.poisson(3, n),
            "large counts": random.permutation(np.unique(random.integers(0, 10**6, 4 * n)))[:n],
            "negative": np.arange(n) - 3,
            "halves": np.arange(n) / 2,
            "constant": np.ones(n, int),
            "bits": random.integers(0, 2, n),
        }
        for what, column in features.items():
            for names in (None, ["first", "acid", "b", "c", "d"]):
                write("t.csv", [column, *floats], names)
                assert "as ids do" not in read("t.csv")[1], what
        write("t.csv", np.arange(n * 4).reshape(n, 4).T)
        assert "as ids do" not in read("t.csv")[1]
        sparse = random.poisson(0.05, (6, n))
        write("t.csv", sparse)
        assert "as ids do" not in read("t.csv")[1]
        # Text is taken for names, and never for numbers.
        texts = {
            "uuid": [uuid.UUID(bytes=random.bytes(16), version=4) for _ in range(n)],
            "s1": [f"s{i}" for i in range(n)],
            "hex": [f"{i:04x}x" for i in range(n)],
        }
        for what, column in texts.items():
            write("t.csv", [column, *floats], ["sample", "a", "b", "c", "d"])
            X, said = read("t.csv")
            assert "as ids do" not in said and np.array_equal(X, np.array(floats).T), (what, said)
    # Few rows are no evidence.
    write("t.csv", [[1, 2, 3], [0.5, 0.25, 4]])
    assert "as ids do" not in read("t.csv")[1]


def check_thousands():
    for number in ("1,234", "12,345", "123,456", "1,234,567", "-1,234", "1,234.50", "1'234", "1 234", "1\u00a0234"):
        write("t.csv", [[0.5, 1, f'"{number}"'], [1, 2, 3]])
        said = run("convert", "t.csv", "read.npy", "--force", status=65)
        assert "thousands separator" in said and "line 3, column 1" in said and said.count("\n") == 1, said
    # Not thousands: a decimal comma, by itself or because another number of the table has one.
    for values in (['"0,5"'], ['"1,25"'], ['"0,123"'], ['"1,234"', '"0,5"'], ['"1,234"', '"10,25"']):
        write("t.csv", [values, range(len(values))])
        said = run("convert", "t.csv", "read.npy", "--force", status=65)
        assert "decimal mark" in said and "thousands" not in said, said
        X, _ = read("t.csv", "--decimal", "comma", "--separator", "comma")
        assert X[0, 0] == float(values[0].strip('"').replace(",", "."))
    # Points between thousands, where decimals have a comma.
    write("t.csv", [["1,5", "2.345,50"], ["3", "4"]], separator=";")
    assert "thousands separator" in run("convert", "t.csv", "read.npy", "--force", status=65)
    # Where semicolons separate a comma is a guess, which is said unless some number settles it.
    write("t.csv", [["1,234", "5,678"], ["3", "4"]], separator=";")
    X, said = read("t.csv")
    assert "thousands" in said and X[0, 0] == 1.234
    assert "thousands" not in read("t.csv", "--decimal", "comma")[1]
    write("t.csv", [["1,234", "5,67"], ["3", "4"]], separator=";")
    assert "thousands" not in read("t.csv")[1]
    # The same of points. Evidence is a decimal comma anywhere, before or behind, or a number in several groups.
    for first, others in itertools.product(("1.234", "12.345", "-123.456"), (["5.678"], ["2.000", "17"], ["999.999", "1.000"])):
        write("t.csv", [[first, *others], ["3"] * (1 + len(others))], separator=";")
        X, said = read("t.csv")
        assert "1.234 are read with decimals; say --decimal point" in said and X[0, 0] == float(first), said
        assert "thousands" not in read("t.csv", "--decimal", "point")[1]
        assert "thousands separator" in run("convert", "t.csv", "read.npy", "--force", "--decimal", "comma", status=65)
        for genuine in ("0.123", "1.25", "1234.567", "1.2345", "1e-3", "1.234e5", ".123"):  # decimals beyond doubt, and no warning
            write("t.csv", [[first, *others, genuine], ["3"] * (2 + len(others))], separator=";")
            X, said = read("t.csv")
            assert ("thousands" in said) == (genuine == "1e-3") and X[0, 0] == float(first), (genuine, said)
        for comma in ("5,6", "0,123", "1234,567", "12.345,6"):
            for column in ([first, *others, comma], [comma, first, *others], [*others, comma, first]):
                write("t.csv", [column, ["3"] * len(column)], separator=";")
                said = run("convert", "t.csv", "read.npy", "--force", status=65)
                assert "thousands separator" in said and said.count("\n") == 1, (column, said)
        for grouped in ("1.234.567", "1.234.567,8"):
            write("t.csv", [[first, *others, grouped], ["3"] * (2 + len(others))], separator=";")
            assert "thousands separator" in run("convert", "t.csv", "read.npy", "--force", status=65)
    # Commas between thousands before a point: the point is the decimal mark, wherever it stands.
    for column in (["1,234", "0.5"], ["0.5", "1,234"], ["1,234.5", "2"]):
        write("t.csv", [column, ["3"] * 2], separator=";")
        assert "thousands separator" in run("convert", "t.csv", "read.npy", "--force", status=65), column
    # Separated by commas, tabs or blanks nobody doubts points.
    for separator in (",", "\t", " "):
        write("t.csv", [["1.234", "5.678"], ["3", "4"]], separator=separator)
        assert "thousands" not in read("t.csv")[1]


def check_labels():
    random = np.random.default_rng(5)
    n = 400
    features = [random.normal(size=n).round(3) for _ in range(3)]
    labels = {
        "target": (random.normal(size=n).round(6), True),
        "price": (random.integers(0, 10**6, n), True),
        "classes": (random.integers(0, 10, n), False),
        "halves": (random.integers(0, 8, n) / 2, False),
        "words": ([f"w{i}" for i in range(n)], False),
    }
    for what, (column, doubtful) in labels.items():
        write("t.csv", [*features, column], ["a", "b", "c", "y"])
        assert ("measurements rather than classes" in read("t.csv", "--label-column", "y")[1]) == doubtful, what
        np.save("x.npy", np.array(features).T)
        write("y.txt", [column])
        assert ("measurements rather than classes" in read("x.npy", "--labels", "y.txt")[1]) == doubtful, what


def check_comments():
    """Lines that begin with # are comments, and those that look like samples or a header are counted."""
    for text, wanted in (
        ("s0,1,2\n#s1,3,4\ns2,5,6\n#s3,7,8\n  #s4,9,1\n", "3 lines begin with # and have as many fields as the table"),
        ("# a,b,c\n1,2,3\n4,5,6\n", "1 line begins with # and has as many fields as the table"),
    ):
        with open("t.csv", "w", encoding="utf-8") as file:
            file.write(text)
        said = run("info", "t.csv")
        assert wanted in said, said
    for remark in ("# made by a program", "#", "# two, fields", "# 1,2,3,4"):
        for text in (f"{remark}\na,b,c\n1,2,3\n{remark}\n4,5,6\n", "# one\n1\n2\n# two\n3\n", '"#a","#b"\n1,2\n3,4\n'):
            with open("t.csv", "w", encoding="utf-8") as file:
                file.write(text)
            assert "begin" not in run("info", "t.csv"), text


def check_contents():
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("data.txt", "1 2\n3 4\n")
    contents = {
        "web page": [b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", b"\n  <html lang=\"en\">", b"\xef\xbb\xbf<HTML>",
                     b"<!-- x --><html>"],
        "XML": [b"<?xml version='1.0'?><a/>"],
        "PDF": [b"%PDF-1.7\n1 0 obj"],
        "JSON": [b'{"a": [1, 2]}', b"[[1, 2], [3, 4]]", b'[{"x": 1}]', b"[1.5, 2]", b'\n{ "message": "Not found" }'],
        "spreadsheet": [book.getvalue(), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)],
        "Parquet": [b"PAR1" + bytes(range(64)) + b"PAR1"],
        "zip archive": [plain.getvalue()],
    }
    for what, samples in contents.items():
        for content in samples:
            for name in ("x.csv", "x.txt", "x.tsv"):
                with open(name, "wb") as file:
                    file.write(content)
                said = run("info", name, status=65)
                assert what in said and said.count("\n") == 1, (what, content[:40], said)
    # Tables that begin alike are tables.
    for text in ("PAR1,b\n1,2\n3,4\n", "BZh9 b\n1 2\n3 4\n", "[a],b\n1,2\n3,4\n", "<a>,b\n1,2\n3,4\n"):
        with open("x.csv", "w", encoding="utf-8") as file:
            file.write(text)
        assert read("x.csv")[0].shape == (2, 2), text


def zstd_frames(content):
    """Frames of zstd with one block that is stored: with and without a window, a dictionary and sizes."""
    block = (len(content) << 3 | 1).to_bytes(3, "little") + content
    for flags, header in ((0x20, bytes([len(content)])), (0x00, b"\x58"), (0x04, b"\x58"), (0x60, (len(content)).to_bytes(2, "little")),
                          (0x41, b"\x58\x07\x00\x00"), (0xA0, len(content).to_bytes(4, "little")), (0xE3, b"\x01\0\0\0" + len(content).to_bytes(8, "little"))):
        yield b"\x28\xb5\x2f\xfd" + bytes([flags]) + header + block


def check_magic_words():
    """A container is known by more than its first letters: what only begins like one is a table, and what is one is named."""
    table = b"a,b\n1,2\n3,4\n"
    jpeg = b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xd9"
    true = {
        "bzip2": [bz2.compress(table, level) for level in (1, 9)] + [bz2.compress(b"")],
        "by xz": [lzma.compress(table, check=check) for check in (lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256)],
        "zstd": list(zstd_frames(table)),
        "gzip": [gzip.compress(gzip.compress(table)), b"\x1f\x8b\x08\xe0" + gzip.compress(table)[4:]],
        "7z": [b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(24)],
        "RAR": [b"Rar!\x1a\x07\0" + bytes(20), b"Rar!\x1a\x07\x01\0" + bytes(20)],
        "Parquet": [b"PAR1\x15\x04" + table + b"\0\0PAR1"],
        "Feather": [b"ARROW1\0\0" + bytes(30)],
        "SQLite": [b"SQLite format 3\0" + bytes(100)],
        "R's save": [b"RDX3\nX\n\0\0\0\x03", b"RDX2\nX\n\0\0\0\x02"],
        "JPEG": [jpeg],
        "PDF": [b"%PDF-1.4\n%\xe2\xe3\n", b"%PDF-2.0\n"],
        "RTF": [b"{\\rtf1\\ansi x}"],
        "empty .npz": [b"PK\x05\x06" + bytes(18)],
        "spreadsheet": [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)],
    }
    for what, samples in true.items():
        for content in samples:
            with open("x.csv", "wb") as file:
                file.write(content)
            said = run("info", "x.csv", status=65)
            assert what in said and said.count("\n") == 1, (what, content[:40], said)
    names = [b"BZh9\x01", b"BZh91AY\x01", b"BZhx\x02", b"PAR1\x01", b"Rar!\x01", b"7z\xbc\xaf\x01", b"RDX3\x01", b"ARROW1\x01", b"%PDF", b"%PDF-x.",
             b"{\\rtf", b"PK\x03\x04", b"PK\x05\x06", b"\x28\xb5\x2f\xfd", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0", b"\xd0\xcf\x11\xe0",
             b"SQLite format 3\x01", b"\xfd7zXZ\x01", b"\x1f\x8b\x01", b"\x1f\x8b\x07x", b"MATLAB " + 200 * b"x", b"MATLAB " + 117 * b"x" + b"\x01\x01IM"]
    for name in names:
        with open("x.csv", "wb") as file:
            file.write(name + b",b\n" + b"".join(b"%d,%d\n" % (k, 7 * k % 5) for k in range(40)))
        read_back = read("x.csv")[0]
        assert np.array_equal(read_back, [[k, 7 * k % 5] for k in range(40)]), (name, read_back)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_magic_words()
    check_ids()
    check_thousands()
    check_labels()
    check_comments()
    check_contents()
    os.chdir("/")
