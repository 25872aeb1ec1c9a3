#!/usr/bin/env python3
"""Every encoding that AnnData's file format has, and those of its older versions, in files made by hand: names, labels and
matrices are read, and what is there and cannot be read is said. What Debian's AnnData knows too is compared with it.

$ARMILLA is the command. Exit status 77 (skipped) where armilla-convert was not built, or NumPy or h5py is missing."""

import itertools
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from external_check import ARMILLA, TEXT, anndata, h5py, np, run, sparse, write_group  # or skipped, as there

CELLS = ["AAA-1", "gène ☃", "", "a b", "AAA-1 "]
GENES = ["g0", "g1", "g2", "g3"]
X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 4], [5, 0, 6, 0], [0, 7, 0, 8]])


def mark(place, kind, version="0.2.0"):
    place.attrs["encoding-type"], place.attrs["encoding-version"] = kind, version
    return place


def strings(place, name, texts):
    place.create_dataset(name, data=np.array(texts, dtype=TEXT))
    mark(place[name], "string-array")


def fixed(place, name, texts):
    place[name] = np.array([text.encode() for text in texts], dtype="S20")


def nullable(place, name, values, mask, kind):
    group = mark(place.create_group(name), f"nullable-{kind}", "0.1.0")
    if kind == "string-array":
        strings(group, "values", values)
    else:
        group["values"] = np.array(values)
    group["mask"] = np.array(mask, bool)


def nullable_strings(place, name, texts):
    nullable(place, name, texts, [False] * len(texts), "string-array")


def categorical(place, name, texts, put=strings):
    """With the categories in another order than they occur in; None is missing."""
    group = mark(place.create_group(name), "categorical")
    group.attrs["ordered"] = False
    categories = sorted({text for text in texts if text is not None}, reverse=True)
    group["codes"] = np.array([-1 if text is None else categories.index(text) for text in texts], "i1")
    put(group, "categories", categories)


def nullable_categories(place, name, texts):
    categorical(place, name, texts, nullable_strings)


INDEXES = {"string-array": strings, "fixed strings": fixed, "nullable-string-array": nullable_strings,
           "categorical": categorical, "categorical, nullable": nullable_categories}


def frame(file, path, names, put=strings, index="_index"):
    group = mark(file.create_group(path), "dataframe")
    group.attrs["_index"], group.attrs["column-order"] = index, np.array([], dtype=TEXT)
    put(group, index, names)
    return group


def make(path="x.h5ad", obs=strings, var=strings, index="_index", matrix=X):
    """A file, open, with X and the two data frames."""
    file = h5py.File(path, "w")
    mark(file, "anndata", "0.1.0")
    file["X"] = matrix
    frame(file, "obs", CELLS, obs, index)
    frame(file, "var", GENES, var, index)
    return file


def read(*options, path="x.h5ad", quiet=True):
    """The matrix, the names of samples and features, and the labels; and what is said."""
    done = subprocess.run([ARMILLA, "convert", path, "y.npz", "--force", *options], capture_output=True, text=True)
    assert done.returncode == 0, f"{options}: {done.returncode}: {done.stderr}"
    assert not quiet or "warning" not in done.stderr, done.stderr
    with np.load("y.npz", allow_pickle=False) as found:
        lists = [list(found[key]) if key in found.files else None for key in ("sample_names", "feature_names", "labels")]
        made = sparse.load_npz("y.npz").toarray() if "indptr" in found.files else found["X"]
    return (made, *lists) if quiet else (made, *lists, done.stderr)


def check_names():
    for (kind, put), index in itertools.product(INDEXES.items(), ("_index", "index", "barcodes of " + 20 * "cells")):
        make(obs=put, var=put, index=index).close()
        made, cells, genes, _ = read()
        assert np.array_equal(made, X) and (cells, genes) == (CELLS, GENES), f"{kind}, {index}: {cells}, {genes}"
    with make() as file:
        del file["obs"].attrs["_index"]
    assert read()[1] == CELLS
    with make(obs=lambda place, name, texts: place.create_dataset(name, data=np.arange(10, 15))):
        pass
    assert read()[1] == ["10", "11", "12", "13", "14"]
    with make(obs=lambda place, name, texts: nullable(place, name, texts, [0, 0, 1, 0, 0], "string-array")):
        pass
    assert read()[1] == [*CELLS[:2], "NA", *CELLS[3:]]


