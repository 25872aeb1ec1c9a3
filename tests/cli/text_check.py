#!/usr/bin/env python3
"""Text formats against those who write them: SciPy's Matrix Market, scikit-learn's svmlight, NumPy's and the csv
module's tables, 10x directories, and all of them compressed.

The fingerprint of data depends on every value and its place: files that hold the same numbers to the last bit, and only
these, have the same. $ARMILLA is the command. Exit status 77 (skipped) where NumPy or SciPy is missing; svmlight is
left out where scikit-learn is."""

import csv
import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sparse
except ImportError:
    sys.exit(77)
try:
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file
except ImportError:
    dump_svmlight_file = load_svmlight_file = None

ARMILLA = os.path.abspath(os.environ["ARMILLA"])


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def shown(file, *options):
    return json.loads(run("info", file, "--json", *options))


def wanted(X):
    """What the command says of these numbers in NumPy's own file."""
    np.save("oracle.npy", np.asarray(X, np.float64))
    return shown("oracle.npy")


def same(X, file, *options, storage=None):
    """X has samples in rows."""
    got, oracle = shown(file, *options), wanted(X)
    for name in ("m", "n", "fingerprint", "squared_norm", "zeros"):
        assert got[name] == oracle[name], f"{file} {options}: {name} is {got[name]}, not {oracle[name]}"
    if storage:
        assert got["storage"] == storage, got["storage"]


