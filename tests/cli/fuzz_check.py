#!/usr/bin/env python3
"""Mutated files and random sets of options through whole commands for half a minute, from a seed that is always the same
(tests/fuzz/command.py): how far it comes depends on the machine, what it does on the way does not."""
import os
import subprocess
import sys
import tempfile

SECONDS, LEAST = 30, 100
source, build = os.environ["ARMILLA_SOURCE"], os.environ["ARMILLA_BUILD"]
with tempfile.TemporaryDirectory() as found:
    program = [sys.executable, source + "/tests/fuzz/command.py", build + "/tests/fuzz/fuzz_command"]
    limits = ["--seconds", str(SECONDS), "--least", str(LEAST), "--jobs", "2"]
    ended = subprocess.run(program + ["--seed", "1", "--keep", found] + limits)
    for folder in os.listdir(found):
        with open(os.path.join(found, folder, "FINDING")) as file:
            print(file.read())
sys.exit(ended.returncode)
