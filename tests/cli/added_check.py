#!/usr/bin/env python3
"""A step of the preparation, an option of reading, constraint sets, a solver and a start that are added to their tables,
and to nothing else, are everywhere.

The insertions below are what whoever adds one writes: a row of armilla_steps with its value and, since it learns, its
functions; a member and a row of the options of a fit; a member and a row of the options of reading; for a set, a solver or a
start a file, a row and a declaration. Those files are copies of others under another name, so that whatever differs from
the original goes by names where it should go by the row. They are made in a copy of the sources, of which what depends on
them is compiled, without optimization, and linked with the objects of the build.
$ARMILLA_SOURCE, $ARMILLA_BUILD. Exit status 77 (skipped) where NumPy is missing, and with a sanitizer: the tables are the
same."""

import concurrent.futures
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

SOURCE, BUILD = os.path.abspath(os.environ["ARMILLA_SOURCE"]), os.path.abspath(os.environ["ARMILLA_BUILD"])

#: File, the line that the insertion stands before, the insertion.
STEP = [
    ("include/armilla/fit.h", "} armilla_options;", "    bool halve;\n"),
    ("src/data/preparation.h", "    ARMILLA_STEP_CENTER,\n", "    ARMILLA_STEP_HALVE,\n"),
    (
        "src/data/preparation.c",
        "const armilla_step_row armilla_steps[",
        """static armilla_status learn_halves(armilla_context *context, const armilla_preparation *p,
                                   const armilla_feature_statistics *found, double *learned)
{
    (void)context;
    (void)found;
    for (int64_t i = 0; i < p->m; i++) learned[i] = 0.5;
    return ARMILLA_OK;
}

""",
    ),
    (
        "src/data/preparation.c",
        "    [ARMILLA_STEP_CENTER] = {",
        """    [ARMILLA_STEP_HALVE] = {.name = "halve", .kind = ARMILLA_STEP_FACTOR, .shown = "halved", .array = "halves",
                            .option = offsetof(armilla_options, halve), .late = true, .allows = armilla_is_factor,
                            .statistics = ARMILLA_FEATURE_COUNTS, .learn = learn_halves},
""",
    ),
    (
        "src/model/options.c",
        "    {.name = NULL},\n};",
        """    {ROW("halve"), .group = ARMILLA_PREPARATION, .kind = ARMILLA_OPTION_FLAG, .offset = AT(halve),
     .help = "divide every entry by two"},
""",
    ),
    (
        "src/model/check_learned.c",
        "/* How a step is learned again",
        """static double half_excess(const moments *f, int64_t i, double stated)
{
    (void)f;
    (void)i;
    return stated == 0.5 ? 0 : INFINITY;
}

""",
    ),
    ("src/model/check_learned.c", "    [ARMILLA_STEP_CENTER] = {", '    [ARMILLA_STEP_HALVE] = {"the halves are none", half_excess},\n'),
]
READING = [
    ("cli/reading.h", "} reading_settings;", "    const char *dialect;\n"),
    ("cli/reading_options.c", '    READING_TEXT("labels",', '    READING_TEXT("dialect", dialect, "WHICH", "made up", READ_RECALLED),\n'),
]
#: Files that are copied for a row with another name: file, its name, the new one, the declarations, the type and its prefix.
COPIES = [
    ("src/sets/sphere.c", "sphere", "shell", "src/sets/sets.h", "armilla_code_set armilla_codes_"),
    ("src/sets/nonneg_sphere.c", "nonneg-sphere", "orthant", "src/sets/sets.h", "armilla_code_set armilla_codes_"),
    ("src/sets/sparse_sphere.c", "sparse-sphere", "pruned", "src/sets/sets.h", "armilla_code_set armilla_codes_"),
    ("src/sets/orthonormal.c", "orthonormal", "stiefel", "src/sets/sets.h", "armilla_basis_set armilla_basis_"),
    ("src/solve/palm.c", "palm", "plod", "src/solve/problem.h", "armilla_solver armilla_solver_"),
    ("src/start/random.c", "random", "dice", "src/start/start.h", "armilla_start armilla_start_"),
]
#: What objects depend on that the insertions change, but for the command's own.
AFFECTED = re.compile(r"\barmilla_options\b|\barmilla_preparation|\barmilla_step|ARMILLA_STEP_")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def edit(path, changes):
    """Replaces each text, which is there once, by another one."""
    with open(path) as stream:
        content = stream.read()
    for old, new in changes:
        assert content.count(old) == 1, f"{path}: {old!r} is there {content.count(old)} times"
        content = content.replace(old, new)
    with open(path, "w") as stream:
        stream.write(content)