COLUMNS = {
    "texts": (lambda o: strings(o, "c", ["b", "a", "b", "c", "a"]), "b a b c a"),
    "fixed texts": (lambda o: fixed(o, "c", ["b", "a", "b", "c", "a"]), "b a b c a"),
    "integers": (lambda o: o.create_dataset("c", data=[3, 1, 3, -2, 1]), "3 1 3 -2 1"),
    "numbers": (lambda o: o.create_dataset("c", data=[0.5, 1, 0.5, 1e300, 1]), "0.5 1 0.5 1e+300 1"),
    "booleans": (lambda o: o.create_dataset("c", data=[True, False, True, True, False]), "True False True True False"),
    "categorical": (lambda o: categorical(o, "c", ["b", "a", None, "c", "a"]), "b a NA c a"),
    "categorical, nullable": (lambda o: nullable_categories(o, "c", ["b", "a", None, "c", "a"]), "b a NA c a"),
    "categorical of integers": (lambda o: categorical(o, "c", [7, 3, 7, None, 3], lambda p, n, t: p.create_dataset(n, data=t)), "7 3 7 NA 3"),
    "categorical of booleans": (lambda o: categorical(o, "c", [True, False, None, True, True], lambda p, n, t: p.create_dataset(n, data=t)), "True False NA True True"),
    "nullable-integer": (lambda o: nullable(o, "c", [4, 0, 2, 4, 2], [0, 1, 0, 0, 0], "integer"), "4 NA 2 4 2"),
    "nullable-boolean": (lambda o: nullable(o, "c", [True, False, True, False, False], [0, 0, 0, 0, 1], "boolean"), "True False True False NA"),
    "nullable-string-array": (lambda o: nullable(o, "c", ["b", "", "b", "c", "a"], [0, 1, 0, 0, 0], "string-array"), "b NA b c a"),
}


def older_categories(o):
    """Of AnnData 0.7: codes, and the categories in a group beside them."""
    mark(o, "dataframe", "0.1.0")
    o["c"] = np.array([1, 0, -1, 1, 0], "i1")
    strings(o.require_group("__categories"), "c", ["a", "b"])
    o["c"].attrs["categories"] = o["__categories/c"].ref


COLUMNS["__categories"] = (older_categories, "b a NA b a")
NEWER = {"categorical, nullable", "nullable-string-array"}  # than Debian's AnnData


def check_labels():
    for kind, (put, wanted) in COLUMNS.items():
        with make() as file:
            put(file["obs"])
            file["obs"].attrs["column-order"] = np.array(["c"], dtype=TEXT)
        labels = read("--label-column", "c")[3]
        assert labels == wanted.split(), f"{kind}: {labels}"
        if anndata and kind not in NEWER:
            theirs = anndata.read_h5ad("x.h5ad").obs["c"]
            assert [text == "NA" for text in labels] == list(theirs.isna()), kind
            assert [text for text in labels if text != "NA"] == [f"{one:.15g}" if kind == "numbers" else str(one) for one in theirs.dropna()], kind
    with make() as file:
        nullable(file["obs"], "c", [4, 0, 2], [0, 1, 0], "integer")
    assert "labels c: " in run("info", "x.h5ad", "--label-column", "c", status=65)
    with make() as file:
        nullable(file["obs"], "c", [4, 0, 2, 1, 1], [0, 1, 0], "integer")
    run("info", "x.h5ad", "--label-column", "c", status=65)


def older(path, texts):
    """As AnnData wrote data frames until 0.6: arrays of records, whose first field is the index; categories in uns."""
    with h5py.File(path, "w") as file:
        file["X"] = X
        obs = np.zeros(5, [("index", texts), ("kind", "i1"), ("size", "f8"), ("word", texts)])
        obs["index"] = [name.encode() for name in CELLS] if texts == "S20" else CELLS
        obs["kind"], obs["size"], obs["word"] = [1, 0, 1, -1, 0], [0.5, 1, 2, 3, 4], list("vwxyz")
        var = np.zeros(4, [("index", texts)])
        var["index"] = GENES
        file["obs"], file["var"], file["raw.var"] = obs, var, var[:3]
        strings(file, "uns/kind_categories", ["T cell", "B cell"])
        file["raw.X"] = 2 * X[:, :3]
        obsm = np.zeros(5, [("X_pca", "f4", 2), ("X_odd", "f8", 4)])
        obsm["X_pca"], obsm["X_odd"] = X[:, :2], X
        file["obsm"] = obsm


