#!/usr/bin/env python3
"""Runs that are killed at any moment (SIGKILL, which nobody can answer) leave whole outputs or none, and temporaries that
a later run beside them removes once they are an hour old; not before, and not while their process lives."""
import fcntl
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
RUNS = 25
TEMPORARY = re.compile(r"\..+\.armilla\.[0-9]+-[0-9]+\.tmp$")


def need(condition, *shown):
    if not condition:
        print("FAILED:", *shown, file=sys.stderr)
        sys.exit(1)


def listing():
    return set(os.listdir("."))


def temporaries():
    return {name for name in listing() if TEMPORARY.match(name)}


def age(names, seconds):
    then = time.time() - seconds
    for name in names:
        os.utime(name, (then, then))


def write(*outputs):
    """A run that writes beside whatever there is."""
    for output in outputs or ("clean.npy",):
        end = subprocess.run([ARMILLA, "convert", "small.csv", output, "--quiet", "--force"], stderr=subprocess.PIPE)
        need(end.returncode == 0 and not end.stderr, "convert", output, end.returncode, end.stderr)


def load(path):
    with open(path, "rb") as file:
        return file.read()


def kill_at_random(r, arguments, output, whole, seconds):
    """One run that is killed; what it leaves is whole or has a temporary name."""
    process = subprocess.Popen([ARMILLA, *arguments, "--quiet", "--force"])
    time.sleep(r.random() * seconds)
    process.kill()
    process.wait()
    need(not os.path.exists(output) or load(output) == whole, output, "is not whole")


def check_killed_runs(inputs):
    arguments, output = ["convert", "large.csv", "large.npz"], "large.npz"
    begun = time.monotonic()
    need(subprocess.run([ARMILLA, *arguments, "--quiet"]).returncode == 0, "convert")
    seconds, whole, left = 1.2 * (time.monotonic() - begun), load(output), 0
    r = random.Random(1)
    for _ in range(RUNS):
        before = temporaries()
        kill_at_random(r, arguments, output, whole, seconds)
        left += bool(temporaries() - before)
        need(listing() - temporaries() <= inputs | {output}, "a killed run left", listing() - inputs)
    young = temporaries()
    write()
    need(temporaries() == young, "young temporaries are gone")
    age(young, 3700)
    write()
    need(not temporaries(), "old temporaries are still there:", temporaries())
    need(listing() == inputs | {output, "clean.npy"}, "something else has come or gone:", listing())
    return left


def stop(process):
    """Stops it, and returns when it stands or has ended: a signal is sent before it arrives."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


def is_locked(name):
    """Whether a process has its lock, as a temporary has soon after it is made; how old it looks matters from then on."""
    with open(name, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def stopped_while_writing():
    """A process, and the temporary that it has begun and locked."""
    for pause in (0.002 * 1.3**i for i in range(30)):
        process = subprocess.Popen([ARMILLA, "convert", "large.csv", "stopped.csv", "--quiet"])
        time.sleep(pause)
        stop(process)
        found = temporaries()
        if found and all(map(is_locked, found)):
            return process, found
        process.kill()
        process.wait()
        for name in temporaries() | listing() & {"stopped.csv"}:
            os.remove(name)
    need(False, "no run was stopped while it wrote")


def check_a_sure_leftover():
    """A process that is stopped while it writes keeps its temporary however old it looks; killed, it does not."""
    process, found = stopped_while_writing()
    try:
        age(found, 10**6)
        write("beside.npy", "beside.csv")
        need(temporaries() == found, "the temporary of a process that lives is gone")
    finally:  # nobody else would wake it, and it has this test's output open
        process.kill()
        process.wait()
    need(temporaries() == found, "killed, and it is gone already")
    write("beside.npy")
    need(not temporaries(), "what it left is still there")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        row = ",".join("%.6f" % (0.37 * i % 1) for i in range(200)) + "\n"
        for name, rows in (("small.csv", 3), ("large.csv", 2000)):
            with open(name, "w") as file:
                file.write(row * rows)
        left = check_killed_runs(listing())
        check_a_sure_leftover()
        print("%d of %d killed runs left something" % (left, RUNS))
        os.chdir("/")


main()
