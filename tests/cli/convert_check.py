#!/usr/bin/env python3
"""armilla convert against NumPy, SciPy and scikit-learn: what they write is read and what we write they read, with
values equal to the last bit.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy or SciPy is missing."""

import csv
import gzip
import itertools
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sparse
except ImportError:
    sys.exit(77)
try:
    from sklearn.datasets import load_svmlight_file
except ImportError:
    load_svmlight_file = None
    print("skipped: svmlight beside scikit-learn, which is not installed")

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
HELD = {"b1": "f4", "i1": "i1", "u1": "u1", "f2": "f2", "f4": "f4"}  # all others: f8


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def convert(source, target, *options):
    run("convert", source, target, "--force", "--quiet", *options)


def same(found, wanted, what):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype, f"{what}: {found.dtype} instead of {wanted.dtype}"
    assert found.shape == wanted.shape, f"{what}: {found.shape} instead of {wanted.shape}"
    assert found.tobytes() == wanted.tobytes(), f"{what}: values differ"


def numbers(rng, kind, shape):
    if kind == "b1":
        return rng.random(shape) < 0.5
    if kind[0] in "iu":
        limits = np.iinfo(kind)
        return rng.integers(max(limits.min, -(2**52)), min(limits.max, 2**52), shape, dtype=kind, endpoint=True)
    values = (rng.standard_normal(shape) * 10.0 ** rng.integers(-4, 4, shape)).astype(kind)
    values.flat[:3] = [-0.0, np.finfo(kind).tiny, np.finfo(kind).max]
    return values


def check_arrays(rng):
    """Every type, byte order, array order and orientation, as .npy and in .npz."""
    kinds = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
    for kind, byte_order, order in itertools.product(kinds, "<>", "CF"):
        X = np.array(numbers(rng, kind, (37, 45)), dtype=byte_order + kind, order=order)
        wanted = X.astype(HELD.get(kind, "f8"))
        np.save("x.npy", X)
        np.savez("plain.npz", X)
        np.savez_compressed("packed.npz", X)
        for source in ("x.npy", "plain.npz", "packed.npz"):
            convert(source, "y.npy")
            same(np.load("y.npy"), wanted, f"{source} {X.dtype.str} {order}")
        convert("x.npy", "y.npz", "--samples", "columns")
        same(np.load("y.npz")["X"], wanted.T, f"columns {X.dtype.str} {order}")
        convert("x.npy", "z.npy", "--samples", "columns", "--to-samples", "columns")
        same(np.load("z.npy"), wanted, f"columns to columns {X.dtype.str} {order}")
    for kind in ("i1", "f2"):
        np.save("x.npy", np.zeros((3, 4), kind))
        assert f"dense {'i8' if kind == 'i1' else 'f16'}" in run("info", "x.npy"), kind
    np.save("x.npy", np.zeros((3, 4), "V2"))  # as ml_dtypes writes bfloat16
    assert "such as bfloat16 (|V2), not real numbers; save it with numpy.save of array.astype('float32')" in run(
        "info", "x.npy", status=65)
    for version in ((1, 0), (2, 0), (3, 0)):
        with open("x.npy", "wb") as file:
            np.lib.format.write_array(file, X, version=version)
        convert("x.npy", "y.npy")
        same(np.load("y.npy"), wanted, f"version {version}")


def check_archives():
    """Several arrays, none, wrong kinds."""
    np.savez("x.npz", a=np.eye(3), b=np.ones((3, 2)), c=np.arange(3))
    assert "a (3 x 3), b (3 x 2), c (3)" in run("info", "x.npz", status=65)
    convert("x.npz", "y.npy", "--array", "b")
    same(np.load("y.npy"), np.ones((3, 2)), "--array b")
    assert "has no array 'd'; it holds: a (3 x 3)" in run("info", "x.npz", "--array", "d", status=65)
    for array in (np.eye(2) * 1j, np.array([["a", "b"]]), np.zeros((2, 2), "f4,i4"), np.array([[None]])):
        np.save("x.npy", array, allow_pickle=True)
        np.savez("x.npz", array)
        for file in ("x.npy", "x.npz"):
            assert "not real numbers" in run("info", file, status=65)
    for array in (np.ones(3), np.ones(())):
        np.save("x.npy", array)
        assert "a matrix has 2" in run("info", "x.npy", status=65)


