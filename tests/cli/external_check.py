#!/usr/bin/env python3
"""Files that armilla-convert reads, against h5py, AnnData and SciPy: values equal to the last bit, names kept, bad files
refused, and limits that hold.

$ARMILLA is the command. Exit status 77 (skipped) where armilla-convert was not built, or NumPy, SciPy or h5py is
missing."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import h5py
    import numpy as np
    import scipy.io
    import scipy.sparse as sparse
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
try:
    import anndata
except ImportError:
    anndata = None

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
CONVERTER = os.path.join(os.path.dirname(ARMILLA), "armilla-convert")
if not os.access(CONVERTER, os.X_OK):
    print("skipped: armilla-convert was not built")
    sys.exit(77)
TEXT = h5py.string_dtype("utf-8")


def run(*arguments, status=0, program=ARMILLA, **options):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, **options)
    assert done.returncode == status, f"{program} {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    if status:
        assert done.stderr.count("\n") == 1 and "armilla" in done.stderr, f"not one line: {done.stderr}"
    return done.stdout if status == 0 else done.stderr


def read(source, *options):
    """What armilla makes of it: the matrix and its names."""
    run("convert", source, "y.npz", "--force", "--quiet", *options)
    with np.load("y.npz", allow_pickle=False) as found:
        names = {key: list(found[key]) for key in ("feature_names", "sample_names") if key in found.files}
        if "indptr" in found.files:
            return sparse.load_npz("y.npz"), names
        return found["X"], names


def same(found, wanted, what):
    if sparse.issparse(wanted):
        assert sparse.issparse(found) and found.nnz == wanted.nnz, f"{what}: not as sparse"
        found, wanted = found.toarray(), wanted.toarray()
    assert found.dtype == wanted.dtype, f"{what}: {found.dtype} instead of {wanted.dtype}"
    assert np.array_equal(found, wanted), f"{what}: values differ"


def random_matrix(rng, kind):
    X = sparse.random(31, 17, density=0.2, format="csr", random_state=rng, data_rvs=rng.standard_normal)
    X.data = X.data.astype(kind) if kind[0] == "f" else rng.integers(1, 99, X.nnz).astype(kind)
    return X


def write_group(file, path, X, kind):
    group = file.create_group(path)
    X = X.asformat(kind[:3])
    group.attrs["encoding-type"], group.attrs["encoding-version"] = kind, "0.1.0"
    group.attrs["shape"] = np.array(X.shape)
    for name in ("data", "indices", "indptr"):
        group.create_dataset(name, data=getattr(X, name), compression="gzip")


def write_names(file, path, names, fixed=False):
    group = file.create_group(path)
    group.attrs["_index"] = "the names"
    group["the names"] = np.array(names, "S") if fixed else np.array(names, dtype=TEXT)


def check_h5ad_by_h5py(rng):
    for kind, held in (("f4", "f4"), ("f8", "f8"), ("i4", "f8"), ("u1", "f4"), ("i1", "f4")):
        X = random_matrix(rng, kind)
        wanted = X.astype(held)
        names = {"sample_names": [f"cell {i}" for i in range(31)], "feature_names": [f"gène {i}" for i in range(17)]}
        for form in ("csr_matrix", "csc_matrix", "array"):
            with h5py.File("x.h5ad", "w") as file:
                if form == "array":
                    file["X"] = X.toarray()
                else:
                    write_group(file, "X", X, form)
                write_group(file, "layers/counts", 2 * X, "csr_matrix")
                write_names(file, "obs", names["sample_names"], fixed=True)
                write_names(file, "var", names["feature_names"])
            found, shown = read("x.h5ad")
            same(found, X.toarray() if form == "array" and kind in ("u1", "i1", "f4", "f8") else
                 wanted.toarray() if form == "array" else wanted, f"h5ad {form} {kind}")
            assert shown == names, shown
            same(read("x.h5ad", "--array", "layers/counts")[0], (2 * X).astype(held), "layer")
    halves = rng.standard_normal((31, 17)).astype("f2")
    halves.flat[:3] = [-0.0, 2.0**-24, np.finfo("f2").max]
    for order in "<>":
        with h5py.File("half.h5ad", "w") as file:
            file["X"] = halves.astype(order + "f2")
        same(read("half.h5ad")[0], halves, f"h5ad {order}f2")
    said = run("info", "x.h5ad", "--array", "nosuch", status=65)
    assert "is not there; give X, raw/X, layers/NAME or obsm/NAME" in said and "it holds: X, layers/counts" in said, said
    run("fit", "x.h5ad", "--rank", 3, "--out", "model.npz", "--quiet", "--force")
    run("check", "model.npz", "x.h5ad")
    run("transform", "model.npz", "x.h5ad", "--out", "codes.npy", "--quiet", "--force")
    assert np.load("codes.npy").shape == (31, 3)


def check_h5ad_by_anndata(rng):
    if not anndata:
        print("skipped: files of AnnData, which is not installed (python3-anndata)")
        return
    X = random_matrix(rng, "f4")
    for form in (X, X.tocsc(), X.toarray()):
        made = anndata.AnnData(form.copy())
        made.obs_names, made.var_names = [f"c{i}" for i in range(31)], [f"g{i}" for i in range(17)]
        made.raw = made
        made.write_h5ad("x.h5ad", compression="gzip")
        for options in ([], ["--array", "raw/X"]):
            found, shown = read("x.h5ad", *options)
            same(found, form if isinstance(form, np.ndarray) else X, "AnnData")
            assert shown == {"sample_names": list(made.obs_names), "feature_names": list(made.var_names)}


def write_tenx(group, X, old=False):
    Y = X.T.tocsc()  # features x barcodes
    group["data"], group["indices"], group["indptr"] = Y.data, Y.indices.astype("i8"), Y.indptr.astype("i8")
    group["shape"] = np.array(Y.shape, "i4")
    group["barcodes"] = np.array([f"AAA-{i}" for i in range(Y.shape[1])], "S")
    genes = np.array([f"gene{i}" for i in range(Y.shape[0])], "S")
    group["gene_names" if old else "features/name"] = genes
    group["genes" if old else "features/id"] = np.array([f"ENS{i}" for i in range(Y.shape[0])], "S")


def check_tenx(rng):
    X = random_matrix(rng, "i4")
    wanted = {"sample_names": [f"AAA-{i}" for i in range(31)], "feature_names": [f"gene{i}" for i in range(17)]}
    for old in (False, True):
        with h5py.File("x.h5", "w") as file:
            write_tenx(file.create_group("hg19" if old else "matrix"), X, old)
        found, shown = read("x.h5")
        same(found, X.astype("f8"), "10x")
        assert shown == wanted, shown
    with h5py.File("x.h5", "a") as file:
        write_tenx(file.create_group("mm10"), 3 * X, True)
    assert "--array NAME among: hg19, mm10" in run("info", "x.h5", status=65)
    same(read("x.h5", "--array", "mm10")[0], (3 * X).astype("f8"), "10x, chosen")


def put_class(place, word):
    """As MATLAB writes it: as many bytes as letters, marked as ending with a zero byte that is not there."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(len(word))
    attribute = h5py.h5a.create(place.id, b"MATLAB_class", kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(word.encode(), f"S{len(word)}"), mtype=kind)


