"""The verdict of `armilla cluster` on data with groups and on noise of many kinds, as a table.

    python3 experiments/verdict.py ARMILLA [--seed 1] [FILE[:OPTIONS] ...]

FILE is a further set with groups, with options of the command behind a colon (counts.mtx.gz:--samples columns --k 5).
Needs NumPy; scikit-learn's sets are added where it is installed."""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np

SETS = pathlib.Path(__file__).resolve().parent / "sets"
EUCLIDEAN = ("--prepare", "none", "--on", "data", "--method", "euclidean", "--k", "3")
SHAPES = ((30, 3), (60, 2), (100, 20), (300, 5), (1000, 10), (80, 300))


def shuffled(random, X):
    return np.column_stack([random.permutation(column) for column in np.asarray(X).T])


def noise(random, n, m):
    """(name, data, options) of n samples with m features without groups."""
    normal = random.standard_normal
    t, direction, factor = random.random((n, 1)), normal((1, m)), normal((n, 1))
    sphere = normal((n, m))
    yield "normal", normal((n, m)), ()
    yield "normal beside the origin", normal((n, m)) + 5, ()
    yield "uniform", random.random((n, m)), ()
    yield "correlated", normal((n, m)) @ normal((m, m)), ()
    yield "correlated beside the origin", normal((n, m)) @ normal((m, m)) + 9, ()
    yield "correlated, by distance", normal((n, m)) @ normal((m, m)), EUCLIDEAN
    yield "one factor", normal((n, 1)) @ normal((1, m)) + 0.3 * normal((n, m)), ()
    yield "one factor beside the origin", normal((n, 1)) @ normal((1, m)) + 0.3 * normal((n, m)) + 5, ()
    yield "Student's t", random.standard_t(3, (n, m)), ()
    yield "Student's t, correlated", random.standard_t(3, (n, m)) @ normal((m, m)), ()
    yield "lognormal", np.exp(normal((n, m))), ()
    yield "lognormal, correlated", np.exp(0.5 * normal((n, m)) @ normal((m, m)) / m**0.5), ()
    yield "exponential", random.exponential(size=(n, m)), ()
    yield "Laplace", random.laplace(size=(n, m)), ()
    yield "a line", t * direction + 0.02 * normal((n, m)), ()
    yield "a line beside the origin", t * direction + 0.02 * normal((n, m)) + 3, ()
    yield "units", normal((n, m)) * 10.0 ** np.minimum(np.arange(m), 6), ()
    yield "a sphere", sphere / np.linalg.norm(sphere, axis=1)[:, None], ()
    yield "answers 1 to 5", random.integers(1, 6, (n, m)), ()
    yield "answers with one factor", np.clip(np.round(3 + factor + 0.7 * normal((n, m))), 1, 5), ()
    yield "binary", random.random((n, m)) < 0.3, ()
    yield "every sample twice", np.repeat(normal((n // 2, m)), 2, axis=0), ()


def counts(random, n, m):
    depth, share = np.exp(0.7 * random.standard_normal((n, 1))), random.gamma(0.3, 1, (1, m))
    dense = random.poisson(depth * share * 3)
    yield "Poisson", random.poisson(0.05, (n, m)), ()
    yield "Poisson, unequal depth", random.poisson(depth * share * 0.5), ()
    yield "Poisson, deep", random.poisson(depth * share * 5), ()
    yield "log of parts of 10000", np.log1p(dense / np.maximum(dense.sum(1, keepdims=True), 1) * 1e4), ()
    yield "sparse binary", random.random((n, m)) < 0.03, ()
    yield "Zipf", random.poisson(depth * 0.3 * m / np.arange(1, m + 1)[None] ** 1.1), ()


def permuted(random):
    for name, X in known():
        yield f"{name}, permuted", shuffled(random, X), ()
        yield f"{name}, permuted", shuffled(random, X), ("--normalize", "l2", "--k", "3")
        yield f"{name}, permuted", shuffled(random, X), ("--scale", "--center", "--normalize", "l2", "--k", "4")


def known():
    try:
        from sklearn import datasets
    except ImportError:
        return
    for name in ("iris", "wine", "digits", "breast_cancer"):
        yield name, getattr(datasets, f"load_{name}")().data


def planted(random):
    for n, m, k, apart in ((100, 20, 3, 8), (150, 4, 3, 6), (300, 10, 5, 5), (1000, 10, 10, 6), (1000, 50, 20, 8), (2000, 10, 2, 5),
                           (600, 5, 2, 6), (400, 20, 20, 8), (60, 100, 3, 12), (500, 3, 4, 8)):
        centres = random.standard_normal((k, m))
        centres *= apart / np.linalg.norm(centres, axis=1)[:, None]
        X = centres[random.integers(0, k, n)] + random.standard_normal((n, m))
        for how, data, options in (("", X, ()), (", beside the origin", X + 8, ()), (", by distance", X, EUCLIDEAN)):
            yield f"{k} groups {apart} apart{how}", data, options
    for k, n, m in ((4, 400, 500), (10, 1000, 800)):
        topics = random.dirichlet(np.full(m, 0.1), k)
        words = [random.multinomial(60, 0.6 * topics[c] + 0.4 / m) for c in random.integers(0, k, n)]
        yield f"{k} topics", np.array(words), ()


def show(command, name, file, options, wanted):
    done = subprocess.run([command, "cluster", file, "--json", "--quiet", *options], capture_output=True, text=True)
    if done.returncode:
        print(f"| {name} | {' '.join(options)} | {done.stderr.strip()} | | | |", flush=True)
        return False
    found = json.loads(done.stdout)
    figures = found["structure"]
    shown = [f"{figures[key]:.3g}" if figures[key] is not None else "" for key in ("cut", "expected", "ratio", "score", "dependence")]
    wrong = (found["verdict"] == "structure") != wanted
    print(f"| {name} | {' '.join(options)} | {found['verdict']}{' **wrong**' if wrong else ''} | {' | '.join(shown)} |", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    random = np.random.default_rng(given.seed)
    cases = [(f"{name}, {X.shape[0]} x {X.shape[1]}", X, options, False)
             for make, shapes in ((noise, SHAPES), (counts, ((60, 100), (200, 300), (600, 1000)))) for n, m in shapes
             for name, X, options in make(random, n, m)]
    cases += [(name, X, options, False) for name, X, options in permuted(random)]
    cases += [(f"{name}, {X.shape[0]} x {X.shape[1]}", X, options, True) for name, X, options in planted(random)]
    cases += [(name, X, (), True) for name, X in known()]
    wrong = 0
    print("| data | options | verdict | cut | expected | ratio | score | dependence |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, X, options, wanted in cases:
            file = f"{folder}/x.npy"
            np.save(file, np.asarray(X, float))
            wrong += show(given.command, name, file, options, wanted)
    for path in sorted(SETS.glob("*.csv*")):
        wrong += show(given.command, path.name, str(path), ("--label-column", "class"), True)
        cases.append(path)
    for text in given.files:
        path, _, options = text.partition(":")
        wrong += show(given.command, pathlib.Path(path).name, path, tuple(options.split()), True)
        cases.append(path)
    print(f"\n{wrong} of {len(cases)} wrong")


main()
