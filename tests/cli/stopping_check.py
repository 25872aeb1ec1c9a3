#!/usr/bin/env python3
"""INT, TERM and --time-limit end a fit of moderate size at any moment: within a few sweeps, with a valid model. Time is
the processor's, so that other work on the machine does not count, and is compared with sweeps of the same data.

$ARMILLA is the command. Exit status 77 (skipped) where NumPy is missing."""

import gzip
import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
TICK = os.sysconf("SC_CLK_TCK")
SWEEPS, SLACK = 12, 0.5  # a residual in double costs about three sweeps, and files are written
MODELS = {
    "spherical-nmf": ["--model", "spherical-nmf"],
    "sparse-spherical-nmf": ["--model", "sparse-spherical-nmf", "--sparsity", "5"],
}


def check(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def make_data(samples=12000, features=200, parts=40):
    """Parts that add up, so that the last code solve is as hard as it is with real data."""
    numbers = np.random.default_rng(5)
    atoms, codes = numbers.random((features, parts)) ** 4, numbers.random((parts, samples)) ** 6
    X = (atoms @ codes).T + 0.1 * numbers.random((samples, features))
    np.save("data.npy", X.astype(np.float32))


def fit(*options):
    return [ARMILLA, "fit", "data.npy", "--rank", "40", "--threads", "2", "--force", *options]


def cpu_of(process):
    """Seconds that a process has used so far."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def finish(process):
    """Exit status, and the seconds that it used in all."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def sweep_seconds():
    """What a sweep costs: iterations of palm are one each."""
    used = []
    for iterations in ("2", "22"):
        process = subprocess.Popen(
            fit("--model", "spherical-nmf", "--solver", "palm", "--start", "random", "--max-iter", iterations, "--tol", "0"),
            stderr=subprocess.DEVNULL,
        )
        status, seconds = finish(process)
        check(status == 0, f"palm gives {status}")
        used.append(seconds)
    return (used[1] - used[0]) / 20


def check_model(what):
    run = subprocess.run([ARMILLA, "check", "model.npz", "data.npy", "--json"], capture_output=True, check=False)
    check(run.returncode == 0, f"{what}: check says {run.stderr.decode()}")
    info = json.loads(subprocess.run([ARMILLA, "info", "model.npz", "--json"], capture_output=True, check=True).stdout)
    trace = np.load("model.npz")["trace_objective"]
    check(info["objective"] <= trace[-1] + 1e-6 * info["objective"], f"{what}: the model is above its trace")
    return info


def test_signals(sweep):
    moments = random.Random(7)
    saved = 0
    for turn in range(10):
        name = list(MODELS)[turn % 2]
        number = (signal.SIGINT, signal.SIGTERM)[turn // 2 % 2]
        wait = moments.uniform(0, 200 * sweep)
        if os.path.exists("model.npz"):
            os.remove("model.npz")
        process = subprocess.Popen(fit(*MODELS[name], "--out", "model.npz", "--quiet"), stderr=subprocess.PIPE)
        while process.poll() is None and cpu_of(process) < wait:
            time.sleep(0.005)
        if process.poll() is not None:
            continue
        before = cpu_of(process)
        process.send_signal(number)
        status, seconds = finish(process)
        what = f"{name}, {number.name} after {wait:.2f} s"
        check(status in (0, 128 + number), f"{what}: status {status}, {process.stderr.read()}")
        print(f"{what}: {seconds - before:.2f} s, {(seconds - before) / sweep:.1f} sweeps")
        check(seconds - before <= SWEEPS * sweep + SLACK, f"{what}: {seconds - before:.2f} s, a sweep is {sweep:.3f} s")
        if os.path.exists("model.npz"):
            info = check_model(what)
            check(status == 0 or info["stop"] == "interrupted", f"{what}: stop is {info['stop']}")
            saved += 1
    check(saved >= 4, f"only {saved} models were saved")


def test_time_limits(sweep):
    for name, options in MODELS.items():
        for limit in (0.01, 0.3, 1.0):
            process = subprocess.Popen(
                fit(*options, "--tol", "0", "--max-iter", "100000", "--time-limit", str(limit), "--out", "model.npz", "--quiet")
            )
            status, seconds = finish(process)
            what = f"{name}, --time-limit {limit}"
            check(status == 0, f"{what}: status {status}")
            info = check_model(what)
            check(info["stop"] == "time-limit", f"{what}: stop is {info['stop']}")
            # Two threads for that long, the survey before, and what follows.
            print(f"{what}: {seconds:.2f} s")
            check(seconds <= 2 * limit + (SWEEPS + 6) * sweep + SLACK, f"{what}: {seconds:.2f} s of {sweep:.3f} s sweeps")


def on_terminal(command, until, number=None, pause=0):
    """What a terminal shows until the text comes, then the signal, then the rest. A pause soon after the start makes any
    machine slow enough for progress to be shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(command[0], command)
    if pause:
        time.sleep(0.1)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(pause)
        os.kill(pid, signal.SIGCONT)
    shown, sent, ended = b"", False, time.monotonic() + 900  # a sanitized build on a busy machine
    while time.monotonic() < ended:
        ready, _, _ = select.select([terminal], [], [], 1)
        try:
            part = os.read(terminal, 4096) if ready else None
        except OSError:
            break
        if part == b"":
            break
        shown += part or b""
        if not sent and number and until in shown:
            os.kill(pid, number)
            sent = True
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return shown.decode(errors="replace"), os.waitstatus_to_exitcode(status)


def test_terminal_reading():
    """Progress of reading from the first second, and the end at once."""
    rows = (",".join(str(random.random())[:8] for _ in range(50)) for _ in range(4000))
    block = ("\n".join(rows) + "\n").encode()
    with gzip.open("large.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(20):
            file.write(block)
    stopped = [ARMILLA, "fit", "large.csv.gz", "--rank", "2", "--out", "never.npz"]
    shown, status = on_terminal(stopped, b"reading", signal.SIGINT, pause=1.2)
    check(status == 130 and not os.path.exists("never.npz"), f"stopped reading: status {status}")
    check(re.search(r"\d+ %  ~ (\d+ s|\d+ min|\?) left  reading large.csv.gz  \d+ % of \d+ MB", shown), f"no progress of reading: {shown!r}")
    os.remove("large.csv.gz")


def test_terminal():
    slow = fit(*MODELS["sparse-spherical-nmf"], "--tol", "0", "--max-iter", "100000", "--out", "model.npz")
    shown, status = on_terminal(slow, b"% ", signal.SIGINT)
    check(status == 130, f"on a terminal: status {status}")
    check(re.search(r"\d+ %  ~ (\d+ (s|min|days)|\d+ h \d\d min|\?) left  (looking at the data|start|iterations|iter \d+)", shown), f"no progress: {shown!r}")
    check("stopping: " in shown, f"'stopping' is not said: {shown!r}")
    check_model("on a terminal")
    shown, status = on_terminal(slow + ["--time-limit", "0.5"], b"")
    check(status == 0 and "stopping: " in shown, f"--time-limit: status {status}, {shown!r}")
    shown, status = on_terminal(slow + ["--time-limit", "0.5", "--quiet"], b"")
    check(status == 0 and not shown, f"--quiet: status {status}, {shown!r}")
    for options in ((), ("--json",)):
        shown, status = on_terminal([ARMILLA, "cluster", "data.npy", "--k", "20", "--on", "data", *options], b"")
        check(status == 0 and "left" in shown, f"cluster on a terminal: status {status}, {shown[:2000]!r}")
        check(not re.search(r"left[\d{]", shown), f"cluster: progress is left before the output: {shown[:2000]!r}")
    run = subprocess.run(slow + ["--time-limit", "0.5"], capture_output=True, check=True)
    check(b"\r" not in run.stderr and b"left" not in run.stderr, "progress without a terminal")


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_data()
        sweep = sweep_seconds()
        print(f"a sweep takes {sweep:.3f} s")
        test_signals(sweep)
        test_time_limits(sweep)
        test_terminal()
        test_terminal_reading()
        os.chdir("/")


main()