def write_matlab73(name, **arrays):
    with h5py.File(name, "w", userblock_size=512) as file:
        for key, X in arrays.items():
            if sparse.issparse(X):
                Y = X.tocsc()
                group = file.create_group(key)
                put_class(group, "double")
                group.attrs["MATLAB_sparse"] = np.uint64(Y.shape[0])
                group["data"], group["ir"], group["jc"] = Y.data, Y.indices.astype("u8"), Y.indptr.astype("u8")
            else:
                file[key] = X.T
                put_class(file[key], {"f8": "double", "f4": "single", "u1": "uint8", "i1": "int8"}[X.dtype.str[1:]])
    with open(name, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(116) + bytes(8) + b"\x00\x02IM")


def check_mat(rng):
    held = {"i1": "i1", "f4": "f4", "u1": "u1", "f8": "f8"}
    for kind in ("f8", "f4", "u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8"):
        X = (rng.standard_normal((5, 3)) * 50).astype(kind) if kind[0] != "u" else rng.integers(0, 99, (5, 3)).astype(kind)
        for packed in (False, True):
            scipy.io.savemat("x.mat", {"X": X, "note": "text", "one": 3.0}, do_compression=packed)
            same(read("x.mat")[0], X.astype(held.get(kind, "f8")), f"mat {kind}")
            same(read("x.mat", "--samples", "columns")[0], X.T.astype(held.get(kind, "f8")), f"mat {kind} columns")
    S = random_matrix(rng, "f8")
    D = rng.standard_normal((4, 6))
    scipy.io.savemat("x.mat", {"S": S})
    same(read("x.mat")[0], S, "sparse mat")
    same(read("x.mat", "--samples", "columns")[0], S.T.tocsr(), "sparse mat, columns")
    scipy.io.savemat("x.mat", {"S": S, "D": D})
    assert "among: S (31 x 17), D (4 x 6)" in run("info", "x.mat", status=65)
    same(read("x.mat", "--array", "D")[0], D, "mat, chosen")
    said = run("info", "x.mat", "--array", "E", status=65)
    assert "is not there" in said and re.search(r"it holds: .*\(\d+ x \d+\)", said), said
    scipy.io.savemat("x.mat", {"Z": D + 1j})
    assert "holds no real matrix" in run("info", "x.mat", status=65)
    for X in (D, D.astype("f4"), rng.integers(0, 9, (4, 6)).astype("u1"), rng.integers(-9, 9, (4, 6)).astype("i1"), S):
        write_matlab73("x.mat", X=X)
        same(read("x.mat")[0], X, "mat 7.3")
    write_matlab73("x.mat", S=S, D=D)
    same(read("x.mat", "--array", "D")[0], D, "mat 7.3, chosen")
    run("fit", "x.mat", "--array", "S", "--rank", 2, "--quiet")


