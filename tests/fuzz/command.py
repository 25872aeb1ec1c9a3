#!/usr/bin/env python3
"""Fuzzing of whole commands: command.py SERVER [--seed S] [--seconds N] [--least N] [--cases A-B] [--jobs N]
[--keep DIR] [-v]

Seeds of every format and models are mutated (mutate.py) and go through the commands, with options at random. SERVER is
fuzz_command of a build. Case K of seed S is the same on every machine: `--seed S --cases K -v` runs it again and shows
it. A finding is a signal, a report of a sanitizer, an exit status that docs/exit-status.md does not have or 70, an error
of more than one line, an output that is left after a failure or missing after a success, 20 s of processor time, two
minutes, or more memory than MOST_MEMORY. It is made small by leaving out mutations and options, and kept in DIR with
its files and the command line."""
import argparse
import gzip
import io
import json
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import numpy as np
import scipy.io
import scipy.sparse

import mutate

STATUSES = {0, 64, 65, 66, 69, 71, 73, 74}
MOST_MEMORY = 3 << 20  # kB; sanitizers take more than the command alone
OUTPUTS = ("out", "trace.csv")
MODELS = [("plain", "table.csv", "--rank 2"), ("single", "dense.npy", "--rank 3 --precision f32 --model spherical-nmf"),
          ("sparse", "csr.npz", "--rank 3 --model sparse-spherical-pca --sparsity 2"),
          ("prepared", "table.csv", "--rank 2 --center --tfidf --log1p --scale --normalize l2"),
          ("named", "names.csv", "--rank 2 --label-column class"),
          ("kept", "names.csv", "--rank 2 --label-column class --keep-features 1-3 --keep-samples 2-9"),
          ("hot", "table.csv", "--rank 4 --model kmeans"),
          ("dictionary", "table.csv", "--rank 4 --model dictionary --sparsity 1"),
          ("ones", "table.csv", "--rank 1 --basis free --codes free")]


class Seed:
    """A file, or the parts of an archive or of a directory."""

    def __init__(self, name, content, form="file"):
        self.name, self.content, self.form = name, content, form

    def mutated(self, numbers):
        """The bytes, or the parts of a directory, after mutations by these random numbers."""
        parts = [list(p) for p in self.content] if self.form != "file" else [[self.name, self.content]]
        for number in numbers:
            r = random.Random(number)
            if self.form == "file":
                parts[0][1] = r.choice(mutate.mutations_of(self.name))(r, parts[0][1])
            else:
                parts = mutate.entry(r, parts)
        r = random.Random(len(numbers))
        if self.form == "directory":
            return parts
        whole = mutate.zip_join(r, parts) if self.form == "archive" else parts[0][1]
        r = random.Random(numbers[-1] if numbers else 0)
        return mutate.flip(r, whole) if self.form == "archive" and numbers and r.random() < 0.05 else whole

    def write(self, folder, numbers):
        path = os.path.join(folder, self.name)
        content = self.mutated(numbers)
        if self.form != "directory":
            with open(path, "wb") as file:
                file.write(content)
            return
        os.mkdir(path)
        for name, part in content:
            name = name.replace("/", "_").replace("\0", "_")[:200] or "x"
            if name not in (".", ".."):
                with open(os.path.join(path, name), "wb") as file:
                    file.write(part)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def saved(save, *arguments):
    file = io.BytesIO()
    save(file, *arguments)
    return file.getvalue()


def archive(**arrays):
    return [[name + ".npy", npy(array)] for name, array in arrays.items()]


def png(width, height):
    lines = b"".join(b"\0" + bytes((7 * x + 3 * y) % 256 for x in range(width)) for y in range(height))
    return mutate.png_join([[b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)],
                            [b"IDAT", zlib.compress(lines)], [b"IEND", b""]])


def safetensors(X):
    header = json.dumps({"X": {"dtype": "F16", "shape": list(X.shape), "data_offsets": [0, X.nbytes]}}).encode()
    return struct.pack("<Q", len(header)) + header + X.tobytes()


