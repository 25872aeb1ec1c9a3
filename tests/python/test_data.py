"""Data as users have them: layouts without copies, memory maps, broken matrices, frames, AnnData, datasets."""

import logging

import numpy as np
import pandas
import pytest
import scipy.sparse
from conftest import ALL, bits, make_data

import armilla
from armilla._data import wrap
from armilla._library import Context

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")


def copied(X, caplog):
    """Whether the log says that X was copied; and whether the data borrow its memory."""
    caplog.clear()
    data = wrap(Context(), X)
    said = any("copied" in record.message for record in caplog.records)
    held = data._borrowed if isinstance(data._borrowed, np.ndarray) else data._borrowed[0]
    shared = np.shares_memory(held, X.data if scipy.sparse.issparse(X) else X)
    assert shared == (not said)
    return said


def test_what_is_not_copied(caplog, tmp_path):
    caplog.set_level(logging.INFO, "armilla")
    X = make_data("f64")
    for dtype in (np.float64, np.float32, np.float16, np.uint8, np.int8):
        assert not copied(X.astype(dtype), caplog)
    assert not copied(X[::2], caplog) and not copied(X[5:9, 2:7], caplog) and not copied(X[:1], caplog)
    readonly = X.copy()
    readonly.flags.writeable = False
    assert not copied(readonly, caplog)
    np.save(tmp_path / "X.npy", X)
    assert not copied(np.load(tmp_path / "X.npy", mmap_mode="r"), caplog)
    assert not copied(make_data("csr64"), caplog) and not copied(make_data("csr32"), caplog)
    for other in (np.asfortranarray(X), X[:, ::2], X[::-1], X.astype(">f8"), X.astype(np.int32), X.astype(">f2"), np.asfortranarray(X.astype(np.int8)), X > 1):
        assert copied(other, caplog)


def test_estimators_hand_the_array_on(monkeypatch):
    """No copy between the user's array and the library."""
    seen = []
    from armilla import _factorization

    def watching(context, X):
        seen.append(X)
        return wrap(context, X)

    monkeypatch.setattr(_factorization, "wrap", watching)
    for X in (make_data("f64"), make_data("f32"), make_data("u8"), make_data("f16"), make_data("i8")[::2], make_data("f32")[::3]):
        armilla.SphericalPCA(2, random_state=0).fit(X)
        assert np.shares_memory(seen[-1], X)
    for X in (make_data("csr64"), make_data("csr32")):
        armilla.SphericalPCA(2, random_state=0).fit(X)
        assert np.shares_memory(seen[-1].data, X.data)


def test_layouts_have_the_same_result(tmp_path):
    X = make_data("f64")
    usual = bits(X)
    np.save(tmp_path / "X.npy", X)
    sliced = np.zeros((60, 30))
    sliced[:, 4:15] = X
    for other in (np.asfortranarray(X), np.load(tmp_path / "X.npy", mmap_mode="r"), sliced[:, 4:15], X.astype(">f8"), X.tolist(), pandas.DataFrame(X)):
        assert bits(other) == usual


def test_files_of_embeddings_have_the_same_result(tmp_path):
    X = make_data("f32")
    rows, columns = X.shape
    header = b'{"x":{"dtype":"F32","shape":[%d,%d],"data_offsets":[0,%d]}}' % (rows, columns, X.nbytes)
    counted = np.hstack([np.full((rows, 1), columns, "<i4").view("<f4"), X])
    usual = armilla.fit(X, 3, seed=0, max_iter=9).U.tobytes()
    words = b"".join(b"word%d " % i + x.tobytes() for i, x in enumerate(X))
    for name, content in (("X.fbin", np.array(X.shape, "<u4").tobytes() + X.tobytes()), ("X.fvecs", counted.tobytes()),
                          ("X.safetensors", len(header).to_bytes(8, "little") + header + X.tobytes()),
                          ("X.bin", b"%d %d\n" % X.shape + words)):
        (tmp_path / name).write_bytes(content)
        assert armilla.fit(tmp_path / name, 3, seed=0, max_iter=9).U.tobytes() == usual, name


