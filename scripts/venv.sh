#!/usr/bin/env bash
# Installs the wheel of scripts/wheel.sh into a virtual environment that sees the system's packages, because Debian lets
# pip install nowhere else: scripts/venv.sh BUILD VENV. An environment that exists is used as it is.
set -euo pipefail
wheels=("$1"/wheel/armilla-*.whl)
venv=$2
echo "installing ${wheels[0]##*/} into $venv" >&2
[[ -x $venv/bin/python3 ]] || /usr/bin/python3 -m venv --system-site-packages "$venv"
"$venv/bin/python3" -m pip install --quiet --no-index --force-reinstall --no-deps "${wheels[0]}"
"$venv/bin/python3" -c 'import armilla; print("armilla", armilla.__version__, "is in", armilla.__path__[0])' >&2
echo "source $venv/bin/activate" >&2
