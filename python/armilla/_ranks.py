"""Fits by several processes of MPI: a communicator of mpi4py as the library's ranks.

mpi4py is imported by whoever has a communicator; nothing here imports it before.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional

from ._library import Context, ffi, lib, on_error

#: MPI counts in int: longer messages travel in pieces of this many bytes.
_PIECE = 2**30


class Ranks:
    """A duplicate of a communicator, so that messages never meet the program's own, and the library's table of it."""

    def __init__(self, comm: Any) -> None:
        if not all(hasattr(comm, name) for name in ("Dup", "Send", "Recv", "Bcast", "Get_rank", "Get_size")):
            raise TypeError(f"comm={comm!r} is no communicator of mpi4py, such as MPI.COMM_WORLD")
        from mpi4py import MPI

        self._byte, self._comm = MPI.BYTE, comm.Dup()
        self._handle = ffi.new_handle(self)
        self.raised: Optional[BaseException] = None
        machine = comm.Split_type(MPI.COMM_TYPE_SHARED)
        self.table = ffi.new("armilla_ranks *")
        lib.armilla_ranks_default(self.table)
        self.table.rank, self.table.count = comm.Get_rank(), comm.Get_size()
        self.table.local = machine.Get_size()
        machine.Free()
        self.table.self = self._handle
        self.table.send = lib.armilla_python_send
        self.table.receive = lib.armilla_python_receive
        self.table.broadcast = lib.armilla_python_broadcast

    def failed(self, error: BaseException) -> None:
        """An exception while a message travels: the library then says that the other rank cannot be reached."""
        if self.raised is None:
            self.raised = error

    def _pieces(self, pointer: Any, count: int) -> Iterator[Any]:
        view = memoryview(ffi.buffer(pointer, count)) if count else memoryview(b"")
        for first in range(0, count, _PIECE):
            yield [view[first : first + _PIECE], self._byte]

    def send(self, to: int, pointer: Any, count: int) -> None:
        for piece in self._pieces(pointer, count):
            self._comm.Send(piece, dest=to, tag=0)

    def receive(self, source: int, pointer: Any, count: int) -> None:
        for piece in self._pieces(pointer, count):
            self._comm.Recv(piece, source=source, tag=0)

    def broadcast(self, pointer: Any, count: int) -> None:
        for piece in self._pieces(pointer, count):
            self._comm.Bcast(piece, root=0)

    def common(self, value: Any) -> Any:
        """That of rank 0."""
        return self._comm.bcast(value, root=0)

    def close(self) -> None:
        """By all ranks; where messages were lost, others may not come here."""
        if self.raised is None:
            self._comm.Free()


@ffi.def_extern(error=1, onerror=on_error)
def armilla_python_send(user: Any, to: int, pointer: Any, count: int) -> int:
    ffi.from_handle(user).send(to, pointer, count)
    return 0


@ffi.def_extern(error=1, onerror=on_error)
def armilla_python_receive(user: Any, source: int, pointer: Any, count: int) -> int:
    ffi.from_handle(user).receive(source, pointer, count)
    return 0


@ffi.def_extern(error=1, onerror=on_error)
def armilla_python_broadcast(user: Any, pointer: Any, count: int) -> int:
    ffi.from_handle(user).broadcast(pointer, count)
    return 0


def together(context: Context, comm: Any) -> contextlib.AbstractContextManager[None]:
    """What is done with the context is done by all ranks of comm; by this process alone where that is None.

    What one rank raises before all `context.agree` for the last time is raised by all: none waits for it.
    """
    return contextlib.nullcontext() if comm is None else _joined(context, comm)


@contextlib.contextmanager
def _joined(context: Context, comm: Any) -> Iterator[None]:
    ranks = Ranks(comm)
    context.join(ranks)
    try:
        yield
    except BaseException as error:
        context.fail_together(error)
        raise
    finally:
        context.join(None)
        ranks.close()
