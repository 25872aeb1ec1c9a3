"""Clusters against known classes: K-means and its relatives, and our models, over sets and seeds. Each figure is that of
an `armilla cluster` command, whose options table.csv has.

Sets are those of experiments/sets, the test images of MNIST and Fashion-MNIST, and those of the folder DATA: NAME.mtx[.gz]
(one sample per column), NAME.npy or NAME.npz with NAME.labels, NAME-images-idx3-ubyte[.gz] with NAME-labels-idx1-ubyte[.gz],
and NAME.csv[.gz] with a column `class`."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np

import progress
from common import Best, Experiment, facts, flags

SETS = pathlib.Path(__file__).resolve().parent / "sets"
FASHION = pathlib.Path(progress.FASHION)
# What is done to the data first: nothing; what `armilla cluster` chooses; the same without centring, for parts that add
# up; or nothing is said, as a newcomer would.
RAW, CHOSEN, UNCENTRED, UNSAID = range(4)
# Name, preparation, whether it takes a rank (the number of classes, or of features where these are fewer), options.
METHODS = [("k-means on raw data", RAW, False, {"method": "euclidean", "on": "data"}),
           ("k-means", CHOSEN, False, {"method": "euclidean", "on": "data"}),
           ("spherical k-means", CHOSEN, False, {"on": "data"}),
           ("PCA + k-means", CHOSEN, True, {"method": "euclidean", "model": "pca"}),
           ("NMF, largest entry", UNCENTRED, False, {"method": "argmax", "model": "nmf"}),
           ("NMF + spherical k-means", UNCENTRED, True, {"model": "nmf"}),
           ("spherical PCA", CHOSEN, True, {"model": "spherical-pca"}),
           ("spherical NMF", UNCENTRED, True, {"model": "spherical-nmf"}),
           ("sparse spherical PCA", CHOSEN, True, {"model": "sparse-spherical-pca", "sparsity": 2}),
           ("sparse spherical NMF", UNCENTRED, True, {"model": "sparse-spherical-nmf", "sparsity": 2}),
           ("armilla cluster", UNSAID, False, {})]
PREPARATION = ("normalize", "center", "tfidf", "idf", "total", "log1p", "top-features", "scale")
# How labelled sets lie in a folder: ending of the data, of the labels (none: a column), options of reading.
FORMS = [(".mtx.gz", ".labels", {"samples": "columns"}), (".mtx", ".labels", {"samples": "columns"}),
         (".npy", ".labels", {}), (".npz", ".labels", {}),
         ("-images-idx3-ubyte", "-labels-idx1-ubyte", {}), ("-images-idx3-ubyte.gz", "-labels-idx1-ubyte.gz", {}),
         (".csv", None, {"label_column": "class"}), (".csv.gz", None, {"label_column": "class"})]
SCORES = {"nmi": "NMI", "accuracy": "Accuracy", "ari": "ARI"}
OURS = ["spherical PCA", "spherical NMF", "sparse spherical PCA", "sparse spherical NMF", "armilla cluster"]
ACROSS = 5
KEY = "set key at screen 0.985,0.012 right bottom horizontal Left reverse samplen 1 font ',9'"


def gather(folder, given):
    """Links to the sets, in the names of FORMS; returns what is missing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    missing = []
    for name, place, hint in [("mnist", pathlib.Path(os.environ["MNIST"]), "make mnist"),
                              ("fashion", FASHION, "apt-get install dataset-fashion-mnist")]:
        for ending in ("", ".gz"):
            for kind in ("images-idx3-ubyte", "labels-idx1-ubyte"):
                file = place / f"t10k-{kind}{ending}"
                if file.exists():
                    (folder / f"{name}-{kind}{ending}").symlink_to(file.resolve())
        if not any(folder.glob(f"{name}-images*")):
            missing.append(f"{name} ({hint})")
    for file in sorted(pathlib.Path(given).resolve().iterdir()) if given else []:
        (folder / file.name).symlink_to(file)
    return missing


class Refused(Exception):
    """A set or method that the command refuses, with its message: it is left out, and the others go on."""


def armilla(work, *arguments):
    """Runs a command in the folder; returns its JSON object."""
    done = subprocess.run([work.armilla, *map(str, arguments), "--json", "--quiet"], cwd=work.folder, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode in (64, 65):
        raise Refused(done.stderr.strip())
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip() or done.returncode)
    return json.loads(done.stdout)


