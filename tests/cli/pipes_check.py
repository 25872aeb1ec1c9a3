#!/usr/bin/env python3
"""Pipes and scripts: `-` for standard input and output in every format, columns that are left out, Excel's files, options
that a format has no use for, and words in capitals.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy or SciPy is missing."""

import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sparse
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
CONVERTS = os.path.exists(os.path.join(os.path.dirname(ARMILLA), "armilla-convert"))


def run(*arguments, status=0, given=None):
    done = subprocess.run([ARMILLA, *map(str, arguments)], input=given, capture_output=True)
    said = done.stderr.decode()
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{said}"
    assert status == 0 or said.count("\n") == 1, said
    return done.stdout, said


def file_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def check_input(X):
    """Every format comes through a pipe, and from a file that is standard input, as it does from its own file."""
    np.save("x.npy", X)
    np.savez("dense.npz", X=X)
    sparse.save_npz("sparse.npz", sparse.csr_matrix(X))
    scipy.io.mmwrite("x.mtx", sparse.coo_matrix(X))
    np.savetxt("x.csv", X, delimiter=",", header=",".join(f"f{i}" for i in range(X.shape[1])), comments="")
    np.savetxt("blanks.txt", X)
    with gzip.open("x.csv.gz", "wb") as file:
        file.write(file_bytes("x.csv"))
    run("convert", "x.npy", "x.svm", "--quiet")
    files = ["x.npy", "dense.npz", "sparse.npz", "x.mtx", "x.csv", "blanks.txt", "x.csv.gz", "x.svm"]
    if CONVERTS:
        scipy.io.savemat("x.mat", {"X": X})
        files.append("x.mat")
    for path in files:
        run("fit", path, "--rank", 2, "--out", "want.npz", "--force", "--quiet", "--max-iter", 5)
        run("fit", "-", "--rank", 2, "--out", "piped.npz", "--force", "--quiet", "--max-iter", 5, given=file_bytes(path))
        with open(path, "rb") as file:
            subprocess.run([ARMILLA, "fit", "-", "--rank", "2", "--out", "file.npz", "--force", "--quiet", "--max-iter", "5"],
                           stdin=file, check=True)
        with np.load("want.npz") as want, np.load("piped.npz") as piped, np.load("file.npz") as whole:
            for array in ("U", "V"):
                assert np.array_equal(want[array], piped[array]) and np.array_equal(want[array], whole[array]), path


def check_output(X):
    """Models, arrays, tables and labels go to standard output; what is piped on is read."""
    model, _ = run("fit", "x.npy", "--rank", 3, "--out", "-", "--quiet")
    with np.load(io.BytesIO(model)) as archive:
        assert archive["U"].shape == (X.shape[1], 3)
    open("model.npz", "wb").write(model)
    want, _ = run("transform", "model.npz", "x.npy", "--out", "codes.npy", "--force", "--quiet")
    codes, said = run("transform", "-", "x.npy", "--out", "-", given=model)
    assert np.array_equal(np.load(io.BytesIO(codes)), np.load("codes.npy")) and "standard output" in said
    codes, _ = run("transform", "model.npz", "-", "--out", "/dev/stdout", "--quiet", given=file_bytes("x.csv"))
    assert np.array_equal(np.load(io.BytesIO(codes)), np.load("codes.npy"))
    assert b'"passed": true' in run("check", "-", "x.npy", "--json", given=model)[0]
    assert json.loads(run("info", "-", "--json", given=model)[0])
    assert run("top", "-", given=model)[0].startswith(b"atom 0")
    table, _ = run("convert", "-", "-", "--to", "csv", "--quiet", given=file_bytes("x.npy"))
    assert np.array_equal(np.loadtxt(io.BytesIO(table), delimiter=","), X)
    labels, _ = run("cluster", "-", "--k", 2, "--out", "-", "--quiet", given=file_bytes("x.csv"))
    assert len(labels.split()) == len(X)
    assert run("cluster", "-", "--k", 2, "--quiet", given=file_bytes("x.csv"))[0] == labels
    with open("redirected", "wb") as file:  # a file that is standard output is written, not replaced
        file.write(b"before\n")
        file.flush()
        subprocess.run([ARMILLA, "cluster", "x.npy", "--k", "2", "--out", "-", "--quiet"], stdout=file, check=True)
    assert file_bytes("redirected") == b"before\n" + run("cluster", "x.npy", "--k", 2, "--quiet")[0]


def check_refused_streams():
    assert "standard input" in run("fit", "-", "--rank", 2, status=65, given=b"a,b\n1,2\n3,x\n")[1]
    run("fit", "-", "--rank", 2, status=65, given=b"")
    run("transform", "-", "-", "--out", "codes.npy", "--force", status=64, given=b"")
    run("fit", "x.npy", "--rank", 2, "--out", "-", "--json", status=64)
    run("fit", "x.npy", "--rank", 2, "--out", "-", "--trace", "-", status=64)
    run("convert", "x.npy", "-", status=64)


