"""A memory-mapped array: the fit reads pages of the file as it needs them, and never makes a copy of it."""

import pathlib
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import armilla
import armilla.plot

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "images.npy"
    X = np.lib.format.open_memmap(path, "w+", np.uint8, (20000, 256))
    rng = np.random.default_rng(0)
    atoms = rng.random((6, 256)) ** 8
    for first in range(0, 20000, 2000):  # written in parts, as it would come from an instrument
        X[first : first + 2000] = 255 * np.clip(rng.dirichlet(np.full(6, 0.3), 2000) @ atoms, 0, 1)
    X.flush()
    del X

    data = np.load(path, mmap_mode="r")  # 5 MB of bytes, used where they lie
    model = armilla.SphericalNMF(6, random_state=0, time_limit=20).fit(data)
    print(f"{data.dtype} {data.shape}: relative error {model.model_.info['relative_error']:.4f}, {model.n_iter_} iterations")

    # The same by the file's name, as the command would read it: the same bits.
    again = armilla.fit(path, 6, model="spherical-nmf", seed=0, time_limit=20)
    print("same bits from the file:", again.U.tobytes() == model.model_.U.tobytes())

    codes = np.concatenate([model.transform(data[k : k + 5000]) for k in range(0, 20000, 5000)])
    print("codes in parts are those of the fit:", np.array_equal(codes, model.codes_))
    armilla.plot.convergence(model, by="seconds")
    plt.savefig("streaming.png", dpi=110)
