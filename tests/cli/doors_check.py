#!/usr/bin/env python3
"""No file that armilla-convert reads leads to another one: links, storage and virtual data sets of HDF5, in AnnData, 10x
and MATLAB's files, each by itself and behind another; and children of the command end with it.

$ARMILLA is the command. Exit status 77 (skipped) where armilla-convert was not built, or NumPy or h5py is missing."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from external_check import ARMILLA, h5py, np, put_class  # or skipped, as there

SECRET = np.array([[4242.0, 1, 2], [3, 4, 5], [6, 7, 4343]])  # is in other files only
INDICES, STARTS = np.arange(3), np.arange(4)  # of a matrix of 3 x 3 with one entry in each line


def external_link(place, name, wanted):
    place[name] = h5py.ExternalLink("secret.h5", wanted)


def soft_then_external(place, name, wanted):
    place.file.require_group("aside")[name] = h5py.ExternalLink("secret.h5", wanted)
    place[name] = h5py.SoftLink(f"/aside/{name}")


def chain_of_files(place, name, wanted):
    place[name] = h5py.ExternalLink("between.h5", wanted)


def external_storage(place, name, wanted):
    with h5py.File("secret.h5", "r") as secret:
        shape, kind = secret[wanted].shape, secret[wanted].dtype
        secret[wanted][()].tofile(f"secret{wanted.replace('/', '-')}.bin")
    place.create_dataset(name, shape, kind, external=[(f"secret{wanted.replace('/', '-')}.bin", 0, h5py.h5f.UNLIMITED)])


def virtual(place, name, wanted):
    with h5py.File("secret.h5", "r") as secret:
        shape, kind = secret[wanted].shape, secret[wanted].dtype
    layout = h5py.VirtualLayout(shape, kind)
    layout[...] = h5py.VirtualSource("secret.h5", wanted, shape)
    place.create_virtual_dataset(name, layout)


def virtual_of_virtual(place, name, wanted):
    """Of a data set in the same file, which is virtual itself."""
    hidden = place.file.require_group("aside")
    virtual(hidden, name, wanted)
    layout = h5py.VirtualLayout(hidden[name].shape, hidden[name].dtype)
    layout[...] = h5py.VirtualSource(".", f"/aside/{name}", hidden[name].shape)
    place.create_virtual_dataset(name, layout)


DOORS = (external_link, soft_then_external, chain_of_files, external_storage, virtual, virtual_of_virtual)
GROUP_DOORS = (external_link, soft_then_external, chain_of_files)


def write_secrets():
    for name in ("secret.h5", "between.h5"):
        with h5py.File(name, "w") as file:
            if name == "between.h5":
                for key in ("X", "data", "indices", "indptr", "ir", "jc", "shape", "matrix", "sparse", "mat"):
                    file[key] = h5py.ExternalLink("secret.h5", f"/{key}")
                continue
            file["X"] = SECRET
            put_class(file["X"], "double")
            file["data"], file["indices"], file["indptr"] = SECRET[0], INDICES, STARTS
            file["ir"], file["jc"], file["shape"] = INDICES.astype("u8"), STARTS.astype("u8"), np.array([3, 3])
            group = file.create_group("sparse")
            group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", np.array([3, 3])
            group["data"], group["indices"], group["indptr"] = SECRET[0], INDICES, STARTS
            tenx = file.create_group("matrix")
            tenx["data"], tenx["indices"], tenx["indptr"], tenx["shape"] = SECRET[0], INDICES, STARTS, np.array([3, 3])
            tenx["barcodes"] = np.array([b"a", b"b", b"c"])
            mat = file.create_group("mat")
            put_class(mat, "double")
            mat.attrs["MATLAB_sparse"] = np.uint64(3)
            mat["data"], mat["ir"], mat["jc"] = SECRET[0], INDICES.astype("u8"), STARTS.astype("u8")


def anndata(file):
    file.create_group("obs"), file.create_group("var")


def sparse_group(place, names, attributes, door, member):
    group = place
    for key, value in attributes.items():
        group.attrs[key] = value
    own = {"data": np.ones(3), "indices": INDICES, "indptr": STARTS, "ir": INDICES.astype("u8"),
           "jc": STARTS.astype("u8"), "shape": np.array([3, 3])}
    for name in names:
        if name == member:
            door(group, name, f"/{name}")
        else:
            group[name] = own[name]


def cases():
    """Name, how the file is filled."""
    for door in DOORS:
        yield f"x-{door.__name__}.h5ad", lambda f, d=door: (anndata(f), d(f, "X", "/X"))
        yield f"layer-{door.__name__}.h5ad", lambda f, d=door: (anndata(f), d(f.create_group("layers"), "X", "/X"))
        yield f"x-{door.__name__}.mat", lambda f, d=door: d(f, "X", "/X")
        for member in ("data", "indices", "indptr"):
            yield f"{member}-{door.__name__}.h5ad", lambda f, d=door, m=member: (anndata(f), sparse_group(
                f.create_group("X"), ("data", "indices", "indptr"),
                {"encoding-type": "csr_matrix", "shape": np.array([3, 3])}, d, m))
        for member in ("data", "indices", "indptr", "shape"):
            def tenx(f, d=door, m=member):
                group = f.create_group("matrix")
                group["barcodes"] = np.array([b"a", b"b", b"c"])
                sparse_group(group, ("data", "indices", "indptr", "shape"), {}, d, m)
            yield f"{member}-{door.__name__}.h5", tenx
        for member in ("data", "ir", "jc"):
            def mat(f, d=door, m=member):
                group = f.create_group("X")
                put_class(group, "double")
                sparse_group(group, ("data", "ir", "jc"), {"MATLAB_sparse": np.uint64(3)}, d, m)
            yield f"{member}-{door.__name__}.mat", mat
    for door in GROUP_DOORS:
        yield f"group-{door.__name__}.h5ad", lambda f, d=door: (anndata(f), d(f, "X", "/sparse"))
        yield f"group-{door.__name__}.h5", lambda f, d=door: d(f, "matrix", "/matrix")
        yield f"group-{door.__name__}.mat", lambda f, d=door: d(f, "X", "/mat")


def write_case(name, fill):
    matlab = name.endswith(".mat")
    with h5py.File(name, "w", userblock_size=512 if matlab else 0) as file:
        fill(file)
        for key in ("X",):
            if matlab and file.get(key, getlink=True).__class__ is h5py.HardLink and isinstance(file[key], h5py.Dataset):
                put_class(file[key], "double")
    if matlab:
        with open(name, "r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\x00\x02IM")


def check_doors():
    """Each is refused in one line, or what it leads to is left out; other files are never read."""
    wrong = []
    write_secrets()
    for name, fill in cases():
        write_case(name, fill)
        options = ["--array", "layers/X"] if name.startswith("layer") else \
            ["--array", "matrix"] if name == "group" or (name.startswith("group") and name.endswith(".h5")) else []
        done = subprocess.run([ARMILLA, "convert", name, "out.csv", "--force", *options], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        if done.returncode == 0:
            wrong.append(f"{name}: read: {open('out.csv').read()!r}")
        elif done.returncode != 65 or done.stderr.count("\n") != 1:
            wrong.append(f"{name}: {done.returncode}: {done.stderr}")
    return wrong


def check_inside():
    """Links within the file lead to what is in it, and names that lie elsewhere are left out."""
    with h5py.File("soft.h5ad", "w") as file:
        anndata(file)
        file["elsewhere/deep"] = np.eye(3)
        file["X"] = h5py.SoftLink("/elsewhere/deep")
        file["obs"].attrs["_index"] = "names"
        file["obs"]["names"] = h5py.ExternalLink("secret.h5", "/X")
    done = subprocess.run([ARMILLA, "convert", "soft.h5ad", "out.csv", "--force", "--quiet"], stderr=subprocess.PIPE)
    if done.returncode or not np.array_equal(np.loadtxt("out.csv", delimiter=","), np.eye(3)):
        return [f"a soft link is not followed: {done}"]
    return []


def check_link_classes():
    """Links of classes that nobody registered, in the place of external ones (64)."""
    wrong = []
    with h5py.File("user.h5ad", "w") as file:
        anndata(file)
        file["X"] = h5py.ExternalLink("secret.h5", "/X")
    whole = open("user.h5ad", "rb").read()
    for kind in (65, 100, 187, 255):
        changed, count = re.subn(
            rb"(?s)\x01(.)\x40(.{0,9}?\x01X)", lambda m, k=kind: b"\x01" + m[1] + bytes([k]) + m[2], whole)
        assert count == 1, "the link was not found"
        open("user.h5ad", "wb").write(changed)
        done = subprocess.run([ARMILLA, "info", "user.h5ad"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, timeout=60)
        if done.returncode != 65 or done.stderr.count(b"\n") != 1:
            wrong.append(f"link of class {kind}: {done}")
    return wrong


def wait_for(what):
    for _ in range(100):
        if what():
            return True
        time.sleep(0.05)
    return False


def is_alive(process):
    try:
        return open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def check_children():
    """However the command ends, the program that it waits for ends too, and it gets no descriptor but its own."""
    os.mkdir("stage")
    shutil.copy(ARMILLA, "stage/armilla")
    for name in ("armilla-convert", "gnuplot"):
        with open(f"stage/{name}", "w") as file:
            file.write("#!/bin/sh\nls -l /proc/$$/fd >files\necho $$ >number.part\n"
                       "mv number.part number\nexec sleep 600\n")
        os.chmod(f"stage/{name}", 0o755)
    np.save("x.npy", np.random.default_rng(1).standard_normal((30, 3)))
    with h5py.File("x.h5ad", "w") as file:
        file["X"] = np.eye(3)
    subprocess.run([ARMILLA, "fit", "x.npy", "--rank", "2", "--out", "model.npz", "--quiet"], check=True)
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(ARMILLA),
                       PATH=os.path.abspath("stage") + ":" + os.environ["PATH"])
    wrong = []
    secret = os.open("x.npy", os.O_RDONLY)
    os.set_inheritable(secret, True)
    for line in ("info x.h5ad", "plot model.npz --out x.svg"):
        for number in (signal.SIGKILL, signal.SIGTERM):
            if os.path.exists("number"):
                os.unlink("number")
            command = subprocess.Popen(["stage/armilla", *line.split()], env=environment, close_fds=False,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            assert wait_for(lambda: os.path.exists("number")), f"{line}: does not start its program"
            child = int(open("number").read())
            if "x.npy" in open("files").read():
                wrong.append(f"{line}: its program can read what the command was given")
            command.send_signal(number)
            command.wait()
            if not wait_for(lambda child=child: not is_alive(child)):
                wrong.append(f"{line}: its program outlives signal {number}")
                os.kill(child, signal.SIGKILL)
    os.close(secret)
    return wrong


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        wrong = check_doors() + check_inside() + check_link_classes() + check_children()
        os.chdir("/")
    if wrong:
        sys.exit("FAILED:\n" + "\n".join(wrong))


main()
