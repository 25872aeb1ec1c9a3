#!/usr/bin/env python3
"""Small files that declare much, through every command: refused at once, by one line, within little memory. And
--memory for every command: a bit more than what it counts is enough, a bit less is refused and leaves nothing behind.

$ARMILLA is the command. The files are made here, byte by byte; those of HDF5 where h5py is installed."""
import gzip
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

try:
    import h5py
except ImportError:
    h5py = None

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
CONVERTER = os.path.join(os.path.dirname(ARMILLA), "armilla-convert")
SANITIZED = b"__asan_init" in open(ARMILLA, "rb").read()
MEBI = 1 << 20
MOST_SECONDS = 200 if SANITIZED else 20
MOST_BYTES = 1600 * MEBI  # the budget of a small input is 1 GiB, and 64 bytes for each of its own
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def guard():
    """A failure of this test is a failure of one process, not of the machine."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


def run(*arguments, stdin=subprocess.DEVNULL):
    """Exit status, standard error, seconds, and the most memory that the command had."""
    begun = time.monotonic()
    with open("stderr", "w+b") as errors:
        process = subprocess.Popen([ARMILLA, *map(str, arguments)], stdin=stdin, stdout=subprocess.DEVNULL,
                                   stderr=errors, preexec_fn=guard)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    return process.returncode, text, time.monotonic() - begun, usage.ru_maxrss * 1024


def put(name, content):
    with open(name, "wb") as file:
        file.write(content)
    return name


def npy(descriptor, shape, body=b""):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descriptor, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + body


def archive(*entries):
    """A zip of (name, bytes), stored, or of (name, packed, size, crc), deflated, whatever size it declares."""
    out, directory = b"", b""
    for name, content, *declared in entries:
        size, check = declared if declared else (len(content), zlib.crc32(content))
        common = struct.pack("<HHHHHIIIHH", 20, 0, 8 if declared else 0, 0, 33, check, len(content), size, len(name), 0)
        directory += (b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, len(out)) +
                      name.encode())
        out += b"PK\3\4" + common + name.encode() + content
    end = struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(directory), len(out), 0)
    return out + directory + b"PK\5\6" + end


def vector(kind, *values):
    return npy({"q": "<i8", "d": "<f8"}[kind], "(%d,)" % len(values), struct.pack("<%d%s" % (len(values), kind), *values))


def scipy(form, rows, columns, **arrays):
    return archive(("format.npy", npy("|S3", "()", form.encode())), ("shape.npy", vector("q", rows, columns)),
                   *((name + ".npy", content) for name, content in arrays.items()))


def png(side):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    pixels = b"\x78\x01" + os.urandom(side * side // 1090)  # as few bytes as deflate could have made of them
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


def hostile_files():
    """Each a few bytes, or a few millions, that ask for many times as much."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = packer.compress(bytes(64 * MEBI)) + packer.flush()
    member = gzip.compress(b"0,0\n" * (16 * MEBI), 6)
    two = vector("d", 1.0, 2.0)
    market = "%%MatrixMarket matrix {} real general\n{}\n"
    files = [
        put("feature.svm", b"1 1:1 1000000000:2\n2 3:1\n"),
        put("last.svm", b"1 2147483646:2\n"),
        put("tall.mtx", market.format("coordinate", "2000000000 3 2\n1 1 1\n3 3 2").encode()),
        put("wide.mtx", market.format("coordinate", "3 2000000000 2\n1 1 1\n3 3 2").encode()),
        put("square.mtx", market.format("coordinate", "2000000000 2000000000 2\n1 1 1\n3 3 2").encode()),
        put("array.mtx", market.format("array", "60000 60000\n1\n2").encode()),
        put("csr.npz", scipy("csr", 2, 2000000000, data=two, indices=vector("q", 0, 1), indptr=vector("q", 0, 1, 2))),
        put("csc.npz", scipy("csc", 2000000000, 2, data=two, indices=vector("q", 0, 1), indptr=vector("q", 0, 1, 2))),
        put("coo.npz", scipy("coo", 1000000000, 1000000000, data=two, row=vector("q", 0, 1), col=vector("q", 0, 1))),
        put("bomb.npz", archive(("x.npy", zeros * 60, 60 * 64 * MEBI, 0))),
        put("bomb.csv.gz", gzip.compress(b"1,2\n")[:10] + os.urandom(2 * MEBI) + struct.pack("<II", 0, 1900000000)),
        put("members.csv.gz", member * 30),
        put("large.png", png(60000)),
        put("large.pgm", b"P5 60000 60000 255\n" + bytes(1000)),
        put("text.pgm", b"P2 60000 60000 255\n" + b"1 " * 1000),
        put("row.csv", b"1," * 1000000 + b"1\n" + b"\n" * 1000000 + b"1\n" * 1000000),
        put("large.idx", struct.pack(">BBBBIII", 0, 0, 8, 3, 4000000000, 4000000000, 2) + bytes(100)),
        put("large.npy", npy("<f8", "(1000000, 1000000)", bytes(800))),
    ]
    if h5py and os.access(CONVERTER, os.X_OK) and not SANITIZED:  # where armilla-convert has its limits
        with h5py.File("dense.h5ad", "w") as file:
            file.create_dataset("X", shape=(60000, 60000), dtype="f8")
        files.append("dense.h5ad")
    return files