def check_mat4(rng):
    """Version 4, and version 5 of either order of bytes, by hand: SciPy writes its own order only."""
    D = rng.standard_normal((4, 6))
    S = random_matrix(rng, "f8")
    for X in (D, np.round(9 * D), S):
        scipy.io.savemat("x.mat", {"t": "text", "X": X, "one": 1.0}, format="4")
        same(read("x.mat")[0], X, "mat 4")
        same(read("x.mat", "--samples", "columns")[0], X.T if isinstance(X, np.ndarray) else X.T.tocsr(), "mat 4")
    scipy.io.savemat("x.mat", {"Z": D + 1j}, format="4")
    assert "holds no real matrix" in run("info", "x.mat", status=65)
    for order in "<>":
        for code, kind in ((2, "u1"), (3, "i2"), (5, "i4"), (7, "f4"), (9, "f8")):  # stored narrower than double
            X = rng.integers(0, 99, (4, 6)).astype("f8")
            body = X.T.astype(order + kind).tobytes()
            parts = [(6, np.array([6, 0], order + "u4").tobytes()), (5, np.array([4, 6], order + "i4").tobytes()),
                     (1, b"X"), (code, body)]
            inside = b"".join(np.array([c, len(b)], order + "u4").tobytes() + b + bytes(-len(b) % 8) for c, b in parts)
            head = b"MATLAB 5.0 MAT-file".ljust(124) + np.array(0x0100, order + "u2").tobytes()
            head += b"IM" if order == "<" else b"MI"
            for packed in (False, True):
                element = np.array([14, len(inside)], order + "u4").tobytes() + inside
                if packed:
                    element = zlib.compress(element)
                    element = np.array([15, len(element)], order + "u4").tobytes() + element
                open("x.mat", "wb").write(head + element)
                same(read("x.mat")[0], X, f"mat 5 {order}{kind}")