def test_short_types_have_the_result_of_float32():
    """What armilla.fit, estimators and files make of float16 and int8 is what they make of the same numbers in float32."""
    for kind in ("f16", "i8", "u8"):
        X = make_data(kind)
        usual = bits(X.astype(np.float32))
        assert bits(X) == bits(X, n_jobs=2) == usual, kind
        found, wanted = (armilla.fit(Y, 3, seed=2, center=True) for Y in (X, X.astype(np.float32)))
        assert found.U.tobytes() == wanted.U.tobytes() and found.V.tobytes() == wanted.V.tobytes()
        assert found.U.dtype == np.float32 and np.array_equal(found.transform(X), wanted.transform(X.astype(np.float32)))
        if kind != "f16":  # SciPy has no sparse float16
            assert bits(scipy.sparse.csr_matrix(X)) == bits(scipy.sparse.csr_matrix(X.astype(np.float32)))


def test_float16_that_is_not_finite():
    X = make_data("f16")
    X[3, 2] = np.inf
    for call in (lambda: armilla.fit(X, 3), lambda: armilla.SphericalPCA(3).fit(X)):
        with pytest.raises(ValueError, match="infin"):
            call()


def test_sparse_forms_have_the_same_result():
    X = make_data("csr64")
    usual = bits(X)
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    mixed = X.copy()
    mixed.indptr = mixed.indptr.astype(np.int64)
    unsorted = X.copy()
    for row in range(60):
        part = slice(unsorted.indptr[row], unsorted.indptr[row + 1])
        unsorted.indices[part], unsorted.data[part] = unsorted.indices[part][::-1].copy(), unsorted.data[part][::-1].copy()
    unsorted.has_sorted_indices = False
    for other in (wide, mixed, unsorted, X.tocsc(), X.tocoo(), X.tolil(), X.todok(), X.tobsr()):
        assert bits(other) == usual, other.format
    before = unsorted.indices.copy()
    bits(unsorted)
    assert np.array_equal(before, unsorted.indices)
    if hasattr(scipy.sparse, "csr_array"):
        assert bits(scipy.sparse.csr_array(X)) == usual
    dense = armilla.SphericalPCA(3, random_state=0).fit(X.toarray())
    np.testing.assert_allclose(np.abs(dense.components_), np.abs(armilla.SphericalPCA(3, random_state=0).fit(X).components_), atol=1e-6)


def unaligned(array):
    """The same numbers, one byte off."""
    return np.frombuffer(b"a" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)


def test_unaligned_arrays_are_copied(caplog):
    caplog.set_level(logging.INFO, "armilla")
    for X in (make_data("f64"), make_data("f32")):
        assert not unaligned(X).flags.aligned and copied(unaligned(X), caplog)
        assert bits(unaligned(X)) == bits(X) and armilla.fit(unaligned(X), 3).U.tobytes() == armilla.fit(X, 3).U.tobytes()
    X = make_data("csr64")
    usual = bits(X)
    for part in ("data", "indices", "indptr"):
        other = X.copy()
        setattr(other, part, unaligned(getattr(X, part)))
        assert bits(other) == usual


def test_byte_order_keeps_the_precision():
    X = make_data("f32")
    assert bits(X.astype(">f4")) == bits(X)
    assert armilla.fit(X.astype(">f4"), 3).U.tobytes() == armilla.fit(X, 3).U.tobytes()
    sparse, other = make_data("csr32"), make_data("csr32")
    other.data = other.data.astype(">f4")
    assert bits(other) == bits(sparse) and armilla.fit(other, 3).dtype == np.float32


def test_sparse_arrays_that_are_too_short():
    """A matrix whose parts do not fit together is refused before any of it is read."""

    def broken(**parts):
        X = make_data("csr64")
        for name, change in parts.items():
            setattr(X, name, change(getattr(X, name)))
        return X

    def later_end(indptr):
        return np.r_[indptr[:-1], indptr[-1] + 10**6].astype(indptr.dtype)

    for X in (
        broken(indptr=later_end),
        broken(data=lambda data: data[:5]),
        broken(indices=lambda indices: indices[:5]),
        broken(indptr=lambda indptr: indptr[:-3]),
        broken(indptr=lambda indptr: -indptr),
    ):
        for use in (lambda: armilla.fit(X, 2), lambda: armilla.SphericalPCA(2).fit(X), lambda: armilla.SphericalKMeans(2).fit(X)):
            with pytest.raises(ValueError, match="X is no CSR matrix: indptr"):
                use()


