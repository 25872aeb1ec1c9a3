#!/usr/bin/env python3
"""Armilla's speed against its targets: bench.py BUILD [--quick] [--only NAME]... [--seeds N] [--first-seed N] [--quality FILE]...
[--mnist FILE] [--sparse FILE] [--no-large] [--processor] [--publish].

Needs Python 3 with NumPy; SciPy, scikit-learn, R with RcppML, gnuplot and BLIS are used where they are installed, and
a line says so where they are not. Prints one table; leaves BUILD/bench/bench.json, the pictures and the page BUILD/bench/README.md. See bench/README.md.
"""
import argparse
import datetime
import glob
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys

import numpy as np

import nmf
import page
from clusters import ClusterParts
from codes import CodesParts
from defaults import DefaultParts
from family import FamilyParts
from grid import GridParts
from kmeans import KmeansParts
from neighbors import NeighborParts
from online import OnlineParts
from pictures import Pictures
from quality import QualityParts
from reading import ReadingParts
from stored import StoredParts
from stream import StreamParts

THREADS = 2

# Two full products per iteration, the least time over the repetitions and over both orders of storing X.
NUMPY_PRODUCTS = r"""
import json, sys, time
import numpy as np
file, r, repetitions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
samples = np.load(file)
rng = np.random.default_rng(0)
U = rng.random((samples.shape[1], r)).astype(samples.dtype)
V = rng.random((r, samples.shape[0])).astype(samples.dtype)
least = float("inf")
for order in "FC":
    X = samples.T if order == "F" else np.ascontiguousarray(samples.T)
    for _ in range(repetitions):
        begin = time.perf_counter()
        U.T @ X
        X @ V.T
        least = min(least, time.perf_counter() - begin)
blas = sorted({line.split("/")[-2] for line in open("/proc/self/maps") if "blas" in line or "blis" in line})
print(json.dumps({"seconds": least, "blas": blas}))
"""

# Two runs that differ only in their iterations, the least time of each; the difference leaves the start out.
SKLEARN_NMF = r"""
import sys, time, warnings
import scipy.sparse
from sklearn.decomposition import NMF
warnings.simplefilter("ignore")
X, r, few, more = scipy.sparse.load_npz(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
def seconds(iterations):
    begin = time.perf_counter()
    NMF(r, solver="cd", init="random", tol=0, max_iter=iterations, random_state=0).fit_transform(X)
    return time.perf_counter() - begin
seconds(1)
times = [(seconds(few), seconds(more)) for _ in range(3)]
print((min(t[1] for t in times) - min(t[0] for t in times)) / (more - few))
"""

RCPPML_NMF = r"""
words <- commandArgs(TRUE)
suppressMessages({library(Matrix); library(RcppML)})
try(setRcppMLthreads(%d), silent = TRUE)
options(RcppML.threads = %d, RcppML.verbose = FALSE)
r <- as.integer(words[2]); few <- as.integer(words[3]); more <- as.integer(words[4])
X <- as(readMM(words[1]), "CsparseMatrix")
seconds <- function(k) system.time(nmf(X, r, tol = 0, maxit = k, verbose = FALSE, seed = 1))[["elapsed"]]
invisible(seconds(1))
times <- replicate(3, c(seconds(few), seconds(more)))
cat((min(times[2, ]) - min(times[1, ])) / (more - few), "\n")
""" % (THREADS, THREADS)


# In the order of the page; those of Bench itself follow the first.
KINDS = (DefaultParts, GridParts, StoredParts, KmeansParts, NeighborParts, ClusterParts, FamilyParts, OnlineParts, QualityParts,
         ReadingParts, StreamParts, CodesParts)