def make_data():
    rows, columns = 12, 5
    X = np.array([[(7 * i * i + 3 * i * j + j) % 11 for j in range(columns)] for i in range(rows)], float)
    S = scipy.sparse.csr_matrix(X * (X > 5))
    table = "\n".join(",".join("%g" % x for x in row) for row in X) + "\n"
    head = ",".join("f%d" % j for j in range(columns))
    names = "name," + head + ",class\n" + "".join(
        "s%d,%s,%s\n" % (i, ",".join("%g" % x for x in X[i]), "ab"[i % 2]) for i in range(rows))
    words = "".join("w%d %s\n" % (i, " ".join("%g" % x for x in X[i])) for i in range(rows)).encode()
    sparse = dict(shape=np.array(S.shape), data=S.data)
    C, coo = S.tocsc(), S.tocoo()
    matrix = saved(scipy.io.mmwrite, S.T.tocoo())
    files = [
        Seed("table.csv", table.encode()), Seed("names.csv", names.encode()),
        Seed("table.tsv", table.replace(",", "\t").encode()), Seed("comma.csv", names.replace(",", ";").encode()),
        Seed("table.csv.gz", gzip.compress(table.encode(), mtime=0)), Seed("dense.npy", npy(X)),
        Seed("single.npy", npy(X.astype("f4"))), Seed("bytes.npy", npy(X.astype("u1"))),
        Seed("fortran.npy", npy(np.asfortranarray(X))), Seed("array.npz", archive(X=X), "archive"),
        Seed("texts.npz", archive(X=X, feature_names=np.array(list("abcde")), labels=np.array(["u", "v"] * 6)), "archive"),
        Seed("csr.npz", archive(format=np.array(b"csr"), indices=S.indices, indptr=S.indptr, **sparse), "archive"),
        Seed("csc.npz", archive(format=np.array(b"csc"), indices=C.indices, indptr=C.indptr, shape=np.array(C.shape),
                                data=C.data), "archive"),
        Seed("coo.npz", archive(format=np.array(b"coo"), row=coo.row, col=coo.col, shape=np.array(coo.shape),
                                data=coo.data), "archive"),
        Seed("sparse.mtx", saved(scipy.io.mmwrite, S.tocoo())), Seed("dense.mtx", saved(scipy.io.mmwrite, X)),
        Seed("data.svm", "".join("%d %s\n" % (i % 2, " ".join("%d:%g" % (j + 1, x) for j, x in enumerate(X[i]) if x))
                                 for i in range(rows)).encode()),
        Seed("data.idx", struct.pack(">BBBBIII", 0, 0, 8, 3, rows, 1, columns) + X.astype("u1").tobytes()),
        Seed("data.fvecs", b"".join(struct.pack("<i", columns) + x.tobytes() for x in X.astype("<f4"))),
        Seed("data.u8bin", struct.pack("<II", rows, columns) + X.astype("u1").tobytes()),
        Seed("data.safetensors", safetensors(X.astype("<f2"))),
        Seed("data.vec", b"%d %d\n" % (rows, columns) + words), Seed("data.glove", words),
        Seed("data.bin", b"%d %d\n" % (rows, columns) + b"".join(b"w%d " % i + X[i].astype("<f4").tobytes() for i in range(rows))),
        Seed("picture.png", png(6, 4)), Seed("picture.pgm", b"P2 3 2 9\n1 2 3\n4 5 6\n"),
        Seed("pictures", [["1.png", png(4, 3)], ["2.png", png(4, 3)], ["3.pgm", b"P5 4 3 255\n" + bytes(12)]], "directory"),
        Seed("ten", [["matrix.mtx", matrix], ["barcodes.tsv", b"".join(b"c%d\n" % i for i in range(rows))],
                     ["features.tsv.gz", gzip.compress(b"".join(b"i%d\tg%d\n" % (j, j) for j in range(columns)), mtime=0)]],
             "directory"),
        Seed("data.mat", saved(scipy.io.savemat, {"X": X})), Seed("sparse.mat", saved(scipy.io.savemat, {"S": S.tocsc()})),
    ]
    return files


def make_labels():
    return [Seed("labels.txt", b"a\nb\n" * 6), Seed("labels.idx", struct.pack(">BBBBI", 0, 0, 8, 1, 12) + bytes([0, 1] * 6)),
            Seed("labels.npy", npy(np.arange(12) % 3)), Seed("list.txt", b"1-4\n6\n7-7\n")]


