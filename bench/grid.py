"""The sweep at every shape: one part of bench.py, with a table and a heat map."""
import re

FEATURES = (64, 784, 4096, 20000, 200000)
RANKS = (10, 32, 64, 128, 256, 512, 1024)
FEWEST, MOST = 200, 500_000  # samples
BYTES = 160e6  # of X in f32: larger than the caches

PICTURE = r"""
set xrange [-0.5:{columns}.5]; set yrange [-0.5:{rows}.5]
set xtics ({ranks}); set ytics ({features})
set xlabel "rank"; set ylabel "features"; set cblabel "{meaning}"
set cbrange [0:{most}]; set tics scale 0; unset key
set palette defined (0 "#d6604d", 0.5 "#f7f7f7", 0.85 "#92c5de", 1 "#5aa2cf")
set title "{title}"
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
        blases = self.blases() or {"BLAS": None}
        found, ratios = {}, {}
        for features in FEATURES:
            for name, directory in blases.items():
                for key, figures in self.grid_cells(features, ranks, directory).items():
                    # The limits of the first library: what a machine can do does not depend on the second.
                    found.setdefault((key[0], features, key[1]), figures)
                    ratios.setdefault((key[0], features, key[1]), {})[name] = figures[1]
        self.details["grid"] = [[*key, *value, ratios[key]] for key, value in found.items()]
        for stored, features in sorted({key[:2] for key in found}):
            what = f"sweep {stored}, {features}x{self.grid_samples(features)}"
            mine = {key[2]: key for key in found if key[:2] == (stored, features)}
            self.grid_row(f"{what}: fraction of the roofline", {rank: found[key][0] for rank, key in mine.items()},
                          lambda rank, tall=features == 200000: 0.6 if tall else 0.65 if rank == 10 else 0.85)
            for name in blases:
                self.grid_row(f"{what}: times as fast as two products of {name}",
                              {rank: ratios[key][name] for rank, key in mine.items()}, lambda rank: 1)
        for stored in ("f32", "f64"):
            self.draw_grid(f"grid-{stored}", ranks, {key[1:]: value[0] for key, value in found.items() if key[0] == stored},
                           (f"One sweep, {stored}", "fraction of the roofline", 1))
            for name in blases:
                self.draw_grid(f"grid-{stored}-{name}", ranks,
                               {key[1:]: value[name] for key, value in ratios.items() if key[0] == stored and name in value},
                               (f"One sweep, {stored}", f"times as fast as two products by {name}", 2))

    def grid_cells(self, features, ranks, directory):
        """(stored, rank) -> (fraction, ratio to that BLAS, milliseconds of a sweep)"""
        wanted = [rank for rank in ranks if rank <= features and (rank <= 128 or features < 200000)]
        command = [self.roofline, "--features", features, "--samples", self.grid_samples(features), "--ranks",
                   ",".join(map(str, wanted)), "--types", "f32,f64", "--repetitions", 3 if self.quick else 5, "--threads",
                   self.threads, "--blas"]
        return parse_table(self.with_blas(directory, list(map(str, command))))

    def grid_row(self, what, cells, target):
        """cells: rank -> figure; target: the least of it for a rank."""
        self.row(what, ", ".join(f"r = {rank}: {figure:.2f}" for rank, figure in cells.items()),
                 f">= {target(10):g}" + (f" (r > 10: {target(32):g})" if target(32) != target(10) else ""),
                 all(figure >= target(rank) for rank, figure in cells.items()))

    def draw_grid(self, stem, ranks, cells, words):
        """cells: (features, rank) -> number; words: title, what the colour says, and the number of the darkest blue."""
        data, (title, meaning, most) = f"{stem}.dat", words  # beside its picture
        with open(self.path(data), "w") as out:
            for (features, rank), value in cells.items():
                print(ranks.index(rank), FEATURES.index(features), value, file=out)
        script = PICTURE.format(
            data=data, title=f"{title}, {self.threads} threads", meaning=meaning, most=most, columns=len(ranks) - 1,
            rows=len(FEATURES) - 1, ranks=", ".join(f'"{rank}" {at}' for at, rank in enumerate(ranks)),
            features=", ".join(f'"{count}" {at}' for at, count in enumerate(FEATURES)))
        self.gnuplot(stem, script, (800, 480))
        self.picture(stem, title, f"{meaning}, for features and ranks")