def check_older_files():
    for texts in (TEXT, "S20"):
        older("x.h5ad", texts)
        made, cells, genes, labels = read("--label-column", "kind")
        assert np.array_equal(made, X) and (cells, genes) == (CELLS, GENES), (cells, genes)
        assert labels == ["B cell", "T cell", "B cell", "NA", "T cell"], labels
        assert read("--label-column", "word")[3] == list("vwxyz")
        assert read("--label-column", "size")[3] == ["0.5", "1", "2", "3", "4"]
        made, cells, genes, _ = read("--array", "raw/X")
        assert np.array_equal(made, 2 * X[:, :3]) and (cells, genes) == (CELLS, GENES[:3])
        for name, wanted in (("X_pca", X[:, :2]), ("X_odd", X)):
            made, cells, genes, _ = read("--array", "obsm/" + name)
            assert np.array_equal(made, wanted) and (cells, genes) == (CELLS, None), (name, made, genes)
        run("info", "x.h5ad", "--array", "obsm/nosuch", status=65)
    group = {"h5sparse_format": "csr", "h5sparse_shape": np.array(X.shape)}
    with make() as file:
        del file["X"]
        S = sparse.csr_matrix(X)
        file.create_group("X").attrs.update(group)
        for name in ("data", "indices", "indptr"):
            file["X"][name] = getattr(S, name)
    assert np.array_equal(read()[0], X)


def check_matrices():
    """Dense, csr and csc, of every kind of number, in every place; and whose names they have."""
    kinds = {"f4": "f4", "f8": "f8", "i4": "f8", "u1": "u1", "i8": "f8", "bool": "u1"}
    for kind, (form, path) in itertools.product(kinds, (("array", "X"), ("csr_matrix", "layers/a"), ("csc_matrix", "raw/X"))):
        wanted = X.astype(kind)
        with make() as file:
            if path == "X":
                del file["X"]
            if path == "raw/X":
                frame(file, "raw/var", GENES[::-1], nullable_strings)
            if form == "array":
                file[path] = wanted
            else:
                write_group(file, path, sparse.csr_matrix(wanted), form)
        made, cells, genes, _ = read("--array", path)
        assert np.array_equal(made, wanted.astype("f8")), f"{form} {kind} {path}"
        assert (cells, genes) == (CELLS, GENES[::-1] if path == "raw/X" else GENES), path
    square, tall = np.arange(25.0).reshape(5, 5), np.arange(8.0).reshape(4, 2)
    with make() as file:
        file["obsm/X_pca"], file["obsm/as_wide"], file["varm/PCs"] = X[:, :2], X + 1, tall
        write_group(file, "obsm/sparse", sparse.csr_matrix(X), "csr_matrix")
        write_group(file, "obsp/distances", sparse.csr_matrix(square), "csr_matrix")
        file["varp/a"] = X[:4]
    for path, wanted, names in (("obsm/X_pca", X[:, :2], (CELLS, None)), ("obsm/as_wide", X + 1, (CELLS, None)),
                                ("obsm/sparse", X, (CELLS, None)), ("varm/PCs", tall, (GENES, None)),
                                ("obsp/distances", square, (CELLS, CELLS)), ("varp/a", X[:4], (GENES, GENES)),
                                ("/layers/../X", None, None)):
        if wanted is None:
            run("info", "x.h5ad", "--array", path, status=65)
            continue
        made, cells, genes, _ = read("--array", path)
        assert np.array_equal(made, wanted) and (cells, genes) == names, (path, cells, genes)


