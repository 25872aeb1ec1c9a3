"""Runs armilla, and armilla-mpi by several ranks, for the tests that compare them; ends ranks; compares models.

$ARMILLA and $ARMILLA_MPI are the commands, $MPIRUN the launcher of the second."""

import hashlib
import os
import shutil
import signal
import subprocess
import time

import numpy as np

ARMILLA = os.path.abspath(os.environ["ARMILLA"])
PROGRAM = os.environ.get("ARMILLA_MPI", "")
MPIRUN = os.environ.get("MPIRUN", "")
HAS_MPI = bool(os.path.exists(PROGRAM) and shutil.which(MPIRUN))
VERSION = subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout if HAS_MPI else ""
IS_OPEN_MPI = "Open MPI" in VERSION or "OpenRTE" in VERSION  # the second by the name mpirun.openmpi
LAUNCH = [MPIRUN, "--oversubscribe"] if IS_OPEN_MPI else [MPIRUN]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1",
                   OMPI_MCA_odls_base_sigkill_timeout="0")  # seconds that the others have when a rank was killed
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"  # a rank's own number, in a shell
SECONDS = 60  # after which a rank hangs


def command(ranks, *arguments):
    """Of so many ranks; 0: of the command without MPI."""
    begin = [*LAUNCH, "-n", str(ranks), PROGRAM] if ranks else [ARMILLA]
    return [*begin, *map(str, arguments)]


def digest(path, names=("U", "V", "radius")):
    with np.load(path) as model:
        return hashlib.sha256(b"".join(np.ascontiguousarray(model[name]).tobytes() for name in names)).hexdigest()


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def descendants(process):
    found = []
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            children = [int(child) for child in file.read().split()]
    except OSError:
        children = []
    for child in children:
        found += [child, *descendants(child)]
    return found


def ranks_of(process):
    """The processes of armilla-mpi below a launcher, in the order of their start."""
    found = []
    for child in descendants(process):
        try:
            if os.path.samefile(f"/proc/{child}/exe", PROGRAM):
                found.append(child)
        except OSError:
            pass
    return sorted(found)


def send(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


def wait_for_ranks(ranks):
    """Until none of these processes is left: they may outlive a launcher that was killed."""
    deadline = time.monotonic() + SECONDS
    while any(is_alive(rank) for rank in ranks):
        if time.monotonic() > deadline:
            for rank in ranks:
                send(rank, signal.SIGKILL)
            raise AssertionError(f"ranks go on {SECONDS} seconds after their launcher has ended")
        time.sleep(0.01)


def end_by(process, number, victim):
    """Sends a signal to a launcher (victim -1), to one of its ranks, or to the process where there are none; waits for the
    end of all; the exit status."""
    ranks = ranks_of(process.pid)
    send(ranks[victim % len(ranks)] if ranks and victim >= 0 else process.pid, number)
    try:
        status = process.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        for one in [process.pid, *ranks]:
            send(one, signal.SIGKILL)
        raise AssertionError(f"no end {SECONDS} seconds after signal {number}") from None
    wait_for_ranks(ranks)
    return status
