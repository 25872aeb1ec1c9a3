#!/usr/bin/env python3
"""Fuzzing of whole commands: command.py SERVER [--seed S] [--seconds N] [--least N] [--cases A-B] [--jobs N]
[--keep DIR] [-v]

Even cases: seeds of every format and models are mutated (mutate.py) and go through the commands, with options at random.
Odd cases: the seeds as they are, with valid and nearly valid sets of options (options.py). SERVER is fuzz_command of a
build. Case K of seed S is the same on every machine: `--seed S --cases K -v` runs it again and shows it. A finding is a
signal, a report of a sanitizer, an exit status that docs/exit-status.md does not have or 70, an error of more than one
line, an output that is left after a failure or missing after a success, an input that is changed, a model that
`armilla check` refuses, 20 s of processor time, two minutes, or more memory than MOST_MEMORY. It is made small by
leaving out mutations and options, and kept in DIR with its files and the command line."""
import argparse
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import corpus as seeds
import mutate
import options as option_sets

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
          ("ones", "table.csv", "--rank 1 --basis free --codes free"),
          ("clusters", "names.csv", "--k 2 --label-column class --model-out out.npz"),
          ("given", "dense.npy", "--rank 2 --k 3 --model-out out.npz")]


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
KINDS = "DMLFNCP"  # of the corpus: data, models, labels, names, numbers of clusters, checkpoints, directories
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

    def outputs(self):
        """What is there after a success."""
        return [word for word in self.words if word.startswith(OUTPUTS) and "--dry-run" not in self.words]

    def written(self):
        """Files that may be replaced."""
        return set()

    def check(self):
        """A command that must succeed after this one did; None: there is none."""
        return None

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


class OptionCase(Case):
    """A command line of a set of options, and the seeds that it names, as they are."""

    def __init__(self, corpus, seed, number):
        r = random.Random("%d-%d" % (seed, number))
        drawn = option_sets.Set(r, corpus["tables"], {kind: corpus[kind] for kind in KINDS})
        self.number, self.command, self.operands, self.options = number, drawn.command, drawn.operands, drawn.options
        self.data = {s.name for s in corpus["D"]}
        self.first = r.random() < 0.3  # options before operands
        self.words = [self.command["name"]]
        text = " ".join(self.arguments())
        self.seeds, self.extra = [s for kind in KINDS for s in corpus[kind] if s.name in text], []
        self.mutations = [[] for _ in self.seeds]

    def arguments(self):
        options = [word for option in self.options for word in option]
        parts = (options, self.operands) if self.first else (self.operands, options)
        return ["armilla", *self.words, *parts[0], *parts[1]]

    def last(self, name):
        return (option_sets.given(self.arguments(), name) or [None])[-1]

    def outputs(self):
        if {"--dry-run", "--help", "-h"} & set(self.arguments()):
            return []
        names = [self.last(name) for name in option_sets.WRITTEN] + self.operands[1:] * (self.words[0] == "convert")
        return [name for name in names if name and name != "-" and not name.startswith("/dev/")]

    def written(self):
        """Files that an output names, and nothing else."""
        names, words = set(self.outputs()), self.arguments()
        return {name for name in names if sum(name in re.split("[=,]", word) for word in words) == 1}

    def check(self):
        model = self.last({"fit": "out", "cluster": "model-out"}.get(self.words[0], ""))
        if model not in self.outputs() or self.operands[0] not in self.data:
            return None
        rows = [row["name"] for row in self.command["options"] if row["group"] == "reading "]
        reading = [option for option in self.options if option[0].split("=")[0][2:] in rows]
        return ["armilla", "check", model, self.operands[0], *(word for option in reading for word in option)]


def case_of(corpus, seed, number):
    return (OptionCase if number % 2 else Case)(corpus, seed, number)


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
        before = snapshot(folder)
        status, memory, seconds = self.execute(folder, errors, case.arguments())
        wrong = judge(case, status, memory, seconds, self.told)
        wrong = wrong or judge_files(case, status, before, snapshot(folder))
        if wrong or status or not case.check():
            return wrong
        told = self.told
        status, *_ = self.execute(folder, errors, case.check())
        self.told = told if status == 0 else " ".join(case.check()).encode() + b"\n" + self.told
        return "check fails" if status else ""

    def execute(self, folder, errors, arguments):
        """Status as of waitpid, memory and time; what was said on standard error is told."""
        words = b"".join(os.fsencode(word) + b"\0" for word in [folder, errors, *arguments])
        self.process.stdin.write(b"%d\n" % len(words) + words)
        self.process.stdin.flush()
        answer = tuple(map(int, self.process.stdout.readline().split()))
        with open(errors, "rb") as file:
            self.told = file.read()
        return answer

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
    quiet = "--quiet" in case.arguments()
    if code > 0 and (len(errors) != 1 or lines[-1] != errors[0] or quiet and len(lines) != 1):
        return "an error that is not one line"
    if code == 0 and (errors or quiet and lines):
        return "success, and something on standard error"
    if memory > MOST_MEMORY:
        return "%d MB" % (memory >> 10)
    return "%d s" % seconds if seconds > 20 else ""


def snapshot(folder):
    """What is in the folder: names, and what changes when a file is written."""
    facts = [(entry.name, entry.stat(follow_symlinks=False)) for entry in os.scandir(folder)]
    return {name: (fact.st_ino, fact.st_size, fact.st_mtime_ns) for name, fact in facts}


def judge_files(case, status, before, after):
    wanted = case.outputs() if os.WEXITSTATUS(status) == 0 else []
    changed = [name for name in before if after.get(name) != before[name] and name not in (case.written() if wanted else ())]
    if changed:
        return "changed: " + " ".join(sorted(changed))
    kept = OUTPUTS + ("armilla-demo",) if os.WEXITSTATUS(status) == 0 else ("\0",)
    left = {name for name in set(after) - set(before) if name not in wanted and not name.startswith(kept)}
    if left:
        return "left behind: " + " ".join(sorted(left))
    missing = [name for name in wanted if name not in after]
    return "missing: " + " ".join(missing) if missing else ""


def make_models(program):
    """Models of all kinds, by the command itself, as archives: M; and C, the checkpoint of the first."""
    models, data = [], {seed.name: seed for seed in seeds.make_data()}
    with tempfile.TemporaryDirectory() as top:
        server = Server(program, top)
        for name, source, options in MODELS:
            case = Case.__new__(Case)
            command = "cluster --out out.txt" if "--k " in options else "fit --out out.npz --checkpoint out.state"
            case.words = [*command.split(), source, "--max-iter", "5", "--quiet", *options.split()]
            case.seeds, case.extra, case.options, case.mutations = [data[source]], [], [], [[]]
            wrong = server.run(case)
            if wrong or server.told:
                sys.exit("the model %s cannot be made: %s %s" % (name, wrong, server.told))
            with open(os.path.join(server.top, "case", "out.npz"), "rb") as file:
                models.append(seeds.Seed(name + ".npz", mutate.zip_split(file.read()), "archive"))
            if name == MODELS[0][0]:
                with open(os.path.join(server.top, "case", "out.state"), "rb") as file:
                    state = seeds.Seed("state", file.read())
        server.close()
    return {"M": models, "C": [state]}


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
        self.corpus = {"D": seeds.make_data(), "L": seeds.make_labels(), **seeds.make_others(), **make_models(options.server),
                       "tables": option_sets.tables(options.server)}

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
            case = case_of(self.corpus, self.options.seed, number)
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
