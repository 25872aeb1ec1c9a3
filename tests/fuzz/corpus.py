"""Seeds for the fuzzing of whole commands (command.py): small files of every format, and directories."""
import gzip
import io
import json
import os
import random
import struct
import zlib

import numpy as np
import scipy.io
import scipy.sparse

import mutate


class Seed:
    """A file, or the parts of an archive or of a directory."""

    def __init__(self, name, content, form="file"):
        self.name, self.content, self.form = name, content, form

    def mutated(self, numbers):
        """The bytes, or the parts of a directory, after mutations by these random numbers."""
        parts = [list(p) for p in self.content] if self.form != "file" else [[self.name, self.content]]
        for number in numbers:
            r = random.Random(number)
            if self.form == "file":
                parts[0][1] = r.choice(mutate.mutations_of(self.name))(r, parts[0][1])
            else:
                parts = mutate.entry(r, parts)
        r = random.Random(len(numbers))
        if self.form == "directory":
            return parts
        whole = mutate.zip_join(r, parts) if self.form == "archive" else parts[0][1]
        r = random.Random(numbers[-1] if numbers else 0)
        return mutate.flip(r, whole) if self.form == "archive" and numbers and r.random() < 0.05 else whole

    def write(self, folder, numbers):
        path = os.path.join(folder, self.name)
        content = self.mutated(numbers)
        if self.form != "directory":
            with open(path, "wb") as file:
                file.write(content)
            return
        os.mkdir(path)
        for name, part in content:
            name = name.replace("/", "_").replace("\0", "_")[:200] or "x"
            if name not in (".", ".."):
                with open(os.path.join(path, name), "wb") as file:
                    file.write(part)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def saved(save, *arguments):
    file = io.BytesIO()
    save(file, *arguments)
    return file.getvalue()


def archive(**arrays):
    return [[name + ".npy", npy(array)] for name, array in arrays.items()]


def png(width, height):
    lines = b"".join(b"\0" + bytes((7 * x + 3 * y) % 256 for x in range(width)) for y in range(height))
    return mutate.png_join([[b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)],
                            [b"IDAT", zlib.compress(lines)], [b"IEND", b""]])


def safetensors(X):
    header = json.dumps({"X": {"dtype": "F16", "shape": list(X.shape), "data_offsets": [0, X.nbytes]}}).encode()
    return struct.pack("<Q", len(header)) + header + X.tobytes()


def make_data():
    rows, columns = 12, 5
    X = np.array([[(7 * i * i + 3 * i * j + j) % 11 for j in range(columns)] for i in range(rows)], float)
    S = scipy.sparse.csr_matrix(X * (X > 5))
    table = "\n".join(",".join("%g" % x for x in row) for row in X) + "\n"
    head = ",".join("f%d" % j for j in range(columns))
    names = "name," + head + ",class\n" + "".join(
        "s%d,%s,%s\n" % (i, ",".join("%g" % x for x in X[i]), "ab"[i % 2]) for i in range(rows))
    words = "".join("w%d %s\n" % (i, " ".join("%g" % x for x in X[i])) for i in range(rows)).encode()
    sparse = dict(shape=np.array(S.shape), data=S.data)
    C, coo = S.tocsc(), S.tocoo()
    matrix = saved(scipy.io.mmwrite, S.T.tocoo())
    files = [
        Seed("table.csv", table.encode()), Seed("names.csv", names.encode()),
        Seed("table.tsv", table.replace(",", "\t").encode()), Seed("comma.csv", names.replace(",", ";").encode()),
        Seed("table.csv.gz", gzip.compress(table.encode(), mtime=0)), Seed("dense.npy", npy(X)),
        Seed("single.npy", npy(X.astype("f4"))), Seed("bytes.npy", npy(X.astype("u1"))),
        Seed("fortran.npy", npy(np.asfortranarray(X))), Seed("array.npz", archive(X=X), "archive"),
        Seed("texts.npz", archive(X=X, feature_names=np.array(list("abcde")), labels=np.array(["u", "v"] * 6)), "archive"),
        Seed("csr.npz", archive(format=np.array(b"csr"), indices=S.indices, indptr=S.indptr, **sparse), "archive"),
        Seed("csc.npz", archive(format=np.array(b"csc"), indices=C.indices, indptr=C.indptr, shape=np.array(C.shape),
                                data=C.data), "archive"),
        Seed("coo.npz", archive(format=np.array(b"coo"), row=coo.row, col=coo.col, shape=np.array(coo.shape),
                                data=coo.data), "archive"),
        Seed("sparse.mtx", saved(scipy.io.mmwrite, S.tocoo())), Seed("dense.mtx", saved(scipy.io.mmwrite, X)),
        Seed("data.svm", "".join("%d %s\n" % (i % 2, " ".join("%d:%g" % (j + 1, x) for j, x in enumerate(X[i]) if x))
                                 for i in range(rows)).encode()),
        Seed("data.idx", struct.pack(">BBBBIII", 0, 0, 8, 3, rows, 1, columns) + X.astype("u1").tobytes()),
        Seed("data.fvecs", b"".join(struct.pack("<i", columns) + x.tobytes() for x in X.astype("<f4"))),
        Seed("data.u8bin", struct.pack("<II", rows, columns) + X.astype("u1").tobytes()),
        Seed("data.safetensors", safetensors(X.astype("<f2"))),
        Seed("data.vec", b"%d %d\n" % (rows, columns) + words), Seed("data.glove", words),
        Seed("data.bin", b"%d %d\n" % (rows, columns) + b"".join(b"w%d " % i + X[i].astype("<f4").tobytes() for i in range(rows))),
        Seed("picture.png", png(6, 4)), Seed("picture.pgm", b"P2 3 2 9\n1 2 3\n4 5 6\n"),
        Seed("pictures", [["1.png", png(4, 3)], ["2.png", png(4, 3)], ["3.pgm", b"P5 4 3 255\n" + bytes(12)]], "directory"),
        Seed("ten", [["matrix.mtx", matrix], ["barcodes.tsv", b"".join(b"c%d\n" % i for i in range(rows))],
                     ["features.tsv.gz", gzip.compress(b"".join(b"i%d\tg%d\n" % (j, j) for j in range(columns)), mtime=0)]],
             "directory"),
        Seed("data.mat", saved(scipy.io.savemat, {"X": X})), Seed("sparse.mat", saved(scipy.io.savemat, {"S": S.tocsc()})),
    ]
    return files


def make_labels():
    return [Seed("labels.txt", b"a\nb\n" * 6), Seed("labels.idx", struct.pack(">BBBBI", 0, 0, 8, 1, 12) + bytes([0, 1] * 6)),
            Seed("labels.npy", npy(np.arange(12) % 3)), Seed("list.txt", b"1-4\n6\n7-7\n")]


def make_others():
    """What option sets need besides: F names, N the numbers of clusters that were looked at."""
    rows = [{"k": k, "stability": 0.5, "modularity": 0.1 * k, "score": 0.05 * k} for k in (2, 3, 4)]
    return {"F": [Seed("features.txt", b"".join(b"f%d\n" % j for j in range(5))),
                  Seed("samples.txt", b"".join(b"s%d\n" % i for i in range(12)))],
            "P": [Seed("folder", [["x.npy", npy(np.eye(4))], ["labels.txt", b"a\nb\n" * 2]], "directory")],
            "N": [Seed("numbers.json", json.dumps({"k": 3, "numbers": rows}).encode())]}
