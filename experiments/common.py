"""What the experiments share: running the command, drawing by gnuplot, and the page of each experiment."""
import csv
import html
import json
import os
import pathlib
import subprocess

import numpy as np

import progress

BLUE, RED, GREEN = "#0072B2", "#D55E00", "#009E73"

# Both formats from one script: gnuplot -e "form='png'" FILE.gp
HEAD = """if (!exists("form")) form = 'svg'
if (form eq 'png') {{
    set terminal pngcairo size {w2},{h2} font 'sans-serif,12' fontscale 1.725 linewidth 2 pointscale 2 background 'white'
}} else {{
    set terminal svg size {w},{h} font 'sans-serif,12' fontscale 1.15 background 'white' dashlength 0.7
}}
set encoding utf8
set output '{name}.'.form
"""

AXES = """set border 3 lw 0.8; set tics nomirror out scale 0.5
set grid y lc rgb '#e6e6e6' lt 1 lw 0.6
"""


def flags(options):
    """Options of a command as it takes them: nothing for None and False, a flag for True."""
    words = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
    given = {name: value for name, value in words.items() if value is not None and value is not False}
    return [word for name, value in given.items() for word in ([name] if value is True else [name, str(value)])]


def facts(model):
    """What a model says of itself: its options, squared_norm, and the rest of `meta`."""
    return json.loads(model["meta"].tobytes())


class Best(str):
    """A cell of a table that no other of its column surpasses."""


class Experiment:
    """One folder with data, figures and a page. Commands of armilla compute; what is here draws and explains."""

    def __init__(self, name, title, runs=1):
        """runs: how often `run` is going to be called, for the progress."""
        self.name, self.title, self.armilla = name, title, os.environ["ARMILLA"]
        self.folder = pathlib.Path(os.environ["EXPERIMENTS"]) / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.parts, self.runs = [], runs
        self.drawn = False
        progress.begin("computing")

    def run(self, *arguments):
        """Runs armilla in the folder; what it says to people is shown."""
        done = subprocess.run([self.armilla, *map(str, arguments)], cwd=self.folder, check=False)
        if done.returncode != 0:
            raise SystemExit(done.returncode)
        progress.advance(1 / self.runs)

    def fit(self, data, name, **options):
        """NAME.npz and NAME.csv, a model and its trace; keywords are options, True is a flag."""
        self.run("fit", data, "--out", f"{name}.npz", "--trace", f"{name}.csv", "--force", "--quiet", *flags(options))

    def model(self, name):
        """A model of the folder, as a dictionary of arrays."""
        with np.load(self.folder / f"{name}.npz", allow_pickle=False) as arrays:
            return dict(arrays)

    def write(self, name, rows):
        """A CSV file of dictionaries that have the same keys."""
        with open(self.folder / name, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def read(self, name):
        """A CSV file of the folder: a dictionary for each row."""
        with open(self.folder / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def trace(self, name):
        """The objective over the iterations."""
        return np.array([float(row["objective"]) for row in self.read(f"{name}.csv")])

    def table(self, name, rows, blocks=False):
        """Writes numbers for gnuplot; with blocks, one block (index) for each item."""
        with open(self.folder / name, "w", encoding="utf-8") as file:
            for block in rows if blocks else [rows]:
                np.savetxt(file, np.asarray(block), fmt="%.8g")
                file.write("\n\n")

    def draw(self, name, width, height, script):
        """FILE.gp, FILE.svg and FILE.png."""
        if not self.drawn:
            progress.begin("figures")
        self.drawn = True
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
        self.parts.append(f'<figure><a href="{self.name}/{name}.png"><img src="{self.name}/{name}.svg"'
                          f' alt="{html.escape(caption, quote=True)}"></a>'
                          f"<figcaption>{html.escape(caption)}</figcaption></figure>")

    def rows(self, head, rows):
        """A table; a cell that is Best is bold."""
        def line(cells, tag):
            kinds = [" class='best'" if isinstance(cell, Best) else "" for cell in cells]
            return "".join(f"<{tag}{kind}>{html.escape(str(c))}</{tag}>" for c, kind in zip(cells, kinds))
        body = "".join(f"<tr>{line(row, 'td')}</tr>\n" for row in rows)
        self.parts.append(f"<div class='wide'><table><tr>{line(head, 'th')}</tr>\n{body}</table></div>")

    def finish(self):
        """The section of the page, read by run.py."""
        text = f"<section id='{self.name}'><h2>{html.escape(self.title)}</h2>\n" + "\n".join(self.parts)
        (self.folder / "section.html").write_text(text + "</section>\n", encoding="utf-8")
