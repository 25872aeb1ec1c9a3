#!/usr/bin/env python3
"""Names that would move a terminal (ESC, DEL, U+009B) never reach it raw, in JSON or in texts for people; standard input
is called -; a pipe that is given as a checkpoint is refused at once. $ARMILLA is the command. Exit status 77 (skipped)
where NumPy is missing."""

import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
NAMES = ["\x1b[31mred", "del\x7f", "csi\x9b31m", "plain"]
RAW = (b"\x1b", b"\x7f", b"\xc2\x9b")


def run(*words, stdin=None, status=0):
    done = subprocess.run([ARMILLA, *words], capture_output=True, input=stdin, timeout=60)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    for raw in RAW:
        assert raw not in done.stdout + done.stderr, (words, raw, done.stdout[-300:], done.stderr)
    return done.stdout


def check_names():
    X = np.random.default_rng(0).uniform(1, 2, (4, 4))
    np.savez("s.npz", X=X, feature_names=np.array(NAMES), sample_names=np.array(NAMES), labels=np.array(NAMES))
    file = "m\x1b\x7f\x9b.npz"
    run("fit", "s.npz", "--rank", "2", "--out", file)
    for words in (("info", "s.npz"), ("info", file), ("top", file), ("compare", file, file), ("check", file, "s.npz")):
        run(*words)
        found = json.loads(run(*words, "--json"))
        if words[0] == "top":
            names = {entry["name"] for entry in found["atoms"][0]["features"]}
            assert names <= set(NAMES), names
    run("fit", "no\x1b\x7f\x9b.csv", "--rank", "2", status=66)


def check_stream():
    table = b"a,b\n1,2\n3,4\n"
    assert json.loads(run("info", "-", "--json", stdin=table))["file"] == "-"
    assert b"/proc/" not in run("info", "-", stdin=table)


def check_pipe():
    np.save("x.npy", np.ones((4, 3)))
    os.mkfifo("pipe")
    run("fit", "x.npy", "--rank", "1", "--resume", "pipe", status=66)


def check_dash():
    """No state is kept in a file of that name, nor sought there."""
    for option in ("--checkpoint", "--resume"):
        run("fit", "x.npy", "--rank", "1", option, "-", status=64)
        assert not os.path.exists("-"), option


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_names()
        check_stream()
        check_pipe()
        check_dash()


if __name__ == "__main__":
    main()
