"""Mutations of files for the fuzzing of whole commands (command.py): of their structure, with the checksums, sizes and
lengths around it made anew so that a mutation gets behind them, and of their bytes. A mutation is a function of a
random.Random and of what it changes: bytes, or the parts of a file as a list of [name, content]."""
import gzip
import json
import re
import struct
import zlib

# Numbers at which sizes, indices and arithmetic turn over.
WHOLES = [0, 1, 2, 3, 7, -1, -2, 127, 128, 255, 256, 65535, 65536, 50000, 10**6, 10**9, 2**31 - 1, 2**31, -2**31, 2**32,
          2**53, 2**63 - 1, -2**63, 2**63, 2**64 - 1, 2**64, 10**19, 10**40]
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, 5e-324, 1e-160, 1e160, 1e154, 3.5e38, float("nan"), float("inf"),
         -float("inf")]
WORDS = ["", "x", "none", "l2", "NaN", "inf", "-", "sphere", "free", "orthonormal", "f32", "f64", "f16", "0.3x", "1e999x",
         "ffffffffffffffff", "\u0000", "é", "]]>", "%s%n", "a" * 300, "\n", "../../x", "1" * 400]
TOKENS = [b"", b"NaN", b"inf", b"-", b"+", b".", b",", b";", b"\t", b" ", b"\"", b"\"\"", b"\r", b"\n", b"#", b":", b"0x1p3",
          b"1e", b"1e999", b"-1e-999", b"NA", b"\0", b"\xff", b"\xef\xbb\xbf", b"qid:1", b"1:1", b"%", b"%%MatrixMarket"]


def flip(r, data):
    data = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 5))):
        if data:
            data[r.randrange(len(data))] = r.choice((0, 1, 255, 127, 128, r.randrange(256)))
    return bytes(data)


def cut(r, data):
    return data[:r.randrange(len(data) + 1)]


def remove(r, data):
    at = r.randrange(len(data) + 1)
    return data[:at] + data[at + r.choice((1, 2, 4, 16, 100)):]


def repeat(r, data):
    at = r.randrange(len(data) + 1)
    part = data[at:at + r.choice((1, 4, 16, 100))]
    return data[:at] + part * r.choice((2, 3, 50)) + data[at:]


def insert(r, data):
    at = r.randrange(len(data) + 1)
    return data[:at] + r.choice(TOKENS + [bytes(r.randrange(256) for _ in range(r.choice((1, 4, 20))))]) + data[at:]


def pack(form, value):
    """The value's bytes, all ones where it has none of that form."""
    try:
        return struct.pack(form, value)
    except (struct.error, OverflowError):
        return b"\xff" * struct.calcsize(form)


def binary_number(r, data):
    """A number of the machine's somewhere, aligned as most are."""
    form = r.choice(("<i", "<q", "<d", "<f", ">I", "<H"))
    size = struct.calcsize(form)
    if len(data) < size:
        return data
    at = r.randrange(len(data) - size + 1)
    at -= at % r.choice((1, size))
    return data[:at] + pack(form, r.choice(REALS if form[1] in "fd" else WHOLES)) + data[at + size:]


BYTES = [flip, flip, cut, remove, repeat, insert, binary_number, binary_number]


def text_number(r, data):
    """A number of a text becomes another."""
    found = list(re.finditer(rb"[-+]?[0-9][0-9.eE+-]*", data))
    if not found:
        return insert(r, data)
    at = r.choice(found[:3] + found)  # the first are often sizes
    value = repr(r.choice(REALS)) if r.random() < 0.4 else str(r.choice(WHOLES))
    return data[:at.start()] + value.encode() + data[at.end():]


def text_line(r, data):
    lines = data.split(b"\n")
    at = r.randrange(len(lines))
    what = r.randrange(4)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines[at:at] = [lines[at]] * r.choice((1, 3, 200))
    elif what == 2:
        lines[at] = lines[at] * r.choice((2, 100))
    else:
        lines.insert(at, r.choice(lines))
    return b"\n".join(lines)


def text_token(r, data):
    found = list(re.finditer(rb"[^\s,;:]+", data))
    if not found:
        return insert(r, data)
    at = r.choice(found[:5] + found)
    token = r.choice(TOKENS + [r.choice(WORDS).encode(), data[slice(*r.choice(found).span())]])
    return data[:at.start()] + token + data[at.end():]


