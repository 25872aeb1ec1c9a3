"""The wheel: what is inside, the platform that it names, and its life on a machine that has scikit-learn and no more."""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest
from conftest import FEW, ROOT

import armilla

sys.path.insert(0, str(ROOT / "tests" / "wheel"))
import bare

BUILD = os.environ.get("ARMILLA_BUILD")
pytestmark = pytest.mark.skipif(FEW or not BUILD, reason="needs a build tree without a sanitizer")
CLEAN = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
# Libraries of every Linux, by the rules of manylinux (PEP 600), that files of a wheel may ask for.
EVERYWHERE = re.compile(r"(ld-linux.*|libc|libm|libdl|librt|libpthread|libgcc_s|libz)\.so\.")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with build/wheel/*.whl."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "build").mkdir()
    for name in pathlib.Path(BUILD).glob("libarmilla.so*"):
        (folder / "build" / name.name).symlink_to(name)
    done = subprocess.run([ROOT / "scripts" / "wheel.sh", folder / "build"], env=CLEAN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(made):
    (found,) = (made / "build" / "wheel").glob("*.whl")
    return found


def test_metadata(wheel):
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = content.read(name).decode().splitlines()
    for line in ("Name: armilla", f"Version: {armilla.__version__}", "Author: Armilla developers", "License: BSD-3-Clause", "Requires-Python: >=3.9"):
        assert line in metadata, line
    assert any(line.startswith("Summary: Matrix factorization on the sphere") for line in metadata)


def test_platform_is_what_the_files_need(wheel, tmp_path):
    """The newest version of the C library that a symbol inside has, and libraries that are inside or everywhere."""
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path)
    files = [path for path in tmp_path.rglob("*.so*") if path.parent.name != "licenses"]
    assert len(files) >= 4  # the module, the library, libzip, jansson
    versions, needed = set(), set()
    for path in files:
        shown = subprocess.run(["readelf", "--wide", "-V", "-d", path], capture_output=True, text=True, check=True).stdout
        versions |= {tuple(map(int, number.split("."))) for number in re.findall(r"Name: GLIBC_([0-9.]+)", shown)}
        versions |= {(2, 36)} if "GLIBC_ABI_DT_RELR" in shown else set()
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", shown))
    assert re.search(r"-cp39-abi3-manylinux_(\d+_\d+)_", wheel.name).group(1) == "%d_%d" % max(versions)[:2]
    inside = {path.name for path in files}
    assert {name for name in needed if name not in inside and not EVERYWHERE.match(name)} == set()


def test_virtual_environment(made):
    """It installs without an index, and needs nothing of the tree it was built in."""
    venv = made / "venv"
    done = subprocess.run([ROOT / "scripts" / "venv.sh", made / "build", venv], env=CLEAN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    script = "import armilla, sys; armilla.fit([[1.0, 2], [3, 4], [5, 1]], 1); print(open('/proc/self/maps').read())"
    done = subprocess.run([venv / "bin" / "python3", "-c", script], cwd=made, env=CLEAN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = {line.split()[-1] for line in done.stdout.splitlines() if "armilla" in line}
    assert loaded and all(str(venv) in path for path in loaded), loaded
    (package,) = venv.glob("lib/python3*/site-packages/armilla")
    carried = {path.name for path in (package / "lib").iterdir()} - {"libarmilla.so.1"}
    assert {path.name for path in (package / "licenses").iterdir()} == carried | {"armilla"}


@pytest.fixture(scope="module")
def root(wheel, tmp_path_factory):
    """A machine with scikit-learn, from the packages that are installed here, and the wheel."""
    if bare.entrance() is None:
        pytest.skip("this machine allows neither chroot nor unshare")
    folder = tmp_path_factory.mktemp("root")
    names = bare.from_packages(folder)
    assert not [name for name in names if "lapacke" in name or name.endswith("-dev") or "armilla" in name]
    bare.install(wheel, folder)
    return folder


def test_every_model_on_a_bare_machine(root):
    done = bare.run(root, bare.HERE / "machine.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"ok: \d{2,} fits .*\n", done.stdout), done.stdout


def test_what_is_missing_is_named(root, tmp_path):
    """Without cffi, or another requirement, the import says which package to install."""
    script = tmp_path / "missing.py"
    script.write_text("import armilla\n")
    packages = root / "usr/lib/python3/dist-packages"
    for pattern, package in (("_cffi_backend*", "python3-cffi-backend"), ("sklearn", "python3-sklearn"), ("scipy", "python3-scipy")):
        (path,) = packages.glob(pattern)
        path.rename(root / "hidden")
        done = bare.run(root, script)
        (root / "hidden").rename(path)
        assert done.returncode == 1 and f"install {package}" in done.stderr.splitlines()[-1], done.stderr
