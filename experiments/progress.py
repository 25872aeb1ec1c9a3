"""How far a run of the experiments is and how long the rest will take: by costs of its parts that were measured, corrected by
what has really been taken.

run.py plans the whole run (Plan), runs the scripts one after the other and shows how far they are (Show, relay). A script
tells what it is going to do and what it is at (expect, begin, advance) by a pipe; one that is run by itself tells nobody."""
import json
import os
import selectors
import shutil
import subprocess
import sys
import time

PIPE = "ARMILLA_EXPERIMENTS_PIPE"

# Processor seconds on an ordinary machine: of the experiments whose parts are always the same, and of clustering for each
# known set, over all methods, with one seed. Other sets are guessed by their bytes.
COSTS = {"cones": {"computing": 0.2, "figures": 0.3},
         "convergence": {"computing": 0.5, "figures": 0.4},
         "mnist": {"computing": 1.5, "figures": 1.6}}
SETS = {"digits": 3.6, "iris": 0.5, "wine": 0.6, "mnist": 55.0, "fashion": 55.0}
ENDINGS = (".mtx.gz", ".mtx", ".npy", ".npz", "-images-idx3-ubyte", "-images-idx3-ubyte.gz", ".csv", ".csv.gz")
FASHION = "/usr/share/datasets/fashion-mnist"
BYTE = 1e-5
UNPACKED = 4
DRAWING = 3.0

# What is known of this machine before anything is measured weighs as much as that part of the plan, and of a group of parts
# as much as that part of the group. A part that has come as far as the last one tells by itself how long it takes.
PRIOR, GROUP_PRIOR, TELLING = 0.005, 0.05, 0.1
MOST_DONE = 0.99


class Part:
    """What takes `expected` seconds on an ordinary machine, in a group of parts that are alike."""

    def __init__(self, group, name, expected):
        self.group, self.name, self.expected, self.taken = group, name, expected, 0.0


class Plan:
    """Parts in the order in which they are done: `done` of them, then perhaps one in progress, then the rest. The clock is the
    caller's."""

    def __init__(self):
        self.done, self.current, self.rest = [], None, []
        self.first = self.entered = None
        self.fraction = self.reached = 0.0

    def expect(self, group, parts):
        """What the group is going to do, in place of what was expected of it and has not begun."""
        place = next((i for i, part in enumerate(self.rest) if part.group == group), len(self.rest))
        self.rest = [part for part in self.rest if part.group != group]
        self.rest[place:place] = [Part(group, name, seconds) for name, seconds in parts]

    def begin(self, group, name, clock):
        """Parts of the group before this one are left out; one that was not expected takes no time."""
        self.end(clock)
        if self.first is None:
            self.first = clock
        place = next((i for i, part in enumerate(self.rest) if (part.group, part.name) == (group, name)), None)
        self.current = self.rest[place] if place is not None else Part(group, name, 0.0)
        if place is not None:
            self.rest = [part for i, part in enumerate(self.rest) if i > place or i < place and part.group != group]
        self.entered, self.fraction = clock, 0.0

    def advance(self, part):
        """That much more of the part in progress is done."""
        self.fraction = min(self.fraction + part, 1.0)

    def end(self, clock):
        if self.current:
            self.current.taken = clock - self.entered
            self.done.append(self.current)
        self.current = None

    def leave(self, group, clock):
        """The group is over: what has not begun of it never will."""
        self.end(clock)
        self.rest = [part for part in self.rest if part.group != group]

    def measured(self, clock):
        """What was done and could be expected: group, seconds that were expected of it, and taken."""
        for part in self.done:
            if part.expected > 0:
                yield part.group, part.expected, part.taken
        if self.current and self.current.expected > 0 and self.fraction > 0:
            yield self.current.group, self.current.expected * self.fraction, clock - self.entered

    def factors(self, clock):
        """How much slower than expected parts of a group are: a function of the group."""
        everything = self.done + self.rest + [part for part in [self.current] if part]
        measured = list(self.measured(clock))
        prior = PRIOR * sum(part.expected for part in everything) + 1e-9
        whole = (sum(taken for _, _, taken in measured) + prior) / (sum(expected for _, expected, _ in measured) + prior)

        def factor(group):
            own = [(expected, taken) for other, expected, taken in measured if other == group]
            weight = GROUP_PRIOR * sum(part.expected for part in everything if part.group == group) + 1e-9
            return (sum(taken for _, taken in own) + weight * whole) / (sum(expected for expected, _ in own) + weight)
        return factor

    def left(self, clock):
        """Seconds until the end."""
        factor, seconds = self.factors(clock), 0.0
        if self.current:
            passed = clock - self.entered
            guess = max(self.current.expected * factor(self.current.group), passed)
            weight = min(self.fraction / TELLING, 1.0)
            measured = passed / self.fraction if self.fraction > 0 else 0.0
            seconds += max(weight * measured + (1 - weight) * guess - passed, 0.0)
        return seconds + sum(part.expected * factor(part.group) for part in self.rest)

    def estimate(self, clock):
        """The part of the whole that is done, which never falls, and the seconds that are left."""
        passed, left = clock - self.first if self.first is not None else 0.0, self.left(clock)
        now = passed / (passed + left) if passed + left > 0 else 0.0
        self.reached = max(self.reached, min(now, MOST_DONE))
        return self.reached, left


