"""Every path may be a str, bytes or path-like, and every name that the system has, UTF-8 or not."""

import os
import pathlib

import numpy as np
import pytest
from conftest import make_data

import armilla

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

#: Latin 1, broken UTF-8, control characters, and what is plain.
NAMES = [b"caf\xe9", b"\xff\xfe", b"a\xc3", "grün".encode(), b"tab\t\x1b[1m", b"plain"]
FORMS = [os.fsencode, os.fsdecode, lambda path: pathlib.Path(os.fsdecode(path))]


@pytest.fixture(params=NAMES, ids=repr)
def folder(request, tmp_path):
    """A folder of that name."""
    path = os.path.join(os.fsencode(tmp_path), request.param)
    os.mkdir(path)
    return path


@pytest.mark.parametrize("form", FORMS, ids=["bytes", "str", "pathlib"])
def test_every_path(folder, form):
    X = make_data("f64")

    def place(name):
        return form(os.path.join(folder, b"\xe9" + name))

    np.save(os.fsdecode(place(b"x.npy")), X)
    model = armilla.fit(place(b"x.npy"), 3, seed=0, checkpoint=place(b"state"))
    assert np.array_equal(model.V, armilla.fit(X, 3, seed=0).V)
    assert np.array_equal(armilla.fit(place(b"x.npy"), 3, seed=0, checkpoint=place(b"state"), resume=place(b"state")).V, model.V)
    with pytest.raises(FileExistsError):
        armilla.fit(X, 3, checkpoint=place(b"state"))
    with pytest.raises(FileNotFoundError):
        armilla.fit(X, 3, resume=place(b"nowhere"))
    model.save(place(b"m.npz"))
    armilla.save(model, place(b"n.npz"))
    for path in (place(b"m.npz"), place(b"n.npz")):
        assert np.array_equal(armilla.load(path).U, model.U)
        with pytest.raises(FileExistsError):
            model.save(path)
        model.save(path, overwrite=True)
    with pytest.raises(FileNotFoundError):
        armilla.load(place(b"nowhere"))
    with pytest.raises(FileNotFoundError):
        model.transform(place(b"nowhere"))
    assert np.array_equal(model.transform(place(b"x.npy")), model.codes)
    assert model.check(place(b"x.npy")).passed
    assert np.array_equal(armilla.neighbors(place(b"x.npy"), 3).toarray(), armilla.neighbors(X, 3).toarray())
    np.save(os.fsdecode(place(b"u.npy")), model.U)
    for start in (place(b"m.npz"), place(b"u.npy")):
        assert armilla.fit(X, 3, start=start).info["start"] in ("model", "basis")
    np.save(os.fsdecode(place(b"c.npy")), model.U)
    estimator = armilla.SphericalPCA(3, init=place(b"c.npy")).fit(X)
    estimator.save(place(b"e.npz"))
    assert armilla.load(place(b"e.npz")).rank == 3
    with pytest.raises(ValueError, match="is no start"):
        armilla.fit(X, 3, start=place(b"nowhere"))
    with pytest.raises(ValueError, match="null"):
        armilla.load("a\0b")
    with open(place(b"not.npz"), "wb") as file:
        file.write(b"no model")
    with pytest.raises(ValueError) as caught:
        armilla.load(place(b"not.npz"))
    str(caught.value).encode()
