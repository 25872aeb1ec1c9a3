"""The C library from Python: a context for each call, its errors as exceptions, its callbacks as methods.

Every call gets a context of its own, because calls that share one must not run at the same time and estimators may be
used by several threads. Objects that a call made keep its context alive. cffi releases the GIL for the time of a call.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import signal
import sys
import threading
import warnings
import weakref
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional

from . import _native

ffi, lib = _native.ffi, _native.lib
logger = logging.getLogger("armilla")

__version__: str = ffi.string(lib.armilla_version()).decode()


class InterruptedFitWarning(UserWarning):
    """The fit was interrupted (Ctrl-C), and the result is the best that it had reached."""


class TraceEntry(NamedTuple):
    """What a callback receives: entry 0 is the start, entry k what k iterations have reached."""

    iteration: int
    objective: float
    relative_error: float
    dU: float
    dV: float
    radius: float
    seconds: float


def text(pointer: Any) -> Optional[str]:
    """A C string, or None for NULL."""
    return None if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


def _c_string(content: bytes, value: Any) -> Any:
    """C would take a text with a NUL in it for a shorter one."""
    if b"\0" in content:
        raise ValueError(f"embedded null character in {value!r}")
    return ffi.new("char[]", content)


def c_text(value: str) -> Any:
    """A text as a C string."""
    return _c_string(value.encode("utf-8", "surrogateescape"), value)


def c_path(value: Any) -> Any:
    """The name of a file, a str, bytes or path-like, as a C string: the bytes that the system has for it, UTF-8 or not."""
    return _c_string(os.fsencode(value), value)


def say(line: str, end: str = "\n") -> None:
    """A line on standard error, where there is one: nothing that is shown may end a fit."""
    try:
        sys.stderr.write(line + end)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass


@functools.lru_cache(maxsize=None)
def members(kind: str) -> tuple[tuple[str, Any], ...]:
    """Names and types of the members of a struct, without its size."""
    return tuple((name, field.type) for name, field in ffi.typeof(kind).fields if name != "size")


def as_dict(kind: str, struct: Any) -> dict[str, Any]:
    """A struct that the library has filled: texts as str, enumerations as their number."""
    found = {}
    for name, member in members(kind):
        value = getattr(struct, name)
        if member.cname in ("char const *", "char *"):
            value = text(value)
        elif member.kind == "array":
            value = ffi.string(value).decode("utf-8", "replace")
        found[name] = value
    return found


def parameter_wording(names: Mapping[str, str], field: str, value: Optional[str]) -> str:
    """How a field of the options is said to users of Python: ``normalize='l2'``."""
    name = names.get(field.replace("-", "_"), field.replace("-", "_"))
    if value is None:
        return name
    return f"{name}={' or '.join(map(_quoted, value.split(' or ')))}"


def _quoted(value: str) -> str:
    """A value as it is written in Python: words have quotes."""
    try:
        float(value)
    except ValueError:
        return value if value in ("True", "False") or value.startswith("'") else f"'{value}'"
    return value


class Hooks:
    """What the library calls during the calls of one context."""

    def __init__(self, names: Mapping[str, str], callback: Optional[Callable[[TraceEntry], Any]], progress: Any) -> None:
        self.names = names
        self.callback = callback
        self.progress = progress
        self.interrupted = False
        self.raised: Optional[BaseException] = None
        self.messages: list[tuple[int, str]] = []

    def failed(self, error: BaseException) -> None:
        """An exception in a callback ends the call, and is raised again after it; Ctrl-C is no error."""
        if isinstance(error, KeyboardInterrupt):
            self.interrupted = True
        elif self.raised is None:
            self.raised = error

    def take_raised(self) -> Optional[BaseException]:
        """What a callback raised. It is not kept: its traceback has frames that have these hooks."""
        raised, self.raised = self.raised, None
        return raised

    @property
    def ending(self) -> bool:
        return self.interrupted or self.raised is not None


def on_error(kind: Any, error: BaseException, traceback: Any) -> None:
    ffi.from_handle(traceback.tb_frame.f_locals["user"]).failed(error.with_traceback(traceback))


@ffi.def_extern(error=1, onerror=on_error)
def armilla_python_watch(user: Any, progress: Any) -> int:
    hooks = ffi.from_handle(user)
    if hooks.progress is not None:
        hooks.progress.update(progress)
    return int(hooks.ending)


@ffi.def_extern(error=1, onerror=on_error)
def armilla_python_callback(user: Any, entry: Any) -> int:
    hooks = ffi.from_handle(user)
    seen = TraceEntry(*(getattr(entry, name) for name in TraceEntry._fields))
    if hooks.progress is not None:
        hooks.progress.iteration(seen)
    stop = hooks.callback is not None and bool(hooks.callback(seen))
    return int(stop or hooks.ending)


@ffi.def_extern(onerror=on_error)
def armilla_python_log(user: Any, level: int, message: Any) -> None:
    ffi.from_handle(user).messages.append((level, text(message) or ""))


@ffi.def_extern(onerror=on_error)
def armilla_python_wording(user: Any, field: Any, value: Any, buffer: Any, size: int) -> None:
    said = parameter_wording(ffi.from_handle(user).names, text(field) or "", text(value)).encode()[: size - 1] + b"\0"
    ffi.memmove(buffer, said, len(said))


def reworded(source: Any, names: Mapping[str, str]) -> str:
    """The help of an option, its marked fields as Python says them."""
    buffer = ffi.new("char[]", 2048)
    handle = ffi.new_handle(Hooks(names, None, None))
    return text(lib.armilla_wording_apply(lib.armilla_python_wording, handle, source, buffer, 2048)) or ""


class NotBuiltError(ValueError):
    """The library does not have what was asked for, such as a format that it leaves to armilla-convert."""


_ERRORS: dict[int, type[Exception]] = {
    lib.ARMILLA_BAD_ARGUMENT: ValueError,
    lib.ARMILLA_BAD_DATA: ValueError,
    lib.ARMILLA_CANNOT_OPEN: OSError,
    lib.ARMILLA_NOT_BUILT: NotBuiltError,
    lib.ARMILLA_INTERNAL: RuntimeError,
    lib.ARMILLA_NO_MEMORY: MemoryError,
    lib.ARMILLA_CANNOT_CREATE: OSError,
    lib.ARMILLA_IO_ERROR: OSError,
}


#: The hooks of the calls that the main thread is in: more than one where a callback calls the library again.
_running: list[Hooks] = []


def _interrupt(*_: Any) -> None:
    for hooks in _running:
        hooks.interrupted = True


@contextlib.contextmanager
def _deferred_interrupt(hooks: Hooks) -> Iterator[None]:
    """Ctrl-C sets a flag that the library asks for, so that calls return what they have.

    Only where Python's own handler is in charge, and in the thread that gets signals. Other handlers raise what they
    raise inside a callback, which ends the call as well.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler not in (signal.default_int_handler, _interrupt):
        yield
        return
    _running.append(hooks)
    try:
        signal.signal(signal.SIGINT, _interrupt)
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        _running.remove(hooks)