def test_complex_numbers_are_refused():
    X, sparse = make_data("f64"), make_data("csr64")
    fitted = armilla.SphericalPCA(3, random_state=0).fit(X)
    for use in (
        lambda: armilla.fit(sparse * 1j, 2),
        lambda: armilla.SphericalPCA(2).fit(sparse * 1j),
        lambda: fitted.inverse_transform(fitted.codes_ * 1j),
        lambda: fitted.model_.transform(sparse * 1j),
        lambda: armilla.SphericalPCA(3, init=fitted.components_ * 1j).fit(X),
        lambda: armilla.fit(X, 3, start=fitted.model_.U * 1j),
    ):
        with pytest.raises(ValueError, match="Complex data not supported"):
            use()
    codes = scipy.sparse.csr_matrix(fitted.codes_)
    assert np.array_equal(fitted.inverse_transform(codes), fitted.inverse_transform(fitted.codes_))
    init = scipy.sparse.csr_matrix(fitted.components_)
    assert armilla.SphericalPCA(3, init=init).fit(X).model_.info["start"] == "basis"


def test_inputs_stay_as_they_are():
    unsorted = make_data("csr32")
    for row in range(60):
        part = slice(unsorted.indptr[row], unsorted.indptr[row + 1])
        unsorted.indices[part], unsorted.data[part] = unsorted.indices[part][::-1].copy(), unsorted.data[part][::-1].copy()
    unsorted.has_sorted_indices = False
    parts = [part.copy() for part in (unsorted.data, unsorted.indices, unsorted.indptr)]
    kmeans = armilla.SphericalKMeans(3, random_state=0).fit(unsorted)
    np.testing.assert_allclose(kmeans.transform(unsorted), kmeans.transform(unsorted.toarray()), atol=1e-5)
    kmeans.score(unsorted)
    for before, part in zip(parts, (unsorted.data, unsorted.indices, unsorted.indptr)):
        assert np.array_equal(before, part)
    for kind in ("f64", "f32", "u8", "f16", "i8", "csr64"):
        X = make_data(kind)
        before = X.copy()
        for make in ALL:
            estimator = make(random_state=0).fit(X)
            estimator.predict(X) if hasattr(estimator, "predict") else estimator.transform(X)
        assert (before != X).sum() == 0


def test_frames():
    names = [f"f{i}" for i in range(11)]
    frame = pandas.DataFrame(make_data("f64"), columns=names)
    for make in ALL:
        estimator = make(random_state=0).fit(frame)
        assert list(estimator.feature_names_in_) == names and estimator.model_.feature_names == names
        use = estimator.predict if hasattr(estimator, "predict") else estimator.transform
        use(frame)
        with pytest.raises(ValueError, match="Feature names must be in the same order"):
            use(frame[names[::-1]])
        with pytest.raises(ValueError, match="feature names"):
            use(frame.rename(columns={"f3": "other"}))
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            use(frame.to_numpy())
    codes = armilla.SphericalNMF(3).set_output(transform="pandas").fit_transform(frame)
    assert list(codes.columns) == ["sphericalnmf0", "sphericalnmf1", "sphericalnmf2"] and codes.index.equals(frame.index)
    angles = armilla.SphericalKMeans(2).set_output(transform="pandas").fit(frame).transform(frame)
    assert list(angles.columns) == ["sphericalkmeans0", "sphericalkmeans1"]