def check_frames():
    """A data frame of obsm: its numbers, by the order of its columns, under their names."""
    with make() as file:
        group = frame(file, "obsm/df", CELLS)
        group["z"], group["a"], group["on"] = np.arange(5), np.arange(5) / 2, np.arange(5) > 2
        nullable(group, "n", [1, 2, 3, 4, 5], [0] * 5, "integer")
        strings(group, "words", list("abcde"))
        categorical(group, "kinds", list("aabba"))
        group.attrs["column-order"] = np.array(["z", "words", "a", "kinds", "on", "n"], dtype=TEXT)
    made, cells, columns, _, said = read("--array", "obsm/df", quiet=False)
    assert cells == CELLS and columns == ["z", "a", "on", "n"], (cells, columns)
    assert np.array_equal(made, np.column_stack([np.arange(5), np.arange(5) / 2, np.arange(5) > 2, np.arange(1, 6)])), made
    assert "warning" in said and "words, kinds" in said, said
    with make() as file:
        group = frame(file, "obsm/df", CELLS)
        strings(group, "words", list("abcde"))
        group.attrs["column-order"] = np.array(["words"], dtype=TEXT)
    assert "obsm/df" in run("info", "x.h5ad", "--array", "obsm/df", status=65)


def check_warnings_name_the_file():
    """What the library says of the converted data names the file that they came from."""
    random = np.random.default_rng(8)
    with h5py.File("many.h5ad", "w") as file:
        file["X"] = random.random((200, 3))
        file.create_group("obs")["score"] = random.random(200)
        file.create_group("var")
    done = subprocess.run([ARMILLA, "info", "many.h5ad", "--label-column", "score"], capture_output=True, text=True)
    assert "many.h5ad: the labels of 200 samples are 200 different numbers" in done.stderr, done
    assert "/fd/" not in done.stderr + done.stdout, done


