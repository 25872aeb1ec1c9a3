#!/usr/bin/env python3
"""Seeds for the fuzz targets: seeds.py DIRECTORY makes DIRECTORY/TARGET/* by NumPy, SciPy and Pillow.

An input is one byte that chooses options, and the file; of several files each begins with a line with its name, and
they are separated by BETWEEN (tests/fuzz/fuzz.h)."""
import gzip
import io
import json
import os
import struct
import sys
import zipfile
import zlib

import numpy as np
import scipy.io
import scipy.sparse

BETWEEN = b"\xff\xfe\xfd\n"
top = sys.argv[1]


# Formats that can be streamed, and the targets that do it.
STREAMED = {"npy": "streamed", "idx": "streamed", "npz": "streamed-npz", "safetensors": "streamed", "fvecs": "streamed-fvecs",
            "ivecs": "streamed-ivecs", "fbin": "streamed-fbin"}


def put(target, name, content, choice=0):
    os.makedirs(os.path.join(top, target), exist_ok=True)
    with open(os.path.join(top, target, name), "wb") as file:
        file.write(bytes([choice]) + content)
    if target in STREAMED:
        put(STREAMED[target], target + "-" + name, content, choice)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def bundle(**parts):
    return BETWEEN.join(name.encode() + b"\n" + content for name, content in parts.items())


def entries(**arrays):
    return BETWEEN.join(name.encode() + b".npy\n" + npy(array) for name, array in arrays.items())


X = np.arange(6).reshape(2, 3)
for kind in "?bhilqBHILQefd":
    put("npy", "kind-" + str(ord(kind)), npy(X.astype(kind)))
put("npy", "fortran", npy(np.asfortranarray(X.astype("f4"))), 1)
put("npy", "swapped", npy(X.astype(">f8")))
for version in ((1, 0), (2, 0), (3, 0)):
    file = io.BytesIO()
    np.lib.format.write_array(file, X.astype("f4"), version=version)
    put("npy", "version-%d" % version[0], file.getvalue())

tables = [b"1,2,3\n4,5,6\n", b"a;b;c\n1;2;3\n4;5;6\n", b",x,y,label\nr,1,2,u\ns,3,4,v\n", b"1 2\t3\n4 5 6\n",
          b'"a ""b""","c\nd"\n1e-3,+2.5E+10\r\n-0.0,123456789012345678901234567890\n', b"\xef\xbb\xbf# c\n\n1\t2\n3\t4\n",
          b"1,,3\n", b"1,NA\n2,3\n", b"x,y,\n1,2,\n3,4,\n", b"0x1p3,inf\n1,nan\n"]
for i, table in enumerate(tables):
    put("csv", "table-%d" % i, table, 4 if i == 2 else 0)

S = scipy.sparse.coo_matrix(np.array([[1, 0, 2.5], [0, -3, 0], [4, 0, 5]]))
for field in ("real", "integer", "pattern"):
    for symmetry in ("general", "symmetric", "skew-symmetric"):
        file = io.BytesIO()
        head = "%%%%MatrixMarket matrix coordinate %s %s\n" % (field, symmetry)
        lines = ["3 1", "2 1"] if field == "pattern" else ["3 1 2", "2 1 -7"]
        put("mtx", field + symmetry, (head + "% comment\n3 3 2\n" + "\n".join(lines) + "\n").encode())
file = io.BytesIO()
scipy.io.mmwrite(file, S)
put("mtx", "written", file.getvalue(), 1)
file = io.BytesIO()
scipy.io.mmwrite(file, S.toarray())
put("mtx", "array", file.getvalue())
put("mtx", "array-symmetric", b"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n")

put("svmlight", "plain", b"1 1:0.5 3:2\n-1 2:1e-3 # comment\n+1\n")
put("svmlight", "query", b"# head\n2 qid:3 0:1 7:2.25\n1,2 qid:4 1:1\n")

for code, kind in ((8, "u1"), (9, "i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")):
    put("idx", "kind-%d" % code, struct.pack(">BBBBII", 0, 0, code, 2, 2, 3) + X.astype(kind).tobytes())
put("idx", "images", struct.pack(">BBBBIII", 0, 0, 8, 3, 2, 2, 2) + bytes(range(8)))
labels = struct.pack(">BBBBI", 0, 0, 8, 1, 3) + bytes([1, 2, 0])
put("idx", "labels", labels)

for target, kind in (("fvecs", "<f4"), ("bvecs", "u1"), ("ivecs", "<i4")):
    for shape in ((2, 3), (6, 1), (1, 6)):
        put(target, "vectors-%d" % shape[0], b"".join(struct.pack("<i", shape[1]) + x.tobytes()
                                                      for x in X.astype(kind).reshape(shape)), shape[0] == 6)
