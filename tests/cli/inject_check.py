#!/usr/bin/env python3
"""Whole commands with every call to the system disturbed in turn: tests/fault/inject.c, preloaded, does it.

Whatever happens, the command ends in one of two ways: as if nothing had happened, with the same bytes in its outputs;
or with the right exit status, one sentence that names the file, says why and what to do, the old bytes in every
output that was to be replaced, and no temporary file. Interruptions and short transfers leave only the first way, and
signals may also save what there is. `inject_check.py NAME...` runs some of the cases; -v shows every message."""
import errno
import gzip
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
INJECT = os.environ.get("ARMILLA_INJECT", "")
VERBOSE = "-v" in sys.argv
OLD = b"what was there before\n"

INTERRUPTIBLE = {"open", "create", "read", "pread", "write", "fsync", "close", "opendir", "waitpid"}
TRANSFERS = {"read", "pread", "write"}

# What an error in a call on a file of that role may end with; 0: nothing is different. A row says the whole truth: a
# call that is not here is a mistake of the test.
EXPECTED = {
    ("stat", "input"): {0, 66}, ("open", "input"): {66}, ("fstat", "input"): {66}, ("read", "input"): {74},
    ("mmap", "input"): {0}, ("close", "input"): {0}, ("access", "input"): {0, 66},
    ("opendir", "input"): {66}, ("readdir", "input"): {74}, ("closedir", "input"): {0},
    ("stat", "output"): {0, 66, 73}, ("stat", "directory"): {0, 73}, ("access", "directory"): {73},
    ("mkdir", "directory"): {73},
    ("open", "directory"): {74}, ("fsync", "directory"): {74}, ("close", "directory"): {0},
    # Leftovers of killed runs are looked for, and what cannot be seen stays.
    ("opendir", "directory"): {0}, ("readdir", "directory"): {0}, ("closedir", "directory"): {0},
    ("create", "temporary"): {73}, ("write", "temporary"): {74}, ("fsync", "temporary"): {74},
    ("close", "temporary"): {74}, ("unlink", "temporary"): {0}, ("lock", "temporary"): {0},
    ("stat", "temporary"): {0}, ("rename", "output"): {74}, ("link", "output"): {74},
    # Arrays that do not fit in memory: in files without a name, or that lose it at once.
    ("unnamed", "spill"): {0}, ("create", "spill"): {73}, ("unlink", "spill"): {73}, ("allocate", "spill"): {74},
    ("mmap", "spill"): {74}, ("close", "spill"): {0},
    # The demo reads the data that it has written.
    ("open", "output"): {66}, ("fstat", "output"): {66}, ("mmap", "output"): {0}, ("close", "output"): {0},
    ("memfd", "memory"): {74}, ("write", "memory"): {74}, ("pread", "memory"): {74}, ("close", "memory"): {0},
    ("spawn", "program"): {69, 70}, ("waitpid", "program"): {70},
}
# What the sentence says instead of strerror's words.
REASONS = {errno.ENOSPC: "the disk is full"}


def png(width, height, pixels):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + bytes(pixels[y * width:(y + 1) * width]) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def npy(rows, columns, values):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
    head += " " * (117 - len(head)) + "\n"
    body = struct.pack("<%dd" % len(values), *values)
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + body


