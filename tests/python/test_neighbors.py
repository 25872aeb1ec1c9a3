"""armilla.neighbors: the command's bits, scikit-learn's neighbours, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.neighbors import NearestNeighbors

import armilla


@pytest.fixture
def numbers():
    return np.random.default_rng(3)


def rows(graph):
    return graph.indices.reshape(graph.shape[0], -1)


@pytest.mark.parametrize("kind", ["f4", "f8", "csr", "csc", "list"])
def test_like_scikit_learn(numbers, kind):
    X = numbers.standard_normal((80, 7)) * (numbers.random((80, 7)) < 0.8)
    given = X.tolist() if kind == "list" else getattr(scipy.sparse, kind + "_matrix")(X) if kind.startswith("c") else X.astype(kind)
    graph = armilla.neighbors(given, 4)
    distances, places = NearestNeighbors(n_neighbors=5, metric="cosine", algorithm="brute").fit(X).kneighbors(X)
    assert isinstance(graph, scipy.sparse.csr_matrix)
    assert np.array_equal(rows(graph), places[:, 1:])
    np.testing.assert_allclose(1 - graph.data, distances[:, 1:].ravel(), atol=2e-6)
    far = armilla.neighbors(given, 4, weights="distance")
    np.testing.assert_allclose(far.data, np.sqrt(2 - 2 * graph.data.astype(float)), atol=1e-3)


def test_the_commands_bits(numbers, tmp_path, command):
    X = numbers.standard_normal((200, 6)).astype("f")
    np.save(tmp_path / "x.npy", X)
    out = str(tmp_path / "g.npz")
    command("neighbors", tmp_path / "x.npy", "--count", 7, "--center", "--out", out, "--quiet")
    theirs, ours = scipy.sparse.load_npz(out), armilla.neighbors(X, 7, center=True)
    assert np.array_equal(theirs.indices, ours.indices) and np.array_equal(theirs.data, ours.data)


def test_models_and_queries(numbers):
    X, Q = numbers.standard_normal((90, 8)), numbers.standard_normal((11, 8))
    model = armilla.fit(X, 3)
    by_codes = armilla.neighbors(model, 5, queries=Q)
    again = armilla.neighbors(model.codes, 5, queries=model.transform(Q))
    assert by_codes.shape == (11, 90) and np.array_equal(by_codes.indices, again.indices)
    assert armilla.neighbors(X.T, 5, queries=Q.T, samples="columns").shape == (11, 90)
    with pytest.raises(ValueError, match="already"):
        armilla.neighbors(model, 5, center=True)


def test_recall(numbers):
    X = numbers.standard_normal((3000, 5))
    exact, nearly = rows(armilla.neighbors(X, 6)), rows(armilla.neighbors(X, 6, recall=0.9, threads=1))
    assert np.mean([len(set(a) & set(b)) / 6 for a, b in zip(exact, nearly)]) > 0.87
    assert np.array_equal(nearly, rows(armilla.neighbors(X, 6, recall=0.9, threads=2)))


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"count": 5}, "at most 4 neighbours"),
        ({"count": 0}, "count"),
        ({"recall": 2}, "recall"),
        ({"weights": "angle"}, "weights"),
        ({"queries": np.eye(3)}, "features"),
        ({"samples": "diagonal"}, "samples"),
    ],
)
def test_refused(wrong, words):
    with pytest.raises((ValueError, TypeError), match=words):
        armilla.neighbors(np.eye(5), **{"count": 2, **wrong})


def test_not_a_number():
    X = np.ones((6, 3))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        armilla.neighbors(X, 2)
