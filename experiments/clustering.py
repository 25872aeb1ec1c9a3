"""Clusters against known classes: K-means and its relatives, and our models, over sets and seeds."""
import os
import pathlib
import shutil

from common import Best, Experiment

FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")
SCORES = {"nmi": "NMI", "accuracy": "Accuracy", "ari": "ARI"}
OURS = ["spherical PCA", "spherical NMF", "sparse spherical PCA", "sparse spherical NMF", "armilla cluster"]
ACROSS = 5
KEY = "set key at screen 0.985,0.012 right bottom horizontal Left reverse samplen 1 font ',9'"


def gather(folder, given):
    """Links to the sets, in the names that `armilla demo clustering --data` knows; returns what is missing."""
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
    work.demo("--data", "sets", "--seeds", os.environ.get("SEEDS") or 10)
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


main()
