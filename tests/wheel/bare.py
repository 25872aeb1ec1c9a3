#!/usr/bin/env python3
"""A root directory with the packages that a user of scikit-learn has, and no others, and programs run in it.

    bare.py WHEEL ROOT     makes ROOT by debootstrap, unless it is there, and runs machine.py with the wheel in it

`make test` takes the files of the packages installed on this machine instead (from_packages), in seconds and without a
network."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WANTED = ("python3-sklearn", "python3-cffi-backend")  # what the wheel's own list of requirements comes to
COMPILERS = {"python3-pythran"}  # SciPy's package names it, though nobody needs it to run SciPy
SITE = "usr/local/lib/armilla-wheel"


@functools.lru_cache(maxsize=None)
def installed():
    """What each package on this machine needs, a list of lists of alternatives, and which package provides a name."""
    form = "${db:Status-Abbrev}\t${Package}\t${Pre-Depends}, ${Depends}\t${Provides}\n"
    needs, provides = {}, {}
    for line in subprocess.run(["dpkg-query", "-W", "-f", form], capture_output=True, text=True, check=True).stdout.splitlines():
        status, name, wanted, given = line.split("\t")
        if not status.startswith("ii"):
            continue
        needs[name] = [re.findall(r"(?:^|\|)\s*([a-z0-9][a-z0-9.+-]+)", group) for group in wanted.split(",") if group.strip()]
        for virtual in [name, *re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9.+-]+)", given)]:
            provides.setdefault(virtual, name)
    return needs, {**provides, **{name: name for name in needs}}


def closure(wanted):
    """The packages and all that they need, as apt would choose among alternatives: the first that is there."""
    needs, provides = installed()
    found, left = set(), [provides[name] for name in wanted]
    while left:
        name = left.pop()
        if name in found | COMPILERS:
            continue
        found.add(name)
        for group in needs[name]:
            left += [provides[one] for one in group if one in provides][:1]
    return sorted(found)


def copy(path, root):
    """A file, link or folder of this machine to its place in the root."""
    there = root / path.lstrip("/")
    if os.path.isdir(path) and not os.path.islink(path):
        there.mkdir(parents=True, exist_ok=True)
    elif os.path.lexists(path) and not os.path.lexists(there):
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, there, follow_symlinks=False)


def from_packages(root):
    """The files of the packages; and the links to BLAS and LAPACK, which are not theirs but update-alternatives'."""
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        if os.path.islink("/" + name):
            (root / name).symlink_to("usr/" + name)
    names = closure(WANTED)
    for path in subprocess.run(["dpkg", "-L", *names], capture_output=True, text=True, check=True).stdout.splitlines():
        if path.startswith("/") and not re.match(r"/usr/(share|include)/|/usr/lib/.*/(tests?|\w+\.a)(/|$)", path):
            copy(path, root)
    for library in ("libblas.so.3", "liblapack.so.3"):
        for there in sorted(root.glob(f"usr/lib/*/*/{library}")):
            link = there.parent.parent / library
            if not os.path.lexists(link):
                link.symlink_to(there.relative_to(link.parent))
    for name in ("proc", "dev", "tmp"):
        (root / name).mkdir(exist_ok=True)
    return names


def by_debootstrap(root):
    """Debian as it is installed, of this machine's release, with the packages."""
    release = re.search(r"VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text()).group(1)
    subprocess.run(["debootstrap", "--variant=minbase", "--include=" + ",".join(WANTED), release, root], check=True)


def entrance():
    """The words before a command that runs it with another root, with /proc and /dev where that is allowed; None where
    this machine allows none of them."""
    mounts = 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'
    attempts = [["unshare", "--mount", "sh", "-c", mounts], ["unshare", "--mount", "--map-root-user", "sh", "-c", mounts], ["chroot"]]
    for words in attempts:
        if subprocess.run([*words, "/", "true"], capture_output=True, check=False).returncode == 0:
            return words
    return None


def install(wheel, root):
    """As pip installs it, without its requirements, which the packages are."""
    words = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", root / SITE, wheel]
    subprocess.run(["/usr/bin/python3", *map(str, words)], check=True, env={**os.environ, "PYTHONPATH": ""})


def run(root, script, **environment):
    """The script by the root's Python, which sees the wheel."""
    shutil.copy(script, root / "tmp" / script.name)
    clean = {"PATH": "/usr/bin:/bin:/usr/sbin", "PYTHONPATH": "/" + SITE, "HOME": "/tmp", "LANG": "C.UTF-8", **environment}
    words = [*entrance(), root, "/usr/bin/python3", "-W", "ignore", f"/tmp/{script.name}"]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=clean)


def main():
    wheel, root = map(pathlib.Path, sys.argv[1:])
    if entrance() is None:
        sys.exit("this machine allows neither chroot nor unshare: nothing was tested")
    if not (root / "usr/bin/python3").exists():
        shutil.rmtree(root, ignore_errors=True)
        by_debootstrap(root.resolve())
    shutil.rmtree(root / SITE, ignore_errors=True)
    install(wheel, root)
    done = run(root, HERE / "machine.py")
    print(done.stdout + done.stderr, end="")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
