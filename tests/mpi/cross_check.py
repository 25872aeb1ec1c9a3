#!/usr/bin/env python3
"""The same matrix gives the same U, V and radius from memory, from the disk under a small limit, on 1 to 8 threads, by 1 to
4 ranks, and after it was killed and resumed, each time in another of these ways. Codes of other samples, checks and a
fit that is stopped likewise.

    cross_check.py [CASE ...]

$ARMILLA, $ARMILLA_MPI and $MPIRUN as in launch.py. Exit status 77 (skipped) where NumPy or MPI is missing."""

import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    sys.exit(77)
try:
    from scipy import sparse
except ImportError:
    sparse = None

import launch

LIMIT = 4 << 20  # bytes: data are streamed, and of many samples the codes are in files too
EVERY_THREADS, EVERY_RANKS = (2, 3, 8), (1, 2, 3, 4)
# Solvers and kinds of models, forms of data, tall, wide and long: data, then options.
CASES = {
    "orthonormal": ["long.npy", "--rank", 12, "--codes", "nonneg-sphere", "--restarts", 2],
    "orthonormal, prepared": ["bytes.idx", "--rank", 4, "--codes", "sparse-sphere", "--sparsity", 2, "--center",
                              "--scale"],
    "atoms": ["tall.npy", "--rank", 5, "--model", "spherical-nmf"],
    "atoms, sparse codes": ["wide.npy", "--rank", 6, "--model", "sparse-spherical-nmf", "--sparsity", 3],
    "assign": ["bytes.bvecs", "--rank", 6, "--model", "kmeans", "--start", "random"],
    "assign, sparse": ["counts.npz", "--rank", 5, "--model", "spherical-kmeans"],
    "palm": ["counts.npz", "--rank", 4, "--solver", "palm", "--start", "kmeans++", "--normalize", "l2", "--tfidf"],
    "mu": ["tall.npy", "--rank", 4, "--model", "nmf", "--solver", "mu", "--precision", "f32"],
    "online": ["long.npy", "--rank", 5, "--model", "spherical-nmf", "--solver", "online", "--batch", 4000],
}
CHECKPOINT = "fit.checkpoint"
kills = 0


def make_data():
    numbers = np.random.default_rng(7)

    def mixture(samples, features, parts):
        X = numbers.random((samples, parts)) ** 3 @ numbers.random((parts, features)) ** 3
        return X + 0.05 * numbers.random((samples, features))

    np.save("long.npy", mixture(50000, 30, 6).astype("f4"))
    np.save("tall.npy", mixture(14000, 50, 5))
    np.save("wide.npy", mixture(700, 1500, 5).astype("f4"))
    X = mixture(20000, 240, 4)
    with open("bytes.idx", "wb") as file:
        file.write(b"\0\0\x08\x03" + struct.pack(">3I", 20000, 12, 20) + (X * (255 / X.max())).astype("u1").tobytes())
    with open("bytes.bvecs", "wb") as file:
        for x in (X * (255 / X.max())).astype("u1"):
            file.write(struct.pack("<i", len(x)) + x.tobytes())
    if sparse:
        S = sparse.random(36000, 300, 0.05, format="csr", dtype="f4", random_state=3)
        S.data = np.ceil(9 * S.data).astype("f4")
        row = np.arange(S.shape[0])
        sparse.save_npz("counts.npz", (S + sparse.csr_matrix((np.ones(len(row), "f4"), (row, row % 300)))).tocsr(),
                        compressed=False)


def run(ranks, *arguments, status=0):
    done = subprocess.run(launch.command(ranks, *arguments), capture_output=True, text=True, timeout=launch.SECONDS,
                          env=launch.ENVIRONMENT)
    assert status is None or done.returncode == status, f"{ranks} ranks, {arguments}: {done.returncode} {done.stderr}"
    return done


def fit(options, out, *more):
    return ["fit", *options, "--max-iter", 6, "--tol", 0, "--out", out, "--force", "--quiet", *more]


def variants(number):
    """Number of ranks and further options of each variant of a fit: all of them for the first case, and for the others
    numbers of ranks in turn."""
    for threads in EVERY_THREADS:
        yield 0, ["--threads", threads]
    for ranks in EVERY_RANKS if number == 0 else EVERY_RANKS[number % 2::2]:
        yield ranks, ["--threads", 1 + number % 2]
    for ranks in (0, 2 + number % 3):
        yield ranks, ["--threads", 2, "--memory", LIMIT]


def check_fits(number, name, options, reference):
    for ranks, more in variants(number):
        done = run(ranks, *fit(options, "found.npz", "--json", *more))
        facts = json.loads(done.stdout)
        # Ranks read their own part of a stored csr matrix, and of vectors that lie behind their lengths.
        by_rank = ranks > 1 and str(options[0]).endswith((".npz", ".bvecs"))
        assert facts["streamed"] == ("--memory" in more or by_rank), f"{name}: streamed with {more}"
        assert launch.digest("found.npz") == reference, f"{name}: {ranks} ranks, {more}: another model"


def stamp():
    """Changes whenever there is another checkpoint."""
    try:
        facts = os.stat(CHECKPOINT)
        return facts.st_ino, facts.st_mtime_ns
    except OSError:
        return None


