#!/usr/bin/env python3
"""The progress of `make experiments` (experiments/progress.py) by a clock of this test: of the whole run, of one experiment, with
other SEEDS and without MNIST, on machines of different speed, what is said to be left is right within a factor of two from
the first tenth on, and what is done never falls. A terminal has one line that is renewed, a log a line now and then."""

import io
import os
import pathlib
import random
import subprocess
import sys
import tempfile

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "experiments"
sys.path.insert(0, str(EXPERIMENTS))
import progress  # noqa: E402

STEPS, NEAR = 40, 0.03
SCRIPT = """
import os, sys
sys.path.insert(0, sys.argv[1])
import progress
progress.expect([("one", 1.0), ("two", 1.0)])
progress.begin("one")
print("out of one")
progress.advance(0.5)
progress.begin("two")
print("error of two", file=sys.stderr)
sys.exit(3)
"""


def need(condition, *text):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, text)))


def images(folder, present):
    """Images are there or not; nothing of them is read."""
    os.makedirs(folder, exist_ok=True)
    file = pathlib.Path(folder) / "t10k-images-idx3-ubyte.gz"
    file.touch() if present else file.unlink(missing_ok=True)
    return folder


def environment(folder, mnist, seeds, data=None, fashion=False):
    return {"MNIST": images(folder, mnist), "FASHION": images("fashion", fashion), "SEEDS": seeds, **({"DATA": data} if data else {})}


def moments(plan, slowness, numbers):
    """The course of a run: (seconds, what happens), and its end. Parts take up to 1.35 times more or less than expected, so that
    those to come can be 1.8 times as long as those behind tell, and no more."""
    found, now, last = [], 0.0, None
    for part in plan.rest:
        if last and last != part.group:
            found.append((now, ("leave", last)))
        last = part.group
        found.append((now, ("begin", part.group, part.name)))
        takes = part.expected * slowness * 1.35 ** numbers.uniform(-1, 1)
        found += [(now + takes * step / STEPS, ("advance", 1 / STEPS)) for step in range(1, STEPS)]
        now += takes
    return found, now


def tell(plan, event, clock):
    if event[0] == "begin":
        plan.begin(event[1], event[2], clock)
    elif event[0] == "leave":
        plan.leave(event[1], clock)
    else:
        plan.advance(event[1])


def replay(what, names, variables, slowness, seed):
    plan, before = progress.Plan(), 0.0
    for name in names:
        plan.expect(name, progress.parts_of(name, variables))
    events, end = moments(plan, slowness, random.Random(seed))
    need(end > 0, what, "takes no time")
    for step in range(400):
        now = end * step / 400
        while events and events[0][0] <= now:
            at, event = events.pop(0)
            tell(plan, event, 1e5 + at)
        done, left = plan.estimate(1e5 + now)
        need(before <= done <= 0.99, what, f"goes back from {before} to {done}")
        before = done
        rest, slack = end - now, NEAR * end
        if step >= 40:
            need(left + slack <= 2 * (rest + slack) and 2 * (left + slack) >= rest + slack, what, f"({slowness} times slower): at "
                 f"{now:.1f} of {end:.1f} s {rest:.1f} s are left, not {left:.1f}")


def test_estimates():
    everything = ["cones", "convergence", "mnist", "clustering"]
    cases = [("everything", everything, True, "10"), ("without MNIST", everything, False, "10"), ("one seed", everything, True, "1"),
             ("forty seeds", everything, True, "40"), ("no SEEDS", everything, False, ""), ("clustering", ["clustering"], True, "3")]
    cases += [(name, [name], True, "10") for name in everything]
    for what, names, mnist, seeds in cases:
        for slowness in (1, 6, 0.25):
            for seed in range(8):
                replay(what, names, environment("mnist", mnist, seeds, fashion=seed % 2 > 0), slowness, seed)


def test_parts():
    """MNIST and the number of seeds change what is expected; so do the sets of DATA."""
    def seconds(name, *given):
        return sum(cost for _, cost in progress.parts_of(name, environment("mnist", *given)))
    need(progress.parts_of("mnist", environment("mnist", False, "10")) == [], "MNIST is missing, and expected")
    need(seconds("clustering", True, "10") > 1.3 * seconds("clustering", False, "10") > 0, "clustering takes as long without MNIST")
    need(seconds("clustering", True, "20") > 1.9 * seconds("clustering", True, "10") - 2 * progress.DRAWING, "seeds cost nothing")
    need(seconds("clustering", True, "") == seconds("clustering", True, "10"), "there are ten seeds where nothing is said")
    os.makedirs("data", exist_ok=True)
    pathlib.Path("data/own.npy").write_bytes(bytes(1 << 20))
    pathlib.Path("data/own.labels").write_bytes(bytes(1 << 20))
    names = [name for name, _ in progress.parts_of("clustering", environment("mnist", False, "1", "data"))]
    need(names.count("own") == 1 and "mnist" not in names, "the sets are", names)


class Clock:
    def __init__(self):
        self.now = 50.0

    def __call__(self):
        return self.now


def course(terminal):
    """What is shown of two parts of 300 seconds that take twice as long."""
    clock, text, plan = Clock(), io.StringIO(), progress.Plan()
    show = progress.Show(plan, text, terminal, clock)
    plan.expect("first", [("a", 300.0), ("b", 300.0)])
    for name in "ab":
        progress.receive(show, "first", ["begin", name])
        for _ in range(600):
            clock.now += 1
            progress.receive(show, "first", ["advance", 1 / 600])
    return text.getvalue()


def test_shown():
    shown = course(True)
    need("\n" not in shown and shown.count("\r\x1b[K") > 500, "a terminal gets more than one line, or it is not renewed")
    need("50 %  ~ 10 min left  first: b" in shown, "what is shown at half of it is not true")
    log = course(False).splitlines()
    need(15 <= len(log) <= 25 and "\r" not in "".join(log), "a log has", log)
    need(all(" left  first: " in line for line in log), "a log has", log)
    words = [progress.in_words(seconds) for seconds in (0.4, 99, 100, 3600, 7530)]
    need(words == ["0 s", "99 s", "2 min", "1 h 00 min", "2 h 06 min"], words)


def test_relay():
    """A script in a process of its own: what it tells is heard, what it writes is passed on, its status is kept."""
    pathlib.Path("script.py").write_text(SCRIPT, encoding="utf-8")
    caller = (f"import sys; sys.path.insert(0, {str(EXPERIMENTS)!r}); import progress; plan = progress.Plan();"
              f" show = progress.Show(plan); status = progress.relay([sys.executable, 'script.py', {str(EXPERIMENTS)!r}], 'own', show);"
              " print(status, [(part.group, part.name, part.expected) for part in plan.done], plan.rest)")
    run = subprocess.run([sys.executable, "-c", caller], capture_output=True, text=True, check=False)
    need(run.stdout == "out of one\n3 [('own', 'one', 1.0), ('own', 'two', 1.0)] []\n", run.stdout, run.stderr)
    need("error of two" in run.stderr and "left  own: one" in run.stderr, run.stderr)
    alone = subprocess.run([sys.executable, "script.py", str(EXPERIMENTS)], capture_output=True, text=True, check=False)
    need(alone.returncode == 3 and alone.stderr == "error of two\n", "by itself:", alone.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_parts()
        test_estimates()
        test_shown()
        test_relay()
        os.chdir("/")


main()
