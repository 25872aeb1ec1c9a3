#!/usr/bin/env python3
"""Names that would move a terminal (ESC, DEL, U+009B) never reach it raw, in JSON or in texts for people; standard input
is called -; a pipe that is given as a checkpoint is refused at once; clusters are a table there. $ARMILLA is the command. Exit status 77 (skipped)
where NumPy is missing."""

import json
import os
import pty
import re
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


def on_terminal(*arguments):
    """What the command shows where standard output and error are one terminal."""
    shown, terminal = pty.openpty()
    child = subprocess.Popen([ARMILLA, *arguments], stdout=terminal, stderr=terminal)
    os.close(terminal)
    pieces = []
    try:
        while piece := os.read(shown, 4096):
            pieces.append(piece)
    except OSError:  # the other end is closed
        pass
    os.close(shown)
    assert child.wait() == 0, arguments
    return b"".join(pieces).decode().replace("\r\n", "\n").split("\n")


def check_clusters():
    """A terminal gets a table of the clusters, whose sizes are those of the labels that a pipe gets; labels only where
    they are all that is asked for."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(3, 6))[np.repeat(np.arange(3), (60, 25, 5))] * 3 + 0.1 * rng.normal(size=(90, 6))
    np.savetxt("x.csv", X, delimiter=",", header="a,b,c,d,e,f", comments="")
    np.save("x.npy", X)
    for arguments in (("x.csv", "--k", "3"), ("x.npy", "--k", "3"), ("x.npy", "--k", "3", "--on", "data")):
        labels = [int(line) for line in run("cluster", *arguments).split()]
        sizes = np.bincount(labels)
        shown = on_terminal("cluster", *arguments)
        rows = [line.split() for line in shown if re.match(r"cluster \d", line)]
        assert [(int(row[1]), int(row[2]), row[3]) for row in rows] == [(k, size, "samples") for k, size in enumerate(sizes)]
        assert all(set(row[4:]) for row in rows) == (arguments[0] == "x.csv"), rows
        assert not any(line.isdigit() for line in shown) and any(line.startswith("labels ") for line in shown), shown
        quiet = on_terminal("cluster", *arguments, "--quiet")
        assert quiet == [*map(str, labels), ""], quiet


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_names()
        check_stream()
        check_pipe()
        check_dash()
        check_clusters()


if __name__ == "__main__":
    main()