class LabelledSet:
    """A file, how it is read, its shape and classes, and the preparation that `armilla cluster` chooses for it."""

    def __init__(self, work, path, name, reading):
        self.path, self.name, self.reading = path, name, flags(reading)
        armilla(work, "fit", path, *self.reading, "--rank", 1, "--max-iter", 0, "--start", "random", "--out", "set.npz",
                "--force")
        labels = work.model("set")["labels"]
        self.m, self.n = (facts(work.model("set"))["shape"][key] for key in "mn")
        self.classes = len(np.unique(labels[labels != ""]))
        if self.classes < 2:
            raise Refused(f"{path}: has {self.classes} classes")
        armilla(work, "cluster", path, *self.reading, "--k", self.classes, "--out", "labels.txt", "--model-out", "set.npz",
                "--force")
        options = facts(work.model("set"))["options"]
        self.chosen = {key: options[key] for key in PREPARATION}

    def options(self, prepared, ranked, given):
        """Of a method, in the order of the command's help: k, method, rank, model, preparation, place."""
        chosen = {key: value == "yes" if value in ("yes", "no") else value for key, value in self.chosen.items()}
        if prepared == UNCENTRED:
            chosen["center"] = False
        if not chosen["tfidf"]:
            chosen["idf"] = None
        if prepared in (RAW, UNSAID):
            chosen = {}
        rank = min(self.classes, self.m) if ranked else None
        return flags({"k": self.classes, "method": given.get("method"), "rank": rank, "model": given.get("model"),
                      "sparsity": given.get("sparsity"), **chosen, "on": given.get("on"),
                      "prepare": None if prepared == UNSAID else "none"})


def find_sets(work, folders):
    """The labelled sets of the folders, by name, as far as they can be opened."""
    for path in (path for folder in folders for path in sorted(folder.iterdir())):
        form = next((form for form in FORMS if path.name.endswith(form[0]) and path.name != form[0]), None)
        if not form:
            continue
        name, reading = path.name[:-len(form[0])], dict(form[2])
        if form[1]:
            reading["labels"] = path.with_name(name + form[1])
        progress.begin(name)
        try:
            if form[1] and not reading["labels"].exists():
                raise Refused(f"there is no {reading['labels']}")
            yield LabelledSet(work, path, name, reading)
        except Refused as why:
            print(f"{name} left out: {why}", file=sys.stderr)


def measure(work, labelled, method, seeds):
    """One method on one set: a dictionary for each seed, and the options."""
    name, prepared, ranked, given = method
    options, rows = labelled.options(prepared, ranked, given), []
    for seed in seeds:
        begun = time.monotonic()
        found = armilla(work, "cluster", labelled.path, *labelled.reading, *options, "--seed", seed, "--out", "labels.txt",
                        "--force")["scores"]
        rows.append({"set": labelled.name, "method": name, "seed": seed,
                     **{score: f"{found[score]:.9f}" for score in ("accuracy", "nmi", "ari")},
                     "seconds": f"{time.monotonic() - begun:.3f}"})
        progress.advance(1 / (len(METHODS) * len(seeds)))
    return rows, " ".join(options)


def summarize(labelled, rows, options):
    """The row of table.csv: means and standard deviations over the seeds."""
    means = {}
    for score in ("accuracy", "nmi", "ari"):
        values = np.array([float(row[score]) for row in rows])
        means[score] = f"{values.mean():.6f}"
        means[f"{score}_sd"] = f"{values.std(ddof=1) if len(values) > 1 else 0:.6f}"
    return {"set": labelled.name, "samples": labelled.n, "features": labelled.m, "classes": labelled.classes,
            "method": rows[0]["method"], "seeds": len(rows), **means,
            "seconds": f"{np.mean([float(row['seconds']) for row in rows]):.3f}", "options": options}


def compute(work, folders, seeds):
    """scores.csv has a row for each run, table.csv one for each method and set."""
    scores, table = [], []
    for labelled in find_sets(work, folders):
        print(f"{labelled.name:9} {labelled.n} samples of {labelled.m} features, {labelled.classes} classes",
              file=sys.stderr)
        for method in METHODS:
            try:
                rows, options = measure(work, labelled, method, seeds)
            except Refused as why:
                print(f"{method[0]} left out: {why}", file=sys.stderr)
                continue
            table.append(summarize(labelled, rows, options))
            scores += rows
            print("          {method:23} accuracy {accuracy} ± {accuracy_sd}  nmi {nmi} ± {nmi_sd}  ari {ari} ± {ari_sd}"
                  "  {seconds} s".format(**table[-1]), file=sys.stderr)
    work.write("scores.csv", scores)
    work.write("table.csv", table)
    for name in ("labels.txt", "set.npz"):
        (work.folder / name).unlink()


