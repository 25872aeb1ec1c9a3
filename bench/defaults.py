"""Part of bench.py: whole fits by default settings, as a user times them, against others' defaults for the same job."""
import importlib.util
import json
import os
import sys

import numpy as np

from nmf import RCPPML_DATA, for_r

RANK = 20
MOST_ABOVE = 2e-3  # of a peer's error
TINY = 1 << 18     # bytes of a file whose fits take milliseconds,
SMALL = 1 << 22    # and tenths of a second

# So many fits of a job by one program, in one process and of samples in memory: the least seconds, ||X - UV||/||X|| and the
# iterations of the last.
FITS = r"""
import json, sys, time, warnings
import numpy as np, scipy.sparse
warnings.simplefilter("ignore")
file, peer, rank, runs, threads = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
X = scipy.sparse.load_npz(file) if file.endswith("z") else np.load(file)
if peer == "faiss_kmeans":
    import faiss
elif peer.startswith("armilla_"):
    import armilla
else:
    from sklearn.cluster import KMeans
    from sklearn.decomposition import NMF, PCA, TruncatedSVD

def squares(A):
    return float(A.multiply(A).sum() if scipy.sparse.issparse(A) else (A.astype(np.float64) ** 2).sum())

def ours(**options):
    model = armilla.fit(X, rank, threads=threads, **options)
    return lambda: (model.info["relative_error"] ** 2, model.info["iterations"])

def armilla_nmf():
    return ours(model="nmf")

def armilla_pca():
    return ours(model="pca", center=True)

def armilla_svd():
    return ours(model="pca")

def armilla_kmeans():
    return ours(model="kmeans")

def nmf():
    model = NMF(rank, random_state=0)
    model.fit_transform(X)
    return lambda: (model.reconstruction_err_ ** 2 / squares(X), model.n_iter_)

def pca():
    codes = PCA(rank, random_state=0).fit_transform(X)
    return lambda: (1 - squares(codes) / squares(X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)), 0)

def svd():
    codes = TruncatedSVD(rank, random_state=0).fit_transform(X)
    return lambda: (1 - squares(codes) / squares(X), 0)

def kmeans():
    model = KMeans(rank, random_state=0).fit(X)
    return lambda: (model.inertia_ / squares(X), model.n_iter_)

def faiss_kmeans():
    samples = np.ascontiguousarray(X, dtype=np.float32)
    model = faiss.Kmeans(samples.shape[1], rank)
    model.train(samples)
    distances = model.index.search(samples, 1)[0]
    return lambda: (float(distances.sum(dtype=np.float64)) / squares(X), model.cp.niter)

least = float("inf")
for _ in range(runs):
    begin = time.perf_counter()
    found = globals()[peer]()
    least = min(least, time.perf_counter() - begin)
left, iterations = found()
print(json.dumps({"seconds": least, "error": float(np.sqrt(max(left, 0))), "iterations": int(iterations)}))
"""

RCPPML = RCPPML_DATA + r"""
taken <- system.time(f <- nmf(X, r, verbose = FALSE, seed = 1))[["elapsed"]]
cat(sprintf('{"seconds": %%.9f, "error": %%.9f, "iterations": %%d}', taken, error_of(f), as.integer(f$iter)))
"""

# Who else does a job: the name of a peer, what it is called here, and its module.
JOBS = {
    "nmf": [("scikit-learn", "nmf", "sklearn"), ("RcppML", None, None)],
    "pca": [("scikit-learn", "pca", "sklearn")],
    "svd": [("scikit-learn", "svd", "sklearn")],
    "kmeans": [("scikit-learn", "kmeans", "sklearn"), ("FAISS", "faiss_kmeans", "faiss")],
}


def planted(samples, features, parts, noise, seed):
    """Samples that are made of nonnegative parts, with noise beside them."""
    draw = np.random.default_rng(seed)
    X = draw.gamma(0.5, 1, (samples, parts)) @ (draw.random((parts, features)) ** 3)
    return (X + noise * X.mean() * draw.random(X.shape)).astype(np.float32)


def spectra(samples, channels, lines, seed):
    """Mixtures of smooth peaks."""
    draw = np.random.default_rng(seed)
    at = np.linspace(0, 1, channels)
    peaks = np.exp(-(at - draw.random((lines, 1))) ** 2 / (2 * (0.01 + 0.06 * draw.random((lines, 1))) ** 2))
    X = draw.dirichlet(np.full(lines, 0.5), samples) @ peaks
    return np.maximum(X + 0.01 * draw.standard_normal(X.shape), 0)


