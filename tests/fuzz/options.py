"""Option sets for the fuzzing of whole commands (command.py): subsets of the rows that a command parses, as
`fuzz_command --tables` prints them, each with a value that its row allows; half of the sets are then spoiled in one or
two places, so that they are nearly valid."""
import json
import re
import subprocess

# Options that name what is written. All such files begin with "out".
WRITTEN = ("out", "trace", "checkpoint", "model-out", "plot")
# Which files of the corpus stand for an operand, or for the placeholder of an option's value.
FILES = [("MODEL", "M"), ("DATA", "D"), ("IN", "D"), ("NUMBERS", "N"), ("LABELS", "L"), ("TRUTH", "L"), ("FILE", "L"),
         ("DIR", "P")]
# Files that fit better than any.
OWN_FILES = {"feature-names": ["features.txt"], "sample-names": ["samples.txt"], "resume": ["state"]}
TEXTS = {
    "label-column": ["class"], "name-column": ["name", "1", "none"], "separator": ["comma", "semicolon", "tab", "|"],
    "ignore-columns": ["text", "1", "name,class"], "array": ["X", "data"], "label-array": ["labels"],
    "keep-label": ["a", "a,b", "u", "1"], "keep-samples": ["1-9", "list.txt", "1,2,5", "s1,s2,s3"],
    "keep-features": ["1-3", "f1,f2", "list.txt"], "title": ["", "x", "é < & ]]>"],
    "images": ["1x5", "5x1", "5x1,column-major"], "components": ["0,1", "0,1,2"], "atoms": ["0", "0,1", "none"], "only-clusters": ["0", "a", "0,1"],
}
# The operands that an option or a command goes best with.
LIKED = {"label-column": "names.csv", "name-column": "names.csv", "ignore-columns": "names.csv", "separator": "comma.csv",
         "header": "table.csv", "decimal": "table.csv", "array": "array.npz", "label-array": "texts.npz"}
CLUSTERED = ["clusters.npz", "given.npz"]
REALS = ["0", "1e-3", "0.5", "1", "2.5", "100"]
SIZES = ["64M", "1G", "500000K", "2T", "1.5GiB"]
# Values that few rows allow.
ODD = ["", " ", "nan", "NaN", "inf", "-inf", "1e999", "-1e-999", "-0", "0", "-1", "1e3", "0x10", "3.0", "+2", "2 ",
       " 2", "2x", "x", "a" * 300, "%s%n", "\n", "\x1b[31m", "é", ",", "1,,2", "1-", "-", "--", "nosuch", "nosuch/x", ".", "/dev/null"]
HUGE = ["2147483648", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809",
        "18446744073709551616", "1" + "0" * 40]
# Where a huge number is allowed and takes as long as it says.
COSTLY = ("max-iter", "restarts", "tries", "cluster-iter", "seeds", "time-limit")


def tables(program):
    return json.loads(subprocess.run([program, "--tables"], check=True, stdout=subprocess.PIPE).stdout)


def ending(r, row):
    """Of the file that the option writes: mostly as its placeholder has it."""
    found = re.search(r"\.[a-z]+$", row["value"] or "")
    return r.choice([found[0]] * 17 + [".npz", ".csv", ".png"]) if found else ""


def files(row, corpus):
    """The names of the corpus that the row's placeholder stands for."""
    names = OWN_FILES.get(row["name"], [])
    return names or [s.name for word, kind in FILES if word in re.split(r"[^A-Z]", row["value"] or "") for s in corpus[kind]]


def valid(r, row, corpus):
    """A value that the row allows; None for a flag."""
    kind, preset = row["kind"], [row["preset"]] if row["preset"] else []
    if kind == "flag":
        return None
    if kind == "integer":
        low = int(row["low"])
        return r.choice([str(i) for i in (low, low + 1, low + 2, 2, 3, 5, 12) if low <= i <= row["high"]])
    if kind == "real":
        return r.choice([x for x in REALS if row["low"] <= float(x) <= row["high"]] + ["%g" % row["low"]] + preset)
    if kind in ("positive", "multiple"):
        return r.choice(REALS[1:] + preset + ([row["automatic"]] if kind == "positive" else ["0.3x", "2x"]))
    if kind == "size":
        return r.choice(SIZES)
    if row["name"] in WRITTEN:
        return "out" + (row["name"] != "out") * ("-" + row["name"]) + ending(r, row)
    if kind == "word":
        return r.choice(row["choices"] + (files(row, corpus)[:9] + ["10"] if row["open"] else []))
    return r.choice(TEXTS.get(row["name"]) or files(row, corpus) or ODD)


