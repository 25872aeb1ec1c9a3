#!/usr/bin/env python3
"""Fits that are killed at random moments, also while a checkpoint is being written, and resumed until they are finished:
the model has the bits of the fit that nobody disturbed.

    checkpoint_check.py [--kills N] [--seed N] [--ranks]

N kills at least (25); ARMILLA_KILLS says so too, and of ranks a third of them are killed, 15 at least. $ARMILLA is the command. With --ranks each turn is made by another number
of ranks of armilla-mpi, or by the command, and it is the launcher or one of the ranks that is killed ($ARMILLA_MPI and
$MPIRUN, tests/mpi/launch.py). Exit status 77 (skipped) where NumPy or MPI is missing."""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mpi"))
import launch  # noqa: E402

ARMILLA = launch.ARMILLA
CHECKPOINT = "fit.checkpoint"
MOST_KILLS = 12, 3  # of one fit, and by ranks, which take longer to start
STARTING = 0.6  # seconds that a launcher takes before there are ranks
# Every solver and loop, restarts, sparsity continuation, starts that are compared on a part of the data, sealing.
CASES = {
    "orthonormal": ["dense.npy", "--rank", "6", "--codes", "nonneg-sphere", "--restarts", "2"],
    "continuation": ["sparse.mtx", "--rank", "8", "--codes", "sparse-sphere", "--sparsity", "2", "--precision", "f32"],
    "atoms": ["dense.npy", "--rank", "6", "--model", "spherical-nmf", "--restarts", "3"],
    "sealing": ["dense.npy", "--rank", "9", "--model", "sparse-spherical-nmf", "--sparsity", "4"],
    "assign": ["dense.npy", "--rank", "12", "--basis", "free", "--codes", "one-hot", "--start", "random", "--restarts", "2"],
    "assign, sparse": ["sparse.mtx", "--rank", "7", "--model", "spherical-kmeans"],
    "palm": ["sparse.mtx", "--rank", "5", "--model", "spherical-nmf", "--solver", "palm", "--normalize", "l2"],
    "mu": ["sparse.mtx", "--rank", "5", "--model", "nmf", "--solver", "mu", "--restarts", "2"],
    "screening": ["many.npy", "--rank", "5", "--model", "spherical-nmf", "--restarts", "5"],
    "prepared": ["many.npy", "--rank", "4", "--codes", "sparse-sphere", "--sparsity", "2", "--center", "--scale"],
}


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def make_data():
    numbers = np.random.default_rng(3)
    np.save("dense.npy", numbers.random((1500, 60)) ** 4)
    np.save("many.npy", (numbers.random((9000, 16)) ** 3).astype(np.float32))
    X = numbers.random((800, 90)) * (numbers.random((800, 90)) < 0.15)
    X[X.sum(axis=1) == 0, 0] = 1
    rows, columns = np.nonzero(X)
    with open("sparse.mtx", "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{X.shape[0]} {X.shape[1]} {len(rows)}\n")
        file.writelines(f"{i + 1} {j + 1} {X[i, j]!r}\n" for i, j in zip(rows.tolist(), columns.tolist()))


def fit(options, *more):
    return [ARMILLA, "fit", *options, "--max-iter", "40", "--tol", "0", "--quiet", *more]


def digest(path):
    return launch.digest(path, ("U", "V", "radius", "trace_objective", "trace_dU", "trace_dV"))


def temporaries():
    return [name for name in os.listdir(".") if name.startswith(".") and name.endswith(".tmp")]