def make_zip(entries, local64, central64, offset64, end64, method, behind):
    """A zip archive whose sizes stand in zip64 records where asked for, though none needs them: in the local header, in
    the directory, the offset of an entry, the end; behind: sizes and checksum follow the bytes."""
    full, out, directory = 0xFFFFFFFF, b"", b""
    for name, raw in entries:
        pack = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = pack.compress(raw) + pack.flush() if method else raw
        sizes, offset, check = (len(raw), len(packed)), len(out), zlib.crc32(raw)
        shown, crc, marks = ((0, 0), 0, 8) if behind else (sizes, check, 0)
        extra = struct.pack("<HHQQ", 1, 16, *shown) if local64 else b""
        short = (full, full) if local64 else shown[::-1]
        out += struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, marks, method, 0, 0x21, crc, *short, len(name), len(extra))
        out += name + extra + packed
        if behind:
            out += struct.pack("<IIQQ" if local64 else "<IIII", 0x08074B50, check, *sizes[::-1])
        extra = (struct.pack("<QQ", *sizes) if central64 else b"") + (struct.pack("<Q", offset) if offset64 else b"")
        extra = struct.pack("<HH", 1, len(extra)) + extra if extra else b""
        short = (full, full) if central64 else sizes[::-1]
        directory += struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, marks, method, 0, 0x21, check, *short,
                                 len(name), len(extra), 0, 0, 0, 0, full if offset64 else offset) + name + extra
    start, count, size = len(out), len(entries), len(directory)
    out += directory
    if end64:
        out += struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, size, start)
        out += struct.pack("<IIQI", 0x07064B50, 0, start + size, 1)
        count, size, start = 0xFFFF, full, full
    return out + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, size, start, 0)


def check_zip64(rng):
    """Every place where zip64 may stand, dense and sparse; NumPy reads the same; what is cut or lies is refused."""
    X = rng.standard_normal((3, 4))
    S = sparse.random(9, 8, density=0.3, format="csr", random_state=rng, data_rvs=rng.standard_normal)
    sparse.save_npz("x.npz", S)
    np.savez("d.npz", X=X)
    for source, wanted in (("d.npz", X), ("x.npz", S.toarray())):
        with zipfile.ZipFile(source) as archive:
            entries = [(name.encode(), archive.read(name)) for name in archive.namelist()]
        for flags in itertools.product((False, True), (False, True), (False, True), (False, True), (0, 8), (False, True)):
            whole = make_zip(entries, *flags)
            with open("z.npz", "wb") as file:
                file.write(whole)
            with np.load("z.npz") as found:
                assert len([found[name] for name in found.files]) == len(entries)
            convert("z.npz", "y.npz")
            found = sparse.load_npz("y.npz").toarray() if source == "x.npz" else np.load("y.npz")["X"]
            same(found, wanted, f"zip64 {source} {flags}")
    for cut in range(1, 120, 7):
        with open("z.npz", "wb") as file:
            file.write(whole[:-cut])
        run("info", "z.npz", status=65)
    at = whole.rindex(struct.pack("<I", 0x06064B50)) + 24
    for lie in (0, 2**40, 2**64 - 1):
        with open("z.npz", "wb") as file:
            file.write(whole[:at] + struct.pack("<QQ", lie, lie) + whole[at + 16:])
        run("info", "z.npz", status=65)


def check_dense_text(rng):
    """CSV, TSV and Matrix Market of dense numbers."""
    for kind in ("u1", "i1", "f2", "f4", "f8"):
        X = numbers(rng, kind, (23, 17))
        np.save("x.npy", X)
        for ending, separator in ((".csv", ","), (".tsv", "\t")):
            convert("x.npy", "y" + ending)
            same(np.loadtxt("y" + ending, delimiter=separator, dtype=kind), X, f"{ending} {kind}")
            convert("y" + ending, "back.npy")
            same(np.load("back.npy").astype(kind), X, f"{ending} {kind} read again")
            convert("x.npy", "y" + ending, "--to-samples", "columns")
            same(np.loadtxt("y" + ending, delimiter=separator, dtype=kind), X.T, f"{ending} {kind} columns")
        for where, wanted in (("rows", X), ("columns", X.T)):
            convert("x.npy", "y.mtx", "--to-samples", where)
            same(scipy.io.mmread("y.mtx").astype(kind), wanted, f"mtx {kind} {where}")
    convert("x.npy", "odd-name", "--to", "csv")
    same(np.loadtxt("odd-name", delimiter=","), X, "--to csv")