def pack(file):
    with open(file, "rb") as plain, gzip.open(file + ".gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    return file + ".gz"


def hard(generator, shape):
    """Numbers of every size, whose last bits matter."""
    numbers = generator.standard_normal(shape) * 10.0 ** generator.integers(-300, 300, shape)
    numbers.flat[:4] = [0.1, 5e-324, 1.7976931348623157e308 / 1e10, 9007199254740993.0]
    return numbers


def check_matrix_market(generator):
    kinds = {
        "real": hard(generator, (37, 23)) * (generator.random((37, 23)) < 0.3),
        "integer": generator.integers(-9, 9, (37, 23)) * (generator.random((37, 23)) < 0.3),
        "pattern": (generator.random((37, 23)) < 0.3).astype(int),
    }
    for field, X in kinds.items():
        for form, precision in itertools.product((sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix), (None, 17)):
            scipy.io.mmwrite("x.mtx", form(X), field=field, precision=precision)
            Y = scipy.io.mmread("x.mtx").toarray()
            for file in ("x.mtx", pack("x.mtx")):
                same(Y, file, storage="sparse f64")
                same(Y.T, file, "--samples", "columns")
        if precision == 17:
            assert np.array_equal(X, Y)
    for symmetry in ("general", "symmetric", "skew-symmetric"):
        S = hard(generator, (19, 19))
        S = S if symmetry == "general" else S + S.T if symmetry == "symmetric" else S - S.T
        for matrix in (S, sparse.csr_matrix(S)):
            scipy.io.mmwrite("s.mtx", matrix, precision=17)
            with open("s.mtx", encoding="ascii") as file:
                assert symmetry in file.readline(), symmetry
            same(S, "s.mtx")
            same(S.T, "s.mtx", "--samples", "columns")
    scipy.io.mmwrite("c.mtx", sparse.csr_matrix(kinds["real"] * 1j))
    assert "complex" in run("info", "c.mtx", status=65)


def check_large(generator):
    """More than one part, in no order and with repeats; no thread count shows."""
    rows, cols, count = 3000, 2000, 200000
    entries = generator.integers(0, rows, count), generator.integers(0, cols, count)
    X = sparse.coo_matrix((generator.integers(-1000, 1000, count) / 8, entries), (rows, cols))
    scipy.io.mmwrite("x.mtx", X, precision=17)
    assert os.path.getsize("x.mtx") > 2 << 20
    for threads in (1, 2, 3):
        same(X.toarray(), "x.mtx", "--threads", threads)


def check_svmlight(generator):
    if not dump_svmlight_file:
        print("scikit-learn is missing: svmlight is not compared")
        return
    X = hard(generator, (50, 31)) * (generator.random((50, 31)) < 0.2)
    X[0, 0] = X[0, 30] = 1.5
    X = sparse.csr_matrix(X)
    y = generator.integers(-1, 3, 50)
    for zero_based, comment, query in itertools.product((True, False), (None, "by hand 3:4"), (None, np.arange(50))):
        dump_svmlight_file(X, y, "x.svm", zero_based=zero_based, comment=comment, query_id=query)
        Y, _ = load_svmlight_file("x.svm")
        assert Y.shape == X.shape
        same(Y.toarray(), "x.svm", storage="sparse f64")
        same(Y.toarray(), pack("x.svm"))
    os.rename("x.svm", "x.txt")  # known by its content
    same(Y.toarray(), "x.txt")


def check_tables(generator):
    X = hard(generator, (29, 7))
    for delimiter, name in ((",", "x.csv"), (";", "x.csv"), ("\t", "x.tsv"), (" ", "x.txt")):
        np.savetxt(name, X, delimiter=delimiter, fmt="%.17g")
        same(X, name, storage="dense f64")
        same(X.T, pack(name), "--samples", "columns")
    names, kinds = [f"g {i}" for i in range(7)], ['a "b"', "c,\nd", "e"]
    for quoting, end in itertools.product((csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL), ("\n", "\r\n")):
        with open("t.csv", "w", newline="", encoding="utf-8-sig") as file:
            writer = csv.writer(file, quoting=quoting, lineterminator=end)
            writer.writerow(["id", *names, "kind"])
            for i, row in enumerate(X.tolist()):
                writer.writerow([f"s{i}", *row, kinds[i % 3]])
        same(X, "t.csv", "--label-column", "kind")
        same(X, "t.csv", "--label-column", 9, "--name-column", "id")
    assert "line 2, column 9: 'a " in run("convert", "t.csv", "never.npy", status=65)
    run("fit", "t.csv", "--label-column", "kind", "--normalize", "l2", "--rank", 2, "--max-iter", 3, "--out", "m.npz")
    run("check", "m.npz", "t.csv", "--label-column", "kind")
    run("transform", "m.npz", "t.csv", "--label-column", "kind", "--out", "codes.npy")


def check_missing():
    for word in ("", "NA", "NaN", "null", "N/A"):
        with open("t.csv", "w", encoding="ascii") as file:
            file.write(f"id,x,y\ns1,1,2\ns2,3,{word}\n")
        assert "t.csv: line 3, column 3: " in run("fit", "t.csv", "--rank", 1, "--out", "n.npz", status=65)
        assert not os.path.exists("n.npz")


def check_10x(generator):
    X = sparse.csc_matrix(generator.integers(0, 4, (31, 17)))
    for ending, features in (("", "genes.tsv"), (".gz", "features.tsv")):
        os.mkdir("sample")
        scipy.io.mmwrite("sample/matrix.mtx", X, field="integer")
        for name, lines in ((features, [f"ID{i}\tname{i}" for i in range(31)]), ("barcodes.tsv", "ABCDEFGHIJKLMNOPQ")):
            with open(f"sample/{name}", "w", encoding="ascii") as file:
                file.write("\n".join(lines) + "\n")
        for name in ("matrix.mtx", features, "barcodes.tsv") if ending else ():
            pack(f"sample/{name}")
            os.unlink(f"sample/{name}")
        same(X.T.toarray(), "sample", storage="sparse f64")
        same(X.T.toarray(), "sample", "--samples", "columns", "--format", "10x")
        run("fit", "sample", "--rank", 3, "--max-iter", 3, "--out", "m.npz", "--force")
        run("check", "m.npz", "sample")
        shutil.rmtree("sample")
    os.mkdir("empty")
    assert "is a directory, and none that holds data" in run("info", "empty", status=66)


def check_gzip(generator):
    X = generator.standard_normal((20, 6))
    np.save("x.npy", X)
    same(X, pack("x.npy"))
    sparse.save_npz("s.npz", sparse.csr_matrix(X))
    same(X, pack("s.npz"))
    with open("x.npy.gz", "rb") as file:
        whole = file.read()
    with open("cut.npy.gz", "wb") as file:
        file.write(whole[:-9])
    assert "is cut short" in run("info", "cut.npy.gz", status=65)


def main():
    generator = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        check_matrix_market(generator)
        check_large(generator)
        check_svmlight(generator)
        check_tables(generator)
        check_missing()
        check_10x(generator)
        check_gzip(generator)
        os.chdir("/")


main()