# What an option may be given; None: it stands alone. Values out of all reason are rare.
READING = {
    "--format": ["npy", "npz", "mtx", "csv", "idx", "svmlight", "10x", "images", "mat", "hdf5", "fvecs", "u8bin",
                 "safetensors", "word2vec", "glove", "x"],
    "--samples": ["columns", "rows"], "--label-column": ["class", "1", "7", "99", ""], "--name-column": ["1", "name", "0"],
    "--separator": ["comma", "tab", "|", "blank", ";"], "--header": ["yes", "no"], "--decimal": ["comma", "point"],
    "--array": ["X", "x", "data", ""], "--labels": ["labels.txt", "labels.idx", "labels.npy", "nosuch"],
    "--keep-label": ["a", "b,c", "u"], "--keep-samples": ["1-4", "list.txt", "9-2", "0", "s1,s2", "99999999999"],
    "--keep-features": ["1-3", "f1", "1-", "list.txt"], "--memory": ["1M", "100M", "1", "16G", "x"],
}
FITTING = {
    "--rank": ["1", "2", "3", "5", "12", "50000", "0", "-1"], "--sparsity": ["1", "2", "3", "0", "99"],
    "--model": ["spherical-pca", "spherical-nmf", "sparse-spherical-pca", "sparse-spherical-nmf", "pca", "nmf", "onmf",
                "semi-nmf", "dictionary", "kmeans", "spherical-kmeans"],
    "--basis": ["orthonormal", "nonnegative", "free", "unit", "orthonormal-nonneg"],
    "--codes": ["sphere", "nonneg-sphere", "sparse-sphere", "nonneg-sparse-sphere", "free", "nonneg", "sparse", "one-hot"],
    "--radius": ["auto", "1", "1e6", "1e-30", "1e200", "0", "-1"], "--solver": ["fast", "palm", "mu", "online"], "--batch": ["1", "10", "1000000", "0"],
    "--lambda": ["0.3x", "1", "1e9", "-1", "1e-300"], "--mu": ["0.3x", "2x", "1e300"],
    "--start": ["random", "kmeans++", "svd", "nndsvd", "samples", "plain.npz", "dense.npy", "nosuch"],
    "--seed": ["1", "9223372036854775807"], "--restarts": ["2", "3"], "--tol": ["0", "1e-3", "1"],
    "--time-limit": ["1", "0.001"], "--precision": ["f32", "f64"], "--kernel": ["portable", "auto"],
    "--normalize": ["none", "l2"], "--center": None, "--tfidf": None, "--log1p": None, "--scale": None,
}
CLUSTERING = {"--k": ["2", "3", "12", "1", "99"], "--method": ["kmeans", "euclidean"], "--tries": ["1", "2"],
              "--cluster-iter": ["1", "5"], "--on": ["codes", "data"], "--prepare": ["auto", "none"],
              "--truth": ["labels.txt", "labels.idx", "names.csv"]}
PLOTTING = {"--kind": ["convergence", "sphere", "scatter", "graph", "atoms", "features", "codes", "clusters", "confusion"],
            "--images": ["1x5", "5x1", "2x2", "0x1", "5x1,column-major", "1x5,x"],
            "--components": ["0,1", "0,1,2", "2,9", "x"], "--labels": ["labels.txt", "labels.idx"],
            "--truth": ["labels.txt", "names.csv"], "--title": ["", "]]>", "x"]}

# name, operands (D data, M a model, L labels), what must be given, options and how many of them at most, weight
COMMANDS = [
    ("info", "D", "", READING, 3, 3), ("info", "M", "--json", {}, 0, 2),
    ("fit", "D", "--max-iter 8 --threads 2 --rank 2 --out out.npz --trace trace.csv", {**READING, **FITTING}, 6, 6),
    ("fit", "D", "--rank 2 --dry-run", {**READING, **FITTING}, 4, 1),
    ("transform", "MD", "--out out.npy --threads 2", READING, 2, 4), ("transform", "MD", "--out out.csv", READING, 2, 1),
    ("reconstruct", "M", "--out out.npy", {"--samples": ["rows", "columns"]}, 1, 2),
    ("cluster", "D", "--k 2 --max-iter 5 --threads 2 --out out.txt", {**READING, **FITTING, **CLUSTERING}, 5, 3),
    ("cluster", "M", "--k 2 --out out.txt", CLUSTERING, 3, 2), ("check", "MD", "", READING, 2, 4),
    *(("convert", "D", "out." + ending, {**READING, "--to-samples": ["rows", "columns"]}, 3, 1)
      for ending in ("npy", "npz", "csv", "mtx", "svm", "idx", "fbin", "fvecs")),
    ("score", "LL", "", {"--json": None}, 1, 1), ("plot", "M", "--out out.svg", PLOTTING, 3, 1),
]
QUIET = {"fit", "transform", "reconstruct", "cluster", "convert", "plot"}


