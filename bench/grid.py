"""The sweep at every shape: one part of bench.py, with a table and a heat map."""
import re

FEATURES = (64, 784, 4096, 20000, 200000)
RANKS = (10, 32, 64, 128, 256, 512, 1024)
FEWEST, MOST = 200, 500_000  # samples
BYTES = 160e6  # of X in f32: larger than the caches

PICTURE = r"""
set xrange [-0.5:{columns}.5]; set yrange [-0.5:{rows}.5]
set xtics ({ranks}); set ytics ({features})
set xlabel "rank"; set ylabel "features"; set cblabel "fraction of the roofline"
set cbrange [0:1]; set tics scale 0; unset key
set palette defined (0 "#b2182b", 0.5 "#f7f7f7", 0.85 "#92c5de", 1 "#2166ac")
set title "One sweep, {type}, {threads} threads"
plot "{data}" using 1:2:(0.48):(0.47):3 with boxxyerror fillcolor palette fillstyle solid noborder, \
    "{data}" using 1:2:(sprintf("%.2f", $3)) with labels tc rgb "black"
"""


def parse_table(text):
    """The rows of bench_roofline: (stored, rank) -> (fraction, ratio to BLAS or None, milliseconds of a sweep)."""
    rows = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 6 and re.fullmatch(r"[a-z]+\d+", words[0]) and words[2].isdigit():
            rows[words[0], int(words[2])] = (float(words[5]), float(words[7]) if len(words) > 7 else None, float(words[3]))
    return rows


class GridParts:
    """Of Bench, which runs programs and keeps rows."""

    def grid_samples(self, features):
        samples = int(BYTES / 4 / features / (8 if self.quick else 1))
        return max(FEWEST, min(MOST, samples))

    def part_grid(self):
        """one sweep as a fraction of the roofline, and against BLAS's two products, at every shape"""
        ranks = (10, 128, 512) if self.quick else RANKS
        found = {}
        for features in FEATURES:
            wanted = [rank for rank in ranks if rank <= features and (rank <= 128 or features < 200000)]
            command = [self.roofline, "--features", features, "--samples",
                       self.grid_samples(features), "--ranks", ",".join(map(str, wanted)), "--types", "f32,f64",
                       "--repetitions", 3 if self.quick else 7, "--threads", 2, "--blas"]
            text = self.with_blas(None, list(map(str, command)))
            for (stored, rank), figures in parse_table(text).items():
                found[stored, features, rank] = figures
                self.grid_row(stored, features, rank, figures)
        self.details["grid"] = [[*key, *value] for key, value in found.items()]
        for stored in ("f32", "f64"):
            self.draw_grid(stored, ranks, {key[1:]: value[0] for key, value in found.items() if key[0] == stored})

    def grid_row(self, stored, features, rank, figures):
        fraction, ratio, _ = figures
        target = 0.6 if features == 200000 else 0.65 if rank == 10 else 0.85
        shape = f"{features}x{self.grid_samples(features)}"
        self.row(f"sweep {stored} r={rank}, {shape}: fraction of roofline", f"{fraction:.2f}", f">= {target}",
                 fraction >= target)
        if ratio is not None:
            self.row(f"sweep {stored} r={rank}, {shape}: against the two products alone", f"{ratio:.2f}x", ">= 1x",
                     ratio >= 1)

    def draw_grid(self, stored, ranks, fractions):
        data = f"grid-{stored}.dat"  # beside its picture
        with open(self.path(data), "w") as out:
            for (features, rank), fraction in fractions.items():
                print(ranks.index(rank), FEATURES.index(features), fraction, file=out)
        script = PICTURE.format(
            data=data, type=stored, columns=len(ranks) - 1, rows=len(FEATURES) - 1, threads=2,
            ranks=", ".join(f'"{rank}" {at}' for at, rank in enumerate(ranks)),
            features=", ".join(f'"{count}" {at}' for at, count in enumerate(FEATURES)))
        self.gnuplot(f"grid-{stored}", script, (800, 480))
        self.picture(f"grid-{stored}", f"One sweep, {stored}", "fraction of the roofline for features and ranks")