def insert(folder):
    for file, before, text in STEP + READING:
        edit(os.path.join(folder, file), [(before, text + before)])


def copied(file, new):
    return os.path.join(os.path.dirname(file), f"made_up_{new}.c")


def copy_rows(folder):
    """The copies, each with its row before that of the original, and its declaration."""
    for file, old, new, header, declaration in COPIES:
        kind, prefix = declaration.split()
        row, place = prefix + old.replace("-", "_"), os.path.join(folder, copied(file, new))
        shutil.copy(os.path.join(folder, file), place)
        edit(place, [(f"const {kind} {row} =", f"const {kind} {prefix}{new} ="), (f'.name = "{old}"', f'.name = "{new}"'), (".meaning =", f'.meaning = "made up: {new}, " ')])
        with open(place) as stream:
            content = stream.read()
        with open(place, "w") as stream:
            stream.write(re.sub(r"^    \.alias = .*\n", "", content, flags=re.M))
        edit(os.path.join(folder, os.path.dirname(file), "table.c"), [(f"&{row},", f"&{prefix}{new}, &{row},")])
        edit(os.path.join(folder, header), [("#endif\n", f"extern const {kind} {prefix}{new};\n#endif\n")])


def is_affected(folder, file, seen):
    """Whether a source of the library names what is changed, itself or in a header of the library's own."""
    if file in seen:
        return False
    seen.add(file)
    with open(file) as stream:
        text = stream.read()
    if AFFECTED.search(text):
        return True
    found = (os.path.join(folder, "src", name) for name in INCLUDE.findall(text))
    return any(os.path.exists(name) and is_affected(folder, name, seen) for name in found)


def compiling(folder, command, file, output, level):
    """The build's command for a file of the folder."""
    words = [word.replace(SOURCE + "/", folder + "/") if word.startswith("-I") else word for word in shlex.split(command)]
    words = [word for word in words if not re.fullmatch(r"-O\d|-Wframe-larger-than=.*|-Werror", word)]
    words[words.index("-o") + 1], words[words.index("-c") + 1] = output, file
    return [*words, level]


def compile_all(folder):
    """The objects of the library and of the command: those of the build, and new ones where they may differ."""
    with open(os.path.join(BUILD, "compile_commands.json")) as stream:
        commands = json.load(stream)
    if any("-fsanitize" in command["command"] for command in commands):
        sys.exit(77)
    objects, jobs = {"src": [], "cli": []}, []
    copies = {file: copied(file, new) for file, _, new, _, _ in COPIES}
    tables = {os.path.join(os.path.dirname(file), "table.c") for file in copies}
    for command in commands:
        name = os.path.relpath(command["file"], SOURCE)
        built = re.search(r" -o (\S+)", command["command"]).group(1)
        kind = "src" if "armilla_objects.dir" in built else "cli" if re.search(r"armilla_(cli|command)\.dir", built) else None
        if kind is None:
            continue
        file = os.path.join(folder, name)
        same = not os.path.exists(file) or (kind == "src" and name not in tables and not is_affected(folder, file, set()))
        if same:
            objects[kind].append(os.path.join(command["directory"], built))  # among them what the build has written itself
        changed = [] if same else [(file, "-O0")]
        if kind == "src" and name in copies:
            changed.append((os.path.join(folder, copies[name]), "-O2"))  # as the original is, for the same bits
        for file, level in changed:
            output = os.path.join(folder, f"{len(jobs)}.o")
            jobs.append(compiling(folder, command["command"], file, output, level))
            objects[kind].append(output)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in pool.map(lambda words: subprocess.run(words, cwd=BUILD, capture_output=True, text=True), jobs):
            assert done.returncode == 0, done.stderr
    return objects