TEXT = [text_number, text_number, text_line, text_token, text_token] + BYTES[:6]


def idx_size(r, data):
    at = 4 + 4 * r.randrange(3)
    return data[:at] + struct.pack(">I", r.choice(WHOLES) & 0xffffffff) + data[at + 4:]


def small_size(r, data):
    at = 4 * r.randrange(2) if r.random() < 0.7 else r.randrange(len(data) + 1)
    return data[:at] + struct.pack("<I", r.choice(WHOLES) & 0xffffffff) + data[at + 4:]


def npy_split(data):
    """Header and numbers; None where it is no array any more."""
    if data[:6] != b"\x93NUMPY" or len(data) < 12:
        return None
    wide = data[6] > 1
    length = struct.unpack("<I" if wide else "<H", data[8:12 if wide else 10])[0]
    start = 12 if wide else 10
    return data[start:start + length], data[start + length:]


def npy_join(head, body, version=1):
    head = head[:65535 if version == 1 else len(head)]
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(head)) + head + body


def npy_head(r, data):
    parts = npy_split(data)
    if not parts:
        return flip(r, data)
    head, body = parts
    what = r.randrange(4)
    if what == 0:
        head = re.sub(rb"\((.*?)\)", b"(" + b", ".join(str(r.choice(WHOLES)).encode() for _ in range(r.choice(
            (0, 1, 2, 2, 3)))) + r.choice((b")", b",)")), head, 1)
    elif what == 1:
        kind = r.choice(("<f8", "<f4", ">f8", "|u1", "<i8", "<i4", "<f2", "|b1", "<U4", "|S3", "|O", "<c16", "<U0", "<f16"))
        head = re.sub(rb"'descr': '.*?'", b"'descr': '%s'" % kind.encode(), head, 1)
    elif what == 2:
        head = head.replace(b"False", b"?").replace(b"True", b"False").replace(b"?", b"True")
    else:
        head = r.choice(TEXT)(r, head)
    return npy_join(head, body, r.choice((1, 1, 1, 2, 3)))


def npy_body(r, data):
    parts = npy_split(data)
    if not parts:
        return flip(r, data)
    return npy_join(parts[0], r.choice((binary_number, binary_number, binary_number, flip, cut, repeat))(r, parts[1]))


