#!/usr/bin/env python3
"""The commands that `info` gives for data are whole, and right for counts, images, signed numbers and tables with units.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy or SciPy is missing."""

import json
import os
import shlex
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import scipy.sparse as sparse
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
random = np.random.default_rng(11)


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout, done.stderr


def commands(data, *options):
    hints = json.loads(run("info", data, *options, "--json")[0])["hints"]
    assert hints[-2].startswith("clusters:  armilla cluster "), hints
    for line, output in ((hints[-2], "clusters.txt"), (hints[-1], "model.npz")):
        run(*shlex.split(line)[2:], "--quiet", "--force")
        assert os.path.getsize(output) > 0
    return hints[-1]


def check_commands():
    counts = sparse.random(60, 40, 0.1, random_state=1, format="csr")
    counts.data[:] = random.integers(1, 4, counts.nnz)
    sparse.save_npz("my counts.npz", counts)
    line = commands("my counts.npz")
    assert line.startswith("topics: ") and line.endswith("--model nmf --log1p --tfidf --normalize l2 --out model.npz"), line
    np.save("images.npy", random.integers(0, 255, (50, 30)).astype(np.uint8))
    line = commands("images.npy", "--samples", "columns")
    assert "--samples columns" in line and line.endswith("--model nmf --normalize l2 --out model.npz"), line
    np.save("signed.npy", random.normal(size=(50, 30)))
    assert commands("signed.npy").endswith("--model spherical-pca --center --normalize l2 --out model.npz")
    np.save("units.npy", np.abs(random.normal(size=(50, 5))) * [1, 2, 1, 900, 1])
    assert commands("units.npy").endswith("--model spherical-pca --scale --center --normalize l2 --out model.npz")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_commands()
    os.chdir("/")