def wait_for_checkpoints(process, count):
    before, seen = stamp(), 0
    deadline = time.monotonic() + launch.SECONDS
    while seen < count and process.poll() is None:
        assert time.monotonic() < deadline, "no checkpoint is written"
        time.sleep(0.0002)
        if stamp() != before:
            before = stamp()
            seen += 1


def check_resumed(name, options, reference, moments):
    """Killed after a few checkpoints, and resumed in another way each time."""
    global kills
    small = ["--memory", LIMIT]
    for ranks, victim, more in ((0, -1, []), (3, 1, []), (0, -1, small), (2, -1, small), (4, 0, []), (0, None, [])):
        resume = ["--resume", CHECKPOINT] if os.path.exists(CHECKPOINT) else []
        arguments = fit(options, "found.npz", "--checkpoint", CHECKPOINT, "--checkpoint-every", 0, "--threads",
                        moments.choice((1, 2)), *more, *resume)
        with subprocess.Popen(launch.command(ranks, *arguments), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, env=launch.ENVIRONMENT, start_new_session=True) as process:
            if victim is not None:
                wait_for_checkpoints(process, moments.choice((1, 2)))
                status = launch.end_by(process, signal.SIGKILL, victim)
            else:
                status = process.wait(timeout=launch.SECONDS)
            text = process.stderr.read()
        kills += status != 0
        assert status == 0 or (victim is not None and "armilla:" not in text), f"{name}: {ranks} ranks: {status} {text}"
    assert launch.digest("found.npz") == reference, f"{name}: killed and resumed, another model"
    os.remove(CHECKPOINT)


def check_use(name, options):
    """Codes by the model, and the check of it, streamed and by ranks."""
    data = options[0]
    run(0, "transform", "whole.npz", data, "--out", "whole.npy", "--force", "--quiet", "--threads", 1)
    with open("whole.npy", "rb") as file:
        wanted = file.read()
    for ranks, more in ((0, ["--memory", 2 * LIMIT]), (2, []), (3, ["--memory", 2 * LIMIT])):
        run(ranks, "transform", "whole.npz", data, "--out", "found.npy", "--force", "--quiet", *more)
        with open("found.npy", "rb") as file:
            assert file.read() == wanted, f"{name}: other codes by {ranks} ranks, {more}"
        run(ranks, "check", "found.npz", data, *more)


def check_case(number, name, options):
    run(0, *fit(options, "whole.npz", "--threads", 1))
    reference = launch.digest("whole.npz")
    check_fits(number, name, options, reference)
    check_resumed(name, options, reference, random.Random(number))
    if number % 3 == 0:
        check_use(name, options)


# Of a long fit: number of ranks, options, and what is sent; None: a time limit.
STOPS = (
    (0, ["--memory", LIMIT], signal.SIGINT),
    (0, ["--memory", LIMIT, "--checkpoint", CHECKPOINT], signal.SIGTERM),
    (0, ["--memory", LIMIT, "--checkpoint", CHECKPOINT], None),
    (3, [], signal.SIGTERM),
    (2, ["--memory", LIMIT, "--checkpoint", CHECKPOINT], signal.SIGINT),
    (3, ["--checkpoint", CHECKPOINT], None),
)
SOON = 5  # seconds: a sweep takes a few hundredths, on a machine with other work


def stop(ranks, more, number):
    """The exit status, and the seconds from the signal or limit to the end."""
    limit = ["--time-limit", 1] if number is None else []
    arguments = ["fit", "long.npy", "--rank", 6, "--model", "spherical-nmf", "--max-iter", 10**6, "--tol", 0, "--out",
                 "stopped.npz", "--force", "--threads", 1, "--trace", "trace.csv", *more, *limit]
    begun = time.monotonic() + (1 if number is None else 0)
    with subprocess.Popen(launch.command(ranks, *arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=launch.ENVIRONMENT, start_new_session=True) as process:
        if number is None:
            status = process.wait(timeout=launch.SECONDS)
        else:
            time.sleep(2)
            begun = time.monotonic()
            status = launch.end_by(process, number, 1 if ranks else -1)
    return status, time.monotonic() - begun


def check_stops():
    for ranks, more, number in STOPS:
        status, seconds = stop(ranks, more, number)
        what = f"{ranks} ranks, {more}, {number}: {status} after {seconds:.1f} s"
        assert status == (128 + number if number else 0), what
        assert seconds < SOON, what
        run(0, "check", "stopped.npz", "long.npy")
        if "--checkpoint" in more:
            assert stamp(), what
            os.remove(CHECKPOINT)


def main():
    if not launch.HAS_MPI:
        sys.exit(77)
    chosen = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_data()
        before = set(os.listdir())
        for number, (name, options) in enumerate(CASES.items()):
            if os.path.exists(options[0]) and (not chosen or name in chosen):
                check_case(number, name, options)
        if not chosen or "stops" in chosen:
            check_stops()
        left = set(os.listdir()) - before - {"whole.npz", "whole.npy", "found.npz", "found.npy", "stopped.npz",
                                             "trace.csv"}
        # A process that was killed leaves its temporary file, which a later run removes after an hour.
        left = {name for name in left if not name.endswith(".tmp")}
        assert not left, f"left behind: {left}"
        os.chdir("/")
    print(f"{len(CASES)} fits alike in every way; {kills} were killed and resumed")


main()