def test_anndata(tmp_path):
    anndata = pytest.importorskip("anndata")
    import armilla.anndata

    counts = np.random.default_rng(0).poisson(1.5, (50, 12)).astype(np.float32)
    for X in (counts, scipy.sparse.csr_matrix(counts)):
        adata = anndata.AnnData(X, layers={"double": X * 2})
        adata.var_names = [f"gene{i}" for i in range(12)]
        model = armilla.anndata.factorize(adata, 4, log1p=True, normalize="l2", n_clusters=3, seed=1)
        assert adata.obsm["X_armilla"].shape == (50, 4) and adata.varm["X_armilla"].shape == (12, 4)
        assert np.array_equal(adata.obsm["X_armilla"], armilla.fit(X, 4, log1p=True, normalize="l2", seed=1).codes)
        params = adata.uns["X_armilla"]["params"]
        assert adata.uns["X_armilla"]["radius"] == model.radius
        assert params["log1p"] is True and params["center"] is False and params["max_iter"] == 500 and params["tol"] == "auto"
        assert armilla.fit(X, **params).U.tobytes() == model.U.tobytes()
        assert adata.obs["armilla"].cat.categories.tolist() == ["0", "1", "2"]
        assert model.feature_names[3] == "gene3" and model.sample_names[0] == adata.obs_names[0]
        other = armilla.anndata.factorize(adata, 2, "double", key="X_two", copy=True)
        assert other.obsm["X_two"].shape == (50, 2) and "X_two" not in adata.obsm and other.uns["X_two"]["layer"] == "double"
        found = armilla.anndata.cluster(adata, 3, key="recipe", random_state=0)
        assert np.array_equal(adata.obs["recipe"].cat.codes, found.labels_)
        for wrong in (0, 51, -1):
            with pytest.raises(ValueError, match=f"n_clusters={wrong} is not between 1 and n_samples=50"):
                armilla.anndata.factorize(adata, 2, key="X_wrong", n_clusters=wrong)
        assert "X_wrong" not in adata.obsm
        for use in (armilla.SphericalPCA().fit, armilla.AutoCluster().fit, lambda it: armilla.fit(it, 2)):
            with pytest.raises(TypeError, match=r"X is an AnnData; use armilla.anndata.factorize\(adata, rank\)"):
                use(adata)
        with pytest.raises(ValueError, match="layer='none'"):
            armilla.anndata.factorize(adata, 2, layer="none")
        adata.write_h5ad(tmp_path / "cells.h5ad")
        back = anndata.read_h5ad(tmp_path / "cells.h5ad")
        assert np.array_equal(back.obsm["X_armilla"], adata.obsm["X_armilla"])
        view = adata[10:30]
        assert armilla.fit(view.X, 2).n_samples == 20
        backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
        with pytest.raises(ValueError, match=r"adata.X is in a file \(backed mode\).*to_memory"):
            armilla.anndata.factorize(backed, 2)
        backed.file.close()
        with pytest.raises(TypeError, match="samples"):
            armilla.anndata.factorize(adata, 2, samples="columns")
        signed = anndata.AnnData(X - X.mean(axis=0).astype(np.float32) if X is counts else -X, layers={"counts": X})
        for pair in (dict(model="nmf"), dict(basis="u2", codes="v2")):
            with pytest.raises(ValueError, match=r"Negative values in data passed to factorize \(adata.X\)"):
                armilla.anndata.factorize(signed, 2, **pair)
            armilla.anndata.factorize(signed, 2, "counts", **pair)
        armilla.anndata.factorize(signed, 2, basis="nonnegative")
        adata.X = None
        with pytest.raises(ValueError, match="adata.X is None; give a layer: 'double'"):
            armilla.anndata.cluster(adata, 2)
    with pytest.raises(TypeError, match="an AnnData is needed, not ndarray"):
        armilla.anndata.factorize(counts, 2)


def test_datasets(tmp_path):
    X, y = armilla.datasets.load_cones(return_X_y=True)
    labels = armilla.SphericalKMeans(2, random_state=0).fit_predict(X)
    assert X.shape == (200, 3) and max(np.mean(labels == y), np.mean(labels != y)) > 0.95
    for load, shape in ((armilla.datasets.load_iris, (150, 4)), (armilla.datasets.load_wine, (178, 13)), (armilla.datasets.load_digits, (1797, 64))):
        assert load().data.shape == shape
    topics = armilla.datasets.make_topics(50)
    assert topics.data.shape == (50, 75) and len(topics.feature_names) == 75
    with pytest.raises(FileNotFoundError, match="make mnist"):
        armilla.datasets.load_mnist(tmp_path / "none")
    images = np.arange(2 * 28 * 28, dtype=np.uint8)
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(b"\0\0\x08\3" + np.array([2, 28, 28], ">u4").tobytes() + images.tobytes())
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(b"\0\0\x08\1" + np.array([2], ">u4").tobytes() + b"\3\7")
    mnist = armilla.datasets.load_mnist(tmp_path)
    assert np.array_equal(mnist.data.ravel(), images) and mnist.target.tolist() == [3, 7] and mnist.data.dtype == np.uint8
