#!/usr/bin/env python3
"""Makes the small data sets of the tutorials: data.py texts|cells|images|wines, in the folder that it is run in.

Everything is drawn at random, always the same, by Python alone, so that nothing has to be fetched; words, genes and
strokes are real names with invented numbers. What is planted (subjects, kinds of cells, digits, sorts) is written
beside the data, for comparison."""

import gzip
import math
import os
import random
import sys

SUBJECTS = {
    "space": "orbit rocket launch satellite moon planet telescope astronaut shuttle mission lunar spacecraft gravity mars",
    "cooking": "recipe oven butter flour garlic onion sauce bake pepper cream dough salt simmer chicken",
    "football": "goal striker referee league penalty match coach defender keeper stadium fans season ball tackle",
    "medicine": "patient dose doctor therapy symptoms clinical hospital disease nurse blood vaccine treatment surgery drug",
    "music": "guitar album concert melody chord singer drum piano rhythm orchestra song violin tune bass",
}
COMMON = "time people year day work way thing world part place case week point number group problem hand fact home night"

KINDS = {
    "T-cell": "CD3D CD3E IL7R CD2 TRAC LTB IL32 CD27",
    "B-cell": "MS4A1 CD79A CD79B CD74 TCL1A BANK1 CD19 HLA-DRA",
    "NK-cell": "GNLY NKG7 PRF1 GZMB KLRD1 FGFBP2 CTSW SPON2",
    "monocyte": "LYZ S100A9 S100A8 CD14 FCN1 CST3 TYROBP VCAN",
}
EVERYWHERE = ("ACTB GAPDH MALAT1 B2M TMSB4X RPL3 RPL5 RPL10 RPL13 RPL32 RPS2 RPS3 RPS6 RPS12 RPS27 EEF1A1 TPT1 FTL FTH1 "
              "PTMA UBC HSP90AB1 NACA FAU MYL6 PFN1 CFL1 OAZ1 COX4I1 ATP5F1E")

# Seven strokes, as on a pocket calculator: rows and columns of an image of 12 x 8 pixels.
STROKES = {"top": (1, 1, 2, 5), "upper left": (2, 5, 1, 1), "upper right": (2, 5, 6, 6), "middle": (6, 6, 2, 5),
           "lower left": (7, 10, 1, 1), "lower right": (7, 10, 6, 6), "bottom": (11, 11, 2, 5)}
DIGITS = ["1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"]
ROWS, COLUMNS = 13, 8

# Of each sort of wine the mean of each measurement, and how far a wine is from it, in parts of the mean.
MEASURES = {"alcohol": (13.7, 12.3, 13.2), "acid": (2.0, 1.9, 3.3), "ash": (2.46, 2.24, 2.44),
            "alkalinity": (17.0, 20.2, 21.4), "magnesium": (106, 94, 99), "phenols": (2.84, 2.26, 1.68),
            "flavanoids": (2.98, 2.08, 0.78), "tannins": (1.90, 1.63, 1.15), "colour": (5.5, 3.1, 7.4),
            "hue": (1.06, 1.06, 0.68), "dilution": (3.16, 2.79, 1.68), "sulphates": (0.61, 0.48, 0.72),
            "proline": (1116, 520, 630)}


def poisson(rng, mean):
    """A count of that mean: how many steps of exponential length fit into it."""
    count, sum_of_steps = 0, -math.log(1 - rng.random())
    while sum_of_steps < mean:
        count, sum_of_steps = count + 1, sum_of_steps - math.log(1 - rng.random())
    return count


def write_lines(name, lines):
    with open(name, "w") as file:
        file.writelines(f"{line}\n" for line in lines)


def write_counts(name, rows, columns, entries):
    """Matrix Market: (row, column, count) from 1."""
    write_lines(name, ["%%MatrixMarket matrix coordinate integer general", f"{rows} {columns} {len(entries)}",
                       *(f"{i} {j} {count}" for i, j, count in entries)])