def check_sparse(rng):
    """Sparse matrices stay sparse, in both orientations, for SciPy and scikit-learn."""
    X = sparse.random(60, 40, density=0.1, random_state=rng, data_rvs=rng.standard_normal).toarray()
    X[7] = 0
    X[3, 39] = 1e-300
    X = sparse.csr_matrix(X)
    for kind in ("f4", "f8"):
        Y = X.astype(kind)
        Y.eliminate_zeros()
        for form, compressed in itertools.product(("csr", "csc", "coo"), (False, True)):
            sparse.save_npz("x.npz", Y.asformat(form), compressed=compressed)
            convert("x.npz", "y.npz")
            found = sparse.load_npz("y.npz")
            assert found.format == "csr" and found.has_sorted_indices
            same(found.indptr, Y.indptr, form)
            same(found.data, Y.data, form)
            same(found.toarray(), Y.toarray(), form)
        convert("x.npz", "y.npz", "--to-samples", "columns")
        assert sparse.load_npz("y.npz").format == "csc"
        same(sparse.load_npz("y.npz").toarray(), np.asfortranarray(Y.T.toarray()), "columns")
        for where, wanted in (("rows", Y), ("columns", Y.T)):
            convert("x.npz", "y.mtx", "--to-samples", where)
            found = scipy.io.mmread("y.mtx")
            assert sparse.issparse(found) and found.nnz == wanted.nnz
            same(found.toarray().astype(kind), np.ascontiguousarray(wanted.toarray()), f"mtx {kind} {where}")
            convert("x.npz", "y.csv", "--to-samples", where)
            same(np.loadtxt("y.csv", delimiter=",", dtype=kind), np.ascontiguousarray(wanted.toarray()), f"csv {where}")
        if load_svmlight_file:
            labels = rng.integers(-1, 4, Y.shape[0])
            np.savetxt("labels.txt", labels, fmt="%d")
            convert("x.npz", "y.svm", "--labels", "labels.txt")
            found, shown = load_svmlight_file("y.svm", dtype=kind, n_features=Y.shape[1])
            same(found.toarray(), Y.toarray(), f"svmlight {kind}")
            same(shown, labels.astype(float), "labels of svmlight")
            np.save("d.npy", Y.toarray())
            convert("d.npy", "y.libsvm")
            same(load_svmlight_file("y.libsvm", dtype=kind, n_features=Y.shape[1])[0].toarray(), Y.toarray(), "dense")
    assert "write .npz" in run("convert", "x.npz", "new.npy", status=64)
    for form in ("bsr", "dia"):
        sparse.save_npz("x.npz", X.asformat(form))
        assert "tocsr" in run("convert", "x.npz", "new.npz", status=65)
    assert not os.path.exists("new.npy") and not os.path.exists("new.npz")


def check_names(rng):
    """Names and labels go through .npz and .csv."""
    X = rng.standard_normal((3, 2))
    features, samples, labels = ["gene, A", 'say "β"'], ["one", "two ", "größe"], ["T cell", "B cell", "T cell"]
    np.savez("x.npz", X=X, feature_names=features, sample_names=samples, labels=np.array(labels, "S"))
    convert("x.npz", "y.npz")
    with np.load("y.npz", allow_pickle=False) as found:
        same(found["X"], X, "X")
        assert list(found["feature_names"]) == features and list(found["sample_names"]) == samples
        assert list(found["labels"]) == labels
    convert("y.npz", "y.csv")
    rows = list(csv.reader(open("y.csv", newline="", encoding="utf-8")))
    assert rows[0] == ["", *features, "label"], rows[0]
    assert [row[0] for row in rows[1:]] == samples and [row[-1] for row in rows[1:]] == labels
    same(np.array([row[1:-1] for row in rows[1:]], dtype=float), X, "numbers between names")
    for names in (samples, ["3", "1", "2"]):  # numbers are names too
        np.savez("x.npz", X=X, sample_names=names, labels=labels)
        convert("x.npz", "z.csv")
        convert("z.csv", "z.npz", "--label-column", "label")
        with np.load("z.npz", allow_pickle=False) as found:
            same(found["X"], X, "X through csv")
            assert [name.strip() for name in found["sample_names"]] == [name.strip() for name in names]
            assert list(found["labels"]) == labels
    convert("y.npz", "y.tsv", "--to-samples", "columns")
    rows = list(csv.reader(open("y.tsv", newline="", encoding="utf-8"), delimiter="\t"))
    assert rows[0] == ["", *samples] and [row[0] for row in rows[1:]] == features
    assert "names of features are not kept" in run_told("convert", "y.npz", "lost.npy")
    assert "label" in run("convert", "y.npz", "new.svm", status=65) and not os.path.exists("new.svm")