def check_columns():
    """Columns of text are left out where that is said, and never in silence."""
    text = "name,age,city,height,colour\nann,30,Rome,1.6,red\nbob,40,Oslo,1.8,blue\neve,50,Bern,1.7,red\n"
    open("people.csv", "w").write(text)
    said = run("fit", "people.csv", "--rank", 1, status=65)[1]
    assert "'Rome'" in said and "--ignore-columns" in said, said
    for columns in ("city,colour", "3,5", "city,5"):
        run("fit", "people.csv", "--rank", 1, "--ignore-columns", columns, "--out", "m.npz", "--force", "--quiet")
        with np.load("m.npz") as model:
            assert list(model["feature_names"]) == ["age", "height"], columns
            assert list(model["sample_names"]) == ["ann", "bob", "eve"]
    _, said = run("fit", "people.csv", "--rank", 1, "--ignore-columns", "text", "--out", "m.npz", "--force")
    assert "2 columns of text are left out: city, colour" in said, said
    with np.load("m.npz") as model:
        assert list(model["feature_names"]) == ["age", "height"]
    run("fit", "people.csv", "--rank", 1, "--ignore-columns", "age,city,colour", "--label-column", "colour", "--out", "m.npz",
        "--force", "--quiet")
    with np.load("m.npz") as model:
        assert list(model["feature_names"]) == ["height"] and list(model["labels"]) == ["red", "blue", "red"]
    assert "no column 'weight'" in run("fit", "people.csv", "--rank", 1, "--ignore-columns", "weight", status=64)[1]
    run("fit", "people.csv", "--rank", 1, "--ignore-columns", "age,height,city,colour", status=65)
    wide = "\n".join(f"{i};{i / 7};x{i};{i * 3}" for i in range(20000))
    open("wide.csv", "w").write("a;b;c;d\n" + wide)
    run("convert", "wide.csv", "wide.npy", "--ignore-columns", "c", "--quiet", "--force")
    assert np.array_equal(np.load("wide.npy"), [[i, i / 7, i * 3] for i in range(20000)])


def check_excel():
    for separator, options in ((";", []), ("\t", []), ("|", []), (",", [])):
        for end in ("\n", "\r\n"):
            rows = [separator.join(row) for row in (("a", "b"), ("1", "2.5"), ("3", "4"))]
            open("excel.csv", "w", newline="").write(f"\ufeffsep={separator}{end}" + end.join(rows) + end)
            run("convert", "excel.csv", "excel.npy", "--quiet", "--force", *options)
            assert np.array_equal(np.load("excel.npy"), [[1, 2.5], [3, 4]]), (separator, end)
    open("excel.csv", "w").write("sep=;\na;b\n1;x\n")
    assert "line 3" in run("convert", "excel.csv", "never.npy", status=65)[1]
    with zipfile.ZipFile("book.xlsx", "w") as book:
        book.writestr("[Content_Types].xml", "<x/>")
        book.writestr("xl/workbook.xml", "<x/>")
    assert "spreadsheet" in run("info", "book.xlsx", status=65)[1]
    open("book.xls", "wb").write(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    assert "CSV" in run("info", "book.xls", status=65)[1]


def check_uses():
    """An option that a format has no use for is refused, with the reason."""
    for path, options, words in (
        ("x.npy", ["--label-column", "class"], "--label-column"),
        ("x.npy", ["--array", "X"], "several arrays"),
        ("x.mtx", ["--header", "yes"], "text tables"),
        ("dense.npz", ["--separator", "tab"], "text tables"),
        ("dense.npz", ["--label-column", "2"], "text tables"),
        ("x.csv", ["--array", "X"], "format csv has no use for --array"),
        ("x.csv", ["--label-array", "gnd"], "--label-array"),
        ("x.svm", ["--ignore-columns", "1"], "--keep-features"),
        ("x.npy", ["--decimal", "comma"], "text tables"),
    ):
        said = run("info", path, *options, status=64)[1]
        assert words in said and path in said, said


def check_words():
    for model in ("NMF", "Nmf", "SPHERICAL-NMF"):
        assert f"did you mean '{model.lower()}'" in run("fit", "x.npy", "--rank", 2, "--model", model, status=64)[1]
    assert "did you mean 'fit'" in run("FIT", "x.npy", status=64)[1]
    open("across", "w").write("a\n" * 6)
    assert "--samples" in run("cluster", "x.npy", "--k", 2, "--labels", "across", status=65)[1]
    assert "--samples" in run("cluster", "x.npy", "--k", 2, "--truth", "across", status=65)[1]


def main():
    random = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        X = random.poisson(2.0, (40, 6)).astype(float) + np.eye(40, 6)
        check_input(X)
        check_output(X)
        check_refused_streams()
        check_columns()
        check_excel()
        check_uses()
        check_words()


main()