class Case:
    """A command line, the seeds that it reads, and for each the random numbers of its mutations."""

    def __init__(self, corpus, seed, number):
        r = random.Random("%d-%d" % (seed, number))
        self.number = number
        name, operands, fixed, options, most, _ = r.choices(COMMANDS, [row[5] for row in COMMANDS])[0]
        self.seeds = [r.choice(corpus[kind]) for kind in operands]
        self.words = [name, *(seed.name for seed in self.seeds), *fixed.split()] + ["--quiet"] * (name in QUIET)
        self.options = []
        for key in r.sample(sorted(options), min(len(options), r.randrange(most + 1))):
            self.options.append([key] if options[key] is None else [key + "=" + r.choice(options[key])])
        self.extra = [s for s in corpus["L"] + [corpus["M"][0]] if s not in self.seeds and
                      any(word.endswith("=" + s.name) for (word,) in self.options)]
        self.mutations = [[] for _ in self.seeds + self.extra]
        for _ in range(r.choice((0, 1, 1, 1, 2, 2, 3, 5))):
            r.choice(self.mutations).append(r.randrange(2**60))

    def arguments(self):
        return ["armilla", *self.words, *(word for option in self.options for word in option)]

    def write(self, folder):
        for seed, numbers in zip(self.seeds + self.extra, self.mutations):
            if not os.path.exists(os.path.join(folder, seed.name)):
                seed.write(folder, numbers)

    def smaller(self):
        """Cases like this one that lack something."""
        for group in [*self.mutations, self.options]:
            for i in reversed(range(len(group))):
                gone = group.pop(i)
                yield self
                group.insert(i, gone)


class Server:
    """fuzz_command, and a directory in which cases run one after the other."""

    def __init__(self, program, top):
        self.top = tempfile.mkdtemp(dir=top)
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", "TMPDIR": self.top,
                       "PATH": os.path.dirname(os.path.dirname(os.path.dirname(program))) + ":" + os.environ["PATH"],
                       "ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=2048:handle_abort=1:exitcode=99",
                       "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:exitcode=99"}
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def run(self, case):
        """What is wrong with the run of the case, or ""."""
        folder, errors = os.path.join(self.top, "case"), os.path.join(self.top, "errors")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        case.write(folder)
        before = set(os.listdir(folder))
        words = b"".join(os.fsencode(word) + b"\0" for word in [folder, errors, *case.arguments()])
        self.process.stdin.write(b"%d\n" % len(words) + words)
        self.process.stdin.flush()
        status, memory, seconds = map(int, self.process.stdout.readline().split())
        with open(errors, "rb") as file:
            self.told = file.read()
        wrong = judge(case, status, memory, seconds, self.told)
        return wrong or judge_files(case, status, before, set(os.listdir(folder)))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def judge(case, status, memory, seconds, told):
    if status == -1:
        return "does not end"
    if b"Sanitizer" in told or b"runtime error" in told:
        return "a sanitizer's report"
    if os.WIFSIGNALED(status):
        return "signal " + signal.Signals(os.WTERMSIG(status)).name
    code = os.WEXITSTATUS(status)
    if code not in STATUSES and (code, case.words[0]) != (1, "check"):
        return "exit status %d" % code
    lines = [line for line in told.split(b"\n") if line]
    errors = [line for line in lines if line.startswith(b"armilla: ") and not line.startswith(b"armilla: warning:")]
    quiet = "--quiet" in case.words
    if code > 0 and (len(errors) != 1 or lines[-1] != errors[0] or quiet and len(lines) != 1):
        return "an error that is not one line"
    if code == 0 and (errors or quiet and lines):
        return "success, and something on standard error"
    if memory > MOST_MEMORY:
        return "%d MB" % (memory >> 10)
    return "%d s" % seconds if seconds > 20 else ""


