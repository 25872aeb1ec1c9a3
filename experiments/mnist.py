"""The 1010 threes of the MNIST test set: images beside their atoms, and images at their codes (figures 4 and 5)."""
import collections
import gzip
import os
import pathlib

import numpy as np

from common import Experiment

SIDE, COLUMNS, GAP = 28, 8, 4
SIZE, RADIUS = 900, 390
IMAGE = """unset key; unset tics; unset border; set size ratio -1; unset colorbox
set autoscale xfix; set autoscale yfix
"""
STOPS = np.array([[0x05, 0x30, 0x61], [0x43, 0x93, 0xC3], [0xF7, 0xF7, 0xF7], [0xD6, 0x60, 0x4D], [0x67, 0x00, 0x1F]])
SPARSE = {"codes": "nonneg-sparse-sphere", "sparsity": 2}
SIGNED = {"codes": "sparse-sphere", "sparsity": 2}
# The threes in ten directions, by the default and by the paper's own algorithm: name, what it is, options.
FITS = [("model", "nonnegative codes, fast", SPARSE),
        ("palm", "nonnegative codes, palm from random", {**SPARSE, "solver": "palm", "start": "random", "tol": 0}),
        ("palm-svd", "nonnegative codes, palm from svd", {**SPARSE, "solver": "palm", "start": "svd", "tol": 0}),
        ("signed", "codes of both signs, fast", SIGNED),
        ("signed-palm", "codes of both signs, palm from random",
         {**SIGNED, "solver": "palm", "start": "random", "tol": 0})]
CENTRED = ("centred", "codes of both signs, centred", {"codes": "sphere", "center": True})


def find(folder, name):
    """The file of the folder of that name, or packed by gzip."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    raise SystemExit(f"{folder / name}: there is no such file; make mnist fetches it")


def read_idx(path, header):
    """The bytes behind the header of an IDX file, which may be packed."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return np.frombuffer(content[header:], np.uint8)


def ink(image):
    """Bytes as black that covers where they are large: SIDE x SIDE x 4, the last for how much it covers."""
    tile = np.zeros((SIDE, SIDE, 4), np.uint8)
    tile[:, :, 3] = image.reshape(SIDE, SIDE)
    return tile


def signed(atom):
    """An atom from blue by white to red, scaled by its largest entry; the sign by which its ink is red is its own."""
    place = 2 * (atom / np.abs(atom).max() + 1)
    first = np.clip(place.astype(int), 0, 3)
    colour = STOPS[first] + (STOPS[first + 1] - STOPS[first]) * (place - first)[:, None]
    return np.column_stack([np.rint(colour), np.full(len(atom), 255)]).astype(np.uint8).reshape(SIDE, SIDE, 4)


def order(V):
    """The two entries of each code that are largest in absolute value, the larger first: 2 x n."""
    return np.argsort(-np.abs(V), axis=0)[:2]


def triples(images, U, V, chosen):
    """Columns: image, atom of its largest entry, atom of its second largest."""
    step, first = SIDE + GAP, order(V)
    canvas = np.zeros((3 * step, len(chosen) * step, 4), np.uint8)
    for i, j in enumerate(chosen):
        tiles = [ink(images[j])] + [signed(U[:, k] * np.sign(V[k, j])) for k in first[:, j]]
        for row, tile in enumerate(tiles):
            y, x = row * step + GAP // 2, i * step + GAP // 2
            canvas[y:y + SIDE, x:x + SIDE] = tile
    return canvas


def typical(images, U, V, leading, others):
    """Of the samples with (or without) the leading atom first, the best fitted one for each second atom."""
    fitted = np.einsum("ji,ij->j", images, U @ V) / np.linalg.norm(images, axis=1)
    pairs, first = {}, order(V)
    for j in np.argsort(-fitted):
        if (first[0, j] != leading) == others:
            pairs.setdefault(int(first[0 if others else 1, j]), j)
    return list(pairs.values())[:COLUMNS]