def known_sets(environment):
    """The labelled sets that are there, in the order of clustering.py: name and seconds of one seed."""
    folders, given = {"mnist": environment["MNIST"], "fashion": environment.get("FASHION", FASHION)}, environment.get("DATA")
    others = {name: SETS[name] for name, folder in folders.items() if has_images(folder)}
    for file in os.listdir(given) if given and os.path.isdir(given) else []:
        ending = next((ending for ending in ENDINGS if file.endswith(ending)), None)
        if ending:
            size = os.path.getsize(os.path.join(given, file))
            others[file[:-len(ending)]] = BYTE * size * (UNPACKED if file.endswith(".gz") else 1)
    return [(name, seconds) for name, seconds in SETS.items() if name not in folders] + sorted(others.items())


def has_images(folder):
    return any(os.path.exists(os.path.join(folder, f"t10k-images-idx3-ubyte{ending}")) for ending in ("", ".gz"))


def parts_of(name, environment):
    """What an experiment is going to do, as (name, seconds)."""
    if name == "mnist" and not has_images(environment["MNIST"]):
        return []
    if name != "clustering":
        return list(COSTS[name].items())
    seeds = int(environment.get("SEEDS") or 10)
    return [(found, seeds * seconds) for found, seconds in known_sets(environment)] + [("figures", DRAWING)]


def in_words(seconds):
    minutes = seconds / 60
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if minutes < 59.5:
        return f"{minutes:.0f} min"
    return f"{int((minutes + 0.5) / 60)} h {int(minutes + 0.5) % 60:02} min"


class Show:
    """One line on a terminal, which is renewed; in a log a line now and then."""

    def __init__(self, plan, stream=None, terminal=None, clock=time.monotonic):
        self.plan, self.stream, self.clock = plan, stream or sys.stderr, clock
        self.terminal = self.stream.isatty() if terminal is None else terminal
        self.pause = 0.5 if self.terminal else 60.0
        self.last, self.drawn = None, False

    def line(self):
        done, left = self.plan.estimate(self.clock())
        return f"{int(100 * done):2} %  ~ {in_words(left)} left  {self.plan.current.group}: {self.plan.current.name}"

    def erase(self):
        if self.drawn:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
        self.drawn = False

    def renew(self, news=False):
        """Shows how far it is where that has not been shown for a while, or something else begins."""
        now = self.clock()
        if not self.plan.current or (self.last is not None and not news and now - self.last < self.pause):
            return
        self.last = now
        self.erase()
        text = self.line()
        self.drawn = self.terminal
        self.stream.write(text[:shutil.get_terminal_size().columns - 1] if self.terminal else text + "\n")
        self.stream.flush()


def receive(show, group, message):
    """Handles a message of a script."""
    plan, kind = show.plan, message[0]
    if kind == "expect":
        plan.expect(group, message[1])
    elif kind == "begin":
        plan.begin(group, message[1], show.clock())
        show.renew(news=show.terminal)
    elif kind == "advance":
        plan.advance(message[1])
    show.renew()


def relay(command, group, show, environment=None):
    """Runs a script with what it writes passed on around the line; returns its exit status."""
    hearing, telling = os.pipe()
    script = subprocess.Popen(command, env=dict(environment or os.environ, **{PIPE: str(telling)}), pass_fds=[telling],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(telling)
    outputs = {script.stdout.fileno(): sys.stdout, script.stderr.fileno(): sys.stderr}
    told = b""
    with selectors.DefaultSelector() as waiting:
        for file in [hearing, *outputs]:
            waiting.register(file, selectors.EVENT_READ)
        while waiting.get_map():
            for key, _ in waiting.select(0.5):
                part = os.read(key.fd, 1 << 16)
                if not part:
                    waiting.unregister(key.fd)
                elif key.fd == hearing:
                    *lines, told = (told + part).split(b"\n")
                    for line in lines:
                        receive(show, group, json.loads(line))
                else:
                    show.erase()
                    outputs[key.fd].buffer.write(part)
                    outputs[key.fd].buffer.flush()
            show.renew()
    os.close(hearing)
    status = script.wait()
    show.erase()
    show.plan.leave(group, show.clock())
    return status


def tell(*message):
    if PIPE in os.environ:
        os.write(int(os.environ[PIPE]), (json.dumps(message) + "\n").encode())


def expect(parts):
    """What this script is going to do, as (name, seconds), where that is known better than parts_of has it."""
    tell("expect", list(parts))


def begin(name):
    """What follows is that part."""
    tell("begin", name)


def advance(part):
    """That much more of it is done."""
    tell("advance", part)
