#!/usr/bin/env python3
"""What people see while they wait, on a pseudo-terminal: how far the whole command is never falls, is not at its end before
the end, and its phases are named; what long work costs is said before; after an interruption the line that resumes is
printed and works, and --time-limit counts the seconds of the run that goes on. $ARMILLA is the command. Exit status 77
(skipped) where NumPy is missing."""

import os
import pty
import re
import shlex
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

ARMILLA = os.environ["ARMILLA"]
LINE = re.compile(r"(\d+) %  ~ (\?|\d+ s|\d+ min|\d+ h \d\d min|\d+ days) left  ([a-z][a-z -]*)")


def need(condition, *text):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, text)))


def watched(*words):
    """The lines of progress as (seconds, percent, left, phase), how long it all took, and what else was shown."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execv(ARMILLA, [ARMILLA, *words])
    begun, found, all_of_it = time.monotonic(), [], ""
    while True:
        try:
            part = os.read(terminal, 1 << 16).decode(errors="replace")
        except OSError:
            break
        if not part:
            break
        all_of_it += part
        for percent, left, phase in LINE.findall(part):
            found.append((time.monotonic() - begun, int(percent), left, phase.strip()))
    _, status = os.waitpid(child, 0)
    need(status == 0, words, "ended with", status, all_of_it[-500:])
    return found, time.monotonic() - begun, all_of_it


def check_lines(words, phases):
    found, total, shown = watched(*words)
    need(len(found) >= 2 * min(total - 0.5, 5), words, f"showed {len(found)} lines of progress in {total:.1f} s")
    percents = [percent for _, percent, _, _ in found]
    need(percents == sorted(percents), words, "went back:", percents)
    for seconds, percent, left, phase in found:
        if seconds < 0.9 * total:
            need(percent < 99, words, f"{percent} % at {seconds:.1f} s of {total:.1f} s ({phase})")
        if seconds < 0.7 * total and total > 3:
            need(left != "0 s", words, f"nothing left at {seconds:.1f} s of {total:.1f} s ({phase})")
    named = {phase for _, _, _, phase in found}
    for phase in phases if total > 2 else ():
        need(any(phase in name for name in named), words, f"never named {phase}:", named)
    need("e+0" not in shown and "e+1" not in shown, "a time has an exponent", shown)


def test_phases():
    numbers = np.random.default_rng(1)
    centers, labels = numbers.normal(size=(8, 24)), numbers.integers(8, size=24000)
    np.save("data.npy", (centers[labels] + numbers.normal(size=(24000, 24))).astype(np.float32))
    check_lines(["cluster", "data.npy", "--out", "labels.txt"], ["neighbours", "number of clusters"])
    check_lines(["neighbors", "data.npy", "--count", "15", "--recall", "0.999", "--out", "graph.npz"], ["neighbours"])


def test_costs():
    """Announced before it is begun, by a command that is then ended."""
    with open("wide.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (500000, 64)})
        file.truncate(file.tell() + 4 * 500000 * 64)
    for words, said in ((["neighbors", "wide.npy", "--count", "5", "--out", "g.npz"], r"all pairs of 500000 samples .* --recall 0\.98 about"),
                        (["cluster", "wide.npy", "--out", "l.txt"], r"finding the number of clusters .* with --k K about")):
        run = subprocess.Popen([ARMILLA, *words], stderr=subprocess.PIPE, text=True)
        line = ""
        while run.poll() is None and not re.search(said, line):
            line = run.stderr.readline()
        run.kill()
        run.wait()
        need(re.search(said, line), words, "does not say what it costs:", line)
        need(re.search(r"about \d+ (s|min)|about \d+ h \d\d min", line), "no time for people:", line)
    os.remove("wide.npy")


def interrupted(words, until=None):
    """What an interrupted command says of going on; it is interrupted when the file is there, or after a second."""
    run = subprocess.Popen([ARMILLA, *words], stderr=subprocess.PIPE, text=True)
    time.sleep(1.0)
    while until and not os.path.exists(until) and run.poll() is None:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=120)
    need(run.returncode == 130, words, "ended with", run.returncode, said)
    found = re.search(r"^resume +(.*)$", said, re.M)
    need(found, words, "does not say how to go on:", said)
    return found[1]


def test_resume():
    np.save("it's.npy", np.random.default_rng(2).random((1500, 40)))
    slow = ["fit", "it's.npy", "--rank=6", "--model", "spherical-nmf", "--tol", "0", "--max-iter", "1000000"]
    need("--checkpoint FILE" in interrupted(slow), "without a checkpoint")
    need("--start first.npz" in interrupted(slow + ["--out", "first.npz"]), "with a model")
    line = interrupted(slow + ["--out", "model.npz", "--checkpoint", "fit ckpt"])
    words = shlex.split(line)
    need(words[-3:] == ["--resume", "fit ckpt", "--force"], "the line is", line)
    # The first second was used up before: a limit of half a second leaves this run its own.
    before = np.load("model.npz")["trace_objective"].size
    run = subprocess.run(words + ["--time-limit", "0.5"], capture_output=True, text=True, timeout=120)
    need(run.returncode == 0 and "ended by --time-limit" in run.stderr, line, run.stderr)
    need(np.load("model.npz")["trace_objective"].size > before, "a resumed run did nothing:", run.stderr)
    need(re.search(r"^resume .*--resume 'fit ckpt' --force$", run.stderr, re.M), "no line after the limit:", run.stderr)


def test_cluster_resume():
    """As of a fit; and where nothing is fitted the whole command again."""
    slow = ["cluster", "it's.npy", "--model=spherical-nmf", "--k", "6", "--prepare", "none", "--tol", "0", "--max-iter", "1000000"]
    outputs = ["--out", "own.txt", "--model-out", "clusters.npz"]
    need("--checkpoint FILE" in interrupted(slow + outputs[:2]), "without a checkpoint")
    os.remove("own.txt")
    need("--start clusters.npz" in interrupted(slow + outputs), "with a model")
    os.remove("own.txt"), os.remove("clusters.npz")
    line = interrupted(slow + outputs + ["--checkpoint", "its ckpt", "--checkpoint-every", "0.1"], "its ckpt")
    words = shlex.split(line)
    need(words[:3] == [ARMILLA, "cluster", "it's.npy"] and words[-3:] == ["--resume", "its ckpt", "--force"], "the line is", line)
    before = np.load("clusters.npz")["trace_objective"].size
    run = subprocess.run(words + ["--time-limit", "0.5"], capture_output=True, text=True, timeout=120)
    need(run.returncode == 0 and "ended by --time-limit" in run.stderr, line, run.stderr)
    need(np.load("clusters.npz")["trace_objective"].size > before, "a resumed run did nothing:", run.stderr)
    need(re.search(r"^resume .*--resume 'its ckpt' .*--force$", run.stderr, re.M), "no line after the limit:", run.stderr)
    whole = ["cluster", "it's.npy", "--k", "4", "--checkpoint", "whole.ckpt", "--out", "first.txt"]
    run = subprocess.run([ARMILLA, *whole], capture_output=True, text=True, check=False)
    need(run.returncode == 0 and "resume " not in run.stderr, "an undisturbed run:", run.stderr)
    again = whole[:4] + ["--resume", "whole.ckpt", "--out", "second.txt"]
    subprocess.run([ARMILLA, *again], capture_output=True, check=True)
    need(open("first.txt").read() == open("second.txt").read(), "a complete checkpoint gives other labels")
    by_data = ["cluster", "it's.npy", "--k", "60", "--on", "data", "--tries", "1000000", "--out", "again.txt"]
    found = re.search("again from the beginning: (.*)", interrupted(by_data))
    need(found and shlex.split(found[1])[1:] == by_data + ["--force"], "without a fit the line is", found and found[0])
    for wrong in (["clusters.npz", "--k", "2"], ["it's.npy", "--k", "2", "--on", "data"]):
        run = subprocess.run([ARMILLA, "cluster", *wrong, "--checkpoint", "no.ckpt"], capture_output=True, text=True, check=False)
        need(run.returncode == 64 and "--checkpoint" in run.stderr and "nothing is fitted" in run.stderr, wrong, run.stderr)
    np.save("few.npy", np.random.default_rng(1).random((12, 5)))
    run = subprocess.run([ARMILLA, "cluster", "few.npy", "--checkpoint", "no.ckpt"], capture_output=True, text=True, check=False)
    need(run.returncode == 65 and "too few" in run.stderr and not os.path.exists("no.ckpt"), "refused after the fit:", run.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_costs()
        test_resume()
        test_cluster_resume()
        test_phases()


main()