def embedding(images, points, rings=(1,), size=SIZE, gap=26):
    """Images at their points, which lie in the unit disc, as many as fit without hiding each other. Each is tried on
    every ring, by which its point's distance from the centre is multiplied."""
    canvas, taken = np.zeros((size, size, 4), np.uint8), []
    for j in np.random.default_rng(0).permutation(len(points)):
        for ring in rings:
            x, y = np.rint(size / 2 + ring * RADIUS * points[j] * [1, -1] - SIDE / 2).astype(int)
            if all(max(abs(x - a), abs(y - b)) >= gap for a, b in taken):
                taken.append((x, y))
                part = canvas[y:y + SIDE, x:x + SIDE]
                np.maximum(part, ink(images[j]), out=part)
                break
    return canvas


def axes(x, y, low, names):
    """The circle, the axes and their names behind an embedding whose centre is at x, y, in pixels."""
    line = "head filled size screen 0.012,20 lc rgb '#808080' lw 0.8 back"
    return (f"set object 1 circle at {x},{y} size {RADIUS} {'' if low else 'arc [0:90] nowedge'} back"
            " fs empty border lc rgb '#b0b0b0' lw 0.8\n"
            f"set arrow from {x + low * RADIUS},{y} to {x + 1.12 * RADIUS},{y} {line}\n"
            f"set arrow from {x},{y + low * RADIUS} to {x},{y + 1.12 * RADIUS} {line}\n"
            f"set label '{{/:Italic v}}_{{{names[0]}}}' at {x + 1.1 * RADIUS},{y - 0.05 * RADIUS} center\n"
            f"set label '{{/:Italic v}}_{{{names[1]}}}' at {x - 0.05 * RADIUS},{y + 1.1 * RADIUS} center\n")


def raster(work, name, canvas):
    """Writes the pixels; returns the plot command of them."""
    (work.folder / name).write_bytes(np.ascontiguousarray(canvas[::-1]).tobytes())
    return (f"plot '{name}' binary array=({canvas.shape[1]},{canvas.shape[0]}) format='%uchar%uchar%uchar%uchar'"
            " with rgbalpha")


def draw_triples(work, name, canvas):
    width = 150 + 2.35 * canvas.shape[1]
    left = 145 / width
    work.draw(name, int(width), int(2.35 * canvas.shape[0]) + 12, IMAGE + f"set lmargin at screen {left}\n"
              "set rmargin at screen 0.995; set tmargin at screen 0.99; set bmargin at screen 0.01\n"
              f"set label 'image' at screen {left - 0.015},0.83 right\n"
              f"set label 'largest entry' at screen {left - 0.015},0.5 right\n"
              f"set label 'second largest' at screen {left - 0.015},0.17 right\n" +
              raster(work, f"{name}.dat", canvas) + "\n")


def draw_arc(work, images, model):
    """The samples of the commonest pair of atoms; returns the pair and how many they are."""
    V = model["V"]
    pairs = [tuple(sorted(map(int, pair))) for pair in order(V).T]
    pair, count = collections.Counter(pairs).most_common(1)[0]
    shared = [j for j, other in enumerate(pairs) if other == pair]
    points = V[list(pair)].T[shared] / float(model["radius"])
    edge, low = SIZE // 2 - 36, SIZE // 2 + 36
    canvas = embedding(images[shared], points, [1.06, 0.93, 0.85, 0.77, 0.69, 0.61, 0.53])[:low, edge:]
    work.table("arc-points.dat", points * RADIUS + 36)
    work.draw("arc", 560, 560, IMAGE + "set margins 0,0,0,0\n" + axes(36, 36, 0, [pair[0] + 1, pair[1] + 1]) +
              raster(work, "arc.dat", canvas) + ", 'arc-points.dat' with points pt 7 ps 0.35 lc rgb '#D55E00'\n")
    return pair, count


def draw_plane(work, images, model):
    """Codes of both signs in the plane of their first two entries."""
    points = model["V"][:2].T
    canvas = embedding(images, points / np.linalg.norm(points, axis=1).max())
    work.draw("plane", 620, 620, IMAGE + "set margins 0,0,0,0\n" + axes(SIZE / 2, SIZE / 2, -1, [1, 2]) +
              raster(work, "plane.dat", canvas) + "\n")


