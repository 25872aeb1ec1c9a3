"""Compiles ``armilla._native``: cffi in API mode, limited to the stable ABI of Python.

    binding.py --include DIR --library DIR --rpath PATH --out DIR    (what `make python` runs)

With setuptools (`setup.py`) the object ``builder`` below is used instead; the places then come from the environment:
ARMILLA_INCLUDE, ARMILLA_LIBRARY and ARMILLA_RPATH, or from pkg-config where these are not set.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import cffi

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from declarations import declarations  # noqa: E402

# Functions of Python that the library calls, each with the type that the headers give to such functions.
CALLBACKS = """
extern "Python" {
    int armilla_python_watch(void *user, const armilla_progress *progress);
    int armilla_python_callback(void *user, const armilla_trace_entry *entry);
    void armilla_python_log(void *user, armilla_log_level level, const char *message);
    void armilla_python_wording(void *user, const char *field, const char *value, char *text, size_t size);
    int armilla_python_send(void *user, int to, const void *bytes, size_t count);
    int armilla_python_receive(void *user, int from, void *bytes, size_t count);
    int armilla_python_broadcast(void *user, void *bytes, size_t count);
}
int armilla_python_watch_sparingly(void *user, const armilla_progress *progress);
"""

# The library asks before every panel, and Python can only answer with the GIL, for which a busy thread lets others wait
# for milliseconds. So it is asked when a call or a stage begins, and then every 20 ms.
SOURCE = """
#include <armilla/armilla.h>
#include <time.h>

static int armilla_python_watch(void *user, const armilla_progress *progress);

static int armilla_python_watch_sparingly(void *user, const armilla_progress *progress)
{
    static __thread struct { const void *user; int stage; double seconds; } asked;
    struct timespec clock;
    double seconds;
    clock_gettime(CLOCK_MONOTONIC, &clock);
    seconds = (double)clock.tv_sec + 1e-9 * (double)clock.tv_nsec;
    if (asked.user == user && asked.stage == (int)progress->stage && seconds - asked.seconds < 0.02) return 0;
    asked.user = user;
    asked.stage = (int)progress->stage;
    asked.seconds = seconds;
    return armilla_python_watch(user, progress);
}
"""


def compiler():
    return shlex.split(os.environ.get("CC", "cc"))


def make_builder(include, library, rpath, arguments=()):
    """The cffi object of the module, from the headers in ``include`` and the library in ``library``."""
    include, library = os.path.abspath(include), os.path.abspath(library)
    made = cffi.FFI()
    made.cdef(declarations(compiler(), include))
    made.cdef(CALLBACKS)
    made.set_source(
        "armilla._native",
        SOURCE,
        include_dirs=[include],
        library_dirs=[library],
        libraries=["armilla"],
        extra_compile_args=list(arguments),
        extra_link_args=[*arguments, *([f"-Wl,-rpath,{rpath}"] if rpath else [])],
        py_limited_api=True,
    )
    return made


def _from_pkg_config(flag, prefix):
    said = subprocess.run(["pkg-config", flag, "armilla"], capture_output=True, text=True, check=False).stdout.split()
    return next((word[2:] for word in said if word.startswith(prefix)), "/usr/local/" + {"-I": "include", "-L": "lib"}[prefix])


def builder():
    """What setup.py names in cffi_modules."""
    include = os.environ.get("ARMILLA_INCLUDE") or _from_pkg_config("--cflags-only-I", "-I")
    library = os.environ.get("ARMILLA_LIBRARY") or _from_pkg_config("--libs-only-L", "-L")
    return make_builder(include, library, os.environ.get("ARMILLA_RPATH", library))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("include", "library", "rpath", "out"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--flags", default="", help="for the compiler and the linker, such as a sanitizer's")
    given = parser.parse_args()
    made = make_builder(given.include, given.library, given.rpath, given.flags.split())
    with tempfile.TemporaryDirectory() as place:
        compiled = pathlib.Path(made.compile(tmpdir=place, target="armilla/_native.abi3.so"))
        out = pathlib.Path(given.out) / "armilla" / "_native.abi3.so"
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_suffix(".part")
        part.write_bytes(compiled.read_bytes())
        part.chmod(0o755)
        part.replace(out)


if __name__ == "__main__":
    main()