class Bench(Pictures, *KINDS):
    def __init__(self, options):
        self.options = options
        self.quick, self.processor = options.quick, options.processor
        self.threads = 1 if options.processor else THREADS
        self.armilla = os.path.join(options.build, "armilla")
        self.roofline = os.path.join(options.build, "bench_roofline")
        self.package = os.path.join(os.path.abspath(options.build), "python", "armilla")
        self.out = os.path.join(options.build, "bench")
        self.begin_part()

    # --- what every part uses -------------------------------------------------------------------------------------

    def begin_part(self):
        self.rows, self.notes, self.details, self.pictures = [], [], {}, []

    def row(self, what, measured, target="", met=None, **values):
        verdict = {True: "yes", False: "NO", None: "-"}[None if met is None else bool(met)]
        self.rows.append({"what": what, "measured": measured, "target": target, "met": verdict, **values})
        print(f"  {what}: {measured}" + (f" (target {target}: {verdict})" if target else ""), flush=True)

    def note(self, text):
        self.notes.append(text)
        print(f"  note: {text}", flush=True)

    def path(self, name):
        return os.path.join(self.out, name)

    def fit(self, data, rank, *words):
        # Through a shell, as Linux counts the memory of the program that started another into the other's peak.
        words = [self.armilla, "fit", data, "--rank", str(rank), "--threads", str(self.threads), "--json", "--quiet",
                 "--force", *map(str, words)]
        run = subprocess.run(["/bin/sh", "-c", '"$@"; exit $?', "sh", *words], stdout=subprocess.PIPE, check=True)
        return json.loads(run.stdout)

    def palm(self, data, rank, iterations, *words, runs=3):
        """The fit of the least time per iteration: other programs only ever add time."""
        fits = [self.fit(data, rank, "--solver", "palm", "--start", "random", "--tol", 0, "--max-iter", iterations,
                         *words) for _ in range(runs)]
        return min(fits, key=lambda fit: fit["seconds_per_iteration"])

    def dense(self, n, kind, m=784):
        file = self.path(f"dense-{m}x{n}-{kind}.npy")
        if not os.path.exists(file):
            values = np.random.default_rng(1).integers(0, 256, (n, m), dtype=np.uint8)
            np.save(file, values.astype(kind))
        return file

    def sparse(self, side, density):
        import scipy.sparse
        file = self.path(f"sparse-{side}-{density:g}.npz")
        if not os.path.exists(file):
            rng = np.random.default_rng(1)  # scipy.sparse.random would permute side * side numbers
            cells = np.unique(rng.integers(0, side * side, int(density * side * side)))
            X = scipy.sparse.csr_matrix((rng.random(cells.size, dtype=np.float32), np.divmod(cells, side)),
                                        shape=(side, side))
            scipy.sparse.save_npz(file, X, compressed=False)
        return file

    def sparse_shaped(self, n, m, entries, power):
        """n samples x m features; the places are drawn uniformly, or so that both counts fall as powers."""
        import scipy.sparse
        file = self.path(f"sparse-{n}x{m}-{entries}-{power}.npz")
        if not os.path.exists(file):
            rng = np.random.default_rng(2)
            sample, feature = (np.floor(count * rng.random(entries) ** power).astype(np.int64) for count in (n, m))
            cells = np.unique(sample * m + feature)
            X = scipy.sparse.csr_matrix((rng.random(cells.size, dtype=np.float32), np.divmod(cells, m)), shape=(n, m))
            scipy.sparse.save_npz(file, X, compressed=False)
        return file

    def sparse_shapes(self):
        """Files and names: features and samples of which few have most entries; and many features."""
        side, part = (5000, 20) if self.quick else (20000, 1)
        many = (200000 // part, 1000000 // part, 20000000 // part)
        found = [(self.sparse_shaped(side, side, side * side // 200, 3), f"{side}x{side}, 0.5%, power law")]
        if self.large():
            found.append((self.sparse_shaped(*many, 1), f"{many[1]} features x {many[0]}, {many[2]} entries"))
        return found

    def large(self):
        """Whether data are measured on which peers take minutes; says so where they are not."""
        if self.options.no_large and not any("--no-large" in note for note in self.notes):
            self.note("--no-large: without the largest data")
        return not self.options.no_large

    def given_sparse(self, file):
        """The user's matrix, one sample per column, as samples x features in f32; and its name."""
        import scipy.io
        import scipy.sparse
        X = scipy.sparse.load_npz(file) if file.endswith(".npz") else scipy.io.mmread(file)
        copy = self.path("sparse-given.npz")
        scipy.sparse.save_npz(copy, scipy.sparse.csr_matrix(X.T, dtype=np.float32), compressed=False)
        return copy, os.path.basename(file).split(".")[0]

    def matrix_market(self, file):
        """A copy of a sparse matrix as features x samples, for R."""
        import scipy.io
        import scipy.sparse
        copy = self.path("for-r.mtx")
        scipy.io.mmwrite(copy, scipy.sparse.load_npz(file).T, precision=9)
        return copy

    def blases(self):
        """Directories of the BLAS libraries of Debian's alternatives, by name."""
        found = {}
        for name in ("openblas-pthread", "blis-openmp"):
            for directory in glob.glob(f"/usr/lib/*/{name}"):
                if os.path.exists(os.path.join(directory, "libblas.so.3")):
                    found[name.split("-")[0]] = directory
        return found

    def environment(self, directory):
        """As a user has it: a BLAS chooses its kernels by itself, whatever this shell says of its core."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS_", "BLIS_"))}
        threads = {f"{name}_NUM_THREADS": str(self.threads) for name in ("OPENBLAS", "BLIS", "OMP")}
        others = os.environ.get("PYTHONPATH")
        package = {"PYTHONPATH": os.path.dirname(self.package) + (os.pathsep + others if others else "")}
        return {**plain, **threads, **package, **({"LD_LIBRARY_PATH": directory} if directory else {})}

    def with_blas(self, directory, words):
        return subprocess.run(words, env=self.environment(directory), stdout=subprocess.PIPE, check=True,
                              text=True).stdout

    def has_rcppml(self):
        return bool(shutil.which("Rscript")) and subprocess.run(["Rscript", "-e", "library(RcppML)"],
                                                                capture_output=True, check=False).returncode == 0

    # --- the parts ------------------------------------------------------------------------------------------------

    def part_roofline(self):
        """the machine's limits, and how near a sweep comes to them"""
        n = 10000 if self.quick else 60000
        text = self.with_blas(None, [self.roofline, "--samples", str(n), "--ranks", "10,32,64", "--types",
                                     "f32,f64,u8", "--threads", str(THREADS), "--repetitions",
                                     "5" if self.quick else "15"])
        lines = text.splitlines()
        self.details["roofline"] = text
        self.row("machine: " + lines[0].split(";")[0], lines[0].split(";")[1].strip())
        targets = {("f32", 10): 0.65, ("f32", 32): 0.85, ("f32", 64): 0.85,
                   ("f64", 10): 0.65, ("f64", 32): 0.85, ("f64", 64): 0.85}
        for line in lines[2:]:
            stored, _, r, sweep, _, fraction = line.split()[:6]
            target = targets.get((stored, int(r)))
            self.row(f"sweep {stored} r={r}, 784x{n}: fraction of roofline", f"{float(fraction):.2f} ({sweep} ms)",
                     f">= {target}" if target else "", float(fraction) >= target if target else None)

    def part_numpy(self):
        """palm, orthonormal x sphere, against NumPy's two full products"""
        n, rounds = (10000, 2) if self.quick else (60000, 3)
        blases = self.blases()
        for name in ("openblas", "blis"):
            if name not in blases:
                self.note(f"{name} is not installed: NumPy is not measured on it")
        targets = {("openblas", 10): 4, ("openblas", 32): 1.5, ("blis", 10): 1.3, ("blis", 32): 1.25}
        for kind in ("float32",) if self.quick else ("float32", "float64"):
            file = self.dense(n, kind)
            for r in (10, 32):
                ours, theirs = float("inf"), {}
                for _ in range(rounds):  # interleaved, so that what disturbs one disturbs the others
                    ours = min(ours, self.palm(file, r, 10, runs=1)["seconds_per_iteration"])
                    for name, directory in blases.items():
                        answer = json.loads(self.with_blas(directory, [sys.executable, "-c", NUMPY_PRODUCTS, file,
                                                                       str(r), "4"]))
                        if not any(name in blas for blas in answer["blas"]):
                            self.note(f"NumPy did not load {name} but {answer['blas']}")
                            continue
                        theirs[name] = min(theirs.get(name, float("inf")), answer["seconds"])
                for name, seconds in theirs.items():
                    target = targets[name, r] if kind == "float32" else None
                    self.row(f"iteration {kind} r={r}, 784x{n}: against NumPy on {name}",
                             f"{seconds / ours:.2f}x ({1e3 * ours:.1f} against {1e3 * seconds:.1f} ms)",
                             f">= {target}x" if target else "", seconds / ours >= target if target else None)

    def images(self):
        """The data of time to quality: MNIST where given, else mixtures of smooth parts on a 28 x 28 grid."""
        if self.options.mnist:
            return self.options.mnist, "MNIST"
        n = 1000 if self.quick else 4000
        file = self.path(f"parts-{n}.npy")
        rng = np.random.default_rng(2)
        y, x = np.mgrid[0:28, 0:28]
        centres, widths = rng.uniform(4, 24, (40, 2)), rng.uniform(1.5, 4, (40, 2))
        parts = np.exp(-((y.ravel() - centres[:, :1]) / widths[:, :1]) ** 2 -
                       ((x.ravel() - centres[:, 1:]) / widths[:, 1:]) ** 2)
        weights = rng.gamma(1, 1, (n, 40)) * (rng.random((n, 40)) < 0.15)
        np.save(file, (weights @ parts + 0.02 * rng.random((n, 784))).astype(np.float32))
        return file, f"synthetic 784x{n}"

    def part_sparse(self):
        """an iteration on sparse data against scikit-learn and RcppML"""
        if not importlib.util.find_spec("scipy"):
            self.note("SciPy is not installed: no sparse data are measured")
            return
        side, density = (5000 if self.quick else 20000), 0.005
        self.ratios = []
        self.sparse_rows(self.sparse(side, density), f"{side}x{side}, {density:.1%}")
        for file, name in self.sparse_shapes():
            self.sparse_rows(file, name)
        if self.large():
            self.sparse_memory(*self.sparse_shapes()[-1])
        if self.options.sparse:
            self.sparse_rows(*self.given_sparse(self.options.sparse))
        else:
            self.note("no --sparse FILE: only generated sparse data are measured")
        if self.ratios:
            self.bars("sparse", "An iteration on sparse data, r = 32", "times as fast as the fastest peer", self.ratios)

    def sparse_rows(self, file, name, r=32):
        # Ours before and after theirs, so that other work on the machine does not meet one side alone.
        words = ("--basis", "nonnegative", "--codes", "nonneg-sphere")
        ours = self.palm(file, r, 10, *words)["seconds_per_iteration"]
        theirs = self.sparse_others(file, r)
        for other in [other for other, seconds in theirs.items() if seconds <= 0]:
            self.note(f"{other}: iterations are shorter than the noise of this machine, not measured")
            del theirs[other]
        ours = min(ours, self.palm(file, r, 10, *words)["seconds_per_iteration"])
        what = f"sparse iteration f32 r={r}, {name}"
        if not theirs:
            self.row(what, f"{1e3 * ours:.1f} ms")
        fastest = min(theirs, key=theirs.get, default=None)
        for other, seconds in theirs.items():
            best = other == fastest
            self.row(f"{what}: against {other}",
                     f"{seconds / ours:.2f}x ({1e3 * ours:.1f} against {1e3 * seconds:.1f} ms)",
                     ">= 8x" if best else "", seconds / ours >= 8 if best else None)
            if best:
                self.ratios.append((f"palm, {name}", seconds / ours, 8))
        for model in ("spherical-pca", "nmf", "spherical-nmf") if theirs else ():
            # The mean over iterations, polishing included.
            mean = min(self.fit(file, r, "--model", model, "--start", "random", "--tol", 0, "--max-iter", 20)
                       ["seconds_per_iteration"] for _ in range(2))
            self.row(f"{what}, {model} by fast: against {fastest}",
                     f"{theirs[fastest] / mean:.2f}x ({1e3 * mean:.1f} against {1e3 * theirs[fastest]:.1f} ms)",
                     ">= 8x", theirs[fastest] / mean >= 8)
            self.ratios.append((f"{model}, {name}", theirs[fastest] / mean, 8))

    def sparse_memory(self, file, name, r=32):
        """Peak memory with many features, and the seconds before the first iteration in iterations."""
        import scipy.sparse
        X = scipy.sparse.load_npz(file)
        allowed = 6 * (8 * X.nnz + 8 * sum(X.shape) * r)
        for model, start in (("spherical-pca", "svd"), ("nmf", "nndsvd")):
            fit = self.fit(file, r, "--model", model, "--start", start, "--tol", 0, "--max-iter", 5)
            self.row(f"sparse r={r}, {name}, {model} from {start}: peak memory",
                     f"{fit['peak_rss_bytes'] / 1e6:.0f} MB", f"<= {allowed / 1e6:.0f} MB",
                     fit["peak_rss_bytes"] <= allowed)

    def sparse_others(self, file, r):
        """Seconds per iteration of the others that are installed, by name."""
        theirs = {}
        if importlib.util.find_spec("sklearn"):
            for name, directory in (self.blases() or {"its BLAS": None}).items():
                theirs[f"scikit-learn on {name}"] = float(self.with_blas(
                    directory, [sys.executable, "-c", SKLEARN_NMF, file, str(r), "2", "8"]))
        else:
            self.note("scikit-learn is not installed: not measured")
        if self.has_rcppml():
            script = self.path("rcppml.R")
            with open(script, "w") as out:
                out.write(RCPPML_NMF)
            theirs["RcppML"] = float(self.with_blas(None, ["Rscript", script, self.matrix_market(file), str(r), "2",
                                                           "8"]).split()[-1])
        else:
            self.note("R with RcppML is not installed: not measured")
        return theirs

    def part_nmf(self):
        """seconds until plain NMF is within 1 % of the best error, against scikit-learn and RcppML"""
        nmf.run(self)

    def part_growth(self):
        """seconds per iteration and peak memory where n, r, nnz are doubled"""
        n, side = (10000, 5000) if self.quick else (30000, 15000)
        cases = {"n": (self.dense(n, "float32"), 32, self.dense(2 * n, "float32"), 32, ()),
                 "r": (self.dense(n, "float32"), 32, self.dense(n, "float32"), 64, ())}
        if importlib.util.find_spec("scipy"):
            words = ("--basis", "nonnegative", "--codes", "nonneg-sphere")
            cases["nnz"] = (self.sparse(side, 0.005), 32, self.sparse(side, 0.01), 32, words)
        for name, (file, r, file2, r2, words) in cases.items():
            one, two = self.palm(file, r, 10, *words), self.palm(file2, r2, 10, *words)
            time, memory = (two[key] / one[key] for key in ("seconds_per_iteration", "peak_rss_bytes"))
            self.row(f"growth, {name} doubled: seconds per iteration",
                     f"{time:.2f}x ({1e3 * one['seconds_per_iteration']:.1f} to "
                     f"{1e3 * two['seconds_per_iteration']:.1f} ms)", "<= 2.2x", time <= 2.2)
            self.row(f"growth, {name} doubled: peak memory",
                     f"{memory:.2f}x ({one['peak_rss_bytes'] / 1e6:.0f} to {two['peak_rss_bytes'] / 1e6:.0f} MB)",
                     "<= 2.05x", memory <= 2.05)

    def part_startup(self):
        """processor time of armilla --version"""
        taken = []
        for _ in range(20):
            process = subprocess.Popen([self.armilla, "--version"], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            taken.append(1e3 * (usage.ru_utime + usage.ru_stime))
        middle = statistics.median(taken)
        self.row("start-up: armilla --version, processor time", f"{middle:.1f} ms", "< 10 ms", middle < 10)

    # --- the whole ------------------------------------------------------------------------------------------------

    def machine(self):
        model = platform.processor() or platform.machine()
        try:
            with open("/proc/cpuinfo") as lines:
                model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
        except OSError:
            pass
        version = subprocess.run([self.armilla, "--version"], stdout=subprocess.PIPE, check=True, text=True).stdout
        return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "threads": THREADS, "load": os.getloadavg()[0],
                "date": datetime.date.today().isoformat(), "armilla": version.strip(), "versions": self.versions()}

    def versions(self):
        """Of the peers that are installed."""
        found = {}
        for module, name in (("numpy", "NumPy"), ("scipy", "SciPy"), ("sklearn", "scikit-learn"), ("faiss", "FAISS")):
            if importlib.util.find_spec(module):
                code = f"import {module}; print({module}.__version__)"
                found[name] = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True,
                                             text=True).stdout.strip()
        for name, directory in self.blases().items():
            target = os.path.realpath(os.path.join(directory, "libblas.so.3"))
            owner = subprocess.run(["dpkg-query", "-S", target], capture_output=True, text=True, check=False).stdout
            package = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", owner.rsplit(":", 1)[0]],
                                     capture_output=True, text=True, check=False).stdout if owner else ""
            found[{"openblas": "OpenBLAS", "blis": "BLIS"}[name]] = package or "(version unknown)"
        if self.has_rcppml():
            found["RcppML"] = subprocess.run(["Rscript", "-e", "cat(as.character(packageVersion('RcppML')))"],
                                             capture_output=True, text=True, check=True).stdout
        return found

    def run_part(self, name):
        part = getattr(self, f"part_{name}")
        print(f"{name}: {part.__doc__}", flush=True)
        self.begin_part()
        machine = self.machine()
        try:
            part()
        except subprocess.CalledProcessError as error:
            self.row(f"{name}: failed", f"{os.path.basename(error.cmd[0])} ended with {error.returncode}", "runs", False)
        machine["load_after"] = os.getloadavg()[0]
        return {"what": part.__doc__, "machine": machine, "quick": self.quick, "seeds": self.options.seeds,
                "rows": self.rows, "notes": self.notes, "pictures": self.pictures, "details": self.details}

    def kept_results(self):
        """Of the parts of earlier runs."""
        try:
            with open(self.path("bench.json")) as file:
                return json.load(file)["parts"]
        except (OSError, ValueError, KeyError):
            return {}

    def run(self):
        os.makedirs(self.out, exist_ok=True)
        wanted, parts = self.options.only or [name for name in PARTS if name not in LONG], self.kept_results()
        for name in wanted:
            parts[name] = self.run_part(name)
            with open(self.path("bench.json"), "w") as out:
                json.dump({"parts": parts}, out, indent=1)
        parts = {name: parts[name] for name in PARTS if name in parts}
        for name in wanted:
            print(f"\n{page.circumstances(parts[name])}\n{page.table(parts[name]['rows'])}")
            print("".join(f"\nnote: {note}" for note in parts[name]["notes"]))
        page.write(self.path("README.md"), parts, PARTS, "", {})
        if self.options.publish:
            page.publish(parts, PARTS, self.out)
        print(f"\nwritten: {self.path('bench.json')}, {self.path('README.md')}")


PARTS = [name[len("part_"):] for kind in (KINDS[0], Bench, *KINDS[1:]) for name in vars(kind) if name.startswith("part_")]
LONG = ["codes"]  # run where they are named alone


def main():
    parser = argparse.ArgumentParser(description="Armilla's speed against its targets.")
    parser.add_argument("build", help="the tree that holds armilla and bench_roofline")
    parser.add_argument("--quick", action="store_true", help="smaller data and fewer runs: two minutes or so")
    parser.add_argument("--only", choices=PARTS, action="append", help="one part; may be given again")
    parser.add_argument("--no-large", action="store_true", help="without the data on which peers take minutes")
    parser.add_argument("--publish", action="store_true", help="page and pictures into bench/ too")
    parser.add_argument("--processor", action="store_true",
                        help="part nmf alone, by processor time of one thread: for a machine that is not quiet")
    parser.add_argument("--seeds", type=int, help="seeds of time to quality (default 3; 1 with --quick)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (default 0)")
    parser.add_argument("--quality", metavar="FILE", action="append", default=[],
                        help="data for time to quality of spherical-nmf, one sample per row; may be given again")
    parser.add_argument("--mnist", metavar="FILE", help="MNIST test images (t10k-images, IDX) for time to quality")
    parser.add_argument("--sparse", metavar="FILE",
                        help="sparse data of your own, one sample per column: .npz of SciPy, or Matrix Market")
    options = parser.parse_args()
    if options.seeds is None:
        options.seeds = 1 if options.quick else 3
    if options.processor:
        options.only = ["nmf"]
    if options.seeds < 1:
        parser.error("--seeds: at least 1")
    Bench(options).run()


if __name__ == "__main__":
    main()