def check_what_is_not_read():
    """Names that are there and not read are said, with what and why, once each, and not by --quiet."""
    def unknown(place, name, texts):
        strings(mark(place.create_group(name), "of-the-future", "9.9"), "things", texts)

    def short(place, name, texts):
        strings(place, name, texts[1:])

    def elsewhere(place, name, texts):
        place[name] = h5py.ExternalLink("other.h5", "/names")

    def wide(place, name, texts):
        place[name] = np.array([texts, texts], dtype=TEXT)

    def masked(place, name, texts):
        nullable(place, name, texts, [0] * (len(texts) - 1), "string-array")

    for bad in (unknown, short, elsewhere, wide, masked):
        make(obs=bad).close()
        _, cells, genes, _, said = read(quiet=False)
        assert (cells, genes) == (None, GENES), bad
        assert said.count("warning") == 1 and "x.h5ad: /obs/_index: " in said and "samples" in said, f"{bad}: {said}"
        done = subprocess.run([ARMILLA, "convert", "x.h5ad", "y.npz", "--force", "--quiet"], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done
        make(var=bad).close()
        said = read(quiet=False)[-1]
        assert said.count("warning") == 1 and "x.h5ad: /var/_index: " in said and "features" in said, f"{bad}: {said}"
        assert "warning" in subprocess.run([ARMILLA, "info", "x.h5ad"], capture_output=True, text=True).stderr
    with make() as file:
        file["obs"].attrs["_index"] = "nosuch\x1b[31m"
    said = read(quiet=False)[-1]
    assert said.count("warning") == 1 and "\x1b" not in said, said
    with h5py.File("x.h5ad", "w") as file:  # nothing is there, and nothing is said
        file["X"] = X
        file.create_group("obs"), file.create_group("var")
    assert read()[1:3] == (None, None)


def check_bounds():
    """What a file declares is not believed; what turns in a circle ends."""
    def huge(place, name, texts):
        group = mark(place.create_group(name), "nullable-string-array", "0.1.0")
        group.create_dataset("values", (2**40,), TEXT, chunks=(2**20,))
        group.create_dataset("mask", (2**40,), bool, chunks=(2**20,))

    def circle(place, name, texts):
        group = mark(place.create_group(name), "nullable-string-array", "0.1.0")
        group["values"] = group["mask"] = group

    def circle_of_categories(place, name, texts):
        group = mark(place.create_group(name), "categorical")
        group["codes"], group["categories"] = np.zeros(5, "i1"), group

    def many_categories(place, name, texts):
        group = mark(place.create_group(name), "categorical")
        group["codes"] = np.zeros(5, "i1")
        group.create_dataset("categories", (2**36,), "S1", chunks=(2**20,))

    for bad in (huge, circle, circle_of_categories, many_categories):
        make(obs=bad).close()
        done = subprocess.run([ARMILLA, "info", "x.h5ad"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 71 or (done.returncode == 0 and done.stderr.count("warning") == 1), (bad, done)


def check_codes_out_of_range():
    """A code that numbers no category is damage, and no missing value: an error with the array and the position."""
    def put_group(kind, codes):
        with make() as file:
            group = mark(file["obs"].create_group("c"), "categorical")
            group["codes"] = np.array(codes, kind)
            strings(group, "categories", ["a", "b"])
        return "/obs/c/codes"

    def put_beside(kind, codes):
        with make() as file:
            file["obs"]["c"] = np.array(codes, kind)
            strings(file["obs"].require_group("__categories"), "c", ["a", "b"])
        return "/obs/c"

    def put_records(kind, codes):
        older("x.h5ad", TEXT)
        with h5py.File("x.h5ad", "r+") as file:
            records = np.zeros(5, [("index", TEXT), ("c", kind)])
            records["index"], records["c"] = CELLS, codes
            del file["obs"]
            file["obs"] = records
            strings(file, "uns/c_categories", ["a", "b"])
        return "/obs/c"

    bad = {"i1": (2, -2, 127), "i4": (2**31 - 1, -(2**31)), "u1": (255, 2), "f8": (0.5, np.nan, np.inf, 2.0, -1.5)}
    for put, (kind, codes) in itertools.product((put_group, put_beside, put_records), bad.items()):
        put(kind, [0, 1, 0, 1, 1])
        assert read("--label-column", "c")[3] == list("ababb"), (put, kind)
        for code, place in itertools.product(codes, (0, 3, 4)):
            array = put(kind, [code if i == place else i % 2 for i in range(5)])
            said = run("info", "x.h5ad", "--label-column", "c", status=65)
            assert f"x.h5ad: {array}: code {place} (from 0) is {code:.15g}, and there are 2 categories" in said, said
    make(obs=categorical).close()
    with h5py.File("x.h5ad", "r+") as file:  # as an index, too
        file["obs/_index/codes"][2] = 77
    assert "/obs/_index/codes: code 2 (from 0) is 77" in run("info", "x.h5ad", status=65)


def check_damage():
    """A file with every encoding, of which bits are changed: an error in one line, or data; never a crash."""
    random = np.random.default_rng(4)
    with make(obs=nullable_categories, var=nullable_strings) as file:
        for i, (put, _) in enumerate(COLUMNS.values()):
            put(file["obs"])
            file["obs"].move("c", f"c{i}")
        group = frame(file, "obsm/df", CELLS)
        group["a"] = np.arange(5)
        group.attrs["column-order"] = np.array(["a"], dtype=TEXT)
    older("older.h5ad", TEXT)
    for name, options in (("x.h5ad", []), ("x.h5ad", ["--array", "obsm/df", "--label-column", "c11"]), ("older.h5ad", ["--label-column", "kind"])):
        whole = open(name, "rb").read()
        for _ in range(25):
            changed = bytearray(whole)
            for place in random.integers(len(whole), size=3):
                changed[place] ^= 1 << random.integers(8)
            open("changed.h5ad", "wb").write(changed)
            done = subprocess.run([ARMILLA, "info", "changed.h5ad", "--json", *options], capture_output=True, text=True, timeout=60)
            assert done.returncode in (0, 65, 71), (name, done)
            assert done.returncode == 0 or done.stderr.count("\n") == 1, done.stderr


def main():
    checks = (check_names, check_labels, check_older_files, check_matrices, check_frames, check_warnings_name_the_file, check_what_is_not_read, check_bounds, check_codes_out_of_range, check_damage)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check in checks:
            try:
                check()
            except AssertionError as wrong:
                sys.exit(f"FAILED: {check.__name__}: {wrong}")
        os.chdir("/")


if __name__ == "__main__":
    main()
