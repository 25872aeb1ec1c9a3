"""Plain NMF against scikit-learn and RcppML: seconds until a fit is within 1 % of the best error that any of them has.

Every method is a process that holds the data and is asked for fits of so many iterations; it answers with the seconds
of the whole fit, start included, and with ||X - UV||/||X||. Errors do not depend on the machine, so the iterations that
a method needs are searched first, and fits of that many are timed afterwards, all methods in turn.

With --processor, for a machine that is not quiet, each has one thread and its processor time is counted: theirs of a
fit, ours of the whole command, which reads the data too.
"""
import csv
import importlib.util
import os
import resource
import subprocess
import sys

import numpy as np

NEAR = (1.01, 1.001)  # of the best error; the first has a target
ROUNDS = 4

SKLEARN = r"""
import sys, time, warnings
import numpy as np, scipy.sparse
from sklearn.decomposition import NMF
warnings.simplefilter("ignore")
file, r, init, clock = sys.argv[1], int(sys.argv[2]), sys.argv[3], getattr(time, sys.argv[4])
X = scipy.sparse.load_npz(file) if file.endswith(".npz") else np.load(file)
norm = np.linalg.norm((X.data if scipy.sparse.issparse(X) else X).astype(np.float64))
assert X.dtype == np.float32
print(*{line.split("/")[-2] for line in open("/proc/self/maps") if "blas" in line or "blis" in line}, flush=True)
for line in sys.stdin:
    nmf = NMF(r, solver="cd", init=init, tol=0, max_iter=int(line), random_state=0)
    begin = clock()
    nmf.fit_transform(X)
    print(clock() - begin, nmf.reconstruction_err_ / norm, flush=True)
"""

# The matrix, and ||X - wdh||/||X|| by its parts, without the dense product; to be formatted with the threads, twice.
RCPPML_DATA = r"""
words <- commandArgs(TRUE)
suppressMessages({library(Matrix); library(RcppML)})
try(setRcppMLthreads(%d), silent = TRUE)
options(RcppML.threads = %d, RcppML.verbose = FALSE)
r <- as.integer(words[2])
X <- if (endsWith(words[1], ".mtx")) as(readMM(words[1]), "CsparseMatrix") else {
    shape <- as.integer(words[3:4])
    matrix(readBin(words[1], "numeric", prod(shape), size = 4), shape[1], shape[2])
}
squares <- sum(X^2)
error_of <- function(f) {
    w <- f$w %%*%% diag(f$d, r)
    h <- squares - 2 * sum((t(w) %%*%% X) * f$h) + sum(crossprod(w) * tcrossprod(f$h))
    sqrt(max(h, 0) / squares)
}
"""

RCPPML = RCPPML_DATA + r"""
cat("RcppML", as.character(packageVersion("RcppML")), "\n")
lines <- file("stdin", "r")
while (length(line <- readLines(lines, 1)) > 0) {
    taken <- system.time(f <- nmf(X, r, tol = 0, maxit = as.integer(line), verbose = FALSE, seed = 1))
    seconds <- if (%d) taken[["user.self"]] + taken[["sys.self"]] else taken[["elapsed"]]
    cat(seconds, error_of(f), "\n")
}
"""