def texts():
    """300 short texts: each has words of its subject, a few of another, and words that are everywhere."""
    rng = random.Random(1)
    names = list(SUBJECTS)
    words = sorted(set(" ".join([COMMON, *SUBJECTS.values()]).split()))
    entries, titles, subjects = [], [], []
    drawn = [names[k] for k, count in enumerate((90, 70, 60, 45, 35)) for _ in range(count)]
    rng.shuffle(drawn)
    for text, subject in enumerate(drawn):
        other = names[int(rng.random() * len(names))]
        counts = {}
        for _ in range(int(20 + 60 * rng.random())):
            which = rng.random()
            pool = (SUBJECTS[subject] if which < 0.55 else SUBJECTS[other] if which < 0.65 else COMMON).split()
            word = pool[int(len(pool) * rng.random() ** 1.5)]  # the first of a list are the most frequent
            counts[word] = counts.get(word, 0) + 1
        entries += [(text + 1, words.index(word) + 1, count) for word, count in sorted(counts.items())]
        titles.append(f"text-{text + 1:03d}")
        subjects.append(subject)
    write_counts("counts.mtx", len(titles), len(words), entries)
    write_lines("words.txt", words)
    write_lines("titles.txt", titles)
    write_lines("subjects.txt", subjects)


def cells():
    """280 cells of four kinds, as 10x's Cell Ranger leaves them: a column of the matrix is a cell."""
    rng = random.Random(2)
    genes = sorted(" ".join([EVERYWHERE, *KINDS.values()]).split())
    of_kind = {kind: set(markers.split()) for kind, markers in KINDS.items()}
    kinds = ["T-cell"] * 120 + ["monocyte"] * 70 + ["B-cell"] * 50 + ["NK-cell"] * 40
    rng.shuffle(kinds)
    base = {gene: 1 + 4 * rng.random() if gene in EVERYWHERE.split() else 0.08 + 0.1 * rng.random() for gene in genes}
    entries = []
    for cell, kind in enumerate(kinds):
        depth = math.exp(0.5 * (rng.random() + rng.random() - 1))
        for i, gene in enumerate(genes):
            count = poisson(rng, depth * (base[gene] + (1.5 if gene in of_kind[kind] else 0)))
            if count:
                entries.append((i + 1, cell + 1, count))
    os.makedirs("cells")
    write_counts("cells/matrix.mtx", len(genes), len(kinds), entries)
    write_lines("cells/features.tsv", [f"ENSG{i:011d}\t{gene}\tGene Expression" for i, gene in enumerate(genes)])
    write_lines("cells/barcodes.tsv", [f"cell-{i + 1:03d}" for i in range(len(kinds))])
    write_lines("kinds.txt", kinds)


def images():
    """30 images of each digit, a folder for each, from a bad display: every stroke has a brightness of its own, one in
    four is missing, and there is noise."""
    rng = random.Random(3)
    for digit, strokes in enumerate(DIGITS):
        os.makedirs(f"digits/{digit}")
        for number in range(30):
            pixels = [[int(12 * rng.random()) for _ in range(COLUMNS)] for _ in range(ROWS)]
            for on, (top, bottom, left, right) in zip(strokes, STROKES.values()):
                light = (100 + int(140 * rng.random())) * (rng.random() < 0.75)
                for i in range(top, bottom + 1):
                    for j in range(left, right + 1):
                        pixels[i][j] += light * int(on)
            with open(f"digits/{digit}/{number + 1:02d}.pgm", "wb") as file:
                file.write(b"P5\n%d %d\n255\n" % (COLUMNS, ROWS))
                file.writelines(bytes(row) for row in pixels)


def write_wines(name, rng, first, count, order, extra):
    sorts = [int(3 * rng.random()) for _ in range(count)]
    open_file = gzip.open if name.endswith(".gz") else open
    with open_file(name, "wt") as file:
        file.write(",".join(["wine", *order, *(["year"] if extra else [])]) + "\n")
        for i, sort in enumerate(sorts):
            spread = {measure: 1 + 0.22 * (rng.random() + rng.random() - 1) for measure in MEASURES}
            row = [f"{means[sort] * spread[measure]:.2f}" for measure, means in ((m, MEASURES[m]) for m in order)]
            file.write(",".join([f"wine-{first + i:03d}", *row, *([str(2001 + i % 9)] if extra else [])]) + "\n")
    return ["ABC"[sort] for sort in sorts]


def wines():
    """150 wines of three sorts with 13 measurements, and 12 new ones whose columns stand in another order."""
    rng = random.Random(4)
    order = list(MEASURES)
    write_lines("sorts.txt", write_wines("wines.csv", rng, 1, 150, order, False))
    write_lines("new-sorts.txt", write_wines("new.csv", rng, 151, 12, sorted(order), True))
    with open("wines.csv", "rb") as plain, gzip.GzipFile("wines.csv.gz", "wb", mtime=0) as packed:
        packed.write(plain.read())


MAKERS = {"texts": texts, "cells": cells, "images": images, "wines": wines}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in MAKERS:
        sys.exit(f"usage: data.py {'|'.join(MAKERS)}")
    MAKERS[sys.argv[1]]()
