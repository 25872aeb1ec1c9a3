#!/usr/bin/env python3
"""The pages of docs/tutorials show what the command really prints: every command of a page is run, in an empty folder
for each page, and what it prints is compared with the lines below it.

    tutorials_check.py [NAME...]            compares (all pages, or these)
    tutorials_check.py --write [NAME...]    renews the pages and their pictures

$ARMILLA is the command. Commands begin with "$ " inside blocks of ```console; a block of ```console exit=65 has to end
with that status. Where gnuplot is missing, pictures are not drawn. Seconds, iterations, threads and the figures of a verdict may be any; numbers
with decimals may differ by 2 %, because they depend on the CPU and BLAS; all else has to be the same."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PAGES = os.path.join(ROOT, "docs", "tutorials")
ARMILLA = os.path.abspath(os.environ.get("ARMILLA", os.path.join(ROOT, "build", "armilla")))
BLOCK = re.compile(r"^```console(?: exit=(\d+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"\]\((images/[^)]+)\)")
ANY = [(re.compile(pattern), text) for pattern, text in (
    (r"after \d+ iterations?, [0-9.e+-]+ s", "after N iterations, T s"),
    (r"\d+ threads?", "N threads"),
    (r"are [0-9.]+ % of chance, [0-9.]+ % without", "are P % of chance, Q % without"),
    (r"\(objective [0-9.e+-]+\)", "(objective H)"))]
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")
TINY = 1e-9


def steps(text):
    """The commands of a block, each with the lines below it. A command goes on after a backslash or a pipe."""
    found, goes_on = [], False
    for line in text.splitlines():
        if goes_on:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], []])
        else:
            assert found, f"a block begins with {line!r}, which is no command"
            found[-1][1].append(line)
            continue
        goes_on = line.endswith(("\\", "|"))
    return found


def run(command, folder):
    environment = {**os.environ, "PATH": os.path.dirname(ARMILLA) + os.pathsep + os.environ["PATH"], "LC_ALL": "C.UTF-8",
                   "TUTORIALS": PAGES, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    return done.returncode, done.stdout.splitlines()


def general(line):
    for pattern, text in ANY:
        line = pattern.sub(text, line)
    return line


def same_number(a, b):
    """Up to 2 % or two units of the last decimal; what is below a billionth (rounding, p of tests) is not compared."""
    x, y = float(a), float(b)
    if max(abs(x), abs(y)) < TINY:
        return True
    decimals = min(len(number.partition(".")[2].partition("e")[0]) for number in (a, b))
    unit = 0 if "e" in a + b else 10.0 ** -decimals
    return abs(x - y) <= max(0.02 * abs(x), 2.01 * unit)


def same_line(a, b):
    a, b = general(a), general(b)
    p, q = NUMBER.findall(a), NUMBER.findall(b)
    return NUMBER.sub("#", a) == NUMBER.sub("#", b) and all(map(same_number, p, q))


def same(a, b):
    return len(a) == len(b) and all(map(same_line, a, b))


def renew(page, folder, write):
    """Runs a page; returns its text as it should be, and what was wrong with it."""
    complaints = []

    def block(match):
        wanted, lines = int(match[1] or 0), []
        for command, expected in steps(match[2]):
            lines.append("$ " + command)
            if " plot " in command and not shutil.which("gnuplot"):
                print("skipped: pictures, for want of gnuplot")
                lines += expected
                continue
            status, printed = run(command, folder)
            if status != wanted:
                complaints.append(f"{page}: $ {command}\nexit status {status}:\n" + "\n".join(printed))
            if same(expected, printed):
                printed = expected
            elif not write:
                complaints.append(f"{page}: $ {command}\nprints\n" + "\n".join(printed) + "\ninstead of\n" + "\n".join(expected))
            lines += printed
        return match[0].split("\n")[0] + "\n" + "\n".join(lines) + "\n```"

    with open(os.path.join(PAGES, page), encoding="utf-8") as file:
        text = file.read()
    return BLOCK.sub(block, text), complaints


def check_pictures(page, text, folder, write):
    """Pictures of a page are files that its commands made."""
    for name in PICTURE.findall(text) if shutil.which("gnuplot") else []:
        made = os.path.join(folder, os.path.basename(name))
        assert os.path.exists(made), f"{page}: no command makes {os.path.basename(name)}"
        xml.etree.ElementTree.parse(made)
        if write:
            shutil.copy(made, os.path.join(PAGES, name))
        assert os.path.exists(os.path.join(PAGES, name)), f"{page}: there is no {name}; --write makes it"


def main():
    names = sys.argv[1:]
    write = "--write" in names
    pages = sorted(name for name in os.listdir(PAGES) if name.endswith(".md"))
    pages = [page for page in pages if page[:-3] in names or not [name for name in names if name != "--write"]]
    commands, wrong = 0, []
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            text, complaints = renew(page, folder, write)
            wrong += complaints
            if not complaints:
                check_pictures(page, text, folder, write)
        commands += sum(len(steps(match[2])) for match in BLOCK.finditer(text))
        if write:
            with open(os.path.join(PAGES, page), "w", encoding="utf-8") as file:
                file.write(text)
    assert commands >= 3 * len(pages) - 3, f"only {commands} commands were found in {len(pages)} pages"
    print("\n\n".join(wrong) or f"{commands} commands of {len(pages)} pages print what the pages show")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