def npy_number(r, data):
    """One of the numbers, of the array's own kind."""
    parts = npy_split(data)
    kind = parts and re.search(rb"'descr': '([<|])([fiu])([1248])'", parts[0])
    if not kind or not parts[1]:
        return npy_head(r, data)
    size, real = int(kind[3]), kind[2] == b"f"
    packed = pack("<" + ("  e f   d" if real else " bh i   q")[size], r.choice(REALS if real else WHOLES))
    at = r.randrange(max(1, len(parts[1]) // size)) * size
    return npy_join(parts[0], parts[1][:at] + packed + parts[1][at + size:])


ARRAY = [npy_head, npy_number, npy_number, npy_body]


def json_value(r, value):
    choice = r.randrange(6)
    if choice == 0:
        return r.choice(WHOLES)
    if choice == 1:
        return r.choice(REALS[:12])
    if choice == 2:
        return r.choice(WORDS)
    if choice == 3:
        return r.choice((None, True, False, [], {}, [[]], {"a": 1}))
    return value * 2 if isinstance(value, str) else -value if isinstance(value, (int, float)) else value


def json_field(r, record):
    """A field at any depth changes, goes, or comes twice."""
    key = r.choice(list(record))
    if isinstance(record[key], dict) and record[key] and r.random() < 0.7:
        json_field(r, record[key])
    elif r.random() < 0.15:
        del record[key]
    else:
        record[key] = json_value(r, record[key])


def meta(r, data):
    parts = npy_split(data)
    try:
        record = json.loads(parts[1])
        json_field(r, record)
        body = json.dumps(record).encode()
    except (TypeError, ValueError, IndexError):
        return npy_body(r, data)
    if r.random() < 0.1:
        body = r.choice(TEXT)(r, body)
    return npy_join(re.sub(rb"\(\d+,\)", b"(%d,)" % len(body), parts[0]), body)


def entry(r, parts):
    """An entry of an archive or a file of a directory."""
    at = r.randrange(len(parts))
    what = r.random()
    if what < 0.06:
        del parts[at]
    elif what < 0.1:
        parts.insert(at, list(r.choice(parts)))
    elif what < 0.15:
        parts[at][0] = r.choice([p[0] for p in parts] + ["meta.npy", "U.npy", "x", "", "../x", "a" * 300, "X.npy"])
    elif what < 0.2:
        parts[at][1] = r.choice(parts)[1]
    elif parts[at][0] == "meta.npy" and what < 0.9:
        parts[at][1] = meta(r, parts[at][1])
    else:
        parts[at][1] = r.choice(mutations_of(parts[at][0]))(r, parts[at][1])
    return parts or [["x", b""]]


def zip_join(r, parts):
    """A zip archive whose checksums and sizes are right, stored or deflated."""
    body, central = b"", b""
    packed = r.random() < 0.3
    for name, content in parts:
        name = name.encode()
        pack = zlib.compressobj(1, zlib.DEFLATED, -15)
        stored = pack.compress(content) + pack.flush() if packed else content
        facts = struct.pack("<HHHHHIIIHH", 20, 0, 8 if packed else 0, 0, 33, zlib.crc32(content), len(stored),
                            len(content), len(name), 0)
        central += b"PK\1\2" + struct.pack("<H", 20) + facts + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name
        body += b"PK\3\4" + facts + name + stored
    return body + central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, len(parts), len(parts), len(central), len(body), 0)


def zip_split(data):
    """The entries of an archive, as the command writes it: stored, in order."""
    parts, at = [], 0
    while data[at:at + 4] == b"PK\3\4":
        size, _, length, extra = struct.unpack("<IIHH", data[at + 18:at + 30])
        start = at + 30 + length + extra
        parts.append([data[at + 30:at + 30 + length].decode(), data[start:start + size]])
        at = start + size
    return parts


def png_split(data):
    chunks, at = [], 8
    while at + 12 <= len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        chunks.append([data[at + 4:at + 8], data[at + 8:at + 8 + length]])
        at += 12 + length
    return chunks


def png_join(chunks):
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks)


def png(r, data):
    chunks = png_split(data)
    if not chunks:
        return flip(r, data)
    at, what = r.randrange(len(chunks)), r.random()
    kind, body = chunks[at]
    if what < 0.1:
        del chunks[at]
    elif what < 0.2:
        chunks.insert(r.randrange(len(chunks) + 1), [r.choice((kind, b"PLTE", b"tRNS", b"gAMA", b"zTXt", b"abcd")), body])
    elif kind == b"IHDR":
        place = r.choice((0, 4, 8, 9, 10, 11, 12))
        small = bytes([r.choice((0, 1, 2, 3, 4, 6, 8, 16, 255))])
        new = struct.pack(">I", r.choice(WHOLES) & 0xffffffff) if place < 8 else small
        chunks[at][1] = body[:place] + new + body[place + len(new):]
    elif kind == b"IDAT" and what < 0.8:
        try:
            chunks[at][1] = zlib.compress(r.choice(BYTES)(r, zlib.decompress(body)))
        except zlib.error:
            chunks[at][1] = flip(r, body)
    else:
        chunks[at][1] = r.choice(BYTES)(r, body)
    return png_join(chunks)


def unzip(r, data):
    """Inside a gzip file, which is packed again with the right checksum; or the packed bytes."""
    try:
        plain = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return flip(r, data)
    if r.random() < 0.2:
        return r.choice(BYTES)(r, data)
    plain = r.choice(TEXT)(r, plain)
    members = [plain] if r.random() < 0.8 else [plain[:len(plain) // 2], plain[len(plain) // 2:]]
    return b"".join(gzip.compress(m, 1, mtime=0) for m in members) + r.choice((b"", b"", b"\0" * 9, b"x"))


ENDINGS = [((".npy",), ARRAY + [flip]), ((".png",), [png, png, png, flip]), ((".gz",), [unzip]),
           ((".idx",), [idx_size, idx_size] + BYTES), ((".mat", ".h5ad", ".bin"), BYTES),
           ((".fvecs", ".u8bin"), [small_size, small_size] + BYTES), ((".safetensors",), [text_number, text_token] + BYTES)]


def mutations_of(name):
    """What may be done to a file of that name."""
    for endings, mutations in ENDINGS:
        if name.endswith(endings):
            return mutations
    return TEXT