def describe(model, mean):
    """Relative error, share of the samples with the same atom first, how much that atom is the mean three, and which
    it is."""
    first = order(model["V"])[0]
    leading = int(np.bincount(first).argmax())
    alike = abs(model["U"][:, leading] @ mean) / np.linalg.norm(mean)
    return float(model["trace_relative_error"][-1]), float((first == leading).mean()), alike, leading


def compute(work, images, labels):
    """All models of the threes."""
    for name, _, options in FITS + [CENTRED]:
        work.fit(images, name, labels=labels, keep_label=3, rank=10, precision="f32", seed=0, **options)


def main():
    work = Experiment("mnist", "MNIST: threes in ten directions, two for each image", runs=8)
    files = [find(pathlib.Path(os.environ["MNIST"]), f"t10k-{kind}-ubyte") for kind in ("images-idx3", "labels-idx1")]
    compute(work, *files)
    for form in ("svg", "png"):
        work.run("plot", "model.npz", "--kind", "atoms", "--images", "28x28", "--out", f"atoms.{form}", "--force",
                 "--quiet")
    images = read_idx(files[0], 16).reshape(-1, SIDE * SIDE)[read_idx(files[1], 8) == 3]
    models = {name: work.model(name) for name, _, _ in FITS + [CENTRED]}
    found = {name: describe(models[name], images.mean(0)) for name, _, _ in FITS}
    U, V = models["model"]["U"], models["model"]["V"]
    error, share, alike, leading = found["model"]

    numbers = images.astype(float)
    draw_triples(work, "triples", triples(images, U, V, typical(numbers, U, V, leading, False)))
    draw_triples(work, "exceptions", triples(images, U, V, typical(numbers, U, V, leading, True)))
    pair, count = draw_arc(work, images, models["model"])
    draw_plane(work, images, models["centred"])

    work.say("<b>The paper:</b> 1010 threes, r = 10, s = 2, orthonormal × nonneg-sparse-sphere; “the first learned"
             " component”, that of the largest coefficient, “has very similar pattern as original image”, and images of"
             " one pattern lie together.")
    work.say(f"<b>We get:</b> {len(images)} threes; radius {float(models['model']['radius']):.1f}, relative error"
             f" {error:.4f}; every code has at most {int((V != 0).sum(0).max())} entries and none is negative. For"
             f" {100 * share:.0f} % of the images the largest entry is that of one and the same atom, which is the mean"
             f" three (cosine {alike:.2f}), so the statement holds; the second atom tells in what a three differs from"
             " it. This does not hang on the solver or the start:")
    work.rows(["fit", "relative error", "same atom first", "its cosine with the mean three"],
              [[what, f"{found[name][0]:.4f}", f"{100 * found[name][1]:.0f} %", f"{found[name][2]:.3f}"]
               for name, what, _ in FITS])
    work.say("The atoms are orthonormal and images are nonnegative: one direction can be the three, and nine must be"
             " differences, with both signs. Centred data have lost the mean, and no atom is a three there.")
    work.figure("triples", "Images whose largest entry is that of the common atom, the best fitted for each second"
                " atom (red: positive, blue: negative).")
    work.figure("exceptions", f"The other {100 * (1 - share):.0f} %: another atom has the largest entry, and the"
                " common one mostly the second largest.")
    work.figure("atoms", "All ten atoms, in the order of their share of the codes.")
    work.say("The paper's Fig. 5 has images in the second and third quadrant, which needs codes of both signs;"
             " nonnegative ones lie in one quadrant. So there are two figures: the codes of this model on the arc of"
             " the commonest pair of atoms, and signed codes in a plane.")
    work.figure("arc", f"The {count} images whose two entries are those of atoms {pair[0] + 1} and {pair[1] + 1}: their"
                " codes on the arc, and beside it the images in their directions, as many as do not hide another.")
    work.figure("plane", "Signed codes (orthonormal × sphere, centred): images at the first two entries of their"
                " codes; only those that do not hide another.")
    work.finish()


if __name__ == "__main__":
    main()