for target, kind in (("fbin", "<f4"), ("i8bin", "i1")):
    for shape in ((2, 3), (6, 1), (1, 6)):
        put(target, "vectors-%d" % shape[0], struct.pack("<II", *shape) + X.astype(kind).tobytes(), shape[0] == 6)


def safetensors(*tensors, **more):
    header, content = dict(more), b""
    for name, dtype, array in tensors:
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(content), len(content) + array.nbytes]}
        content += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content


for dtype, kind in (("F64", "<f8"), ("F32", "<f4"), ("F16", "<f2"), ("BF16", "<u2"), ("U8", "u1"), ("I8", "i1")):
    put("safetensors", dtype, safetensors(("X", dtype, X.astype(kind))))
    put("safetensors", dtype + "-odd", safetensors(("y", "U8", np.zeros(1, "u1")), ("X", dtype, X.astype(kind)),
                                                   __metadata__={"format": "pt"}), 33)
put("safetensors", "others", safetensors(("X", "I64", X), ("\u00fc", "BOOL", X > 2), ("s", "F32", np.float32(1).reshape(()))), 32)
vectors = [b"%s " % word + x.tobytes() for word, x in zip((b"a", b"bc"), X.astype("<f4"))]
put("word2vec", "gensim", b"2 3\n" + b"".join(vectors))
put("word2vec", "binary", b"2 3\n" + b"\n".join(vectors) + b"\n", 1)
put("word2vec", "text", b"2 3\nthe 0.5 -1 2e-3\n, 3 4 5.25\n")
put("word2vec", "fasttext", b"3 2\r\n</s> 1 2 \r\n. . 3 4 \r\n\r\n1 5 6\r\n", 1)
put("glove", "plain", b"the 0.5 -1 2e-3\n, 3 4 5.25\n# 1 2 3\n")
put("glove", "blanks", b"\nthe 0.5 -1\n. . . 3 4\n\t1 2\nat name 1 2")
put("any", "glove", b"the" + b" 0.25" * 25 + b"\n1" + b" -1.5" * 25 + b"\n")
put("any", "word2vec", b"2 3\n" + b"".join(vectors))


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(depth, colour, interlace, row, extra=b""):
    lines = zlib.compress((b"\0" + row) * 4)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, depth, colour, 0, 0, interlace)) +
            extra + chunk(b"IDAT", lines) + chunk(b"IEND", b""))


palette = chunk(b"PLTE", bytes(range(48)))
pictures = {"gray": png(8, 0, 0, bytes(4)), "deep": png(16, 0, 0, bytes(8)), "colour": png(8, 2, 0, bytes(12)),
            "alpha": png(8, 6, 1, bytes(16)), "bits": png(1, 0, 0, bytes(1)), "palette": png(4, 3, 0, bytes(2), palette),
            "clear": png(8, 3, 0, bytes(4), palette + chunk(b"tRNS", b"\0\x80")),
            "P5": b"P5 4 4 255\n" + bytes(range(16)), "deepP5": b"P5\n# c\n2 2\n65535\n" + bytes(range(8)),
            "P2": b"P2 2 2 9\n1 2\n3 9\n"}
for name, picture in pictures.items():
    put("images", name, picture)
put("folder", "gray", bundle(**{"1.png": pictures["gray"], "02.png": pictures["gray"], "10.pgm": pictures["P5"]}))
put("folder", "deep", bundle(**{"a.pgm": pictures["deepP5"], "b.pgm": pictures["deepP5"]}))

matrix = b"%%MatrixMarket matrix coordinate integer general\n3 2 2\n1 1 5\n3 2 1\n"
put("10x", "plain", bundle(**{"matrix.mtx": matrix, "features.tsv": b"i\ta\tx\nj\tb\tx\nk\tc\tx\n",
                              "barcodes.tsv": b"AA-1\nCC-1\n"}))
put("10x", "packed", bundle(**{"matrix.mtx.gz": gzip.compress(matrix), "genes.tsv": b"i\ta\nj\nk\tc\n",
                               "barcodes.tsv.gz": gzip.compress(b"AA-1\nCC-1\n")}))

put("npz", "one", entries(X=X.astype("f8")))
put("npz", "names", entries(X=X.astype("f4"), feature_names=np.array(["a", "b", "c"]),
                            sample_names=np.array([b"x", b"yy"]), labels=np.array(["1", "2"])), 32)
put("npz", "several", entries(X=X, Y=X.T))


def sparse(kind, **arrays):
    return entries(format=np.array(kind), shape=np.array([2, 3]), data=np.array([1.0, 2.0]), **arrays)


