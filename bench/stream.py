"""The part of bench.py for data larger than memory: a streamed iteration against reading the file alone.

The library leaves files in the page cache that the machine could hold. Here, where the file is to stand for one that it
could not, what has been read is dropped from outside, again and again, also beside reading alone."""
import concurrent.futures
import contextlib
import os
import threading
import time

import numpy as np

READERS = 3  # as many as the library has, and blocks of its size
BLOCK = 1 << 20


def write_samples(path, samples, features):
    """A file of f32 numbers, in pieces, that is on the disk and no longer in the page cache."""
    rng = np.random.default_rng(0)
    piece = rng.random((1 << 14, features), dtype=np.float32)
    with open(path, "wb") as out:
        np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": (samples, features)})
        for first in range(0, samples, len(piece)):
            out.write(piece[: samples - first].tobytes())
        out.flush()
        os.fsync(out.fileno())


def forget(path):
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


@contextlib.contextmanager
def forgotten(path):
    """The file does not stay in the page cache."""
    ended = threading.Event()

    def drop():
        while not ended.wait(0.01):
            forget(path)

    forget(path)
    thread = threading.Thread(target=drop)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def read_alone(path):
    """Seconds to read the file: each reader takes every READERS-th block."""
    size, file = os.path.getsize(path), os.open(path, os.O_RDONLY)
    buffers = [bytearray(BLOCK) for _ in range(READERS)]

    def read(reader):
        for offset in range(reader * BLOCK, size, READERS * BLOCK):
            os.preadv(file, [buffers[reader]], offset)

    begin = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(READERS) as pool:
        list(pool.map(read, range(READERS)))
    seconds = time.perf_counter() - begin
    os.close(file)
    return seconds


class StreamParts:
    def part_stream(self):
        """an iteration over a file of four times --memory against reading the file alone, the page cache dropped for both"""
        megabytes, limit = (512, "128M") if self.quick else (2048, "512M")
        path = self.path("stream.npy")
        for features, rank in ((784, 10), (64, 10)):
            samples = (megabytes << 20) // (4 * features)
            write_samples(path, samples, features)
            alone, fits = [], []
            for _ in range(3):
                with forgotten(path):
                    alone.append(read_alone(path))
                with forgotten(path):
                    fits.append(self.fit(path, rank, "--solver", "palm", "--start", "random", "--tol", 0, "--max-iter", 3,
                                         "--memory", limit))
            best = min(fits, key=lambda fit: fit["seconds_per_iteration"])
            share = min(alone) / best["seconds_per_iteration"]
            speed = megabytes / 1024 / best["seconds_per_iteration"]
            self.row(f"streamed, {features} x {samples} f32, {megabytes} MB under {limit}, r = {rank}",
                     f"{share:.2f} of reading alone ({speed:.2f} GB/s, peak {best['peak_rss_bytes'] >> 20} MB)",
                     ">= 0.8", share >= 0.8 and best["streamed"], share=share, reading=alone,
                     iterations=[fit["seconds_per_iteration"] for fit in fits])
        os.remove(path)