class Killer:
    """Ends processes at random moments and counts."""

    def __init__(self, seed, with_ranks):
        self.seed, self.with_ranks = seed, with_ranks
        self.random = random.Random(seed)
        self.most = MOST_KILLS[with_ranks]
        self.kills = self.writing = self.signals = self.resumed = self.of_ranks = 0

    def ranks(self):
        return self.random.choice((1, 2, 2, 3, 3, 4, 0)) if self.with_ranks else 0

    def wait(self, process, seconds):
        """Until a random moment, or in every third turn until a checkpoint is being written after it."""
        deadline = time.monotonic() + self.random.uniform(0, seconds)
        at_writing = self.random.random() < 0.34
        while process.poll() is None:
            late = time.monotonic() - deadline
            if late >= 0 and (not at_writing or temporaries() or late > seconds):
                return
            time.sleep(0 if at_writing and late >= 0 else 0.0005)

    def end(self, process, ranks):
        """By KILL, or now and then by a signal that lets it save; its exit status. A launcher handles signals
        itself, so that those that let a fit save go to a rank."""
        gentle = self.random.random() < 0.2
        number = self.random.choice((signal.SIGINT, signal.SIGTERM)) if gentle else signal.SIGKILL
        victim = self.random.randrange(4) if gentle else self.random.randrange(-1, 4)
        running = process.poll() is None
        status = launch.end_by(process, number, victim if ranks else -1)
        if running and number == signal.SIGKILL and status != 0:
            self.kills += 1
            self.of_ranks += ranks > 1
            self.writing += bool(temporaries())
        elif status in GENTLE:
            self.signals += 1
        return status


GENTLE = (130, 143, -signal.SIGINT, -signal.SIGTERM)


def is_end(status, ranks, text):
    """Of a process that was sent a signal: a launcher has statuses and words of its own, but no failure of the fit."""
    complains = any(line.startswith("armilla: ") and "cannot be reached" not in line for line in text.splitlines())
    return status in (*GENTLE, -signal.SIGKILL) or (ranks > 0 and status != 0 and not complains)


def finish_killed(killer, name, options, seconds):
    """One fit, killed again and again; returns what its model is."""
    for turn in range(1000):
        resume = ["--resume", CHECKPOINT] if os.path.exists(CHECKPOINT) else []
        killer.resumed += bool(resume)
        ranks = killer.ranks()
        threads = str(killer.random.randint(1, 3))
        arguments = fit(options, "--out", "model.npz", "--force", "--checkpoint", CHECKPOINT, "--threads", threads,
                        *resume, "--checkpoint-every", killer.random.choice(("0", "0.001", "0.02")))
        with subprocess.Popen(launch.command(ranks, *arguments[1:]), stderr=subprocess.PIPE, text=True,
                              env=launch.ENVIRONMENT) as process:
            if turn < killer.most:
                killer.wait(process, seconds + (STARTING if ranks else 0))
                status = killer.end(process, ranks)
            else:
                status = process.wait()
            text = process.stderr.read()
        for leftover in temporaries():
            os.remove(leftover)
        if status == 0:
            return digest("model.npz")
        check(turn < killer.most and is_end(status, ranks, text), f"{name}, turn {turn}: status {status}: {text}")
    sys.exit(f"FAILED: {name} does not come to its end")


def test_kills(killer, wanted):
    references = {}
    while killer.kills < wanted or len(references) < len(CASES):
        for name, options in CASES.items():
            if name not in references:
                begun = time.monotonic()
                subprocess.run(fit(options, "--out", "whole.npz", "--force"), check=True)
                references[name] = digest("whole.npz"), time.monotonic() - begun
            reference, seconds = references[name]
            if os.path.exists(CHECKPOINT):
                os.remove(CHECKPOINT)
            found = finish_killed(killer, name, options, max(0.1, seconds))
            check(found == reference, f"{name}: the model that was killed and resumed is another (seed {killer.seed})")
            # A finished checkpoint gives the model again, and data and options are compared.
            again = subprocess.run(fit(options, "--out", "model.npz", "--force", "--resume", CHECKPOINT), check=False)
            check(again.returncode == 0 and digest("model.npz") == reference, f"{name}: a finished checkpoint gives another")
            if killer.kills >= wanted and len(references) == len(CASES):
                break
    print(f"{killer.kills} kills, {killer.of_ranks} of them of several ranks, {killer.writing} while a checkpoint was "
          f"written; {killer.signals} ended by INT or TERM; {killer.resumed} times resumed; no model differs")


