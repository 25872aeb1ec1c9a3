#!/usr/bin/env python3
"""Folders of images against Pillow: every kind of PNG, and PGM; values equal.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy or Pillow is missing."""

import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from PIL import Image
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])


def run(*arguments, status=0):
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout if status == 0 else done.stderr


def read(folder):
    run("convert", folder, "y.npz", "--force", "--quiet")
    with np.load("y.npz") as found:
        return found["X"], list(found["sample_names"])


def check(name, images, wanted, **options):
    """The images in one folder, alone: what Pillow makes gray."""
    shutil.rmtree("folder", ignore_errors=True)
    os.mkdir("folder")
    for i, image in enumerate(images):
        image.save(f"folder/image{i}.{options.get('ending', 'png')}", **{k: v for k, v in options.items() if k != "ending"})
    found, names = read("folder")
    assert names == [f"image{i}.{options.get('ending', 'png')}" for i in range(len(images))], names
    wanted = np.stack(wanted).reshape(len(images), -1)
    assert found.dtype == wanted.dtype, f"{name}: {found.dtype}"
    assert np.array_equal(found, wanted), f"{name}: values differ"


def main():
    rng = np.random.default_rng(3)
    gray = [rng.integers(0, 256, (9, 13), dtype="u1") for _ in range(12)]  # image10 comes after image9
    colour = [rng.integers(0, 256, (9, 13, 3), dtype="u1") for _ in range(3)]
    deep = [rng.integers(0, 65536, (9, 13), dtype="u2") for _ in range(3)]
    luma = [np.array(Image.fromarray(pixels).convert("L")) for pixels in colour]
    check("gray", [Image.fromarray(pixels) for pixels in gray], gray)
    check("PGM", [Image.fromarray(pixels) for pixels in gray], gray, ending="pgm")
    check("RGB", [Image.fromarray(pixels) for pixels in colour], luma)
    alpha = [np.dstack([pixels, rng.integers(0, 256, (9, 13), dtype="u1")]) for pixels in colour]
    check("RGBA", [Image.fromarray(pixels) for pixels in alpha], luma)
    check("LA", [Image.fromarray(np.dstack([pixels, pixels]), "LA") for pixels in gray], gray)
    check("16 bits", [Image.fromarray(pixels.astype("i4")).convert("I;16") for pixels in deep],
          [pixels.astype("f4") for pixels in deep])
    palette = [Image.fromarray(pixels).quantize(16) for pixels in colour]
    check("palette", palette, [np.array(image.convert("RGB").convert("L")) for image in palette])
    for bits in (1, 2, 4):
        few = [image.quantize(2**bits) for image in palette]
        check(f"palette of {bits} bits", few, [np.array(image.convert("RGB").convert("L")) for image in few], bits=bits)
    black = [Image.fromarray(pixels > 99) for pixels in gray]
    check("1 bit", black, [np.array(image.convert("L")) for image in black])
    os.mkdir("mixed")
    Image.fromarray(gray[0]).save("mixed/a.png")
    Image.fromarray(gray[0][:-1]).save("mixed/b.png")
    assert "mixed/b.png: has 13 x 8 pixels, and mixed/a.png" in run("info", "mixed", status=65)
    os.mkdir("labelled")
    for i in range(4):
        Image.fromarray(gray[i]).save(f"labelled/{i}.png")
    open("labels.txt", "w").write("cat\ndog\ncat\ncat\n")
    run("convert", "labelled", "y.npz", "--labels", "labels.txt", "--force", "--quiet")
    assert list(np.load("y.npz")["labels"]) == ["cat", "dog", "cat", "cat"]
    run("fit", "labelled", "--rank", 2, "--out", "model.npz", "--quiet")
    run("check", "model.npz", "labelled")
    # What a folder may take goes by all of its images, not by the first alone.
    os.mkdir("many")
    Image.fromarray(np.zeros((6000, 6000), "u1")).save("many/0.png")
    for i in range(1, 400):
        os.link("many/0.png", f"many/{i}.png")
    shown, size = run("info", "many", status=71), 400 * os.path.getsize("many/0.png") / 2**20
    assert "400 images of 6000 x 6000 pixels need 13.4 GiB" in shown and f"an input of {size:.1f} MiB may take" in shown, shown


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    try:
        main()
    except AssertionError as wrong:
        sys.exit(f"FAILED: {wrong}")
    finally:
        os.chdir("/")
