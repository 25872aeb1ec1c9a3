#!/usr/bin/env python3
"""armilla convert with text several times larger than --memory: every reader and the forms that are written, the same
bytes as without a limit and what NumPy and SciPy make of the file, within the memory that is allowed; mistakes in the
same words; signals at any moment; nothing left behind.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy or SciPy is missing."""

import filecmp
import gzip
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sparse
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
LIMIT = 1 << 20
TIMES = 4  # how many limits a file is long
# Bytes of the process beyond its limit: threads, windows of the mappings, what the allocator keeps. Mirrored entries are the
# most, 14 MiB; all of them in memory would be 18.
MARGIN = 16 << 20
SANITIZED = "ASAN_OPTIONS" in os.environ or "ARMILLA_VALGRIND" in os.environ


def launch(*arguments):
    return subprocess.Popen([ARMILLA, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


# A process that is started counts what the one that started it had in memory: this one is small.
SMALL = """import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
status, usage = os.wait4(child, 0)[1:]
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss)"""


def run(*arguments):
    """Exit status, message and peak memory."""
    done = subprocess.run([sys.executable, "-S", "-E", "-c", SMALL, ARMILLA, *map(str, arguments)], capture_output=True,
                          text=True, check=True)
    status, peak = done.stdout.split()[-2:]
    return int(status), done.stderr, int(peak) * 1024


def convert(source, target, *options):
    status, shown, peak = run("convert", source, target, "--force", "--quiet", *options)
    assert status == 0, f"convert {source} {target} {' '.join(options)}: {status} {shown}"
    return peak


def text_of(x):
    return repr(float(x))


def write_table(path, values, separator=",", rows=None, header=None, labels=None, blank=0):
    """A text table; every `blank` lines one that is empty and a comment."""
    with open(path, "w", encoding="utf-8") as file:
        if header:
            file.write(separator.join(header) + "\n")
        for i, row in enumerate(values):
            if blank and i % blank == 0:
                file.write("\n# a comment\n")
            fields = ([rows[i]] if rows else []) + list(map(text_of, row)) + ([labels[i]] if labels else [])
            file.write(separator.join(fields) + "\n")


def write_entries(path, shape, entries, kind="real general"):
    with open(path, "w", encoding="utf-8") as file:
        file.write("%%%%MatrixMarket matrix coordinate %s\n%d %d %d\n" % (kind, *shape, len(entries)))
        for i, j, x in entries:
            file.write("%d %d%s\n" % (i + 1, j + 1, "" if "pattern" in kind else " " + text_of(x)))


def pack(path):
    with open(path, "rb") as file, gzip.open(path + ".gz", "wb", compresslevel=1) as packed:
        packed.write(file.read())
    return path + ".gz"


def entries_of(rng, shape, count, lower=False):
    """In no order, some places several times; lower: on and below the diagonal."""
    i, j = (rng.integers(0, size, count) for size in shape)
    i[:200], j[:200] = i[1000:1200], j[1000:1200]
    if lower:
        i, j = np.maximum(i, j), np.minimum(i, j)
    return list(zip(i.tolist(), j.tolist(), rng.standard_normal(count).tolist()))


def added_up(entries, shape, mirror=0, pattern=False):
    """What the entries are, in the order of the file: one after another, as readers add them."""
    sums = {}
    for i, j, x in entries:
        places = [(i, j, 1.0)] + ([(j, i, mirror)] if mirror and i != j else [])
        for a, b, sign in places:
            value = (1.0 if pattern else x) * sign
            sums[a, b] = sums[a, b] + value if (a, b) in sums else value
    rows, columns = zip(*sums)
    made = sparse.csr_matrix((list(sums.values()), (rows, columns)), shape=shape)
    made.sort_indices()
    return made


def same_sparse(path, wanted):
    found = sparse.load_npz(path)
    assert found.format == "csr" and found.shape == wanted.shape, path
    for name in ("indptr", "indices", "data"):
        a, b = getattr(found, name), getattr(wanted, name)
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), f"{path}: {name}"


def same_dense(path, wanted):
    found = np.load(path)
    if hasattr(found, "files"):
        found = found["X"]
    assert found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes(), path


def both(source, target, check, *options, memory=LIMIT):
    """With and without a limit: the same bytes, and what `check` says of them."""
    ending = target[target.index("."):]
    assert os.path.getsize(source) >= TIMES * memory or source.endswith(".gz"), f"{source} is too small for this test"
    convert(source, "whole" + ending, *options)
    peak = convert(source, target, "--memory", str(memory), *options)
    assert filecmp.cmp("whole" + ending, target, shallow=False), f"{source} -> {target}: other bytes under a limit"
    one = convert(source, target, "--memory", str(memory), "--threads", "1", *options)
    assert filecmp.cmp("whole" + ending, target, shallow=False), f"{source} -> {target}: other bytes on one thread"
    if not SANITIZED:
        for found in (peak, one):
            assert found < memory + MARGIN, f"{source} -> {target}: {found >> 20} MiB in memory"
    if check:
        check(target)
    return peak


def check_tables(rng):
    values = rng.standard_normal((1500, 200)) * 10.0 ** rng.integers(-3, 3, (1500, 200))
    values[values < -20] = 0
    write_table("plain.csv", values)
    names = ["s%d" % i for i in range(len(values))]
    peak = both("plain.csv", "out.npy", lambda path: same_dense(path, values))
    both("plain.csv", "out.npz", lambda path: same_dense(path, values))
    both("plain.csv", "turned.npy", lambda path: same_dense(path, np.ascontiguousarray(values.T)), "--samples", "columns")
    both("plain.csv", "columns.npy", None, "--to-samples", "columns")
    both("plain.csv", "out.mtx", lambda path: np.array_equal(scipy.io.mmread(path), values) or sys.exit(path))
    both("plain.csv", "out.csv", None)
    both("plain.csv", "columns.csv", None, "--to-samples", "columns")
    both("plain.csv", "out.svm", None)
    both(pack("plain.csv"), "out.npy", lambda path: same_dense(path, values))
    write_table("named.tsv", values, "\t", rows=names, header=["id"] + ["f%d" % i for i in range(200)] + ["kind"],
                labels=["%d" % (i % 3) for i in range(len(values))], blank=7)

    def named(path):
        found = np.load(path)
        same_dense(path, values)
        assert list(found["sample_names"]) == names and found["feature_names"][7] == "f7", path
        assert list(found["labels"][:4]) == ["0", "1", "2", "0"], path

    both("named.tsv", "named.npz", named, "--label-column", "kind")
    write_table("quoted.csv", values, rows=['"two\nlines %d"' % i for i in range(len(values))], header=[""] + ["f"] * 200)
    both("quoted.csv", "quoted.npz", lambda path: same_dense(path, values))
    counts = rng.integers(0, 256, (9500, 140))
    np.savetxt("counts.csv", counts, fmt="%d", delimiter=";")
    both("counts.csv", "counts.idx", None)
    return peak


def check_entries(rng):
    shape, count = (700, 900), 170000
    mixed = entries_of(rng, shape, count)
    write_entries("mixed.mtx", shape, mixed)
    wanted = added_up(mixed, shape)
    peak = both("mixed.mtx", "mixed.npz", lambda path: same_sparse(path, wanted))
    both(pack("mixed.mtx"), "mixed.npz", lambda path: same_sparse(path, wanted))
    turned = added_up([(j, i, x) for i, j, x in mixed], shape[::-1])
    both("mixed.mtx", "turned.npz", lambda path: same_sparse(path, turned), "--samples", "columns")
    both("mixed.mtx", "mixed.mtx.mtx", None)
    both("mixed.mtx", "mixed.svm", None)
    ordered = sorted({(i, j): x for i, j, x in mixed}.items())
    ordered = [(i, j, x) for (i, j), x in ordered]
    write_entries("ordered.mtx", shape, ordered)
    both("ordered.mtx", "ordered.npz", lambda path: same_sparse(path, added_up(ordered, shape)), memory=LIMIT // 4 * 3)
    square = (900, 900)
    for kind, mirror in (("real symmetric", 1), ("real skew-symmetric", -1), ("pattern general", 0)):
        entries = entries_of(rng, square, count, lower=mirror != 0)
        if mirror < 0:
            entries = [entry for entry in entries if entry[0] != entry[1]]
        if kind.startswith("pattern"):
            entries = entries * 4
        write_entries("kind.mtx", square, entries, kind)
        wanted = added_up(entries, square, mirror, pattern=kind.startswith("pattern"))
        both("kind.mtx", "kind.npz", lambda path, wanted=wanted: same_sparse(path, wanted))
    numbers = rng.standard_normal((900, 300))
    with open("array.mtx", "w", encoding="utf-8") as file:
        file.write("%%MatrixMarket matrix array real general\n900 300\n" + "\n".join(map(text_of, numbers.T.ravel())))
    both("array.mtx", "array.npy", lambda path: same_dense(path, numbers))
    return peak


def check_svmlight(rng):
    samples, features, count = 3000, 5000, 60
    entries, labels = [], []
    with open("data.svm", "w", encoding="utf-8") as file:
        for i in range(samples):
            places = rng.permutation(features)[:count]
            numbers = rng.standard_normal(count)
            labels.append("%d" % (i % 4))
            file.write(labels[-1] + "".join(" %d:%s" % (j + 1, text_of(x)) for j, x in zip(places, numbers)) + " # end\n")
            entries += [(i, int(j), float(x)) for j, x in zip(places, numbers)]
            if i % 10 == 0:
                file.write("# nothing\n\n")

    def right(path):
        same_sparse(path, added_up(entries, (samples, features)))
        assert list(np.load(path)["labels"]) == labels

    # Feature 5000 and feature 1 occur: the oracle has the same shape.
    both("data.svm", "svm.npz", right)
    both(pack("data.svm"), "svm.npz", right)
    both("data.svm", "again.svm", None)


def check_mistakes():
    """A mistake is told in the same words, and leaves nothing."""
    for source, at in (("plain.csv", 700), ("mixed.mtx", 90000), ("data.svm", 1700)):
        with open(source, encoding="utf-8") as file:
            lines = file.read().split("\n")
        lines[at] = lines[at][: len(lines[at]) // 2] + "x" + lines[at][len(lines[at]) // 2:]
        bad = "bad" + source[source.index("."):]
        with open(bad, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        before = sorted(os.listdir("."))
        whole = run("convert", bad, "bad.npz", "--quiet")
        limited = run("convert", bad, "bad.npz", "--quiet", "--memory", LIMIT)
        assert whole[0] == 65 and whole[:2] == limited[:2], f"{whole} {limited}"
        assert ": line %d" % (at + 1) in limited[1], limited[1]
        assert sorted(os.listdir(".")) == before, "something is left behind"
    with open("plain.csv.gz", "rb") as file:
        packed = file.read()
    with open("cut.csv.gz", "wb") as file:
        file.write(packed[: len(packed) // 2])
    status, shown, _ = run("convert", "cut.csv.gz", "bad.npy", "--quiet", "--memory", LIMIT)
    assert status == 65 and "cut short" in shown and not os.path.exists("bad.npy"), shown
    for source, memory in (("plain.csv", "100K"), ("mixed.mtx", "12K")):
        status, shown, _ = run("convert", source, "bad.npz", "--quiet", "--memory", memory)
        assert status == 71 and "and the limit is " + memory[:-1] in shown and not os.path.exists("bad.npz"), shown
    status, shown, _ = run("fit", "plain.csv", "--rank", "2", "--out", "bad.npz", "--memory", LIMIT)
    assert status == 71 and "armilla convert" in shown and not os.path.exists("bad.npz"), shown


def check_signals():
    """At random moments: the old output or the new one, and nothing beside it."""
    chance = random.Random(5)
    for number in range(12):
        source, target = (("plain.csv.gz", "stop.npy"), ("mixed.mtx", "stop.npz"))[number % 2]
        convert(source, target, "--memory", str(LIMIT))
        with open(target, "rb") as file:
            new = file.read()
        with open(target, "wb") as file:
            file.write(b"old")
        before = sorted(os.listdir("."))
        process = launch("convert", source, target, "--force", "--quiet", "--memory", LIMIT)
        time.sleep(chance.uniform(0, 0.15))
        process.send_signal(signal.SIGINT if number % 4 < 2 else signal.SIGTERM)
        process.stderr.read()
        assert process.wait(20) in (0, 130, 143, -signal.SIGINT, -signal.SIGTERM), process.returncode
        with open(target, "rb") as file:
            assert file.read() in (b"old", new), "neither the old output nor the new one"
        assert sorted(os.listdir(".")) == before, "something is left behind"


def main():
    rng = np.random.default_rng(13)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        dense, mixed = check_tables(rng), check_entries(rng)
        check_svmlight(rng)
        check_mistakes()
        check_signals()
        os.chdir("/")
    print(f"under a limit of {LIMIT >> 20} MiB at most {dense >> 20} MiB (dense) and {mixed >> 20} MiB (shuffled)")


main()