def counts(samples, features, parts, seed):
    """Poisson counts, most of them 0."""
    draw = np.random.default_rng(seed)
    rates = draw.gamma(0.3, 1, (samples, parts)) @ draw.gamma(0.1, 1, (parts, features))
    return draw.poisson(3 * rates).astype(np.float32)


class DefaultParts:
    def default_dense(self):
        """Names and samples; tables are f64, as scikit-learn has them, and nonnegative."""
        from sklearn import datasets
        for name in ("iris", "wine", "breast_cancer", "digits"):
            yield name.replace("_", " "), getattr(datasets, f"load_{name}")().data
        diabetes = datasets.load_diabetes(scaled=False).data
        yield "diabetes", diabetes - diabetes.min(axis=0)
        yield "blobs", datasets.make_blobs(3000, 20, centers=8, center_box=(20, 40), random_state=1)[0]
        yield "spectra", spectra(1200, 300, 9, 3)
        yield "counts", counts(2000, 800, 12, 4)
        yield "planted", planted(400, 2000, 12, 0.5, 5)
        yield "planted", planted(20000, 200, 30, 1.0, 2)
        yield "planted", planted(10000 if self.quick else 100000, 64, 20, 0.5, 1)
        images, name = self.dense_images()
        yield name, images[:10000]
        if not self.quick:
            yield "planted", planted(1000000, 20, 8, 0.3, 6)

    def default_sets(self):
        """File, name, rank and jobs."""
        for at, (name, X) in enumerate(self.default_dense()):
            file = self.path(f"default-{at}.npy")
            np.save(file, X)
            yield file, f"{name}, {len(X)} x {X.shape[1]}", min(RANK, X.shape[1] // 2 + 1), ("nmf", "pca", "kmeans")
        yield self.sparse(5000 if self.quick else 20000, 0.005), "generated sparse", RANK, ("nmf", "svd")

    def default_peers(self, job, file):
        """Those that are installed: names, and functions of the number of fits."""
        dense = not file.endswith("z")
        for name, peer, module in JOBS[job]:
            if module and not importlib.util.find_spec(module) or name == "RcppML" and not self.rcppml:
                continue
            if name == "RcppML":  # reads f32, and its clock has ticks of milliseconds
                if not dense or os.path.getsize(file) >= SMALL and np.load(file, mmap_mode="r").dtype == np.float32:
                    yield name, lambda rank, runs: self.rcppml_default(file, rank)
            else:
                yield name, lambda rank, runs, peer=peer: self.python_fits(file, peer, rank, runs)

    def python_fits(self, file, program, rank, runs):
        words = map(str, (file, program, rank, runs, self.threads))
        return json.loads(self.with_blas(None, [sys.executable, "-c", FITS, *words]))

    def rcppml_default(self, file, rank):
        script = self.path("rcppml-default.R")
        with open(script, "w", encoding="utf-8") as out:
            out.write(RCPPML % (self.threads, self.threads))
        return json.loads(self.with_blas(None, ["Rscript", script, *for_r(self, file, rank)]))

    def part_defaults(self):
        """whole fits by default settings against others' defaults"""
        if not importlib.util.find_spec("sklearn") or not os.path.exists(self.package):
            self.note("scikit-learn or the Python package (make python) is missing: whole fits are not compared")
            return
        self.ratios, self.rcppml = [], self.has_rcppml()
        for file, name, rank, jobs in self.default_sets():
            for job in jobs:
                self.default_rows(file, name, rank, job)
        self.ratios_by_row("defaults", "Whole fits by default settings", "times as fast as the peer", self.ratios)

    def default_rows(self, file, name, rank, job):
        peers = dict(self.default_peers(job, file))
        runs = 5 if os.path.getsize(file) < TINY else 2  # the first of a process loads what it needs
        ours, theirs = [], {peer: [] for peer in peers}
        for _ in range(2):
            for peer, fit in peers.items():
                theirs[peer].append(fit(rank, runs))
            ours.append(self.python_fits(file, f"armilla_{job}", rank, runs))
        own = min(fit["seconds"] for fit in ours)
        for peer, fits in theirs.items():
            other, last = min(fit["seconds"] for fit in fits), fits[-1]
            off = ours[0]["error"] / last["error"] - 1 if last["error"] > 0 else 0.0
            self.row(f"{job}, {name}, rank {rank}: against {peer}",
                     f"{other / own:.2f}x ({1e3 * own:.3g} against {1e3 * other:.3g} ms, {ours[0]['iterations']} against "
                     f"{last['iterations']} iterations, error {100 * off:+.2f} %)",
                     f">= 1x, error at most {100 * MOST_ABOVE:g} % above", other >= own and off <= MOST_ABOVE)
            self.ratios.append((f"{job}, {name}" + ("" if peer == "scikit-learn" else f", {peer}"), other / own))