def check_damage(rng):
    """Cut and changed files are an error in one line, or data; never a crash that is not shown."""
    X = random_matrix(rng, "f4")
    with h5py.File("x.h5", "w") as file:
        write_tenx(file.create_group("matrix"), X)
    scipy.io.savemat("x.mat", {"X": X}, do_compression=True)
    scipy.io.savemat("x4.mat", {"X": X}, format="4")
    write_matlab73("x73.mat", X=X.astype("f8"))
    for name in ("x.h5", "x.mat", "x73.mat", "x4.mat"):
        whole = open(name, "rb").read()
        for kept in list(range(0, len(whole), max(1, len(whole) // 12))):
            open("cut-" + name, "wb").write(whole[:kept])
            done = subprocess.run([ARMILLA, "info", "cut-" + name], capture_output=True, text=True)
            assert done.returncode == 65, f"{name} cut at {kept}: {done.returncode}: {done.stderr}"
        for _ in range(30):
            bytes_ = bytearray(whole)
            bytes_[rng.integers(len(bytes_))] ^= 1 << rng.integers(8)
            open("cut-" + name, "wb").write(bytes_)
            done = subprocess.run([ARMILLA, "info", "cut-" + name, "--json"], capture_output=True, text=True)
            assert done.returncode in (0, 65, 71), f"{name} changed: {done.returncode}: {done.stderr}"
            assert done.returncode == 0 or done.stderr.count("\n") == 1, done.stderr
    bad = X.copy()
    bad.indices = bad.indices.copy()
    bad.indices[3] = 17
    with h5py.File("x.h5ad", "w") as file:
        file.create_group("obs"), file.create_group("var")
        write_group(file, "X", X, "csr_matrix")
        file["X/indices"][3] = 17
    assert "index 17" in run("info", "x.h5ad", status=65)


def check_memory():
    """More memory than allowed is an error, and so is what a file of that size cannot hold; little is enough for
    little."""
    with h5py.File("x.h5ad", "w") as file:  # declares 8 TB and has nothing
        file.create_group("obs"), file.create_group("var")
        file.create_dataset("X", (10**6, 10**6), "f8", chunks=(1000, 1000))
    assert "out of memory" in run("info", "x.h5ad", status=71)
    sanitized = b"__asan_init" in open(CONVERTER, "rb").read()  # and then it has no limit
    with h5py.File("x.h5ad", "w") as file:  # 4 GB
        file.create_group("obs"), file.create_group("var")
        file.create_dataset("X", (10**5, 5000), "f8", chunks=(1000, 1000))
    assert sanitized or "out of memory" in run("info", "x.h5ad", status=71)
    X = np.random.default_rng(3).standard_normal((60, 50))
    scipy.io.savemat("x.mat", {"X": X})
    with h5py.File("x.h5ad", "w") as file:
        file.create_group("obs"), file.create_group("var")
        file["X"] = X
    for name in ("x.mat", "x.h5ad"):
        for megabytes in (0.1, 1, 4, 16, 64, 128, 256, 290, 310):
            done = subprocess.run([CONVERTER, name, "", "", str(int(megabytes * 2**20))], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=60)
            assert done.returncode == 0, f"{name}: {megabytes} MB: {done.returncode}: {done.stderr}"
        large = rng_file(name)
        shown = subprocess.run([CONVERTER, large, "", "", "1000000"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)
        assert sanitized or (shown.returncode == 71 and shown.stderr.count(b"\n") == 1), (large, shown)


def rng_file(like):
    """40 MB of numbers in the same format."""
    X = np.ones((2500, 2000))
    if like.endswith(".mat"):
        scipy.io.savemat("large.mat", {"X": X})
        return "large.mat"
    with h5py.File("large.h5ad", "w") as file:
        file.create_group("obs"), file.create_group("var")
        file["X"] = X
    return "large.h5ad"


def check_names():
    """Names of files that look like options, or have what a shell would see."""
    os.mkdir("names")
    os.chdir("names")
    try:
        for name in ("--memory", "-x", "--help", "--", "a b.mat", "a'b\"c.mat", "two\nlines.mat", "$(touch x).mat"):
            scipy.io.savemat("whole.mat", {"X": np.eye(3)})
            os.rename("whole.mat", name)
            shown = run("info", "--json", "--", name)
            assert json.loads(shown)["n"] == 3, shown
            assert os.listdir(".") == [name], os.listdir(".")
            os.unlink(name)
    finally:
        os.chdir("..")


def check_program():
    """Where it is not beside the command, that is said; alone it writes to what its output is."""
    np.save("x.npy", np.eye(3))
    scipy.io.savemat("x.mat", {"X": np.eye(3)})
    os.link("x.mat", "-x")
    D = np.arange(6.0).reshape(2, 3)
    scipy.io.savemat("two.mat", {"D": D, "E": np.eye(3)})
    for arguments, wanted in ((["x.mat"], np.eye(3)), (["-x"], np.eye(3)), (["two.mat", "D"], D),
                              (["two.mat", "D", "rows"], D), (["two.mat", "D", "columns"], D.T),
                              (["two.mat", "E", "", "1000000000"], np.eye(3)), (["x.mat", "", "", ""], np.eye(3))):
        made = subprocess.run([CONVERTER, *arguments], stdout=subprocess.PIPE, check=True).stdout
        open("out.npz", "wb").write(made)
        assert np.array_equal(np.load("out.npz")["X"], wanted), arguments
    with open("out.npz", "wb") as out:
        subprocess.run([CONVERTER, "x.mat"], stdout=out, check=True)
    assert np.array_equal(np.load("out.npz")["X"], np.eye(3))
    with open("/dev/full", "wb") as full:
        done = subprocess.run([CONVERTER, "x.mat"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 74 and done.stderr.count(b"\n") == 1, done
    run("x.npy", program=CONVERTER, status=65)
    run(".", program=CONVERTER, status=65)
    run("nosuch.h5", program=CONVERTER, status=66)
    for wrong in ([], ["x.mat", "", "both"], ["x.mat", "", "", "much"], ["x.mat", "", "", "-1"], ["x.mat", "", "", "1K"],
                  ["x.mat", "", "", "9" * 30], ["x.mat", "", "rows", "", "", "y.mat"]):
        assert run(*wrong, program=CONVERTER, status=64).count("\n") == 1, wrong
    run("--array", program=CONVERTER, status=66)  # a file's name
    assert "usage" in run("--help", program=CONVERTER)
    os.mkdir("alone")
    shutil.copy(ARMILLA, "alone/armilla")
    library = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(ARMILLA), PATH="/nonexistent")
    shown = run("info", "x.mat", status=69, program=os.path.abspath("alone/armilla"), env=library)
    assert "libhdf5-dev" in shown, shown
    run("info", "nosuch.h5ad", status=66)
    # Names in a file move no terminal, whoever prints them; and messages name the file that was given.
    parts = [struct.pack("<5i", 0, 2, 2, 0, len(name) + 1) + name + b"\0" + struct.pack("<4d", 1, 2, 3, 4)
             for name in (b"a\x1b[31mX\x07", b"b\xc2\x9b2J")]
    open("two.mat", "wb").write(b"".join(parts))
    for shown in (run("two.mat", program=CONVERTER, status=65), run("info", "two.mat", status=65)):
        assert "a?[31mX?" in shown and "b??2J" in shown, shown
    assert run("info", "x.mat", "--memory", "1K", status=71).startswith("armilla: x.mat: ")


def main():
    rng = np.random.default_rng(2)
    checks = ((check_h5ad_by_h5py, rng), (check_h5ad_by_anndata, rng), (check_tenx, rng), (check_mat, rng),
              (check_mat4, rng), (check_damage, rng), (check_memory,), (check_names,), (check_program,))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["TMPDIR"] = folder + "/temporary"
        os.mkdir("temporary")
        for check, *arguments in checks:
            try:
                check(*arguments)
                assert not os.listdir("temporary"), "a temporary file was left"
            except AssertionError as wrong:
                sys.exit(f"FAILED: {check.__name__}: {wrong}")
        os.chdir("/")


if __name__ == "__main__":
    main()