def refused(status, text, options, *more):
    run = subprocess.run(fit(options, "--force", *more), capture_output=True, text=True, check=False)
    lines = run.stderr.splitlines()
    check(run.returncode == status, f"{more}: status {run.returncode} instead of {status}: {run.stderr}")
    check(len(lines) == 1 and lines[0].startswith("armilla: ") and text in lines[0], f"{more}: says {run.stderr!r}")


def test_refusals():
    options = CASES["orthonormal"]
    subprocess.run(fit(options, "--checkpoint", "one", "--force"), check=True)
    for more, text in (
        (["--seed", "1"], "--seed: 0 there, 1 here"),
        (["--normalize", "l2"], "--normalize: none there, l2 here"),
        (["--precision", "f32"], "--precision: f64 there, f32 here"),
        (["--kernel", "portable"], "--kernel: "),
        (["--solver", "palm"], "--solver: fast there, palm here"),
        (["--center"], "--center: no there, yes here"),
        (["--max-iter", "41"], "--max-iter: 40 there, 41 here"),
    ):
        refused(65, text, options, "--resume", "one", *more)
    X = np.load("dense.npy")
    X[3, 4] += 1
    np.save("other.npy", X)
    np.save("shorter.npy", X[1:])
    refused(65, "other data: fingerprint", ["other.npy", *options[1:]], "--resume", "one")
    refused(65, "other data: samples 1500 there, 1499 here", ["shorter.npy", *options[1:]], "--resume", "one")
    refused(66, "missing: cannot be opened", options, "--resume", "missing")
    refused(65, "not a checkpoint of Armilla", options, "--resume", "dense.npy")
    with open("one", "rb") as file:
        content = file.read()
    moments = random.Random(1)
    for _ in range(12):
        at, bit = moments.randrange(len(content)), moments.randrange(8)
        with open("damaged", "wb") as file:
            file.write(content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :])
        refused(65, "damaged: ", options, "--resume", "damaged")
        with open("damaged", "wb") as file:
            file.write(content[:at])
        refused(65, "damaged: ", options, "--resume", "damaged")
    # Threads, outputs and limits are not compared; what exists is not replaced, unless it is what is resumed.
    subprocess.run(fit(options, "--resume", "one", "--checkpoint", "one", "--threads", "3", "--memory", "1G", "--time-limit",
                       "1e6"), check=True)
    run = subprocess.run([a for a in fit(options, "--checkpoint", "one") if a != "--force"], capture_output=True, check=False)
    check(run.returncode == 73, "an existing checkpoint is replaced without --force")
    refused(73, "cannot be created", options, "--checkpoint", "nowhere/one")
    refused(64, "--checkpoint", ["dense.npy", "--rank", "2"], "--out", "same.npz", "--checkpoint", "same.npz")


def test_full_disk():
    """The fit goes on where the checkpoint cannot be written, and says so at the end; the old one stays."""
    options = CASES["atoms"]
    subprocess.run(fit(options, "--checkpoint", "kept", "--force", "--out", "whole.npz"), check=True)
    with open("kept", "rb") as file:
        before = file.read()
    script = 'ulimit -f 8; trap "" XFSZ; exec "$@"'
    run = subprocess.run(["sh", "-c", script, "sh", *fit(options, "--checkpoint", "kept", "--force", "--json")],
                         capture_output=True, text=True, check=False)
    check(run.returncode == 74, f"full disk: status {run.returncode}, {run.stderr}")
    check("the last checkpoint could not be written" in run.stderr.splitlines()[-1], f"full disk: {run.stderr}")
    check(json.loads(run.stdout)["stop"] == "max-iter", "full disk: the fit itself is complete")
    with open("kept", "rb") as file:
        check(file.read() == before, "full disk: the checkpoint before is gone")
    check(not temporaries(), "full disk: something is left")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", action="store_true")
    arguments = parser.parse_args()
    if arguments.ranks and not launch.HAS_MPI:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_data()
        if not arguments.ranks:
            test_refusals()
            test_full_disk()
        usual = int(os.environ.get("ARMILLA_KILLS", "25"))
        test_kills(Killer(arguments.seed, arguments.ranks),
                   arguments.kills or (max(15, usual // 3) if arguments.ranks else usual))
        os.chdir("/")


main()
