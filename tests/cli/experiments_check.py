"""The experiments: what their tables say is compared with what the models hold, and with scikit-learn's scores."""
import contextlib
import csv
import gzip
import importlib
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.io
    import scipy.optimize
    import scipy.sparse
    import sklearn.datasets
    import sklearn.metrics
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
SOURCE = pathlib.Path(os.environ["ARMILLA_SOURCE"]) / "experiments"
SETS = {"digits": "digits.csv.gz", "iris": "iris.csv", "wine": "wine.csv"}


def armilla(*arguments):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr)
    return done.stdout


def experiment(name):
    """The script as a module, and its folder, NAME."""
    import common
    return importlib.import_module(name), common.Experiment(name, name)


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def accuracy(truth, labels):
    table = sklearn.metrics.cluster.contingency_matrix(truth, labels)
    return table[scipy.optimize.linear_sum_assignment(-table)].sum() / len(truth)


def convergence():
    """Traces and the table of pairs say the same; palm with a small weight rises, and nothing else does."""
    module, work = experiment("convergence")
    module.compute(work)
    traces = {p.stem: np.loadtxt(p, delimiter=",", skiprows=1)[:, 1] for p in work.folder.glob("*.csv")
              if p.stem not in ("planted", "pairs")}
    rising = {name for name, trace in traces.items() if (np.diff(trace) > 1e-9 * trace[0]).any()}
    assert rising == {"small"}, rising
    assert len(traces["trace"]) == 61
    norm = np.square(np.loadtxt("convergence/planted.csv", delimiter=",")).sum()
    table = rows("convergence/pairs.csv")
    assert len(table) == 8
    for row in table:
        for solver in ("palm", "fast"):
            last = traces[f"{row['basis']}-{row['codes']}-{solver}"][-1] / norm
            assert abs(last - float(row[solver])) <= 1e-7 * last, row
        assert 0 <= int(row["fast_reaches_palm"]) <= 500, row
        armilla("check", f"convergence/{row['basis']}-{row['codes']}-fast.npz", "convergence/planted.csv")
    tolerance = json.loads(work.model("orthonormal-sphere-palm")["meta"].tobytes())["options"]["tol"]
    assert float(tolerance) == 0 and len(traces["orthonormal-sphere-palm"]) == 501


def fake_mnist(folder):
    """70 images in MNIST's format, 40 of which are called 3."""
    random = np.random.default_rng(0)
    labels = np.where(np.arange(70) < 40, 3, 5).astype(np.uint8)
    images = random.integers(0, 256, (70, 28 * 28), np.uint8)
    folder.mkdir()
    (folder / "t10k-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, 70, 28, 28) + images.tobytes())
    (folder / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, 70) + labels.tobytes())


def mnist():
    module, work = experiment("mnist")
    try:
        module.find(pathlib.Path("files"), "t10k-images-idx3-ubyte")
        raise AssertionError("a file was found that is not there")
    except SystemExit as missing:
        assert "make mnist" in str(missing)
    fake_mnist(pathlib.Path("files"))
    models = []
    for packed in (False, True):
        names = ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]
        for name in names if packed else []:
            with open(f"files/{name}", "rb") as plain, gzip.open(f"files/{name}.gz", "wb") as file:
                shutil.copyfileobj(plain, file)
            os.unlink(f"files/{name}")
        files = [module.find(pathlib.Path("files").resolve(), name) for name in names]
        module.compute(work, *files)
        assert module.read_idx(files[1], 8).tolist() == [3] * 40 + [5] * 30
        models.append(work.model("model"))
    V = models[0]["V"]
    assert V.shape == (10, 40) and (V >= 0).all() and ((V != 0).sum(0) <= 2).all()
    assert (models[0]["U"] == models[1]["U"]).all()


