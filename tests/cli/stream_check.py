#!/usr/bin/env python3
"""Files four times --memory and more, through the command: the same U, V and radius as in memory, with little resident
memory, nothing left behind; transform, cluster and info of them; what cannot be streamed; a file cut while it is read.

$ARMILLA is the command. Needs NumPy; sparse data where SciPy is installed."""
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)
try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
SANITIZED = b"__asan_init" in open(ARMILLA, "rb").read()
KIBI, MEBI = 1 << 10, 1 << 20
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def run(*arguments, status=0):
    process = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    check(process.returncode == status, f"{arguments}: {process.returncode} {process.stderr}")
    return process


def fit(data, out, *more):
    return json.loads(run("fit", data, "--rank", 8, "--max-iter", 3, "--out", out, "--force", "--quiet", "--json",
                          *more).stdout or "{}")


def same(first, second, arrays):
    with np.load(first) as a, np.load(second) as b:
        return all(a[name].tobytes() == b[name].tobytes() for name in arrays)


def write(rng):
    """Files of 12 to 35 MB, and those of them that can be streamed."""
    X = (rng.random((60000, 6)) @ rng.random((6, 50)) * 40).astype("f4")
    np.save("f32.npy", X)
    np.save("u8.npy", np.tile(X, (2, 4)).astype("u1"))
    np.save("turned.npy", np.asfortranarray(X))
    np.savez("stored.npz", X=X)
    np.savez_compressed("packed.npz", X=X)
    files = ["f32.npy", "u8.npy", "stored.npz"]
    if sparse:
        S = sparse.random(120000, 300, 0.08, format="csr", dtype="f4", random_state=3)
        sparse.save_npz("csr.npz", S, compressed=False)
        S.indices, S.indptr = S.indices.astype("i8"), S.indptr.astype("i8")
        sparse.save_npz("csr64.npz", S, compressed=False)
        files += ["csr.npz", "csr64.npz"]
    return files


def check_fits(files):
    for number, data in enumerate(files):
        more = [[], ["--normalize", "l2"], ["--tfidf", "--start", "kmeans++"], ["--precision", "f64"],
                ["--scale", "--codes", "nonneg-sphere", "--basis", "nonnegative"]][number % 5]
        size = os.path.getsize(data)
        plain = fit(data, "plain.npz", "--threads", 2, *more)
        check(plain.get("streamed") is False and plain.get("bytes_read") is None, f"{data} fits into memory")
        for threads in (1, 3, 8):
            limit = size // 4 + max(0, threads - 3) * 900 * KIBI  # buffers of each
            found = fit(data, "streamed.npz", "--memory", limit, "--threads", threads, *more)
            check(found.get("streamed") is True and found.get("bytes_read", 0) > size, f"{data} is streamed")
            check(found.get("passes", 0) == plain.get("passes") > found.get("passes_before", 99) > 0,
                  f"{data}: passes are counted")
            if found:
                check(same("plain.npz", "streamed.npz", ("U", "V", "radius")), f"{data} on {threads}: the same bits")
                # BLAS and the program itself are not in the limit.
                bare = 60 * MEBI + threads * 6 * MEBI
                check(SANITIZED or found["peak_rss_bytes"] < limit + bare,
                      f"{data} on {threads}: {found['peak_rss_bytes']} bytes of memory")
    check(sorted(os.listdir()) == sorted(before + ["plain.npz", "streamed.npz"]), f"left behind: {os.listdir()}")


def check_others():
    limit = os.path.getsize("f32.npy") // 4
    run("transform", "plain.npz", "f32.npy", "--out", "a.npy", "--quiet", status=65 if sparse else 0)
    fit("f32.npy", "plain.npz")
    run("transform", "plain.npz", "f32.npy", "--out", "a.npy", "--quiet", "--force")
    run("transform", "plain.npz", "f32.npy", "--out", "b.npy", "--quiet", "--memory", 2 * limit)
    check(open("a.npy", "rb").read() == open("b.npy", "rb").read(), "codes of a streamed file")
    for memory in ([], ["--memory", limit]):
        run("cluster", "f32.npy", "--k", 3, "--tries", 1, "--out", f"labels{len(memory)}.txt", "--quiet", "--method", "kmeans", *memory)
    check(open("labels0.txt").read() == open("labels2.txt").read(), "clusters of a streamed file")
    said = run("cluster", "f32.npy", "--k", 3, "--tries", 1, "--out", "labels.txt", "--memory", limit).stderr
    check("k-means instead" in said and "without a graph" in said, f"no memory for a graph: {said}")
    facts = [json.loads(run("info", "f32.npy", "--json", *memory).stdout) for memory in ([], ["--memory", limit])]
    check(facts[1].pop("storage") == "streamed " + facts[0].pop("storage"), "info says that it streams")
    check(facts[0] == facts[1], "info of a streamed file")