def run_told(*arguments):
    done = subprocess.run([ARMILLA, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def check_idx(rng):
    """IDX in both directions, packed or not, with labels."""
    X = rng.integers(0, 256, (5, 4, 3), dtype="u1")
    labels = rng.integers(0, 10, 5, dtype="u1")
    for opener, ending in ((open, ""), (gzip.open, ".gz")):
        with opener("images-idx3-ubyte" + ending, "wb") as file:
            file.write(bytes([0, 0, 8, 3]) + struct.pack(">3i", *X.shape) + X.tobytes())
        with opener("labels-idx1-ubyte" + ending, "wb") as file:
            file.write(bytes([0, 0, 8, 1]) + struct.pack(">i", 5) + labels.tobytes())
        convert("images-idx3-ubyte" + ending, "y.npz", "--labels", "labels-idx1-ubyte" + ending)
        with np.load("y.npz") as found:
            same(found["X"], X.reshape(5, 12), "idx")
            assert [int(label) for label in found["labels"]] == labels.tolist()
    convert("y.npz", "y.idx")
    assert open("y.idx", "rb").read() == bytes([0, 0, 8, 2]) + struct.pack(">2i", 5, 12) + X.tobytes()
    convert("y.npz", "y.csv", "--array", "X")
    np.save("f.npy", X.reshape(5, 12).astype(float))
    convert("f.npy", "f.idx")
    assert open("f.idx", "rb").read() == open("y.idx", "rb").read()
    for bad in (-1, 256, 0.5, 1e300):
        np.save("f.npy", np.array([[1.0, 2.0], [3.0, bad]]))
        assert "line 2, place 2" in run("convert", "f.npy", "new.idx", status=65)
    assert not os.path.exists("new.idx")
    np.savetxt("labels.txt", [1, 2, 3], fmt="%d")
    assert "has 3 labels, and the data have 5 samples" in run("info", "y.idx", "--labels", "labels.txt", status=65)
    assert "--labels" in run("info", "labels-idx1-ubyte", status=65)


def check_outputs():
    """Nothing is replaced, or left behind, or done twice."""
    np.save("x.npy", np.eye(3))
    convert("x.npy", "kept.csv")
    before = open("kept.csv").read()
    run("convert", "x.npy", "kept.csv", status=73)
    assert open("kept.csv").read() == before
    run("convert", "x.npy", "x.npy", "--force", status=64)
    run("convert", "x.npy", "./x.npy", "--force", "--to", "csv", status=64)
    assert "name one (--to): npy" in run("convert", "x.npy", "y.odd", status=64)
    run("convert", "nosuch.npy", "new.csv", status=66)
    run("convert", "x.npy", "nosuch/y.csv", status=73)
    run("convert", "x.npy", "y.csv", "--to", "cvs", status=64)
    assert not [name for name in os.listdir(".") if name.endswith(".tmp")]
    table = run("list", "formats")
    for name in ("npy", "npz", "csv", "idx"):
        assert any(line.split()[0] == name and "read, written" in line for line in table.splitlines()), name


def main():
    rng = np.random.default_rng(11)
    checks = ((check_arrays, rng), (check_archives,), (check_zip64, rng), (check_dense_text, rng), (check_sparse, rng), (check_names, rng),
              (check_idx, rng), (check_outputs,))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check, *arguments in checks:
            try:
                check(*arguments)
            except AssertionError as wrong:
                sys.exit(f"FAILED: {check.__name__}: {wrong}")
        os.chdir("/")
    if not load_svmlight_file:
        print("no scikit-learn: svmlight was not compared")


main()