put("npz", "csr", sparse(b"csr", indices=np.array([0, 2], "i4"), indptr=np.array([0, 1, 2], "i4")))
put("npz", "csc", sparse("csc", indices=np.array([1, 0]), indptr=np.array([0, 1, 1, 2])), 1)
put("npz", "coo", sparse(b"coo", row=np.array([0, 1], "i4"), col=np.array([2, 0], "i4")))
for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
    file = io.BytesIO()
    save(file, X=X)
    put("zip", name, file.getvalue())
file = io.BytesIO()
scipy.sparse.save_npz(file, S.tocsr())
put("zip", "sparse", file.getvalue())

for i, content in enumerate((tables[0], matrix, npy(X), labels, pictures["P5"], b"1 1:2\n", tables[2] * 30)):
    put("any", "plain-%d" % i, content)
    put("any", "packed-%d" % i, gzip.compress(content, mtime=0))
put("any", "twice", gzip.compress(b"1,2\n", mtime=0) + gzip.compress(b"3,4\n", mtime=0) + bytes(9))

put("labels", "lines", b"one\ntwo\r\nthree \n\n")
put("labels", "idx", labels)
for kind in ("i8", "f4", ">f8", "?"):
    put("labels", "npy-" + str(len(kind)) + kind[-1], npy(np.array([0, 1, 2]).astype(kind)))
put("labels", "packed", gzip.compress(b"1\n2\n3\n", mtime=0))
put("keep", "samples", b"1\n2-3\na\n", 1)
put("keep", "features", b" 1-2 \r\n\n2\n", 0)


def model(precision, basis, codes, arrays=None, **other):
    """A model of three samples with two features: as many atoms as the codes need, and every one of them opens
    (fuzz.sh and the test fuzz_seeds refuse others, behind which nothing would be seen)."""
    rank = 2 if "sparse" in codes or codes == "one-hot" else 1
    radius = 1.0 if codes.endswith("sphere") else np.nan
    trace = {"trace_" + name: np.zeros(3) for name in ("objective", "relative_error", "dU", "dV", "seconds")}
    trace["trace_radius"] = np.full(3, radius)
    record = {"format": 1, "library": "0", "model": None, "basis": basis, "codes": codes,
              "sparsity": 1 if "sparse" in codes else None, "solver": "palm",
              "start": "random", "seed": 0, "precision": precision, "normalize": "none", "center": False,
              "tfidf": False, "log1p": False, "scale": False, "options": {"rank": str(rank)},
              "shape": {"m": 2, "n": 3, "r": rank},
              "nnz": 6, "fingerprint": "0123456789abcdef", "threads": 1, "ranks": 1, "iterations": 2, "sweeps": 3,
              "stop": "max-iter", "objective": 1.0, "relative_error": 0.5, "squared_norm": 4.0, "zero_samples": 0,
              "seconds": 0.1, "seconds_per_iteration": 0.05, **other}
    kind = precision.replace("f32", "f4").replace("f64", "f8")
    V = np.ones((rank, 3), kind)
    V[1:] = 0
    return entries(U=np.eye(2, rank, dtype=kind), V=V, radius=np.array(radius), **trace,
                   meta=np.frombuffer(json.dumps(record).encode(), "u1"), **(arrays or {}))


ones = np.ones(2)
put("model", "plain", model("f64", "orthonormal", "sphere"), 2)
put("model", "single", model("f32", "nonnegative", "sphere", solver="fast"))
put("model", "sparse", model("f64", "orthonormal", "sparse-sphere", normalize="l2"), 3)
for i, pair in enumerate([("nonnegative", "nonneg-sparse-sphere"), ("unit", "one-hot"), ("free", "sparse"),
                          ("nonnegative", "nonneg"), ("free", "free")]):
    put("model", "-".join(pair), model("f64", *pair, solver="fast"), i % 4)
put("model", "prepared", model("f64", "orthonormal", "sphere", {"mean": ones, "idf": ones, "scale": ones}, center=True,
                               tfidf=True, scale=True, log1p=True))
put("model", "past", model("f64", "orthonormal", "sphere",
                           {"past_A": np.ones((2, 1), order="F"), "past_G": np.ones((1, 1)), "past_samples": np.array(4.0)},
                           solver="online", samples_seen=9), 2)
put("model", "names", model("f64", "orthonormal", "sphere",
                            {"feature_names": np.array(["a", "b"]), "labels": np.array([b"1"] * 3)}))
put("model", "zeros", model("f64", "orthonormal", "sphere", {"zero_samples": np.array([0, 2])}, zero_samples=2))
put("model", "kept", model("f64", "orthonormal", "sphere",
                           {"kept_features": np.array([0, 2]), "kept_samples": np.array([1, 2, 5])},
                           kept_from={"features": 4, "samples": 6, "m": 4, "n": 6}))
