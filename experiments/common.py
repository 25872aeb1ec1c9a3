"""What the experiments share: running the command, drawing by gnuplot, and the page of each experiment."""
import html
import os
import pathlib
import subprocess

import numpy as np

BLUE, RED, GREEN = "#0072B2", "#D55E00", "#009E73"

# Both formats from one script: gnuplot -e "form='png'" FILE.gp
HEAD = """if (!exists("form")) form = 'svg'
if (form eq 'png') {{
    set terminal pngcairo size {w2},{h2} font 'Sans,10' fontscale 2 linewidth 2 pointscale 2 background 'white'
}} else {{
    set terminal svg size {w},{h} font 'Arial,12' background 'white' dashlength 0.7
}}
set encoding utf8
set output '{name}.'.form
"""


class Experiment:
    """One folder with data, figures and a page."""

    def __init__(self, name, armilla, out, title):
        self.name, self.armilla, self.title = name, armilla, title
        self.folder = pathlib.Path(out) / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.parts = []

    def run(self, *arguments):
        """Runs armilla in the folder; returns what it said on standard error."""
        done = subprocess.run([self.armilla, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f"{self.name}: armilla {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stderr

    def fit(self, data, out, *options):
        """A model as a dictionary of arrays."""
        self.run("fit", data, *options, "--out", out, "--force", "--quiet")
        with np.load(self.folder / out, allow_pickle=False) as arrays:
            return dict(arrays)

    def table(self, name, rows, blocks=False):
        """Writes numbers for gnuplot; with blocks, one block (index) for each item."""
        with open(self.folder / name, "w", encoding="utf-8") as file:
            for block in rows if blocks else [rows]:
                np.savetxt(file, np.asarray(block), fmt="%.8g")
                file.write("\n\n")

    def draw(self, name, width, height, script):
        """FILE.gp, FILE.svg and FILE.png."""
        head = HEAD.format(name=name, w=width, h=height, w2=2 * width, h2=2 * height)
        (self.folder / f"{name}.gp").write_text(head + script, encoding="utf-8")
        for form in ("svg", "png"):
            try:
                subprocess.run(["gnuplot", "-d", "-e", f"form='{form}'", f"{name}.gp"], cwd=self.folder, check=True)
            except FileNotFoundError:
                raise SystemExit("gnuplot was not found; install it (Debian and Ubuntu: apt-get install gnuplot-nox)")

    def say(self, text):
        self.parts.append(f"<p>{text}</p>")

    def figure(self, name, caption):
        self.parts.append(f'<figure><img src="{self.name}/{name}.svg" alt="{html.escape(caption, quote=True)}">'
                          f"<figcaption>{html.escape(caption)}</figcaption></figure>")

    def rows(self, head, rows):
        cells = "".join(f"<th>{html.escape(str(c))}</th>" for c in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
        self.parts.append(f"<table><tr>{cells}</tr>{body}</table>")

    def finish(self):
        """The section of the page, read by run.py."""
        text = f"<section id='{self.name}'><h2>{html.escape(self.title)}</h2>\n" + "\n".join(self.parts) + "</section>\n"
        (self.folder / "section.html").write_text(text, encoding="utf-8")


def two_means(points, seed, starts=10):
    """Lloyd's 2-means, the best of several starts: a 0 or 1 for each row."""
    random, best = np.random.default_rng(seed), None
    for _ in range(starts):
        centres = points[random.choice(len(points), 2, replace=False)]
        for _ in range(100):
            distances = ((points[:, None] - centres[None]) ** 2).sum(2)
            labels = distances.argmin(1)
            centres = np.array([points[labels == c].mean(0) if (labels == c).any() else centres[c] for c in (0, 1)])
        cost = distances.min(1).sum()
        if best is None or cost < best[0]:
            best = cost, labels
    return best[1]


def accuracy(labels, truth):
    """Of two clusters, under the better matching; and the labels so matched."""
    share = (labels == truth).mean()
    return (share, labels) if share >= 0.5 else (1 - share, 1 - labels)


def arguments():
    """armilla and the folder of results, from the environment that run.py sets."""
    return os.environ["ARMILLA"], os.environ["EXPERIMENTS"]
