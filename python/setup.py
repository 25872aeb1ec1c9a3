"""The package as a wheel; scripts/wheel.sh stages it with the library inside, `make python` builds it in place."""

import os
import pathlib
import re

from setuptools import setup

here = pathlib.Path(__file__).resolve().parent


def version():
    """The library's, whose header is the only place that holds it."""
    include = pathlib.Path(os.environ.get("ARMILLA_INCLUDE", here.parent / "include"))
    return re.search(r'ARMILLA_VERSION "([^"]+)"', (include / "armilla" / "version.h").read_text()).group(1)


setup(
    version=version(),
    packages=["armilla"],
    package_data={"armilla": ["py.typed", "*.pyi", "lib/*", "licenses/*"]},
    cffi_modules=["binding.py:builder"],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
    zip_safe=False,
)