def link(target, output, objects, *others):
    """As the build links the target, but these objects to that output."""
    with open(os.path.join(BUILD, "CMakeFiles", target + ".dir", "link.txt")) as stream:
        words = shlex.split(stream.read())
    flags = [word for word in words if re.match(r"-(f|l|-coverage|shared|Wl,-soname|Wl,--version)|/\S+\.so", word)]
    done = subprocess.run([words[0], "-o", output, *objects, *others, *flags], cwd=BUILD, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def build(folder):
    """The command, and the Python package where the build has one, with the insertions; all in the folder."""
    for name in ("src", "include", "cli", "python"):
        shutil.copytree(os.path.join(SOURCE, name), os.path.join(folder, name))
    insert(folder)
    copy_rows(folder)
    objects = compile_all(folder)
    library = os.path.join(folder, "libarmilla.so")
    link("armilla_shared", library, objects["src"])
    os.symlink(library, library + ".1")
    link("armilla_command", os.path.join(folder, "armilla"), objects["cli"], library, "-Wl,-rpath," + folder)
    if not os.path.exists(os.path.join(BUILD, "python", "armilla")):
        return
    made = os.path.join(folder, "package")
    words = ["--include", os.path.join(folder, "include"), "--library", folder, "--rpath", folder, "--out", made]
    subprocess.run([sys.executable, os.path.join(folder, "python", "binding.py"), *words], check=True, env={**os.environ, "CFLAGS": "-O0"})
    for name in glob.glob(os.path.join(folder, "python", "armilla", "*.py")):
        shutil.copy(name, os.path.join(made, "armilla"))


def run(*arguments, status=0):
    done = subprocess.run(["./armilla", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"armilla {' '.join(map(str, arguments))}: {done.returncode}\n{done.stderr}"
    return done.stdout, done.stderr


def shown(*arguments):
    return json.loads(run(*arguments, "--json")[0])


def arrays(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def check_fit(X):
    """What is fitted are the halves, and the model says so: to people, in its record and by its arrays."""
    said = run("fit", "x.npy", "--rank", 2, "--halve", "--out", "m.npz")[1]
    run("fit", "half.npy", "--rank", 2, "--out", "half.npz", "--quiet")
    made, wanted = arrays("m.npz"), arrays("half.npz")
    record = json.loads(bytes(made["meta"]))
    assert re.search(r"^data .*, halved$", said, re.M), said
    assert record["halve"] is True and record["options"]["halve"] == "yes", record
    assert (made["halves"] == np.full(X.shape[1], 0.5)).all()
    assert all((made[name] == wanted[name]).all() for name in ("U", "V", "radius"))


def check_model():
    """What is done with a model does as its fit did."""
    run("transform", "m.npz", "x.npy", "--out", "codes.npy", "--quiet")
    assert (np.load("codes.npy").T == arrays("m.npz")["V"]).all()
    run("reconstruct", "m.npz", "--out", "back.npy", "--quiet")
    run("reconstruct", "half.npz", "--out", "half-back.npy", "--quiet")
    np.testing.assert_allclose(np.load("back.npy"), 2 * np.load("half-back.npy"))
    run("check", "m.npz", "x.npy")
    run("check", "m.npz", "half.npy", status=1)
    assert shown("info", "m.npz")["halve"] is True and shown("info", "half.npz")["halve"] is False
    assert re.search(r"^halve +yes$", run("info", "m.npz")[0], re.M)
    assert shown("compare", "m.npz", "half.npz")["same_preparation"] is False
    wrong = arrays("m.npz")
    wrong["halves"] = np.full_like(wrong["halves"], 0.25)
    np.savez("wrong.npz", **wrong)
    assert "the halves are none" in "".join(run("check", "wrong.npz", "x.npy", status=1))
    run("fit", "x.npy", "--start", "m.npz", "--out", "next.npz", "--force")
    assert "--halve" in run("fit", "x.npy", "--start", "m.npz")[1]
    assert shown("info", "next.npz")["halve"] is True


def check_commands():
    """cluster and neighbors take it with data, and refuse it with a model."""
    for command in ("fit", "cluster", "neighbors"):
        assert re.search(r"^  --halve +divide every entry by two", run("help", command)[0], re.M), command
    assert shown("cluster", "x.npy", "--k", 2, "--halve")["fit"]["halve"] is True
    assert shown("cluster", "x.npy", "--k", 2)["fit"]["halve"] is False
    run("cluster", "x.npy", "--k", 2, "--on", "data", "--halve", "--quiet")
    assert shown("neighbors", "x.npy", "--count", 3, "--halve", "--out", "g.npz")["halve"] is True
    assert shown("neighbors", "x.npy", "--count", 3, "--out", "plain.npz")["halve"] is False
    assert shown("neighbors", "m.npz", "--count", 3, "--out", "codes.npz")["halve"] is True
    assert (arrays("g.npz")["indices"] == arrays("plain.npz")["indices"]).all()
    for command in (("cluster", "m.npz", "--k", 2), ("neighbors", "m.npz", "--count", 3, "--out", "no.npz")):
        assert "--halve" in run(*command, "--halve", status=64)[1], command


PYTHON = """
import inspect, sys
import numpy as np
import armilla
X = np.load("x.npy")
model = armilla.fit(X, 2, halve=True)
assert (model.U == armilla.load("m.npz").U).all()
assert model.info["halve"] is True and model.preparation["halve"] is True and model.options["halve"] == "yes"
assert armilla.load("half.npz").info["halve"] is False
for function in (armilla.fit, armilla.neighbors, armilla.SphericalPCA):
    assert "halve" in inspect.signature(function).parameters and "Divide every entry by two" in function.__doc__, function
assert (armilla.neighbors(X, 3, halve=True).indices == armilla.neighbors(X, 3).indices).all()
try:
    armilla.neighbors(model, 3, halve=True)
    raise SystemExit("a model was prepared again")
except ValueError as refused:
    assert "halve" in str(refused), refused
pca = armilla.SphericalPCA(2, halve=True).partial_fit(X)
first = pca.model_
pca.set_params(halve=False).partial_fit(X[:20])  # the model has its preparation already
assert pca.model_ is not first and pca.model_.info["halve"] is True and pca.model_.options["halve"] == "yes"
assert armilla.AutoCluster(2).fit(X).recipe_["halve"] is False
plain, half = armilla.SphericalKMeans(2, random_state=0).fit(X), armilla.SphericalKMeans(2, halve=True, random_state=0).fit(X)
np.testing.assert_allclose(plain.transform(X), half.transform(X), atol=1e-7)
"""


def run_python(text):
    if not os.path.exists("package"):
        return
    done = subprocess.run([sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": "package"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def check_reading():
    """The option is in help and in the commands that info prints, a model remembers it, and is not read by it."""
    np.savetxt("x.csv", np.load("x.npy"), delimiter=",")
    assert re.search(r"^  --dialect WHICH +made up", run("help", "fit")[0], re.M)
    assert "x.csv --dialect old" in run("info", "x.csv", "--dialect", "old")[0]
    run("fit", "x.csv", "--dialect", "old", "--rank", 2, "--out", "read.npz", "--quiet")
    assert json.loads(bytes(arrays("read.npz")["meta"]))["reading"]["dialect"] == "old"
    assert "--dialect old" in run("transform", "read.npz", "x.csv", "--out", "read.npy")[1]
    assert "--dialect old" in run("fit", "x.csv", "--start", "read.npz", "--max-iter", 1)[1]
    for command in (("cluster", "m.npz", "--k", 2), ("info", "m.npz")):
        assert "--dialect" in run(*command, "--dialect", "old", status=64)[1], command


#: Options of a fit with a copied row, and what the row is called originally.
FITS = {
    "shell": ("sphere", "--codes", "shell"),
    "orthant": ("nonneg-sphere", "--basis", "nonnegative", "--codes", "orthant"),
    "pruned": ("sparse-sphere", "--codes", "pruned", "--sparsity", 2),
    "stiefel": ("orthonormal", "--basis", "stiefel"),
    "plod": ("palm", "--solver", "plod"),
    "dice": ("random", "--start", "dice"),
}


def facts(value):
    """A command's object without time, memory, names of files, and the name that a pair has."""
    if not isinstance(value, dict):
        return value
    return {name: facts(of) for name, of in value.items() if not re.match("seconds|peak|threads|file$|model$", name)}


def check_listed():
    """Listings, help, the manual and completion have the row, and messages the names of what could be used."""
    tables = run("list")[0]
    texts = [run("help", "fit")[0], run("help", "--man", "fit")[0]]
    texts += [run("help", "--completion", shell)[0] for shell in ("bash", "fish")]
    for name in FITS:
        assert re.search(rf"^  {name} .*made up: {name}, ", tables, re.M), name
        assert all(re.search(rf"\b{name}\b", text) for text in texts), name
    assert "did you mean 'shell'?" in run("fit", "x.npy", "--rank", 2, "--codes", "shel", status=64)[1]
    assert "pruned" in run("fit", "x.npy", "--rank", 3, "--sparsity", 2, status=64)[1]


def check_row(name, old, *options):
    """A fit with the copied row is that with the original: the model, its record, and what is made of it."""
    fit, model, other = ("x.npy", "--rank", 3, "--max-iter", 30, "--tol", 0), name + ".npz", name + "-old.npz"
    run("fit", *fit, *options, "--out", model, "--quiet")
    run("fit", *fit, *(old if word == name else word for word in options), "--out", other, "--quiet")
    made, wanted = arrays(model), arrays(other)
    assert all((made[array] == wanted[array]).all() for array in ("U", "V", "radius", "trace_objective")), name
    record = json.loads(bytes(made["meta"]))
    assert record["options"][options[options.index(name) - 1][2:]] == name, record
    run("check", model, "x.npy")
    run("transform", model, "x.npy", "--out", name + ".npy", "--quiet")
    run("transform", other, "x.npy", "--out", name + "-old.npy", "--quiet")
    assert (np.load(name + ".npy") == np.load(name + "-old.npy")).all(), name
    assert name in run("info", model)[0]
    for command in (("info", "{}"), ("cluster", "{}", "--k", 3)):
        found, usual = (json.dumps(facts(shown(*(str(word).format(path) for word in command)))) for path in (model, other))
        assert found.replace(f'"{name}"', f'"{old}"') == usual, (command, found, usual)
    ends = ("--checkpoint", name + ".ckpt", "--out", name + "-resumed.npz", "--quiet")
    run("fit", *fit, *options, "--time-limit", 1e-5, *ends)
    run("fit", *fit, *options, "--resume", name + ".ckpt", "--force", *ends)
    assert all((arrays(name + "-resumed.npz")[array] == made[array]).all() for array in ("U", "V", "radius")), name


ROWS_IN_PYTHON = """
import numpy as np
import armilla
X, FITS = np.load("x.npy"), %r
listed = {row["name"]: row["meaning"] for table in armilla.tables().values() for row in table}
for name, (old, *options) in FITS.items():
    assert listed[name].startswith("made up: " + name), listed
    values = {flag[2:]: value for flag, value in zip(options[::2], options[1::2])}
    model = armilla.fit(X, 3, max_iter=30, tol=0, **values)
    assert (model.U == armilla.load(name + ".npz").U).all() and name in model.options.values(), name
    values = {{"start": "init"}.get(field, field): value for field, value in values.items()}
    assert armilla.SphericalFactorization(3, **values).fit(X).get_params().items() >= values.items(), name
    usual = {field: old if value == name else value for field, value in values.items()}
    tags = [armilla.SphericalFactorization(3, **each)._more_tags() for each in (values, usual)]
    assert tags[0] == tags[1], (name, tags)
"""


def check_rows():
    check_listed()
    for name, (old, *options) in FITS.items():
        check_row(name, old, *options)
    run_python(ROWS_IN_PYTHON % FITS)


def main():
    X = np.abs(np.random.default_rng(5).standard_normal((60, 5)))
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        os.chdir(folder)
        np.save("x.npy", X)
        np.save("half.npy", X / 2)
        check_fit(X)
        check_model()
        check_commands()
        run_python(PYTHON)
        check_reading()
        check_rows()
        os.chdir("/")


main()