def judge_files(case, status, before, after):
    wanted = [word for word in case.words if word.startswith(OUTPUTS)] if os.WEXITSTATUS(status) == 0 else []
    left = {name for name in after - before if not (wanted and name.startswith(OUTPUTS))}
    if left:
        return "left behind: " + " ".join(sorted(left))
    missing = [name for name in wanted if name not in after and "--dry-run" not in case.words]
    return "missing: " + " ".join(missing) if missing else ""


def make_models(program):
    """Models of all kinds, by the command itself, as archives."""
    models = []
    data = {seed.name: seed for seed in make_data()}
    with tempfile.TemporaryDirectory() as top:
        server = Server(program, top)
        for name, source, options in MODELS:
            case = Case.__new__(Case)
            case.words = ["fit", source, "--max-iter", "5", "--quiet", "--out", "out.npz", *options.split()]
            case.seeds, case.extra, case.options, case.mutations = [data[source]], [], [], [[]]
            wrong = server.run(case)
            if wrong or server.told:
                sys.exit("the model %s cannot be made: %s %s" % (name, wrong, server.told))
            with open(os.path.join(server.top, "case", "out.npz"), "rb") as file:
                models.append(Seed(name + ".npz", mutate.zip_split(file.read()), "archive"))
        server.close()
    return models


def kind_of(wrong):
    return re.sub(r"[0-9]+", "", wrong)


def minimise(server, case, wrong):
    """Leaves out what the finding does not need, as long as it stays the same; for half a minute."""
    again, until = True, time.monotonic() + 30
    while again and time.monotonic() < until:
        again = False
        for smaller in case.smaller():
            if time.monotonic() > until:
                continue
            if kind_of(server.run(smaller)) == kind_of(wrong):
                again = True
                break  # the generator is left: what it took out stays out
    server.run(case)


def keep(server, case, wrong, top):
    folder = os.path.join(top, "case-%d" % case.number)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(server.top, "case"), folder)
    line = " ".join(map(shlex.quote, case.arguments()))
    with open(os.path.join(folder, "FINDING"), "w", errors="replace") as file:
        file.write("%s\n%s\n\n%s" % (wrong, line, server.told.decode(errors="replace")))
    return "case %d: %s: %s\n  in %s" % (case.number, wrong, line, folder)


class Fuzzing:
    """Cases in the order of their numbers, by several servers at once."""

    def __init__(self, options):
        self.options, self.lock, self.next, self.found, self.counts = options, threading.Lock(), options.first, [], {}
        self.until = time.monotonic() + options.seconds
        self.corpus = {"D": make_data(), "L": make_labels(), "M": make_models(options.server)}

    def number(self):
        with self.lock:
            over = time.monotonic() > self.until and self.next - self.options.first >= self.options.least
            if self.next > self.options.last or over:
                return None
            self.next += 1
            return self.next - 1

    def work(self, top):
        server = Server(self.options.server, top)
        for number in iter(self.number, None):
            case = Case(self.corpus, self.options.seed, number)
            wrong = server.run(case)
            if self.options.verbose:
                print(number, " ".join(map(shlex.quote, case.arguments())), "->", wrong or "fine",
                      server.told.decode(errors="replace").strip())
            with self.lock:
                self.counts[case.words[0]] = self.counts.get(case.words[0], 0) + 1
            if wrong:
                minimise(server, case, wrong)
                with self.lock:
                    self.found.append(keep(server, case, wrong, self.options.keep))
                    print(self.found[-1], flush=True)
        server.close()


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("server", type=os.path.abspath)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--least", type=int, default=1)
    parser.add_argument("--cases", default="0-999999999")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=os.path.abspath, default="found")
    parser.add_argument("-v", dest="verbose", action="store_true")
    options = parser.parse_args()
    first, _, last = options.cases.partition("-")
    options.first, options.last = int(first), int(last or first)
    return options


def main():
    options = parse()
    os.makedirs(options.keep, exist_ok=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as top:
        fuzzing = Fuzzing(options)
        threads = [threading.Thread(target=fuzzing.work, args=(top,)) for _ in range(options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    count = sum(fuzzing.counts.values())
    print("%d cases in %.0f s (%s), %d findings; seed %d" % (
        count, time.monotonic() - begun, ", ".join("%s %d" % row for row in sorted(fuzzing.counts.items())),
        len(fuzzing.found), options.seed))
    sys.exit(1 if fuzzing.found or count == 0 else 0)


if __name__ == "__main__":
    main()
