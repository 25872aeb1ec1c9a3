#!/usr/bin/env python3
"""What a run of ctest has left out: scripts/skips.py REPORT.xml LIST [TIER] prints a line "TEST: WHAT" for each skip that is
not on the list, and ends with status 1 where there is one. With a tier, tests are called TIER/TEST.

Skips are whole tests (exit status 77), tests within pytest (-rs) and cmocka, and parts of a script, which print a line
"skipped: WHAT". The list has lines "TEST | WHAT | why that may be left out", of which the first two are patterns (*, ?)."""

import fnmatch
import re
import sys
import xml.etree.ElementTree

PARTS = (
    re.compile(r"^SKIPPED \[\d+\] [^ ]+: (.*)$", re.M),  # pytest
    re.compile(r"^\[  SKIPPED \] (?!\d+ test)(\S+)$", re.M),  # cmocka
    re.compile(r"^skipped: (.*)$", re.M),
)
WHOLE = "all of it"


def read_list(path):
    """Pairs of patterns. A line without a reason is an error."""
    found = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = [word.strip() for word in line.split("|")]
            if line.startswith("#") or not line.strip():
                continue
            if len(words) != 3 or not all(words):
                sys.exit(f"{path}:{number}: not TEST | WHAT | why")
            found.append((words[0], words[1]))
    return found


def skips(report, tier):
    """Pairs of a test and what it left out, each once."""
    found = {}
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name, printed = (f"{tier}/" if tier else "") + case.get("name"), "\n".join(case.itertext())
        if case.get("status") in ("notrun", "disabled"):
            found[name, WHOLE] = None
        else:
            found.update({(name, what.strip()): None for part in PARTS for what in part.findall(printed)})
    return list(found)


def main():
    known = read_list(sys.argv[2])
    unlisted = [
        f"{name}: {what}"
        for name, what in skips(sys.argv[1], sys.argv[3] if len(sys.argv) > 3 else "")
        if not any(fnmatch.fnmatchcase(name, test) and fnmatch.fnmatchcase(what, part) for test, part in known)
    ]
    print("\n".join(unlisted), end="\n" if unlisted else "")
    sys.exit(bool(unlisted))


if __name__ == "__main__":
    main()