def sets():
    """The sets of the source are scikit-learn's."""
    for name, file in SETS.items():
        wanted = getattr(sklearn.datasets, f"load_{name}")()
        with (gzip.open if file.endswith(".gz") else open)(SOURCE / "sets" / file, "rt", encoding="utf-8") as text:
            table = list(csv.reader(text))[1:]
        assert (np.array([row[:-1] for row in table], float) == wanted.data).all(), name
        classes = [str(wanted.target_names[t]) for t in wanted.target]
        assert [row[-1] for row in table] == classes, name


def more_sets(folder):
    """A set in each form that is known, a name with a comma, and what is no set or only half of one."""
    random = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2], 20)
    X = random.random((60, 8)) + 3 * np.eye(3, 8)[truth]
    folder.mkdir()
    with gzip.open(folder / "sparse.mtx.gz", "wb") as file:
        scipy.io.mmwrite(file, scipy.sparse.csc_matrix(X.T))
    np.save(folder / "dense.npy", X)
    for name in ("sparse", "dense", "missing", "a, b"):
        np.savetxt(folder / f"{name}.labels", truth, fmt="%d")
    pixels = np.clip(60 * X, 0, 255).astype(np.uint8)
    (folder / "pixels-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, 60, 2, 4) + pixels.tobytes())
    (folder / "pixels-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, 60) + truth.astype(np.uint8).tobytes())
    np.save(folder / "unlabelled.npy", X)
    np.save(folder / "a, b.npy", X)
    X[3, 2] = np.nan
    np.save(folder / "missing.npy", X)
    (folder / "notes.txt").write_text("no set\n")
    return truth


def clustering():
    truth = more_sets(pathlib.Path("more"))
    pathlib.Path("more/broken.csv").write_text("a,b,class\n1,2,x\n3\n")
    pathlib.Path("more/alone.csv").write_text("a,b,class\n1,2,x\n3,4,x\n")
    module, work = experiment("clustering")
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        module.compute(work, [SOURCE / "sets", pathlib.Path("more").resolve()], range(3, 5))
    said = said.getvalue()
    for name in ("unlabelled left out", "broken left out", "missing left out", "missing.npy: sample 4, feature 3",
                 "alone left out"):
        assert name in said, (name, said)
    table, scores = rows("clustering/table.csv"), rows("clustering/scores.csv")
    assert {row["set"] for row in table} == {"digits", "iris", "wine", "sparse", "dense", "pixels", "a, b"}
    assert len({row["method"] for row in table}) == 11 and len(scores) == 2 * len(table) == 154
    assert not os.path.exists("clustering/labels.txt")
    for row in table:
        mine = [s for s in scores if (s["set"], s["method"]) == (row["set"], row["method"])]
        assert [int(s["seed"]) for s in mine] == [3, 4]
        for name in ("accuracy", "nmi", "ari"):
            values = np.array([float(s[name]) for s in mine])
            assert abs(values.mean() - float(row[name])) < 2e-6, (row, name)
            assert abs(values.std(ddof=1) - float(row[name + "_sd"])) < 2e-6, (row, name)
        assert float(row["accuracy"]) > 0.3, row
    # The command of the table gives labels that scikit-learn scores alike.
    for row in (row for row in table if row["set"] in ("dense", "sparse")):
        file, samples = ("more/sparse.mtx.gz", "columns") if row["set"] == "sparse" else ("more/dense.npy", "rows")
        labels = armilla("cluster", file, "--samples", samples, *row["options"].split(), "--seed", 3, "--quiet")
        labels = np.array(labels.split(), int)
        first = next(s for s in scores if (s["set"], s["method"]) == (row["set"], row["method"]))
        for name, wanted in (("accuracy", accuracy(truth, labels)),
                             ("nmi", sklearn.metrics.normalized_mutual_info_score(truth, labels)),
                             ("ari", sklearn.metrics.adjusted_rand_score(truth, labels))):
            assert abs(float(first[name]) - wanted) < 1e-8, (row, name, wanted)


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    os.environ["EXPERIMENTS"] = place
    sys.path.insert(0, str(SOURCE))
    for test in (sets, convergence, mnist, clustering):
        test()
    os.chdir("/")
