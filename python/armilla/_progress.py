"""What `verbose` shows: one line on standard error that moves where that is a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

from ._library import TraceEntry, lib, logger, say, text

_WIDTH = 20


def _is_terminal() -> bool:
    """Standard error is None where there is no console, and may be closed or anything that was put in its place."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, OSError, ValueError):
        return False


def _left(progress: Any) -> str:
    """A number, or a range where iterations end when they have converged."""
    if progress.latest > 4 * progress.soonest and progress.latest >= 3:
        return f"{progress.soonest:.0f} to {progress.latest:.0f} s"
    return f"about {progress.left:.0f} s"


class Progress:
    """Shows how far a call has come: verbose 1 on standard error, verbose 2 also every iteration in the log."""

    def __init__(self, verbose: int) -> None:
        self._verbose = verbose
        self._terminal = _is_terminal()
        self._stage: Optional[int] = None
        self._begun = self._shown = time.monotonic()
        self._length = 0
        self._last: Optional[TraceEntry] = None

    def update(self, progress: Any) -> None:
        now = time.monotonic()
        # A line that stays is worth it only where there is something to wait for.
        changed = self._terminal and progress.stage != self._stage
        if not changed and now - self._shown < (0.1 if self._terminal else 10.0):
            return
        self._stage, self._shown = progress.stage, now
        if self._terminal:
            self._write(self._line(progress))
        else:
            say(f"armilla: {self._line(progress)}")

    def iteration(self, entry: TraceEntry) -> None:
        self._last = entry
        if self._verbose > 1:
            logger.info("iteration %d: relative error %.6g", entry.iteration, entry.relative_error)

    def _line(self, progress: Any) -> str:
        done = int(_WIDTH * min(max(progress.fraction, 0.0), 1.0))
        bar = "#" * done + "-" * (_WIDTH - done)
        line = f"{text(lib.armilla_stage_word(progress.stage))} |{bar}| {100 * progress.fraction:3.0f} % {progress.seconds:.1f} s"
        if progress.left == progress.left:
            line += f", {_left(progress)} left"
        if self._last is not None and progress.stage == lib.ARMILLA_STAGE_ITERATIONS:
            line += f", iteration {self._last.iteration}, relative error {self._last.relative_error:.5g}"
        return line

    def _write(self, line: str) -> None:
        say("\r" + line.ljust(self._length), end="")
        self._length = len(line)

    def close(self) -> None:
        """Clears the line, and says what was reached."""
        if self._length:
            say("\r" + " " * self._length + "\r", end="")
            self._length = 0
        if self._last is not None:
            say(
                f"armilla: {self._last.iteration} iterations in {time.monotonic() - self._begun:.2f} s, "
                f"relative error {self._last.relative_error:.6g}"
            )
            self._last = None


def progress_for(verbose: Any, comm: Any = None) -> Optional[Progress]:
    """Of several ranks the first one shows it."""
    shown = int(verbose) > 0 and (comm is None or comm.Get_rank() == 0)
    return Progress(int(verbose)) if shown else None