class Method:
    """A process that answers fits; `most` iterations are a long run of it."""

    def __init__(self, name, most, bench, directory, words):
        self.name, self.most, self.known = name, most, {}
        self.process = subprocess.Popen(words, env=bench.environment(directory), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.hello = self.process.stdout.readline().split()

    def fit(self, iterations):
        self.process.stdin.write(f"{iterations}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 2:
            raise subprocess.CalledProcessError(self.process.wait(), self.process.args)
        seconds, error = map(float, answer)
        least = min(seconds, self.known.get(iterations, (seconds,))[0])
        self.known[iterations] = (least, error)
        return self.known[iterations]

    def error(self, iterations):
        return (self.known.get(iterations) or self.fit(iterations))[1]

    def iterations_to(self, goal):
        """The fewest that reach the goal, None where a long run does not. Errors fall."""
        low, high = 0, 1
        while high < self.most and self.error(high) > goal:
            low, high = high, min(2 * high, self.most)
        if self.error(high) > goal:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.error(middle) <= goal else (middle, high)
        return high

    def seconds(self, iterations):
        return self.known[iterations][0]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def processor_time():
    """Of the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Ours:
    """The command: the trace has the seconds of every iteration, the summary those of the whole fit."""

    name = "armilla"

    def __init__(self, bench, data, rank, most):
        self.bench, self.data, self.rank, self.most = bench, data, rank, most
        self.known, self.whole = {}, {}

    def fit(self, iterations):
        file = self.bench.path("trace-nmf.csv")
        before = processor_time()
        fit = self.bench.fit(self.data, self.rank, "--model", "nmf", "--precision", "f32", "--tol", 0, "--max-iter",
                             iterations, "--trace", file)
        with open(file, newline="") as lines:
            for line in csv.DictReader(lines):
                k, seconds = int(line["iter"]), float(line["seconds"])
                least = min(seconds, self.known.get(k, (seconds,))[0])
                self.known[k] = (least, float(line["relative_error"]))
        taken = processor_time() - before if self.bench.processor else fit["seconds"]
        self.whole[iterations] = min(taken, self.whole.get(iterations, taken))
        return fit["seconds"], fit["relative_error"]

    def iterations_to(self, goal):
        return next((k for k in sorted(self.known) if self.known[k][1] <= goal), None)

    def seconds(self, iterations):
        return self.whole[max(iterations, 1)] if self.bench.processor else self.known[iterations][0]

    def close(self):
        pass


def methods(bench, data, rank, long_runs):
    """Ours first, then the others that are installed. long_runs: iterations of ours, scikit-learn's, RcppML's."""
    found = [Ours(bench, data, rank, long_runs[0])]
    blases = bench.blases()
    if importlib.util.find_spec("sklearn"):
        name = "blis" if "blis" in blases else next(iter(blases), None)
        for init in ("nndsvda", "random"):
            method = Method(f"scikit-learn, {init}, on {name or 'its BLAS'}", long_runs[1], bench, blases.get(name),
                            [sys.executable, "-c", SKLEARN, data, str(rank), init,
                             "process_time" if bench.processor else "perf_counter"])
            if name and not any(name in blas for blas in method.hello):
                bench.note(f"{method.name}: loaded {method.hello}")
            found.append(method)
    else:
        bench.note("scikit-learn is not installed: not measured")
    if bench.has_rcppml():
        script = bench.path("rcppml-nmf.R")
        with open(script, "w") as out:
            out.write(RCPPML % (bench.threads, bench.threads, bench.processor))
        found.append(Method("RcppML", long_runs[2], bench, None, ["Rscript", script, *for_r(bench, data, rank)]))
    else:
        bench.note("R with RcppML is not installed: not measured")
    return found


def for_r(bench, data, rank):
    """Features x samples, as R reads them: Matrix Market, or the bare numbers and their shape."""
    if data.endswith(".npz"):
        return bench.matrix_market(data), str(rank)
    samples = np.load(data)
    samples.tofile(bench.path("for-r.f32"))
    return bench.path("for-r.f32"), str(rank), *map(str, reversed(samples.shape))


def compare(bench, data, name, rank, long_runs):
    """The rows of one matrix."""
    found = methods(bench, data, rank, long_runs)
    ours, others = found[0], found[1:]
    finals = {method.name: method.fit(method.most)[1] for method in found}
    best = min(finals.values())
    bench.row(f"NMF {name} r={rank}: error of long runs", "; ".join(
        f"{method.name} {finals[method.name]:.5f} ({method.most})" for method in found))
    for near in NEAR:
        needed = {method: method.iterations_to(near * best) for method in found}
        if needed[ours] is None:
            bench.row(f"NMF {name} r={rank}: within {near - 1:.1%} of the best error", "not reached", "reached", False)
            continue
        for _ in range(2 if bench.quick else ROUNDS):  # in turn, so that what disturbs one disturbs the others
            for method in found:
                if needed[method] is not None:
                    method.fit(max(needed[method], 1))  # ours may be there before the first, by its start
        report(bench, f"NMF {name} r={rank}, within {near - 1:.1%} of the best error", ours, others, needed,
               3 if near == NEAR[0] else None)
    for method in found:
        method.close()
    curves = {method.name: sorted((seconds, error, k) for k, (seconds, error) in method.known.items())
              for method in found}
    bench.details.setdefault("nmf", {})[name] = {"best": best, "seconds, error, iterations": curves}
    draw(bench, name, rank, best, curves)


def report(bench, what, ours, others, needed, target):
    k = needed[ours]
    mine, whole = ours.seconds(k), ours.whole[max(k, 1)]
    reached = {method: method.seconds(needed[method]) for method in others if needed[method]}
    fastest = min(reached, key=reached.get, default=None)
    for method in others:
        if method not in reached:
            bench.row(f"{what}: against {method.name}", f"not reached by it in {method.most} iterations")
            continue
        seconds, wanted = reached[method], target if method is fastest else None
        bench.row(f"{what}: against {method.name}",
                  f"{seconds / mine:.2f}x ({1e3 * mine:.0f} ms, {k} iterations, against {1e3 * seconds:.0f} ms, "
                  f"{needed[method]}; with the last code solve and check {seconds / whole:.2f}x)",
                  f">= {wanted}x" if wanted else "", seconds / mine >= wanted if wanted else None)


def draw(bench, name, rank, best, curves):
    """Error against seconds, as a multiple of the best."""
    stem = "nmf-" + name.split()[0]
    with open(bench.path(stem + ".dat"), "w") as out:
        for method, points in curves.items():
            out.write(f"# {method}: seconds, error, error / best, iterations\n")
            out.writelines(f"{s:.9g} {e:.9g} {e / best:.9g} {k}\n" for s, e, k in points)
            out.write("\n\n")
    plots = ", \\\n  ".join(f"'{stem}.dat' index {i} using 1:3 with linespoints lw 2 pt 7 ps 0.4 title '{method}'"
                            for i, method in enumerate(curves))
    bench.gnuplot(stem, "set logscale x\nset xlabel 'seconds'\nset ylabel 'error / best error'\nset yrange [0.998:1.1]\n"
                  "set key top right\nset tics nomirror\nset border 3\n"
                  f"set title 'NMF, {name}, r = {rank}, {bench.threads} threads'\n"
                  f"plot 1.01 with lines lc rgb '#999999' dt 2 notitle, \\\n  {plots}", (800, 500))
    bench.picture(stem, f"NMF, {name}", "error over seconds")


def dense_data(bench):
    """The images of time to quality as samples x features in f32."""
    file, name = bench.images()
    if file.endswith(".npy"):
        return file, name
    with open(file, "rb") as images:
        count, height, width = np.frombuffer(images.read(16), dtype=">u4")[1:]
        pixels = np.frombuffer(images.read(), dtype=np.uint8).reshape(count, height * width)
    copy = bench.path("images.npy")
    np.save(copy, pixels.astype(np.float32))
    return copy, name


def sparse_data(bench):
    """What is given, else documents of 20 topics: words of each follow Zipf's law in an order of its own."""
    import scipy.sparse
    if bench.options.sparse:
        return bench.given_sparse(bench.options.sparse)
    n, m = (2000, 3000) if bench.quick else (15000, 20000)
    file = bench.path(f"topics-{n}.npz")
    if not os.path.exists(file):
        rng = np.random.default_rng(3)
        orders = np.array([rng.permutation(m) for _ in range(20)])
        words, topics = np.minimum(rng.zipf(1.3, (n, 90)) - 1, m - 1), rng.integers(0, 20, (n, 3))
        columns = orders[np.take_along_axis(topics, rng.integers(0, 3, (n, 90)), 1), words]
        rows = np.repeat(np.arange(n), 90)
        X = scipy.sparse.csr_matrix((np.ones(rows.size, np.float32), (rows, columns.ravel())), shape=(n, m))
        X.sum_duplicates()
        scipy.sparse.save_npz(file, X, compressed=False)
    return file, f"topics {m}x{n}"


def run(bench):
    """Both matrices."""
    compare(bench, *dense_data(bench), 32, (100, 100, 30) if bench.quick else (300, 200, 50))
    if importlib.util.find_spec("scipy"):
        compare(bench, *sparse_data(bench), 20, (100, 60, 20) if bench.quick else (150, 60, 30))
    else:
        bench.note("SciPy is not installed: NMF of sparse data is not measured")
