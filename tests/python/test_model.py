"""armilla.fit, models and their files: the command's bits, views of the library's memory, errors in Python's words."""

import gc
import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse
from conftest import make_data

import armilla

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
KINDS = ["f64", "f32", "u8", "f16", "i8", "csr64", "csr32"]
CASES = [
    dict(),
    dict(model="spherical-nmf", seed=3),
    dict(basis="u1", codes="v3", sparsity=2),
    dict(model="nmf", max_iter=20),
    dict(model="pca", tol=1e-9),
    dict(model="spherical-kmeans", restarts=2, seed=5),
    dict(solver="palm", lam="0.5x", mu=30.5, max_iter=15, tol=0),
    dict(normalize="l2", log1p=True, radius=0.75),
    dict(total="median", log1p=True, top_features=5, center=True),
    dict(total=250.5),
    dict(start="random", precision="f32", threads=2, kernel="portable"),
]


def flags(options):
    for name, value in options.items():
        flag = "--" + {"lam": "lambda"}.get(name, name).replace("_", "-")
        yield from [flag] if value is True else [flag, str(value)]


@pytest.mark.parametrize("options", CASES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_bits_of_the_command(kind, options, command, tmp_path):
    X = make_data(kind)
    if scipy.sparse.issparse(X):
        scipy.sparse.save_npz(tmp_path / "X.npz", X, compressed=False)
        path = tmp_path / "X.npz"
    else:
        np.save(tmp_path / "X.npy", X)
        path = tmp_path / "X.npy"
    command("fit", path, "--rank", 3, *flags(options), "--out", tmp_path / "model.npz", "--quiet")
    theirs, ours = armilla.load(tmp_path / "model.npz"), armilla.fit(X, 3, **options)
    for name in ("U", "V"):
        assert getattr(theirs, name).tobytes() == getattr(ours, name).tobytes(), name
    assert np.float64(theirs.radius).tobytes() == np.float64(ours.radius).tobytes()
    assert theirs.info["iterations"] == ours.info["iterations"]
    assert theirs.trace["objective"].tobytes() == ours.trace["objective"].tobytes()
    assert theirs.info["fingerprint"] == ours.info["fingerprint"]
    assert ours.check(X).passed
    # The command reads what Python has written, and finds the same codes.
    ours.save(tmp_path / "ours.npz")
    command("transform", tmp_path / "ours.npz", path, "--out", tmp_path / "codes.npy", "--quiet")
    assert np.load(tmp_path / "codes.npy").tobytes() == np.ascontiguousarray(ours.transform(X)).tobytes()


def test_parameters_are_the_option_table(command):
    """Every flag of `armilla fit` that is an option of the library is a parameter, with its default."""
    parameters = inspect.signature(armilla.fit).parameters
    for option in armilla._options.FIT_OPTIONS:
        name = option.parameter(armilla._options.PLAIN_NAMES)
        assert name in parameters and name + " : " in armilla.fit.__doc__, name
        assert name == "rank" or parameters[name].default == option.default()
    help_text = command("fit", "--help")
    for option in armilla._options.FIT_OPTIONS:
        assert "--" + option.name in help_text


def test_model_views():
    X = make_data("f64")
    model = armilla.fit(X, 3, model="spherical-nmf")
    assert model.U.shape == (11, 3) and model.V.shape == (3, 60)
    assert not model.U.flags.writeable and not model.codes.flags.writeable
    assert np.shares_memory(model.U, model.components)
    np.testing.assert_allclose(np.linalg.norm(model.V, axis=0), model.radius, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(X - model.codes @ model.components) ** 2, model.info["objective"], rtol=1e-9)
    np.testing.assert_allclose(model.reconstruct(), model.codes @ model.components, rtol=1e-12)
    codes, copy = model.codes, np.array(model.codes)
    del model
    gc.collect()
    armilla.fit(X, 3, seed=9)
    assert np.array_equal(codes, copy)


def test_model_pickles():
    model = armilla.fit(make_data("csr32"), 3, center=True, seed=4)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.U.tobytes() == model.U.tobytes() and copy.V.tobytes() == model.V.tobytes()
    assert np.array_equal(copy.mean, model.mean) and copy.options == model.options
    assert np.array_equal(copy.trace, model.trace) and copy.info == model.info


def test_paths(tmp_path):
    """A file that the library leaves to others says who reads it in Python; one that is not there is FileNotFoundError."""
    for name, content, reader in (
        ("cells.h5ad", b"\x89HDF\r\n\x1a\n", r"anndata.read_h5ad\(path\); armilla.anndata.factorize"),
        ("DATA.HDF5", b"\x89HDF\r\n\x1a\n", "h5py.File"),
        ("data.mat", b"MATLAB 5.0 MAT-file", "scipy.io.loadmat"),
    ):
        (tmp_path / name).write_bytes(content + bytes(600))
        with pytest.raises(ValueError, match=f"{name}: is read in Python by .*{reader}.*armilla convert"):
            armilla.fit(tmp_path / name, 2)
    model = armilla.fit(make_data("f64"), 2)
    for use in (lambda path: armilla.fit(path, 2), model.transform, model.check):
        for name in ("none.npy", "none.h5ad"):
            with pytest.raises(FileNotFoundError, match="No such file or directory.*none"):
                use(tmp_path / name)


def test_names(tmp_path):
    import pandas

    frame = pandas.DataFrame(make_data("f64"), columns=[f"gene {i}" for i in range(11)])
    model = armilla.fit(frame, 2, sample_names=[f"cell {j}" for j in range(60)])
    assert model.feature_names == list(frame.columns) and model.sample_names[59] == "cell 59"
    model.save(tmp_path / "m.npz")
    assert armilla.load(tmp_path / "m.npz").feature_names == list(frame.columns)
    # Features are found by name, as by the command.
    assert np.array_equal(model.transform(frame[frame.columns[::-1]]), model.codes)
    with pytest.raises(ValueError, match="no feature named 'gene 10'"):
        model.transform(frame.drop(columns="gene 10"))
    top = model.top_features(3)
    assert len(top) == 2 and len(top[0]) == 3 and top[0][0][0].startswith("gene")
    weights = [abs(weight) for _, weight in top[0]]
    assert weights == sorted(weights, reverse=True) and weights[0] == np.abs(model.U[:, 0]).max()
    with pytest.raises(ValueError, match="feature_names"):
        model.top_features(3, ["one"])


def test_files(tmp_path):
    model = armilla.fit(make_data("f64"), 2)
    armilla.save(model, tmp_path / "m.npz")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        model.save(tmp_path / "m.npz")
    model.save(str(tmp_path / "m.npz"), overwrite=True)
    with np.load(tmp_path / "m.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["U"], model.U)
    with pytest.raises(FileNotFoundError):
        armilla.load(tmp_path / "none.npz")
    with pytest.raises(OSError):
        model.save(tmp_path / "no" / "folder.npz")
    (tmp_path / "bad.npz").write_bytes(b"no model")
    with pytest.raises(ValueError, match="bad.npz"):
        armilla.load(tmp_path / "bad.npz")
    content = bytearray((tmp_path / "m.npz").read_bytes())
    content[content.index(b'"format"') + 10 : content.index(b'"format"') + 11] = b"9"
    with pytest.raises(ValueError):
        armilla.Model.from_bytes(bytes(content))


def test_model_file_of_another_version(tmp_path):
    import json

    armilla.fit(make_data("f64"), 2).save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as arrays:
        kept = dict(arrays)
    meta = json.loads(bytes(kept["meta"]).decode())
    meta["format"] = 999
    kept["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    np.savez(tmp_path / "newer.npz", **kept)
    with pytest.raises(ValueError, match="999"):
        armilla.load(tmp_path / "newer.npz")


def test_starts(tmp_path):
    X = make_data("f64")
    first = armilla.fit(X, 3, max_iter=2, tol=0)
    again = armilla.fit(X, 3, start=first, max_iter=0)
    assert again.U.tobytes() == first.U.tobytes()
    np.testing.assert_allclose(again.V, first.V, rtol=1e-14)
    first.save(tmp_path / "first.npz")
    assert armilla.fit(X, 3, start=tmp_path / "first.npz", max_iter=0).U.tobytes() == first.U.tobytes()
    np.save(tmp_path / "U.npy", first.U)
    by_file = armilla.fit(X, 3, start=str(tmp_path / "U.npy"), max_iter=3, tol=0)
    by_array = armilla.fit(X, 3, start=first.U, max_iter=3, tol=0)
    assert by_file.U.tobytes() == by_array.U.tobytes()
    # Of other samples the basis alone is a start.
    assert armilla.fit(X[:30], 3, start=first).n_samples == 30
    assert armilla.fit(X[:30], 3, start=tmp_path / "first.npz").n_samples == 30
    with pytest.raises(ValueError, match=r"^start has shape \(11, 3\), but \(11, 2\) is needed$"):
        armilla.fit(X, 2, start=first.U)
    with pytest.raises(ValueError, match="^start='nowhere' is no start"):
        armilla.fit(X, 2, start="nowhere")
    with pytest.raises(ValueError, match="^the model given as start has 11 features and rank 3, but 11 and 2 are needed$"):
        armilla.fit(X, 2, start=tmp_path / "first.npz")


def test_from_a_file_and_by_columns(tmp_path):
    X = make_data("f32")
    np.save(tmp_path / "X.npy", X)
    model = armilla.fit(X, 3)
    assert armilla.fit(tmp_path / "X.npy", 3).U.tobytes() == model.U.tobytes()
    assert armilla.fit(X.T, 3, samples="columns").U.tobytes() == model.U.tobytes()
    csc = scipy.sparse.csc_matrix(X.T)
    assert armilla.fit(csc, 3, samples="columns").U.tobytes() == armilla.fit(scipy.sparse.csr_matrix(X), 3).U.tobytes()
    np.save(tmp_path / "turned.npy", np.ascontiguousarray(X.T))
    for form in (X.T, csc, tmp_path / "turned.npy"):
        assert np.array_equal(model.transform(form, samples="columns"), model.transform(scipy.sparse.csr_matrix(X) if form is csc else X))
        assert model.check(form, samples="columns").passed
        with pytest.raises(ValueError, match="the model has 11 features.*with samples='rows' or 'columns' as they lie"):
            model.transform(form)
    for use in (lambda: armilla.fit(X, 3, samples="rwos"), lambda: model.transform(X, samples="rwos"), lambda: model.check(X, samples="rwos")):
        with pytest.raises(ValueError, match="samples='rwos'"):
            use()


def test_names_by_columns():
    import pandas

    genes, cells = [f"gene {i}" for i in range(11)], [f"cell {j}" for j in range(60)]
    frame = pandas.DataFrame(make_data("f64"), columns=genes, index=cells)
    for model in (armilla.fit(frame, 2), armilla.fit(frame.T, 2, samples="columns")):
        assert model.feature_names == genes and model.sample_names == cells
    # Only the columns have names here, and they are samples.
    square = pandas.DataFrame(make_data("f64", 4, 4), columns=list("abcd"))
    model = armilla.fit(square, 2, samples="columns")
    assert model.feature_names is None and model.sample_names == list("abcd")
    assert armilla.fit(square, 2, samples="columns", feature_names=list("wxyz")).feature_names == list("wxyz")


def test_clusters_of_a_model(command, tmp_path):
    model = armilla.fit(make_data("f64"), 3)
    model.save(tmp_path / "m.npz")
    for options in (dict(k=3), dict(k=2, method="euclidean", seed=3, tries=2, max_iter=5), dict(method="argmax")):
        words = [w for name, value in options.items() for w in ("--" + {"max_iter": "cluster-iter"}.get(name, name), value)]
        theirs = np.array(command("cluster", tmp_path / "m.npz", *words, "--quiet").split(), dtype=int)
        assert np.array_equal(theirs, model.cluster(**options))
    with pytest.raises(TypeError, match="did you mean 'tries'"):
        model.cluster(3, trise=1)


def test_callback_and_trace():
    seen = []
    model = armilla.fit(make_data("f64"), 3, model="nmf", callback=seen.append)
    assert [entry.iteration for entry in seen] == list(range(model.info["iterations"] + 1))
    np.testing.assert_allclose([entry.objective for entry in seen], model.trace["objective"], rtol=1e-6)
    stopped = armilla.fit(make_data("f64"), 3, model="nmf", callback=lambda entry: entry.iteration == 4)
    assert stopped.info["iterations"] == 4 and stopped.info["stop"] == "interrupted"

    def breaks(entry):
        if entry.iteration == 2:
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        armilla.fit(make_data("f64"), 3, model="nmf", callback=breaks)


def test_checkpoints(command, tmp_path):
    X, options = make_data("f64"), dict(model="spherical-nmf", restarts=2, max_iter=30, tol=0)
    whole, path = armilla.fit(X, 3, **options), tmp_path / "fit.checkpoint"
    for iteration in (2, 9, 25):  # stopped again and again, by a callback that sees every iteration of a run once
        seen = []
        stopped = armilla.fit(
            X, 3, **options, threads=1 + iteration % 2, checkpoint=path, checkpoint_every=0,
            resume=path if path.exists() else None,
            callback=lambda entry: seen.append(entry.iteration) or entry.iteration >= iteration,
        )
        assert stopped.info["stop"] == "interrupted"
    with pytest.raises(FileExistsError, match="resume="):
        armilla.fit(X, 3, **options, checkpoint=path)
    resumed = armilla.fit(X, 3, **options, checkpoint=path, resume=path)
    again = armilla.fit(X, 3, **options, resume=str(path))
    np.save(tmp_path / "X.npy", X)
    command("fit", tmp_path / "X.npy", "--rank", 3, *flags(options), "--resume", path, "--out", tmp_path / "model.npz")
    for model in (resumed, again, armilla.load(tmp_path / "model.npz")):
        assert np.array_equal(model.U, whole.U) and np.array_equal(model.V, whole.V) and model.radius == whole.radius
        assert np.array_equal(model.trace["objective"], whole.trace["objective"])
    with pytest.raises(ValueError, match=r"another seed: 0 there, 4 here"):
        armilla.fit(X, 3, **options, seed=4, resume=path)
    with pytest.raises(ValueError, match="other data: fingerprint"):
        armilla.fit(X + 1, 3, **options, resume=path)
    with pytest.raises(FileNotFoundError):
        armilla.fit(X, 3, **options, resume=tmp_path / "none")
    with pytest.raises(ValueError, match="checkpoint_every"):
        armilla.fit(X, 3, **options, checkpoint=tmp_path / "other", checkpoint_every=-1)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(rank=12), r"rank=12 is more than the 11 features.*basis='nonnegative'"),
        (dict(rank=0), "rank: 0 is out of range"),
        (dict(rank=3, codes="sparse-sphere"), "codes='sparse-sphere' needs sparsity"),
        (dict(rank=3, model="nmf", basis="free"), "model='nmf' stands for basis='nonnegative'"),
        (dict(rank=3, basis="orthnormal"), "did you mean"),
        (dict(rank=3, lam="much"), "lam"),
        (dict(rank=3, time_limit=-1), "time_limit"),
        (dict(rank=3, max_iter=-1), "max_iter: -1 is out of range"),
        (dict(rank=3, codes="free", radius=2), "radius does not go with codes='free'"),
        (dict(rank=3, tol="soon"), "tol: 'soon' is not a number"),
    ],
)
def test_errors_name_parameters(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        armilla.fit(make_data("f64"), **options)
    assert "--" not in str(caught.value)


def test_errors_of_python():
    X = make_data("f64")
    with pytest.raises(TypeError, match="unexpected keyword argument 'sed'; did you mean 'seed'"):
        armilla.fit(X, 2, sed=3)
    with pytest.raises(TypeError):
        armilla.fit(X, 2.5)
    with pytest.raises(ValueError, match="[Cc]omplex"):
        armilla.fit(X * 1j, 2)
    with pytest.raises(ValueError, match="2D"):
        armilla.fit(X[0], 2)
    with pytest.raises((ValueError, TypeError)):
        armilla.fit(np.array([["a", "b"], ["c", "d"]]), 1)
    bad = X.copy()
    bad[5, 3] = np.nan
    with pytest.raises(ValueError, match="(?i)nan"):
        armilla.fit(bad, 2)
    with pytest.raises(ValueError):
        armilla.fit(np.zeros((0, 4)), 2)
    with pytest.raises(ValueError):
        armilla.fit(X, 2).transform(X[:, :4])
    import pandas

    frame = pandas.DataFrame(X).astype("Float64")
    assert armilla.fit(frame, 2).U.tobytes() == armilla.fit(X, 2).U.tobytes()
    frame.iloc[3, 4] = pandas.NA
    with pytest.raises(ValueError, match="sample 4, feature 5 .* is NaN"):
        armilla.fit(frame, 2)
    with pytest.raises(ValueError, match="no numbers"):
        armilla.fit(frame.to_numpy(), 2)
    for value in ("no", 1, 0, None, np.bool_(False)):
        if value is None or isinstance(value, np.bool_):
            assert armilla.fit(X, 2, center=value).mean is None
            continue
        with pytest.raises(TypeError, match=f"center must be True or False, not {value!r}"):
            armilla.fit(X, 2, center=value)
    with pytest.raises(TypeError, match="callback=3 is not callable"):
        armilla.fit(X, 2, callback=3)
    with pytest.raises(MemoryError):
        armilla.fit(np.ones((1, 10**6), np.float32), 20000, basis="nonnegative", codes="sphere")


def test_no_text_ends_early(tmp_path):
    """C ends a text at a NUL; here it is an error."""
    X, end = make_data("f64"), "\0x"
    model = armilla.fit(X, 2)
    for use in (
        lambda: armilla.fit(X, 2, model="nmf" + end),
        lambda: armilla.fit(X, 2, start="random" + end),
        lambda: armilla.fit(X, 2, feature_names=["a" + end] * 11),
        lambda: armilla.fit(str(tmp_path / "X.npy") + end, 2),
        lambda: model.save(str(tmp_path / "m.npz") + end, overwrite=True),
        lambda: armilla.load(str(tmp_path / "m.npz") + end),
    ):
        with pytest.raises(ValueError, match="null"):
            use()
    assert not list(tmp_path.iterdir())


def test_numbers_of_calls_without_a_table():
    model = armilla.fit(make_data("f64"), 3)
    for use, message in (
        (lambda: model.cluster(3, seed=-1), "seed: -1 is out of range"),
        (lambda: model.cluster(3, seed=2**70), "seed: .* is out of range"),
        (lambda: model.cluster(3, threads=-1), "threads: -1 is out of range"),
        (lambda: model.transform(make_data("f64"), threads=-1), "threads: -1 is out of range"),
        (lambda: model.transform(make_data("f64"), threads=0), "threads: 0 is out of range"),
    ):
        with pytest.raises(ValueError, match=message):
            use()
    with pytest.raises(TypeError):
        model.cluster(3, seed=1.5)


def test_tables(command):
    for name, rows in armilla.tables().items():
        listed = command("list", name)
        for row in rows:
            assert row["name"] in listed and "--" not in row["meaning"] and "\x01" not in row["meaning"]