def check_refusals():
    np.savetxt("text.csv", np.load("f32.npy")[:20000], delimiter=",", fmt="%.3f")
    for data in ("turned.npy", "packed.npz", "text.csv"):
        text = run("info", data, "--memory", "1M", status=71).stderr
        check(text.count("\n") == 1 and "armilla convert" in text, f"{data}: {text}")
        if data != "text.csv":  # what the message says to do
            run("convert", data, "plain.npy", "--memory", "1M", "--quiet", "--force")
            check(open("plain.npy", "rb").read() == open("f32.npy", "rb").read(), f"{data} is converted")
    text = run("fit", "f32.npy", "--rank", 40, "--memory", "200K", "--out", "no.npz", status=71).stderr
    check("--memory" in text, f"too small a limit: {text}")
    check(not os.path.exists("no.npz"), "no output of a failure")


def check_named():
    """Files whose format is named, and an array that begins behind what is read of a file at first."""
    whole = open("f32.npy", "rb").read()
    open("f32.npy.gz", "wb").write(gzip.compress(whole, 1))
    for name in ([], ["--format", "npy"]):
        run("info", "f32.npy.gz", "--memory", "20M", *name)
        text = run("info", "f32.npy.gz", "--memory", "1M", *name, status=71).stderr
        check("armilla convert" in text, f"gzip: {text}")
    header = whole[10:128].rstrip() + b" " * 20000
    header += b" " * (-(len(header) + 13) % 64) + b"\n"
    open("long.npy", "wb").write(b"\x93NUMPY\2\0" + len(header).to_bytes(4, "little") + header + whole[128:])
    run("info", "long.npy", "--memory", "8M")
    run("info", "long.npy")


def check_no_temporary():
    """Arrays that would rather be in a file, where there can be none: an error only if they do not fit."""
    os.environ["TMPDIR"] = "/nowhere"
    run("fit", "f32.npy", "--rank", 2, "--max-iter", 1, "--memory", "4M", "--threads", 1, "--quiet")
    text = run("fit", "f32.npy", "--rank", 40, "--max-iter", 1, "--memory", "4M", "--threads", 1, "--quiet",
               status=73).stderr
    check(text.startswith("armilla: /nowhere: a temporary file of 9.6 MB"), f"no temporary file: {text}")
    run("convert", "f32.npy", "some.npy", "--keep-features", "1-45", "--memory", "3M", "--quiet")  # beside OUT
    check(np.array_equal(np.load("some.npy"), np.load("f32.npy")[:, :45]), "a choice of features is converted")
    del os.environ["TMPDIR"]


def check_cut():
    """A file that becomes shorter in the middle, and a fit that is stopped there."""
    np.save("cut.npy", np.load("f32.npy"))
    for name, what in (("cut", 74), ("term", None)):
        process = subprocess.Popen([ARMILLA, "fit", "cut.npy", "--rank", "8", "--max-iter", "100000", "--tol", "0",
                                    "--memory", "3M", "--out", name + ".npz", "--quiet"], stderr=subprocess.PIPE)
        time.sleep(3 if SANITIZED else 0.7)
        if what:
            os.truncate("cut.npy", 6 * MEBI)
        else:
            process.send_signal(signal.SIGTERM)
        text = process.communicate(timeout=120)[1].decode()
        if what:
            check(process.returncode == what and "cut.npy: became shorter" in text and text.count("\n") == 1,
                  f"{process.returncode}: {text}")
            check(not os.path.exists(name + ".npz"), "no output of a file that was cut")
            np.save("cut.npy", np.load("f32.npy"))
        else:
            check(process.returncode in (0, 130, 143) and os.path.exists(name + ".npz"), f"stopped: {text}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    inputs = write(np.random.default_rng(5))
    before = os.listdir()
    check_fits(inputs)
    check_others()
    check_refusals()
    check_named()
    check_no_temporary()
    check_cut()
    os.chdir("/")
print("failures:", len(failures))
sys.exit(1 if failures else 0)
