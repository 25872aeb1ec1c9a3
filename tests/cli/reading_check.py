#!/usr/bin/env python3
"""The options of reading: each row of their table beside a model.

The table is read from --help, so that a new row is tested without an edit here. $ARMILLA is the command. Exit status 77
(skipped) where NumPy is missing."""

import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
random = np.random.default_rng(24)


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout, done.stderr


def options_of(command):
    """Every option of reading that the command has: its name, and a value that is one."""
    section = re.search(r"\nreading options:\n(.*?)\n\n", run("help", command)[0], re.S).group(1)
    rows = re.split(r"\n  (?=--)", "\n" + section)[1:]
    found = {}
    for row in rows:
        name = re.match(r"--(\S+)", row).group(1)
        words = re.search(r"one of\s+(\w+)", row)
        found[name] = "1G" if name == "memory" else words.group(1) if words else "1"
    assert len(found) > 15, found
    return found


def check_models():
    """Where no data are read, a model refuses every option that says how."""
    np.save("x.npy", random.normal(size=(30, 6)))
    run("fit", "x.npy", "--rank", 3, "--out", "model.npz", "--quiet")
    named = ("feature-names", "sample-names")  # top gives these to the model
    commands = {
        "cluster": (["--k", 2], ()),
        "info": ([], ()),
        "neighbors": (["--count", 2, "--out", "graph.npz", "--force"], ()),
        "top": ([], named),
        "compare": (["model.npz"], ()),
    }
    for command, (more, taken) in commands.items():
        for name, value in options_of(command).items():
            if name in taken:
                continue
            fine = name == "memory"
            _, said = run(command, "model.npz", *more, f"--{name}", value, status=0 if fine else 64)
            assert fine or (f"--{name}: model.npz is a model" in said and said.count("\n") == 1), said
    # Where data are read beside the model, they are about these.
    run("neighbors", "model.npz", "--queries", "x.npy", "--samples", "rows", "--count", 2, "--out", "graph.npz", "--force")
    run("top", "model.npz", "--data", "x.npy", "--keep-samples", "1-9")
    run("compare", "model.npz", "model.npz", "--data", "x.npy", "--format", "npy")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_models()
    os.chdir("/")