def commands(name):
    yield "info", name
    yield "fit", name, "--rank", 2, "--out", "out.npz"
    yield "fit", name, "--samples", "columns", "--rank", 1, "--model", "kmeans", "--out", "out.npz"
    yield "transform", "model.npz", name, "--out", "out.npy"
    yield "check", "model.npz", name
    yield "cluster", name, "--k", 2, "--out", "out.txt"
    yield "cluster", name, "--k", 2, "--on", "data", "--out", "out.txt"
    yield "convert", name, "out.csv"
    yield "fit", "data.csv", "--rank", 2, "--start", name, "--out", "out.npz"
    yield "fit", "data.csv", "--rank", 2, "--labels", name, "--out", "out.npz"
    yield "score", name, "labels.txt"
    yield "plot", name, "--out", "out.svg"
    yield "reconstruct", name, "--out", "out.npy"


def few(name):
    """Where each refusal has to fill the budget first."""
    yield "info", name


def refused(arguments, limit, stdin=subprocess.DEVNULL):
    before = sorted(os.listdir("."))
    status, text, seconds, peak = run(*arguments, stdin=stdin)
    what = " ".join(map(str, arguments)) + ": "
    converted = "--start" in arguments and arguments[-3].endswith(".h5ad")  # which is read for data alone
    check(status in (65, 71) or (status == 69 and converted), what + "exit status %d: %s" % (status, text))
    check(text.count("\n") == 1 and text.startswith("armilla: "), what + "not one line: " + text)
    check(status != 71 or "memory" in text, what + "does not say why: " + text)
    check(seconds < MOST_SECONDS, what + "took %.1f seconds" % seconds)
    check(SANITIZED or peak < limit, what + "took %d MiB" % (peak // MEBI))
    check(sorted(os.listdir(".")) == before, what + "left something behind")
    return seconds, peak


def check_hostile():
    slowest = most = 0
    for name in hostile_files():
        # An h5ad is refused by another program, which shares its limit with what it has loaded.
        limited = [] if name.endswith(".h5ad") else ["--memory", "100M"]
        for command in few(name) if name == "members.csv.gz" else commands(name):
            seconds, peak = refused(command, MOST_BYTES)
            slowest, most = max(slowest, seconds), max(most, peak)
            if limited and command[0] in ("info", "score"):
                refused([*command, *limited], 200 * MEBI)
    print("hostile files: at most %.1f s, %d MiB" % (slowest, most // MEBI))


def check_pipe():
    """What comes through a pipe is in memory, and counted."""
    for arguments, limit in ((["--memory", "50M"], 150 * MEBI), (["--memory", "500K"], 60 * MEBI)):
        source = subprocess.Popen([sys.executable, "-c", "import sys\nwhile True: sys.stdout.write('1,2,3\\n' * 100000)"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        refused(["info", "/dev/stdin", "--format", "csv", *arguments], limit, stdin=source.stdout)
        source.stdout.close()
        source.wait()


def check_room():
    """The message's advice works, and so do honest inputs that are larger in memory than on disk."""
    put("sparse.svm", b"".join(b"%d %d:1 %d:2\n" % (i % 3, 1 + i * 7919 % 300000, 300001 + i) for i in range(50)))
    put("packed.csv.gz", gzip.compress(b"0,0,0,0,1\n0,1,0,0,0\n1,2,0,0,0\n" * 500000, 9))
    cases = [("info", "sparse.svm"), ("fit", "sparse.svm", "--rank", 3, "--max-iter", 2), ("info", "packed.csv.gz"),
             ("fit", "packed.csv.gz", "--rank", 2, "--max-iter", 2), ("cluster", "packed.csv.gz", "--k", 2)]
    for case in cases:
        status, text, _, _ = run(*case, *([] if case[0] == "info" else ["--quiet"]))
        check(status == 0, " ".join(map(str, case)) + ": %d: %s" % (status, text))
    put("tall.svm", b"1 1:1 30000000:2\n2 3:1\n")
    status, text, _, _ = run("info", "tall.svm")
    check(status == 71 and "--memory" in text and "an input of 23 bytes may take 1.0 GiB" in text, "tall.svm: " + text)
    status, text, _, _ = run("info", "tall.svm", "--memory", "4G")
    check(status == 0, "tall.svm with --memory 4G: " + text)


def exact_commands():
    threads = ["--threads", 1]
    quiet = ["--quiet", *threads]
    yield ["info", "data.csv", *threads], None
    yield ["info", "model.npz"], None
    yield ["fit", "data.csv", "--rank", 3, "--out", "out.npz", "--max-iter", 5, *quiet], "out.npz"
    yield ["fit", "data.csv", "--rank", 2, "--start", "model.npz", "--out", "out.npz", *quiet], "out.npz"
    yield ["fit", "data.mtx", "--samples", "columns", "--rank", 4, "--normalize", "l2", "--center", "--restarts", 3,
           "--out", "out.npz", "--precision", "f32", *quiet], "out.npz"
    yield ["transform", "model.npz", "data.csv", "--out", "out.npy", *threads], "out.npy"
    yield ["transform", "model.npz", "data.csv", "--out", "out.csv", *threads], "out.csv"
    yield ["reconstruct", "model.npz", "--out", "out.npy"], "out.npy"
    yield ["check", "model.npz", "data.csv"], None
    yield ["cluster", "data.csv", "--k", 3, "--out", "out.txt", *quiet], "out.txt"
    yield ["cluster", "model.npz", "--k", 3, "--out", "out.txt", *quiet], "out.txt"
    yield ["convert", "data.csv", "out.npz", *threads], "out.npz"
    yield ["convert", "data.csv.gz", "out.mtx", *threads], "out.mtx"
    yield ["score", "labels.txt", "labels.txt"], None
    yield ["demo", "cones", "--no-pictures", "--quiet", "--out", "demo"], "demo"
    if shutil.which("gnuplot"):
        yield ["plot", "model.npz", "--kind", "codes", "--out", "out.svg"], "out.svg"
    else:
        print("skipped: plot, for want of gnuplot")


def attempt(arguments, limit, output):
    """Whether the command has enough; what it made is gone afterwards."""
    before = set(os.listdir("."))
    status, text, _, _ = run(*arguments, "--memory", limit)
    made = set(os.listdir(".")) - before
    what = " ".join(map(str, arguments)) + " --memory %d: " % limit
    check(status in (0, 71), what + "exit status %d: %s" % (status, text))
    if status == 0:
        check(output is None or output in made, what + "no output")
    else:
        check(text.count("\n") == 1 and "--memory" in text, what + "not one line about --memory: " + text)
        check(made <= {"demo"}, what + "left %s" % sorted(made))  # the folder of a demo stays
        made_inside = os.listdir("demo") if "demo" in made else []
        check(not any(".tmp" in name or name.startswith(".") for name in made_inside), what + "left a temporary")
    for name in made:
        shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)
    return status == 0


def check_exact():
    """The least limit that is enough, by bisection: whatever is below it fails in the same way."""
    for arguments, output in exact_commands():
        low, high = 1, 1 << 30
        check(attempt(arguments, high, output), " ".join(map(str, arguments)) + ": fails with 1 GiB")
        while high - low > max(low // 50, 16):
            middle = min(2 * low + 4096, (low + high) // 2) if low < 4 * MEBI else (low + high) // 2
            if attempt(arguments, middle, output):
                high = middle
            else:
                low = middle
        check(attempt(arguments, high + high // 20, output), "%s: %d bytes are enough, more are not" % (arguments, high))
        for part in (0.95, 0.5, 0.1):
            check(not attempt(arguments, max(int(part * low), 1), output), "%s: less is enough" % arguments)


def make_inputs():
    rows = [[(7 * i * i + 3 * j * j + i * j) % 23 for j in range(6)] for i in range(300)]
    table = "".join(",".join(map(str, row)) + "\n" for row in rows).encode()
    put("data.csv", table)
    put("data.csv.gz", gzip.compress(table))
    entries = ["%d %d %d" % (i + 1, j + 1, x) for j, row in enumerate(rows) for i, x in enumerate(row) if x % 3 == 1]
    put("data.mtx", ("%%%%MatrixMarket matrix coordinate real general\n6 300 %d\n" % len(entries) +
                     "\n".join(entries) + "\n").encode())
    put("labels.txt", b"".join(b"%d\n" % (i % 4) for i in range(300)))
    status, text, _, _ = run("fit", "data.csv", "--rank", 2, "--out", "model.npz", "--quiet")
    check(status == 0, "fit: " + text)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    make_inputs()
    put("stderr", b"")
    check_exact()
    check_room()
    check_pipe()
    check_hostile()
    os.chdir("/")
sys.exit(1 if failures else 0)