class _Life:
    """How long a context lives: as long as it, or an object that was made with it, is in use.

    The garbage collector ends the objects of a cycle in any order, so that references do not keep an order; this counts.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._users = 0
        self._lock = threading.RLock()

    def enter(self, user: Any, place: Any = None, free: Optional[Callable[[Any], Any]] = None) -> None:
        """`user` is one more; when it ends, what is then at `place` is freed."""
        with self._lock:
            self._users += 1
        weakref.finalize(user, self._leave, place, free).atexit = False

    def _leave(self, place: Any, free: Optional[Callable[[Any], Any]]) -> None:
        if free is not None and place[0] != ffi.NULL:
            free(place[0])
        with self._lock:
            self._users -= 1
            last = self._users == 0
        if last:
            lib.armilla_context_free(self._context)


class Owned:
    """An object of the library, freed with its last reference.

    It is the owner before there is anything to own: the library writes to `place`, so that nothing that is raised
    after a call (by a callback, a warning that is an error, Ctrl-C) comes between the object and its owner.
    """

    def __init__(self, kind: str, free: Callable[[Any], Any], life: _Life) -> None:
        self.place = ffi.new(kind + " **")
        life.enter(self, self.place, free)

    @property
    def pointer(self) -> Any:
        return self.place[0]


class Context:
    """The library's context: calls through it raise, warn and can be interrupted.

    Parameters
    ----------
    names : mapping
        Fields of the library's options to the names of parameters, for messages.
    callback : callable, optional
        Called with a TraceEntry after each iteration of a fit; true ends the fit.
    progress : optional
        Has ``update(progress)``, ``iteration(entry)`` and ``close()``.
    """

    def __init__(
        self,
        names: Mapping[str, str] = {},
        callback: Optional[Callable[[TraceEntry], Any]] = None,
        progress: Any = None,
    ) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(f"callback={callback!r} is not callable")
        made = ffi.new("armilla_context **")
        if lib.armilla_context_new(ffi.NULL, made) != lib.ARMILLA_OK:
            raise MemoryError("out of memory: no context")
        self.hooks = Hooks(names, callback, progress)
        self.handle = ffi.new_handle(self.hooks)
        self.pointer = made[0]
        self._life = _Life(self.pointer)
        self._life.enter(self)
        lib.armilla_context_set_watch(self.pointer, ffi.addressof(lib, "armilla_python_watch_sparingly"), self.handle)
        lib.armilla_context_set_log(self.pointer, lib.armilla_python_log, self.handle)
        lib.armilla_context_set_wording(self.pointer, lib.armilla_python_wording, self.handle)
        self._ranks: Any = None
        self._settled = True

    @property
    def verbose(self) -> bool:
        return self.hooks.progress is not None

    def call(self, function: Callable[..., int], *arguments: Any, best: bool = False) -> None:
        """``function(context, *arguments)``; raises what its status and the callbacks stand for.

        best: when interrupted, the call returns the best that it has; `warn_if_interrupted` is then the caller's to call.
        """
        try:
            with _deferred_interrupt(self.hooks):
                status = function(self.pointer, *arguments)
        finally:
            if self.hooks.progress is not None:
                self.hooks.progress.close()
        self._settle(status, best)

    def ask(self, function: Callable[..., int], *arguments: Any) -> None:
        """The same for what takes no time, and so need not be interrupted."""
        self._settle(function(self.pointer, *arguments), False)

    def _settle(self, status: int, best: bool) -> None:
        """Raises what the status and the callbacks of a call stand for."""
        if self.hooks.raised is None:
            self._tell()
        raised = self.hooks.take_raised()
        if raised is not None:
            try:
                raise raised
            finally:
                del raised
        if status == lib.ARMILLA_STOPPED or (self.hooks.interrupted and not best):
            raise KeyboardInterrupt
        if status != lib.ARMILLA_OK:
            raise self.error(status) from (self._ranks.raised if self._ranks is not None else None)

    def join(self, ranks: Any) -> None:
        """Calls from now on are made by these ranks together (see `_ranks.together`), or by this process alone."""
        self._ranks, self._settled = ranks, ranks is None
        status = lib.armilla_context_set_ranks(self.pointer, ffi.NULL if ranks is None else ranks.table)
        if status != lib.ARMILLA_OK:
            raise self.error(status)

    def agree(self, last: bool = False) -> None:
        """All ranks have come here, or raise what one of them has raised; `last`: then the library's calls do this."""
        if self._ranks is None or self._settled:
            return
        status = lib.armilla_context_agree(self.pointer, lib.ARMILLA_OK, ffi.NULL, ffi.NULL)
        self._settled = last or status != lib.ARMILLA_OK
        if status != lib.ARMILLA_OK:
            raise self.error(status) from self._ranks.raised

    def fail_together(self, error: BaseException) -> None:
        """The other ranks raise this, too, where they have yet to agree."""
        if self._ranks is None or self._settled:
            return
        self._settled = True
        said = (str(error) or type(error).__name__).split("\n")[0].replace("\0", "?")
        kinds = [status for status, kind in _ERRORS.items() if isinstance(error, kind)]
        lib.armilla_context_agree(self.pointer, kinds[0] if kinds else lib.ARMILLA_BAD_ARGUMENT, c_text(said), ffi.NULL)

    def common(self, value: Any) -> Any:
        """What rank 0 has."""
        return value if self._ranks is None else self._ranks.common(value)

    def warn_if_interrupted(self) -> None:
        if self.hooks.interrupted:
            warn("interrupted: the result is the best so far", InterruptedFitWarning)

    def error(self, status: int) -> Exception:
        """The exception of a failed call, with the library's sentence."""
        return _ERRORS.get(status, RuntimeError)(text(lib.armilla_context_error(self.pointer)))

    def own(self, kind: str, free: Callable[[Any], Any]) -> Owned:
        """The owner of an object that a call will make: freed with its last reference, and before its context."""
        return Owned(kind, free, self._life)

    def _tell(self) -> None:
        """What the library had to say during the call: warnings, and notes to the log."""
        messages, self.hooks.messages = self.hooks.messages, []
        for level, message in messages:
            if level == lib.ARMILLA_LOG_WARNING:
                warn(message, RuntimeWarning)
            else:
                logger.info("%s", message)


def warn(message: str, category: type[Warning]) -> None:
    """A warning that points at the code that called the package."""
    place = os.path.dirname(__file__) + os.sep
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(place):
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)