def nearly(r, row, rows, corpus):
    """A value that the row hardly allows."""
    value = valid(r, row, corpus) or ""
    if row["name"] in WRITTEN:  # nothing may be written elsewhere
        taken = r.choice(corpus["D"] + corpus["L"]).name
        here = "." if row["value"] != "DIR" else "out/x"
        return r.choice(["", "out", "out.NPZ", value + " ", "out.h5ad", "nosuch/" + value, "outé.npz", here, "/dev/null", "-",
                         taken])
    words = [value + " ", " " + value, value.upper(), value.title(), value[:-1], value + value[-1:], value + "," + value]
    if row["kind"] in ("integer", "real"):
        words += ["%.0f" % (row["low"] - 1), "%.17g" % (row["high"] * 2), "%.0f" % (row["high"] + 1)]
    odd = ODD if row["name"] in COSTLY else ODD + HUGE
    other = valid(r, r.choice(rows), corpus) or "yes"
    near = r.choice([r.choice(words), r.choice(odd), other])
    return value if row["name"] in COSTLY and re.fullmatch(r"[ +]*\d{3,}[ .\d]*", near) else near


def words(r, row, value):
    """The option as it stands on a command line, in one word or two."""
    if value is None:
        return ["--" + row["name"]]
    return ["--%s=%s" % (row["name"], value)] if r.random() < 0.6 else ["--" + row["name"], value]


class Set:
    """A command, operands and options; the options are lists of words, of which any may be left out."""

    def __init__(self, r, commands, corpus):
        self.r, self.corpus = r, corpus
        self.command, = r.choices(commands, [8 + len(row["options"]) for row in commands])
        self.rows, self.others = self.command["options"], [row for other in commands for row in other["options"]]
        chosen = r.sample(self.rows, min(len(self.rows), r.choice((0, 1, 1, 1, 2, 2, 3, 4, 6, 10))))
        chosen = [row for row in chosen if row["group"] != "reading " or r.random() < 0.4]
        wanted = [row for row in self.rows if row["name"] in ("out", "rank", "k") and r.random() < 0.9]
        chosen += [row for row in wanted if row not in chosen]
        r.shuffle(chosen)
        self.liked = [LIKED[row["name"]] for row in chosen if row["name"] in LIKED]
        self.operands = [self.operand(name) for name in self.command["operands"]]
        if r.random() < 0.1:
            self.operands = self.operands[:self.command["required"]]
        self.options = [words(r, row, valid(r, row, corpus)) for row in chosen]
        for _ in range(r.choice((0, 0, 0, 1, 1, 2))):
            r.choice((self.spoil_value, self.spoil_value, self.spoil_value, self.repeat, self.leave_value, self.borrow,
                      self.misspell, self.spoil_operands))()

    def operand(self, name):
        """Any file that the operand's name stands for, or one of the command's choices."""
        if name == "OUT":
            return "out." + self.r.choice(("npy", "npz", "csv", "mtx", "svm", "idx", "fbin", "fvecs", "csv.gz"))
        if self.command["choices"]:
            return self.r.choice(self.command["choices"])
        kind = self.r.choice([kind for word, kind in FILES if word in re.split("[^A-Z]", name)])
        if kind == "D" and self.liked and self.r.random() < 0.8:
            return self.r.choice(self.liked)
        if kind == "M" and self.command["name"] == "predict" and self.r.random() < 0.8:
            return self.r.choice(CLUSTERED)
        return self.r.choice(self.corpus[kind]).name

    def insert(self, option):
        self.options.insert(self.r.randrange(len(self.options) + 1), option)

    def row(self):
        """A row of the command, of an option that is there if there is one."""
        there = [row for row in self.rows if any(re.match(r"--%s(=|$)" % row["name"], o[0]) for o in self.options)]
        return self.r.choice(there or self.rows or self.others)

    def spoil_value(self):
        row = self.r.choice((self.row(), self.r.choice(self.rows or self.others)))
        self.insert(words(self.r, row, nearly(self.r, row, self.others, self.corpus)))

    def repeat(self):
        row = self.row()
        self.insert(words(self.r, row, valid(self.r, row, self.corpus)))

    def leave_value(self):
        row = self.row()
        self.insert(["--" + row["name"]] if row["kind"] != "flag" else ["--%s=yes" % row["name"]])

    def borrow(self):
        row = self.r.choice(self.others)
        self.insert(words(self.r, row, valid(self.r, row, self.corpus)))

    def misspell(self):
        name = self.row()["name"]
        self.insert([self.r.choice(("--" + name.upper(), "--" + name[:-1], "-" + name, "--" + name + "s", "--" + name + " ",
                                    "--=1", "-" + name[0], "--no-" + name))])

    def spoil_operands(self):
        what, at = self.r.randrange(4), self.r.randrange(max(1, len(self.operands)))
        if what == 0:
            self.operands = self.operands[:at]
        elif what == 1:
            self.operands = self.operands[::-1]
        else:
            file = self.r.choice(self.corpus["D"] + self.corpus["M"]).name
            self.operands[at:at + (what == 2)] = [self.r.choice(("nosuch", "", "-", ".", file, file))]


def given(arguments, name):
    """The values of the option on a command line, in order."""
    found = []
    for word, following in zip(arguments, [*arguments[1:], ""]):
        head, equals, value = word.partition("=")
        if head == "--" + name:
            found.append(value if equals else following)
    return found
