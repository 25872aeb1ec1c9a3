#!/usr/bin/env python3
"""Model files are input: good models with one thing changed, through every command that takes a model. Each is refused
by exit status 65 (or 71, where it is only too large) and one line that names the field.

$ARMILLA is the command."""
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
SANITIZED = b"__asan_init" in open(ARMILLA, "rb").read()
failures = []
INF, NAN = float("inf"), float("nan")


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def guard():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def run(*arguments):
    begun = time.monotonic()
    done = subprocess.run([ARMILLA, *map(str, arguments)], capture_output=True, preexec_fn=guard)
    check(time.monotonic() - begun < 60, "%s: slow" % (arguments,))
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


class Array:
    """An .npy: type, order, shape and bytes, each free to be wrong."""

    def __init__(self, descriptor, shape, body, fortran=False):
        self.descriptor, self.shape, self.body, self.fortran = descriptor, tuple(shape), body, fortran

    @classmethod
    def parse(cls, content):
        length = struct.unpack("<H", content[8:10])[0]
        head = eval(content[10:10 + length], {"True": True, "False": False})  # our own file
        return cls(head["descr"], head["shape"], content[10 + length:], head["fortran_order"])

    def bytes(self):
        shape = "(%s)" % "".join("%d," % size for size in self.shape)
        head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (self.descriptor, self.fortran, shape)
        head += " " * (-(len(head) + 11) % 64) + "\n"
        return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + self.body

    def letter(self):
        return {"f8": "d", "f4": "f", "i8": "q"}[self.descriptor[1:]]

    def values(self):
        return list(struct.unpack("<%d%s" % (len(self.body) // int(self.descriptor[2:]), self.letter()), self.body))

    def change(self, place, value):
        numbers = self.values()
        numbers[place] = value
        return Array(self.descriptor, self.shape, struct.pack("<%d%s" % (len(numbers), self.letter()), *numbers),
                     self.fortran)

    def shorten(self):
        """One number less."""
        return Array(self.descriptor, (*self.shape[:-1], self.shape[-1] - 1),
                     self.body[:-int(self.descriptor[2:]) * (self.shape[0] if len(self.shape) > 1 else 1)], self.fortran)


def load(path):
    with zipfile.ZipFile(path) as file:
        arrays = {name[:-4]: Array.parse(file.read(name)) for name in file.namelist()}
    return json.loads(arrays.pop("meta").body), arrays


def save(path, meta, arrays, packed=False):
    text = meta if isinstance(meta, bytes) else json.dumps(meta).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as file:
        for name, array in arrays.items():
            file.writestr(name + ".npy", array.bytes())
        file.writestr("meta.npy", Array("|u1", (len(text),), text).bytes())


MISSING = object()
WORDS = [MISSING, None, "", "other", "L2", 5, True, [], {}, ["none"], "n" * 100000]
NUMBERS = [MISSING, None, "3", -1, True, [], {}]
WHOLE = [*NUMBERS, 1.5, 10**18, 2**63 - 1]
REALS = [*NUMBERS, -1e-300]
FLAGS = [None, "yes", 0, 1, [], {}, "false"]

RECORD = {
    "format": [MISSING, None, "1", 0, -1, 2, 10**18, 1.5, True, [], {}],
    "library": [MISSING, None, 1, []],
    "options": [MISSING, None, "x", [], 5, {"rank": 5}, {"rank": {}}, {"lambda": ["1x"]}, {"kernel": 7}],
    "shape": [MISSING, None, [], 5, {}, {"m": 1, "n": 1}],
    "precision": [*WORDS, "u8", "f16"],
    "model": [MISSING, "", "other", 5, True, [], {}],
    "basis": WORDS, "codes": WORDS, "solver": WORDS, "stop": WORDS, "normalize": WORDS,
    "sparsity": [MISSING, "2", -1, 0, 10**6, 1.5, True, [], {}],
    "start": [MISSING, None, 5, [], {}, "s" * 100000],
    "seed": [*NUMBERS, 1.5], "nnz": WHOLE, "iterations": WHOLE, "threads": [*WHOLE, 0], "ranks": [*WHOLE, 0],
    "sweeps": [*NUMBERS, 1.5, 2**63 - 1], "zero_samples": WHOLE,
    "objective": REALS, "relative_error": REALS, "squared_norm": [*REALS, 0], "seconds": REALS,
    "seconds_per_iteration": REALS,
    "center": [MISSING, *FLAGS], "tfidf": [MISSING, *FLAGS], "log1p": FLAGS, "scale": FLAGS,
    "kept_from": [5, [], "x", {}, {"m": 5}, {"m": -1, "n": -1}, {"m": 0, "n": 0}, {"m": 10**18, "n": "x"}],
    "image": [5, [], "x", {}, True, {"rows": 3}, {"rows": 0, "columns": 5}, {"rows": -1, "columns": -5},
              {"rows": 10**6, "columns": 10**6}, {"rows": 2**62, "columns": 4}, {"rows": "1", "columns": 5}],
    "fingerprint": [MISSING, None, 5, "", "xyz", "0x12345678901234", " 123456789012345", "1" * 17, "-123456789012345"],
}


def record_cases(meta):
    for key, values in RECORD.items():
        for value in values:
            if value == meta.get(key) and value is not MISSING and type(value) is type(meta.get(key)):
                continue
            changed = {other: kept for other, kept in meta.items() if other != key or value is not MISSING}
            if value is not MISSING:
                changed[key] = value
            field = key if key in ("format", "shape") else "'%s'" % key
            words = (field, "trace_objective") if key == "iterations" else (field,)
            yield "%s = %s" % (key, "missing" if value is MISSING else json.dumps(value)[:60]), words, changed
    for key in ("m", "n", "r"):
        for value in (0, -1, meta["shape"][key] + 1, 10**6, 50000, 2**62, "x", None, 1.5):
            yield "shape.%s = %s" % (key, value), ("shape", "array ", "nnz", "kept"), {
                **meta, "shape": {**meta["shape"], key: value}}
    text = json.dumps(meta)
    for what, content in (("twice", text[:-1] + ', "seed": 1}'), ("cut", text[:-5]), ("empty", ""), ("list", "[]"),
                          ("number", "5"), ("null", "null"), ("deep", "[" * 100000), ("behind", text + "x"),
                          ("zero byte", text + "\0x"), ("nan", text.replace('"objective": ', '"objective": NaN, "o": ')),
                          ("inf", text.replace('"seconds": ', '"seconds": 1e999, "o": ')),
                          ("large", text[:-1] + ', "x": "' + "y" * 2000000 + '"}'), ("not UTF-8", None)):
        raw = text.encode()[:-1] + b', "x": "\xff\xfe"}' if content is None else content.encode()
        yield "record " + what, ("record", "meta", "format"), raw


def array_cases(arrays):
    rules = {"U": (INF, NAN), "V": (-INF, NAN), "radius": (0.0, -1.0, INF, NAN), "mean": (NAN, INF),
             "idf": (NAN, INF, -1.0), "scale": (NAN, INF, -1.0, 0.0), "trace_objective": (NAN, INF, -1.0),
             "trace_relative_error": (NAN, -1.0), "trace_dU": (NAN, -1.0), "trace_dV": (NAN, -1.0),
             "trace_radius": (NAN, -1.0, INF), "trace_seconds": (NAN, INF, -1.0),
             "kept_features": (-1, 10**18), "kept_samples": (-1, 10**18), "zero_samples": (-1, 10**18)}
    if arrays["radius"].values()[0] != arrays["radius"].values()[0]:  # codes without a sphere: NaN is right
        rules["radius"] = rules["trace_radius"] = (0.0, 1.0, INF)
    for name, array in arrays.items():
        names = name in ("feature_names", "sample_names", "labels")
        if not names and name != "zero_samples":
            yield name + " missing", (name,), {other: kept for other, kept in arrays.items() if other != name}
        for value in rules.get(name, ()):
            yield "%s has %s" % (name, value), (name,), {**arrays, name: array.change(-1, value)}
        if array.shape:
            yield name + " shorter", (name,), {**arrays, name: array.shorten()} if not names else {
                **arrays, name: Array(array.descriptor, (array.shape[0] - 1,), array.body[:-int(array.descriptor[2:]) * 4])}
        yield name + " cut", (name,), {**arrays, name: Array(array.descriptor, array.shape, array.body[:-1], array.fortran)}
        yield name + " of another kind", (name,), {**arrays, name: Array("<c16", array.shape, array.body * 2)}
        yield name + " of huge shape", (name,), {**arrays, name: Array(array.descriptor, (2**40, 2**40), array.body)}
        yield name + " cubic", (name,), {**arrays, name: Array(array.descriptor, (1, 1, *array.shape), array.body)}
    places = arrays["kept_features"].values()
    yield "places fall", ("kept_features",), {**arrays, "kept_features": arrays["kept_features"].change(0, places[-1])}
    other = {"d": "f", "f": "d"}[arrays["U"].letter()]
    numbers = arrays["U"].values()
    retyped = Array("<f4" if other == "f" else "<f8", arrays["U"].shape,
                    struct.pack("<%d%s" % (len(numbers), other), *numbers), True)
    yield "U of the other precision", ("U",), {**arrays, "U": retyped}
    without = {name: array for name, array in arrays.items() if name not in ("mean", "idf", "scale")}
    for name in ("mean", "idf", "scale"):
        if name not in arrays:
            vector = Array("<f8", (arrays["U"].shape[0],), struct.pack("<d", 1.0) * arrays["U"].shape[0])
            yield name + " that was not used", (name,), {**without, name: vector}


def commands(model):
    yield "info", model
    yield "transform", model, "data.csv", "--out", "out.npy"
    yield "reconstruct", model, "--out", "out.npy"
    yield "check", model, "data.csv"
    yield "cluster", model, "--k", 2, "--out", "out.txt"
    yield "plot", model, "--out", "out.svg"
    yield "fit", "data.csv", "--rank", 2, "--start", model, "--out", "out.npz", "--keep-features", "1,3-5", "--quiet"


def refuse(what, words, everywhere):
    """One command tells the field; all the others, for the first case of each field, refuse alike."""
    for command in commands("bad.npz") if everywhere else [("reconstruct", "bad.npz", "--out", "out.npy")]:
        if what == "U missing" and command[0] in ("info", "cluster", "fit"):
            continue  # it is no model then, but data
        status, out, text = run(*command)
        line = "%s: %s: " % (what, command[0])
        check(status == 65, line + "exit status %d, %s%s" % (status, text, out[:200]))
        check(text.count("\n") == 1 and text.startswith("armilla: bad.npz: "), line + "not one line: " + text)
        check(any(word in text for word in words), line + "does not name the field: " + text)
        left = [name for name in os.listdir(".") if name.startswith("out") or "tmp" in name]
        check(not left, line + "left %s" % left)
        for name in left:
            os.remove(name)


def check_bad(meta, arrays, records):
    cases = [(what, words, changed, arrays) for what, words, changed in record_cases(meta)] if records else []
    cases += [(what, words, meta, changed) for what, words, changed in array_cases(arrays)]
    seen = set()
    for what, words, record, changed in cases:
        save("bad.npz", record, changed)
        refuse(what, words, records and words[0] not in seen)
        seen.add(words[0])
    return len(cases)


def check_large(meta, arrays):
    """A rank that the arrays have but no machine wants; a bomb; and archives with entries twice."""
    for rank, expected in ((50000, (65,)), (32000, (65, 71))):
        many = {**arrays, "U": Array("<f8", (4, rank), struct.pack("<d", 0.5) * (4 * rank), True),
                "V": Array("<f8", (rank, 3), struct.pack("<d", 0.5) * (3 * rank), True)}
        record = {**meta, "shape": {"m": 4, "n": 3, "r": rank}, "basis": "nonnegative", "codes": "nonneg",
                  "model": None, "sparsity": None, "precision": "f64", "zero_samples": 0, "nnz": 12, "center": False,
                  "tfidf": False, "scale": False, "log1p": False, "normalize": "none", "kept_from": {"m": 4, "n": 3}}
        many = {name: array for name, array in many.items()
                if name in ("U", "V") or name.startswith("trace")}
        count = len(many["trace_objective"].body) // 8
        many["trace_radius"] = Array("<f8", (count,), struct.pack("<d", NAN) * count)
        many["radius"] = Array("<f8", (), struct.pack("<d", NAN))
        save("bad.npz", record, many)
        status, _, text = run("transform", "bad.npz", "four.csv", "--out", "out.npy")
        check(status in expected and text.count("\n") == 1, "rank %d: %d: %s" % (rank, status, text))
        status, _, text = run("transform", "bad.npz", "four.csv", "--out", "out.npy", "--memory", "100M")
        check(status in expected and text.count("\n") == 1, "rank %d, 100M: %d: %s" % (rank, status, text))
    save("bad.npz", meta, {**arrays, "labels": Array("<U100000", arrays["labels"].shape,
                                                     bytes(400000) * arrays["labels"].shape[0])}, packed=True)
    status, _, text = run("info", "bad.npz", "--memory", "1M")
    check(status == 71 and "--memory" in text and "bad.npz" in text, "a bomb of labels: %d: %s" % (status, text))


def check_names(meta, arrays):
    """Control characters in names are data: they come through, and none reaches a terminal as it is."""
    strange = ["\x1b[31m", "a\nb", "tab\there", "\x07", "\u202e", "\u009b2J", "'", '"', "]]>", "\x00x"]
    count = arrays["labels"].shape[0]
    body = b"".join(strange[i % len(strange)].ljust(10, "\0").encode("utf-32-le") for i in range(count))
    save("strange.npz", {**meta, "start": "\x1b[31m"}, {**arrays, "labels": Array("<U10", (count,), body),
                                                       "sample_names": Array("<U10", (count,), body)})
    for command in (("info", "strange.npz"), ("info", "strange.npz", "--json"),
                    ("cluster", "strange.npz", "--k", 2, "--out", "labels.txt", "--force"),
                    ("reconstruct", "strange.npz", "--out", "strange.csv", "--force")):
        status, out, text = run(*command)
        check(status == 0, "strange names: %s: %d %s" % (command[0], status, text))
        printed = (out + text.encode()).decode(errors="replace")
        last = "\x7f" if "--json" in command else "\x9f"  # JSON is for programs, and says what is there
        check(not any(letter < " " and letter != "\n" or "\x7f" <= letter <= last for letter in printed),
              "strange names: %s prints %s%s" % (command[0], out, text))


def make_models():
    rows = [[(7 * i * i + 3 * j * j + i * j) % 23 for j in range(5)] for i in range(40)]
    with open("data.csv", "w") as file:
        file.write("id,a,b,c,d,e\n")
        for i, row in enumerate(rows):
            file.write("s%d,%s\n" % (i, ",".join(map(str, row))))
    with open("kinds.txt", "w") as file:
        file.write("a\nb\n" * 20)
    with open("four.csv", "w") as file:
        file.write("5,2,3,9\n4,3,2,1\n" * 5)
    common = ["data.csv", "--rank", 2, "--keep-features", "1,3-5", "--keep-samples", "1-30", "--labels", "kinds.txt",
              "--quiet", "--max-iter", 5]
    for name, options in (("centred", ["--center", "--tfidf", "--scale", "--log1p"]),
                          ("sparse", ["--model", "sparse-spherical-nmf", "--sparsity", 1, "--precision", "f32"]),
                          ("plain", ["--model", "nmf"])):
        status, _, text = run("fit", *common, *options, "--out", name + ".npz")
        check(status == 0, "fit %s: %s" % (name, text))
    return ["centred", "sparse", "plain"]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    cases = 0
    for name in make_models():
        meta, arrays = load(name + ".npz")
        save("bad.npz", meta, arrays, packed=True)
        status, _, text = run("info", "bad.npz")
        check(status == 0, "%s, written again: %s" % (name, text))
        status, _, text = run("check", "bad.npz", "data.csv")
        check(status == 0, "%s, checked: %s" % (name, text))
        cases += check_bad(meta, arrays, name == "centred")
        if name == "centred":
            check_names(meta, arrays)
            check_large(meta, arrays)
    print("%d models refused" % cases)
    os.chdir("/")
sys.exit(1 if failures else 0)