ROWS, COLUMNS = 9, 4
COUNTS = [(7 * i * i + 3 * i + 1) % 23 for i in range(ROWS * COLUMNS)]
TABLE = "".join(",".join(map(str, COUNTS[j * COLUMNS:(j + 1) * COLUMNS])) + "\n" for j in range(ROWS)).encode()
MATRIX = "%%MatrixMarket matrix coordinate integer general\n{} {} {}\n".format(COLUMNS, ROWS, len(COUNTS)) + "".join(
    "{} {} {}\n".format(i % COLUMNS + 1, i // COLUMNS + 1, x) for i, x in enumerate(COUNTS))
IDX = struct.pack(">BBBBII", 0, 0, 8, 2, ROWS, COLUMNS) + bytes(COUNTS)
FVECS = b"".join(struct.pack("<i%df" % COLUMNS, COLUMNS, *COUNTS[j * COLUMNS:(j + 1) * COLUMNS]) for j in range(ROWS))
U8BIN = struct.pack("<II", ROWS, COLUMNS) + bytes(COUNTS)
HEADER = b'{"x":{"dtype":"U8","shape":[%d,%d],"data_offsets":[0,%d]}}' % (ROWS, COLUMNS, ROWS * COLUMNS)
WORDS = b"".join(b"w%d " % j + FVECS[j * 4 * (COLUMNS + 1) + 4:(j + 1) * 4 * (COLUMNS + 1)] for j in range(ROWS))
LABELS = "".join("%d\n" % (j % 2) for j in range(ROWS)).encode()

INPUTS = {
    "data.csv": TABLE,
    "data.csv.gz": gzip.compress(TABLE),
    "data.idx": IDX,
    "data.idx.gz": gzip.compress(IDX),
    "data.fvecs": FVECS,
    "data.u8bin.gz": gzip.compress(U8BIN),
    "data.safetensors": struct.pack("<Q", len(HEADER)) + HEADER + bytes(COUNTS),
    "data.bin": b"%d %d\n" % (ROWS, COLUMNS) + WORDS,
    "data.glove": "".join("w%d %s\n" % (j, " ".join(map(str, COUNTS[j * COLUMNS:(j + 1) * COLUMNS])))
                          for j in range(ROWS)).encode(),
    "data.npy": npy(ROWS, COLUMNS, COUNTS),
    "large.npy": npy(30000, 2, range(60000)),
    "data.mtx.gz": gzip.compress(MATRIX.encode()),
    "data.svm": "".join(
        "%d %s\n" % (j % 2, " ".join("%d:%d" % (i + 1, COUNTS[j * COLUMNS + i]) for i in range(COLUMNS)))
        for j in range(ROWS)).encode(),
    "long.csv.gz": gzip.compress("".join("%d,%d\n" % (j, j * j % 97) for j in range(15000)).encode()),
    "mixed.mtx": ("%%MatrixMarket matrix coordinate real general\n300 200 16000\n" + "".join(
        "%d %d %d\n" % (j * 7919 % 300 + 1, j * 104729 % 200 + 1, j) for j in range(16000))).encode(),
    "labels.idx": struct.pack(">BBBBI", 0, 0, 8, 1, ROWS) + bytes(j % 2 for j in range(ROWS)),
    "labels.txt": LABELS,
    "labels.txt.gz": gzip.compress(LABELS),
    "list.txt": b"1-8\n9\n",
    "basis.npy": npy(COLUMNS, 2, range(1, 2 * COLUMNS + 1)),
    "ten/matrix.mtx": MATRIX.encode(),
    "ten/features.tsv.gz": gzip.compress("".join("id%d\tgene%d\n" % (i, i) for i in range(COLUMNS)).encode()),
    "ten/barcodes.tsv": "".join("cell%d\n" % j for j in range(ROWS)).encode(),
    "pictures/1.png": png(2, 2, COUNTS[:4]),
    "pictures/2.pgm": b"P2 2 2 255\n1 2\n3 9\n",
}


class Case:
    """name, the arguments without --force and --quiet, the outputs; `kinds`: which kinds of disturbance besides errors.
    only: "inputs" or "outputs", where another case has the rest; without --force nothing is new about inputs."""

    def __init__(self, name, line, outputs, kinds="", only="", folder=None, no_map=False):
        self.name, self.arguments, self.outputs = name, line.split(), outputs.split()
        self.kinds, self.only, self.folder, self.no_map = kinds.split(), only, folder, no_map
        self.variants = (False, True) if self.outputs and only == "" else (bool(self.outputs),)
        self.counts = {}


ONE = " --threads 1"
FIT = "fit data.csv --rank 2 --max-iter 3" + ONE
CASES = [
    Case("fit", FIT + " --out out.npz --trace out.csv", "out.npz out.csv", "signal twice cut"),
    Case("fit, many files", "fit data.idx.gz --rank 2 --max-iter 3 --threads 1 --labels labels.idx --start basis.npy "
         "--keep-samples list.txt --out out.npz", "out.npz", "cut", only="inputs"),
    Case("fit, read", FIT + " --labels labels.txt.gz --keep-samples list.txt --out out.npz", "out.npz", only="inputs",
         no_map=True),
    Case("transform", "transform model.npz data.npy --threads 1 --out out.npy", "out.npy", "signal twice cut"),
    Case("transform, csv", "transform model.npz data.csv --threads 1 --out out.csv", "out.csv", "signal",
         only="outputs"),
    Case("transform, read", "transform model.npz data.csv --out out.npy" + ONE, "out.npy", only="inputs", no_map=True),
    Case("reconstruct", "reconstruct model.npz --out out.npy", "out.npy", "signal cut"),
    Case("reconstruct, csv", "reconstruct model.npz --out out.csv", "out.csv", "signal", only="outputs"),
    Case("convert to npy", "convert data.npy out.npy --threads 1", "out.npy", "signal twice cut"),
    *(Case("convert to " + ending, "convert large.npy out." + ending + ONE, "out." + ending, "cut", "outputs")
      for ending in ("npz", "csv", "tsv", "mtx", "svm", "fbin", "fvecs")),
    Case("convert to idx", "convert data.npy out.idx --threads 1", "out.idx", "signal", "outputs"),
    *(Case("convert " + source, "convert " + source + " out.npz" + ONE, "out.npz", "cut", "inputs")
      for source in ("data.csv.gz", "data.idx.gz", "data.idx", "data.mtx.gz", "data.svm", "model-data.npz", "ten",
                     "pictures", "pictures/1.png", "data.fvecs", "data.u8bin.gz", "data.safetensors", "data.bin",
                     "data.glove")),
    *(Case("convert, read " + source, "convert " + source + " out.npz" + ONE, "out.npz", "", "inputs", no_map=True)
      for source in ("data.csv.gz", "data.idx", "model-data.npz", "ten", "pictures")),
    *(Case("convert, spilled " + source, "convert " + source + " out." + ending + " --memory 400K" + ONE,
           "out." + ending, "signal cut", "outputs")
      for source, ending in (("long.csv.gz", "npy"), ("mixed.mtx", "npz"))),
    Case("cluster data", "cluster data.csv --k 2 --tries 2 --threads 1 --out out.txt", "out.txt", "signal twice cut"),
    Case("cluster, model", "cluster data.csv --k 2 --tries 2 --threads 1 --out out.csv --model-out out.npz",
         "out.csv out.npz", "signal cut", "outputs"),
    Case("cluster on data", "cluster data.npy --k 2 --on data --tries 2 --threads 1 --truth labels.txt --out out.txt",
         "out.txt", "signal cut"),
    Case("cluster model", "cluster model.npz --k 2 --tries 2 --threads 1 --truth labels.txt --out out.txt", "out.txt",
         "signal cut"),
    Case("predict", "predict kept.npz data.csv --threads 1 --out out.csv", "out.csv", "cut"),
    Case("top", "top model.npz --data data.csv --clusters labels.txt --threads 1 --out out.csv", "out.csv", "cut"),
    Case("neighbors", "neighbors data.npy --count 3 --threads 1 --out out.npz", "out.npz", "signal twice cut"),
    Case("neighbors of queries", "neighbors model.npz --queries data.npy --count 3 --threads 1 --out out.npz", "out.npz",
         "signal cut"),
    Case("check", "check model.npz data.csv", "", "signal cut"),
    Case("check, mapped", "check model.npz data.npy", "", "cut"),
    Case("info model", "info model.npz", "", "cut"),
    Case("info data", "info data.npy", "", "cut"),
    Case("compare", "compare model.npz model.npz --data data.npy --threads 1", "", "signal cut"),
    Case("score", "score labels.txt labels.idx", "", "cut"),
    Case("demo", "demo --no-pictures --out out", "out/data.csv out/labels.txt out/clusters.csv out/draws.csv "
         "out/model.npz out/trace.csv", "signal", folder="out"),
    Case("plot", "plot model.npz --kind convergence --out out.svg", "out.svg out.gp out.dat", "signal"),
    Case("plot, labels", "plot model.npz --kind codes --labels labels.txt --out out.svg", "out.svg out.gp out.dat",
         "cut", "inputs"),
]


class Failure(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Failure(text)


def spread(folder):
    for name, content in INPUTS.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def load(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def listing(folder):
    return {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names}


class Bench:
    """A directory with the inputs, in which a case is run again and again."""

    def __init__(self, case, top):
        self.case = case
        self.folder = os.path.join(top, case.name.replace(" ", "_").replace("/", "_"))
        self.log = self.folder + ".log"
        os.mkdir(self.folder)
        spread(self.folder)
        self.inputs = listing(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, force, how=None, at=-1):
        """Outputs as they are before each run, the run, and what it gave."""
        for name, content in INPUTS.items():
            if load(self.path(name)) != content:
                spread(self.folder)
        if self.case.folder:
            shutil.rmtree(self.path(self.case.folder), ignore_errors=True)
            if force:
                os.mkdir(self.path(self.case.folder))
        for name in self.case.outputs:
            if force:
                with open(self.path(name), "wb") as file:
                    file.write(OLD)
            elif os.path.exists(self.path(name)):
                os.unlink(self.path(name))
        environment = dict(os.environ, LD_PRELOAD=INJECT, LC_ALL="C", OPENBLAS_NUM_THREADS="1",
                           ARMILLA_FAULT_LOG=self.log)
        if how:
            environment.update(ARMILLA_FAULT=how, ARMILLA_FAULT_AT=str(at))
        if self.case.no_map:
            environment["ARMILLA_FAULT_NO_MAP"] = "1"
        if os.path.exists(self.log):
            os.unlink(self.log)
        arguments = [ARMILLA, *self.case.arguments]
        if self.case.outputs:
            arguments += ["--quiet"] + (["--force"] if force else [])
        done = subprocess.run(arguments, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.status, self.shown, self.printed = done.returncode, done.stderr.decode(), done.stdout
        self.outputs = {name: load(self.path(name)) for name in self.case.outputs}
        return self

    def calls(self):
        with open(self.log, encoding="utf-8") as file:
            return [tuple(line.rstrip("\n").split(" ", 1)) for line in file]

    def role(self, call, name):
        base = os.path.basename(name)
        if call in ("spawn", "waitpid"):
            return "program"
        if name == "armilla-plot":
            return "memory"
        if name == "unnamed" or ".spill.armilla." in base:
            return "spill"
        if base.startswith(".") and base.endswith(".tmp"):
            return "temporary"
        if name in self.case.outputs:
            return "output"
        if name in (".", self.case.folder, (self.case.folder or "") + "/"):
            return "directory"
        return "input"

    # Properties that hold after every run.

    def clean(self):
        left = listing(self.folder) - self.inputs - set(self.case.outputs)
        need(not left, "left behind: " + ", ".join(sorted(left)))

    def one_line(self):
        need(self.shown.startswith("armilla: ") and self.shown.count("\n") == 1 and self.shown.endswith("\n"),
             "not one line")

    def same_as(self, reference):
        need(self.status == reference.status, "exit status %d" % self.status)
        need(self.shown == reference.shown, "another text on standard error")
        need(self.printed == reference.printed, "another text on standard output")
        need(self.outputs == reference.outputs, "other outputs")

    def old_or(self, new, force):
        for name, content in self.outputs.items():
            need(content == (OLD if force else None) or content == new[name], name + " is neither old nor whole")


def blames(setup, call, name):
    """The file that the sentence has to name: of a temporary file or a directory, one of the outputs."""
    role = setup.role(call, name)
    if role == "input":
        return [name]
    if role == "temporary":
        stem = os.path.basename(name)[1:].rsplit(".", 3)[0]
        return [output for output in setup.case.outputs if os.path.basename(output) == stem]
    if role == "output":
        return [name]
    return setup.case.outputs + [setup.case.folder or setup.case.name]


def check_error(setup, reference, force, call, name, number):
    role = setup.role(call, name)
    allowed = EXPECTED.get((call, role))
    need(allowed is not None, "no expectation for %s of an %s" % (call, role))
    if setup.status == reference.status and 0 in allowed:
        return setup.same_as(reference)
    need(setup.status in allowed, "exit status %d, not one of %s" % (setup.status, sorted(allowed)))
    setup.one_line()
    named = any(setup.shown.startswith("armilla: " + file + ": ") for file in blames(setup, call, name))
    need(named, "names another file")
    need(os.strerror(number) in setup.shown or REASONS.get(number, "\n") in setup.shown, "does not say why")
    need("; " in setup.shown, "does not say what to do")
    need(not setup.printed, "something on standard output")
    setup.old_or(reference.outputs, force)
    flushed = (call, role) == ("fsync", "directory")
    need(("is written whole" in setup.shown) == flushed, "wrong about what is written")
    # The file that is blamed is not replaced, and neither is any after it.
    blamed = setup.shown[len("armilla: "):].split(": ")[0]
    if blamed in setup.outputs and setup.status != 66:
        need((setup.outputs[blamed] == reference.outputs[blamed]) == flushed, blamed + " is written, or is not")


def check_same(setup, reference, *_):
    setup.same_as(reference)


def whole(name, content, reference):
    """An output of an interrupted run: the best so far, which need not be what an undisturbed run gives."""
    if name.endswith(".npz"):
        with tempfile.TemporaryFile() as file:
            file.write(content)
            with zipfile.ZipFile(file) as archive:
                return archive.testzip() is None
    if name.startswith("out.txt"):
        return content.count(b"\n") == reference.count(b"\n")
    return content == reference or (name.endswith((".csv", "trace.csv")) and content.endswith(b"\n"))


def check_signal(setup, reference, force, call, name, number):
    need(setup.status == 128 + number, "exit status %d" % setup.status)
    need(setup.shown == "" or (setup.shown.count("\n") == 1 and setup.shown.startswith("armilla: ")), "more than one line")
    for output, content in setup.outputs.items():
        need(content == (OLD if force else None) or whole(output, content, reference.outputs[output]),
             output + " is neither old nor whole")


def check_cut(setup, reference, force, call, name, cut):
    if setup.status == reference.status:
        return setup.same_as(reference)
    setup.one_line()
    need(setup.status == 74, "exit status %d" % setup.status)
    need(setup.shown.endswith("became shorter while it was read; let it be finished, and start again\n"), "no reason")
    # Where the kernel itself met the end, in a write, only the output is known.
    need((cut + ": became") in setup.shown or call == "write" and "out.npz: is not written: a file" in setup.shown,
         "names another file")
    setup.old_or(reference.outputs, force)


def disturbances(setup, calls, force):
    """(at, how, check, its last argument) for everything that is done to a command with these calls."""
    case = setup.case
    closed = False  # the temporary file is written, closed, and has not got its name yet
    for at, (call, name) in enumerate(calls):
        role = setup.role(call, name)
        closed = (closed or (call, role) == ("close", "temporary")) and call not in ("fsync", "create")
        of_output = role not in ("input", "memory", "program")
        if of_output and case.only == "inputs":
            continue
        if not of_output and (case.only == "outputs" or (case.outputs and not force)):
            continue
        yield at, str(errno.EIO), check_error, errno.EIO
        if role in ("temporary", "memory") or call in ("rename", "link", "mkdir"):
            yield at, str(errno.ENOSPC), check_error, errno.ENOSPC
        if call in INTERRUPTIBLE:
            yield at, str(errno.EINTR), check_same, 0
        if call in TRANSFERS:
            yield at, "short", check_same, 0
        number = int(signal.SIGINT if at % 2 else signal.SIGTERM)
        if "signal" in case.kinds and (force or not case.outputs):
            yield at, "signal %d" % number, check_signal, number
        # A file that is closed cannot be found by a signal handler: these few calls are not safe from two signals.
        if "twice" in case.kinds and force and (not closed or (call, role) == ("close", "temporary")):
            yield at, "twice %d" % number, check_signal, number
    mapped = {name: at for at, (call, name) in enumerate(calls) if call == "mmap"} if "cut" in case.kinds else {}
    for name, first in mapped.items() if force or not case.outputs else ():
        for at in range(first, len(calls)):
            if calls[at] in (("mmap", name), ("close", name)) or setup.role(*calls[at]) == "temporary":
                yield at, "cut " + name, check_cut, name


def run_case(case, top):
    """How many disturbances of each kind there were, and what was wrong."""
    setup, wrong = Bench(case, top), []
    for force in case.variants:
        setup.run(force)
        reference = Bench.__new__(Bench)
        reference.__dict__.update(setup.__dict__)
        calls = setup.calls()
        if reference.status != 0 or any(content in (OLD, None) for content in reference.outputs.values()):
            return case.counts, ["%s: the undisturbed run failed: %d %s" % (case.name, setup.status, setup.shown)]
        for at, how, check, argument in disturbances(setup, calls, force):
            setup.run(force, how, at)
            kind = how.split()[0]
            kind = errno.errorcode.get(int(kind), kind) if kind.isdigit() else kind
            case.counts[kind] = case.counts.get(kind, 0) + 1
            call, name = calls[at]
            place = "%s%s: %s at call %d, %s %s" % (case.name, " --force" if force else "", how, at, call, name)
            try:
                check(setup, reference, force, call, name, argument)
                setup.clean()
            except Failure as failure:
                wrong.append("%s: %s (%d)\n    %s" % (place, failure, setup.status, setup.shown.rstrip("\n")))
            if VERBOSE and setup.shown:
                print(place, "->", setup.status, setup.shown, end="")
            for left in listing(setup.folder) - setup.inputs - set(case.outputs):
                os.unlink(setup.path(left))
    return case.counts, wrong


# Calls on files that the command could come to use: all that it imports have to be disturbed.
WATCHED = """open open64 openat openat64 creat creat64 read pread pread64 readv write pwrite pwrite64 writev fsync
fdatasync close rename renameat renameat2 link linkat unlink unlinkat stat stat64 fstat fstat64 lstat lstat64 access
faccessat mkdir opendir fdopendir readdir readdir64 closedir mmap mmap64 truncate truncate64 ftruncate ftruncate64
fallocate posix_fallocate posix_fallocate64 flock sendfile copy_file_range memfd_create posix_spawn posix_spawnp fork waitpid""".split()


def symbols(path, which):
    text = subprocess.run(["nm", "-D", which, path], check=True, stdout=subprocess.PIPE).stdout.decode()
    return {line.split()[-1].split("@")[0] for line in text.splitlines()}


def escaping():
    imported = symbols(ARMILLA, "--undefined-only") | symbols(os.environ["ARMILLA_LIBRARY"], "--undefined-only")
    return sorted((imported & set(WATCHED)) - symbols(INJECT, "--defined-only"))


def make_more_inputs(top):
    """A model and an archive, by the command itself."""
    spread(top)
    for line in (FIT + " --precision f64 --quiet --out model.npz", "convert data.csv model-data.npz --quiet",
                 "cluster data.csv --k 2 --quiet --out kept.txt --model-out kept.npz"):
        subprocess.run([ARMILLA, *line.split()], cwd=top, check=True)
    for name in ("model.npz", "model-data.npz", "kept.npz"):
        INPUTS[name] = load(os.path.join(top, name))


def main():
    if not INJECT or not os.path.exists(INJECT):
        print("there is no library to preload: not tried")
        return 77
    if escaping():
        print("calls that tests/fault/inject.c does not disturb: " + ", ".join(escaping()))
        return 1
    names = [name for name in sys.argv[1:] if name != "-v"]
    cases = [case for case in CASES if not names or case.name in names]
    if not shutil.which("gnuplot"):
        print("skipped: plot, for want of gnuplot")
        cases = [case for case in cases if not case.name.startswith("plot")]
    # Thousands of outputs are flushed: in memory that takes no time, and what fails is the same.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as top:
        os.mkdir(os.path.join(top, "made"))
        make_more_inputs(os.path.join(top, "made"))
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda case: run_case(case, top), cases))
    for case, (counts, _) in zip(cases, results):
        print("%-24s %5d: %s" % (case.name, sum(counts.values()), ", ".join("%s %d" % item for item in counts.items())))
    wrong = [text for _, texts in results for text in texts]
    print("%d disturbances, %d wrong" % (sum(sum(counts.values()) for counts, _ in results), len(wrong)))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