def panels(table, sets, methods):
    """A panel for each set: NMI and accuracy of each method with their deviations, our methods on a grey ground."""
    down = (len(sets) + ACROSS - 1) // ACROSS
    across = min(len(sets), ACROSS)
    lines = [f"set multiplot layout {down},{across} margins 0.19,0.985,{0.2 / down},{1 - 0.15 / down}"
             f" spacing 0.02,{0.34 / down}",
             "set border 1 lw 0.8; set tics nomirror out scale 0.4 font ',9'; set ytics scale 0",
             "set grid x lc rgb '#e6e6e6' lt 1 lw 0.6",
             f"set xrange [0:1]; set xtics 0.5; set mxtics 2; set yrange [{len(methods) + 0.6}:0.4]",
             f"set object 1 rectangle from graph 0, first {len(methods) - len(OURS) + 0.5} to graph 1,"
             f" first {len(methods) + 0.6} fc rgb '#f1f5fa' fs noborder behind"]
    names = ", ".join(f"'{name}' {i + 1}" for i, name in enumerate(methods))
    for i, name in enumerate(sets):
        rows = [row for row in table if row["set"] == name]
        title = f"{name}\\n{rows[0]['samples']}, {rows[0]['classes']} classes"
        lines += [f"set title \"{title}\" noenhanced font ',10'",
                  f"set ytics noenhanced ({names})" if i % ACROSS == 0 else "set format y ''; set ytics ('' 0)",
                  "unset key" if i else KEY,
                  f"plot 'panels.dat' index {i} using 2:1:3 with xerrorbars pt 7 ps 0.6 lw 1.2 lc rgb '#0072B2'"
                  " title 'NMI', "
                  f"'' index {i} using 4:1:5 with xerrorbars pt 6 ps 0.7 lw 1 lc rgb '#D55E00' title 'accuracy'"]
    return "\n".join(lines + ["unset multiplot"]) + "\n", 60 + 300 * down


def columns(table, sets, methods, score):
    """A row for each method: mean ± deviation on each set, and the mean over the sets; the best of a column is marked."""
    found = {(row["method"], row["set"]): row for row in table}
    means = {m: sum(float(found[m, s][score]) for s in sets) / len(sets) for m in methods}
    most = {s: max(float(found[m, s][score]) for m in methods) for s in sets}
    rows = []
    for m in methods:
        cells = [f"{float(found[m, s][score]):.3f} ± {float(found[m, s][score + '_sd']):.3f}" for s in sets]
        best = [float(found[m, s][score]) >= most[s] - 5e-4 for s in sets]
        cells += [f"{means[m]:.3f}"]
        best += [means[m] >= max(means.values()) - 5e-4]
        rows.append([m] + [Best(cell) if is_best else cell for cell, is_best in zip(cells, best)])
    return rows


def main():
    work = Experiment("clustering", "Clustering: known classes found again")
    folder = work.folder / "sets"
    missing = gather(folder, os.environ.get("DATA") or None)
    compute(work, [SETS, folder], range(int(os.environ.get("SEEDS") or 10)))
    table = work.read("table.csv")
    sets, methods = list(dict.fromkeys(row["set"] for row in table)), list(dict.fromkeys(r["method"] for r in table))
    work.table("panels.dat", [[[methods.index(row["method"]) + 1] + [float(row[c]) for c in
                               ("nmi", "nmi_sd", "accuracy", "accuracy_sd")] for row in table if row["set"] == name]
                              for name in sets], blocks=True)
    script, height = panels(table, sets, methods)
    work.draw("panels", 980, height, script)

    work.say("<b>The paper</b> says that codes on a sphere cluster well, and shows the cones for it; it has no table"
             " over data sets. This one is ours.")
    work.say(f"<b>We get:</b> accuracy (best matching), NMI and ARI, mean ± standard deviation over {table[0]['seeds']}"
             " seeds, each by <code>armilla cluster</code> with the options that <a href='clustering/table.csv'>"
             "table.csv</a> has. Models have as many atoms as there are classes; the last line has no options but the"
             " number of clusters. All but the first and the last line are prepared as <code>armilla cluster</code>"
             " would by its look at the data, the nonnegative ones"
             " without centring; PCA is of the data so prepared. Where a line does not say how its codes are clustered,"
             " it is by spherical k-means. mnist and fashion are the 10000 test images each; nothing is left out of"
             " any set.")
    work.say("How to read it: what is gained is gained by direction, so spherical k-means on the data is the one to"
             " compare with. A nonnegative basis has atoms of any length while all codes have the same, so the shortest"
             " atom takes up what is left over; codes of spherical NMF are parts to look at rather than clusters. NMF"
             " by its largest entry hangs on its start.")
    if missing:
        work.say("Not here: " + ", ".join(missing) + ".")
    work.figure("panels", "NMI and accuracy of each method, with standard deviations; our models on the shaded ground.")
    for score, title in SCORES.items():
        work.say(f"{title}; the best of each column is bold:")
        work.rows(["", *sets, "mean"], columns(table, sets, methods, score))
    work.say("Seconds of one run, reading included, with whatever else the machine was doing:")
    work.rows(["", *sets], [[m] + [f"{float(row['seconds']):.2f}" for row in table if row["method"] == m]
                            for m in methods])
    work.finish()


if __name__ == "__main__":
    main()
