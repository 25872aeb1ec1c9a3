"""Says which package to install where a requirement is missing: the names of modules, above all cffi's, do not."""

from __future__ import annotations

import importlib.util

# module: its project on the index, its package on Debian and Ubuntu
REQUIREMENTS = {
    "_cffi_backend": ("cffi", "python3-cffi-backend"),
    "numpy": ("numpy", "python3-numpy"),
    "scipy": ("scipy", "python3-scipy"),
    "sklearn": ("scikit-learn", "python3-sklearn"),
}

for module, (project, package) in REQUIREMENTS.items():
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(
            f"armilla needs {project}, which is not here: pip install {project}, or on Debian and Ubuntu apt-get install {package}",
            name=module,
        )
