"""Pictures of bench.py by gnuplot, each as .svg and .png beside its script and data."""
import shutil
import subprocess

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
TERMINALS = (("svg", "svg size {0},{1} font 'sans,12' background 'white'"), ("png", "pngcairo size {0},{1} font 'sans,10'"))
PLAIN = "set tics nomirror\nset border 3\nset key top right\n"

TENS = "set logscale xy 10\nset format x '10^{%T}'\nunset key\n"

BARS = r"""
set style data histograms
set style fill solid noborder
set boxwidth 0.8
set yrange [0:{most}]
set xrange [-0.6:{last}]
set xtics rotate by -35 left scale 0
set rmargin {right}
set key outside top center horizontal
set grid ytics lc rgb '#dddddd'
"""

ROWS = r"""
set logscale x 2
set yrange [{rows}:-1]
set ytics scale 0
set lmargin {left}
set key outside top center horizontal
set grid xtics lc rgb '#dddddd'
set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb '#999999' dt 2
"""


def quoted(text):
    return "'" + text.replace("'", "''").replace("_", "\\_") + "'"


class Pictures:
    """Of Bench: what every part draws with."""

    def gnuplot(self, stem, script, size=(800, 480)):
        """The script draws one picture; settings of the terminal stand before it."""
        whole = "".join(f"reset\nset terminal {terminal.format(*size)}\nset output '{stem}.{ending}'\n{script}\nunset output\n"
                        for ending, terminal in TERMINALS)
        with open(self.path(stem + ".gp"), "w") as out:
            out.write(whole)
        if shutil.which("gnuplot"):
            subprocess.run(["gnuplot", stem + ".gp"], cwd=self.out, check=True)
        else:
            self.note(f"gnuplot is not installed: {stem}.gp and its data are there, the picture is not")

    def picture(self, stem, title, alt):
        """Is shown on the page by that title, where it could be drawn."""
        self.pictures.append({"file": stem + ".svg", "title": title, "alt": alt})

    def lines(self, stem, title, axes, curves, ratios=True):
        """curves: name -> [(x, y)]; both axes logarithmic. Of ratios 1 is marked; else axes have powers of ten."""
        with open(self.path(stem + ".dat"), "w") as out:
            for name, points in curves.items():
                out.write(f"# {name}\n" + "".join(f"{x:g} {y:g}\n" for x, y in sorted(points)) + "\n\n")
        plots = ", \\\n  ".join(
            f"'{stem}.dat' index {at} with linespoints lw 2 pt 7 ps 0.7 lc rgb '{COLOURS[at % len(COLOURS)]}' "
            f"title {quoted(name)}" for at, name in enumerate(curves))
        self.gnuplot(stem, f"{PLAIN}set title {quoted(title)}\nset xlabel {quoted(axes[0])}\nset ylabel {quoted(axes[1])}\n"
                     + ("set logscale xy 2\nset key outside right top Left reverse\n" if ratios else TENS)
                     + "set grid ytics lc rgb '#dddddd'\nplot "
                     + ("1 with lines lc rgb '#999999' dt 2 notitle, \\\n  " if ratios else "") + plots)
        self.picture(stem, title, f"{axes[1]} over {axes[0]}")

    def bars(self, stem, title, axis, rows):
        """rows: [(label, value, target or None)]; the target is a line across its bar."""
        with open(self.path(stem + ".dat"), "w") as out:
            for at, (label, value, target) in enumerate(rows):
                print(f'"{label}"', value, target if target is not None else "?", at, file=out)
        most = 1.1 * max([value for _, value, _ in rows] + [target or 0 for *_, target in rows])
        right = max(22, 0.8 * len(rows[-1][0]))  # the last label stands aslant beyond its bar
        self.gnuplot(stem, PLAIN + BARS.format(most=most, last=len(rows) - 0.4, right=right)
                     + f"set title {quoted(title)}\nset ylabel {quoted(axis)}\nset bmargin 17\n"
                     f"plot '{stem}.dat' using 2:xtic(1) lc rgb '{COLOURS[0]}' title 'measured', \\\n"
                     f"  '' using 4:3:(0.4) with xerrorbars lc rgb '{COLOURS[1]}' lw 2 pt 0 title 'target'", (1000, 640))
        self.picture(stem, title, axis)

    def ratios_by_row(self, stem, title, axis, rows):
        """rows: [(label, ratio)], a line for each, for many; 1 is marked, and what is below has another colour."""
        with open(self.path(stem + ".dat"), "w") as out:
            for at, (label, value) in enumerate(rows):
                print(f'"{label}"', value, at, file=out)
        left = 0.95 * max(len(label) for label, _ in rows)
        points = f"'{stem}.dat' using ({{0}} ? $2 : NaN):3:ytic(1) with points pt 7 ps 0.8 lc rgb '{{1}}' title '{{2}}'"
        self.gnuplot(stem, PLAIN + ROWS.format(rows=len(rows), left=left) + f"set title {quoted(title)}\nset xlabel {quoted(axis)}\nplot "
                     + ", \\\n  ".join((points.format("$2 >= 1", COLOURS[0], "ahead"), points.format("$2 < 1", COLOURS[1], "behind"))),
                     (900, 120 + 18 * len(rows)))
        self.picture(stem, title, axis)
