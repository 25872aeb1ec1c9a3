"""The gallery runs, each example by itself, and leaves a picture."""

import os
import subprocess
import sys

import pytest
from conftest import EXAMPLES, FEW, ROOT


@pytest.mark.skipif(FEW, reason="long under a sanitizer")
@pytest.mark.parametrize("name", EXAMPLES)
def test_gallery(name, tmp_path):
    if name == "cells":
        pytest.importorskip("anndata")
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, ROOT / "python" / "examples" / f"{name}.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout and list(tmp_path.glob("*.png"))
