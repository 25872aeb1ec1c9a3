#!/usr/bin/env python3
"""No output is an input: every option of every command that names a file to read, against every output of the command,
named as it is, by another path, by a symbolic and by a hard link, all with --force. The options come from --help.
What --force replaces keeps its permissions. $ARMILLA is the command. Exit status 77 (skipped) where NumPy is missing."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

ARMILLA = os.path.abspath(os.environ["ARMILLA"])

# What each command needs to be run, and its outputs with an ending that they may have: {} is the file in question.
COMMANDS = {
    "fit": (["data.npy", "--rank", "2"], ["--out {}.npz", "--trace {}.csv", "--checkpoint {}.ckpt"]),
    "cluster": (["data.npy", "--k", "2"], ["--out {}.txt", "--model-out {}.npz"]),
    "transform": (["model.npz", "data.npy"], ["--out {}.npy", "--out {}.csv"]),
    "reconstruct": (["model.npz"], ["--out {}.npy"]),
    "convert": (["data.npy"], ["{}.csv"]),
    "predict": (["clusters.npz", "data.npy"], ["--out {}.csv"]),
    "neighbors": (["data.npy", "--count", "2"], ["--out {}.npz"]),
    "top": (["model.npz"], ["--out {}.csv"]),
    "plot": (["clusters.npz"], ["--out {}.svg", "{}.dat", "{}.gp"]),
    "compare": (["model.npz", "model.npz"], ["--plot {}.svg", "{}.dat", "{}.gp"]),
}
OUTPUTS = {"--out", "--trace", "--checkpoint", "--model-out", "--plot"}


def run(arguments):
    return subprocess.run([ARMILLA, *arguments], capture_output=True, text=True)


def inputs(command):
    """Options whose placeholder names a file."""
    text = run([command, "--help"]).stdout
    found = re.findall(r"^\s+(--[a-z-]+) (\S*(?:FILE|DATA|LABELS|MODEL)\S*)", text, re.M)
    return [option for option, _ in found if option not in OUTPUTS]


def spell(name, how):
    """Another name of the same file, with the same ending."""
    stem, ending = os.path.splitext(name)
    if how == "path":
        return "./" + name
    other = f"{stem}-{how}{ending}"
    if how == "symlink":
        os.symlink(name, other)
    else:
        os.link(name, other)
    return other


def check(command, option, output, how):
    given, _ = COMMANDS[command]
    for name in os.listdir("."):
        os.unlink(name)
    for name in ("data.npy", "model.npz", "clusters.npz"):
        shutil.copy("../" + name, name)
    path = output.split()[-1].format("victim")
    with open(path, "w") as file:
        file.write("a\nb\n")
    os.chmod(path, 0o600)
    before = os.stat(path)
    named = path if how == "same" else spell(path, how)
    words = [command, *given, option, named, "--force"]
    if command in ("plot", "compare") and not output.startswith("--"):
        words += ["--out" if command == "plot" else "--plot", "victim.svg"]
    elif output.startswith("--"):
        words += [output.split()[0], path]
    else:
        words.append(path)
    done = run(words)
    after = os.stat(path)
    assert done.returncode == 64, f"{' '.join(words)}: {done.returncode}\n{done.stderr}"
    assert f"is an input ({option})" in done.stderr, f"{' '.join(words)}: {done.stderr}"
    assert (before.st_ino, before.st_size, before.st_mtime_ns) == (after.st_ino, after.st_size, after.st_mtime_ns), words
    assert open(path).read() == "a\nb\n", words


def check_operands():
    for words in (["transform", "model.npz", "data.npy", "--out", "./data.npy"], ["convert", "data.npy", "./data.npy"],
                  ["top", "model.npz", "--out", "model.npz"], ["neighbors", "data.npy", "--count", "2", "--out", "data.npy"]):  # fmt: skip
        done = run([*words, "--force"])
        assert done.returncode == 64 and "is an input (" in done.stderr, (words, done.stderr)


def check_permissions():
    """0600 stays 0600, and 0664 stays too, whatever the umask."""
    for mode, mask in ((0o600, 0o022), (0o664, 0o077), (0o640, 0o000)):
        for words, path in ((["fit", "data.npy", "--rank", "2", "--out", "new.npz"], "new.npz"),
                            (["convert", "data.npy", "new.csv"], "new.csv"),
                            (["cluster", "data.npy", "--k", "2", "--out", "new.txt"], "new.txt"),
                            (["fit", "data.npy", "--rank", "2", "--checkpoint", "new.ckpt"], "new.ckpt")):  # fmt: skip
            with open(path, "w"):
                os.chmod(path, mode)
            before = os.umask(mask)
            done = run([*words, "--force"])
            os.umask(before)
            assert done.returncode == 0, done.stderr
            assert os.stat(path).st_size > 0
            assert os.stat(path).st_mode & 0o777 == mode, (words, oct(os.stat(path).st_mode))
            os.unlink(path)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        np.save("data.npy", np.random.default_rng(1).uniform(1, 2, (12, 4)))
        assert run(["fit", "data.npy", "--rank", "2", "--out", "model.npz"]).returncode == 0
        assert run(["cluster", "data.npy", "--k", "2", "--model-out", "clusters.npz", "--out", "c.txt"]).returncode == 0
        check_operands()
        check_permissions()
        os.mkdir("work")
        os.chdir("work")
        count = 0
        for command, (_, outputs) in COMMANDS.items():
            for option in inputs(command):
                for output in outputs:
                    if option == "--resume" and "--checkpoint" in output:
                        continue  # goes on where it was
                    for how in ("same", "path", "symlink", "link")[: 4 if command in ("cluster", "plot") else 2]:
                        check(command, option, output, how)
                        count += 1
        assert count > 100, count


if __name__ == "__main__":
    main()
