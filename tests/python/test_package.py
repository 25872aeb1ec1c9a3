"""What is shipped: examples in docstrings, the page of the gallery, type hints, signatures, pictures."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import EXAMPLES, FEW, ROOT, make_data
from sklearn.exceptions import NotFittedError

import armilla

MODULES = [name for _, name, _ in pkgutil.iter_modules(armilla.__path__) if name != "_native"]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name == "anndata":
        pytest.importorskip("anndata")
    module = importlib.import_module("armilla." + name)
    failed, _ = doctest.testmod(module)
    assert failed == 0


def test_public_things_are_documented():
    for name in armilla.__all__:
        thing = getattr(armilla, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__doc__, name
        if not inspect.isclass(thing):
            continue
        for method, function in inspect.getmembers(thing, inspect.isfunction):
            if not method.startswith("_") and function.__module__.startswith("armilla"):
                assert function.__doc__, (name, method)


def test_page_shows_the_gallery():
    page = (ROOT / "docs" / "python.md").read_text()
    for name in EXAMPLES:
        code = (ROOT / "python" / "examples" / f"{name}.py").read_text().split('"""', 2)[2].strip()
        assert f"```python\n{code}\n```" in page, f"docs/python.md does not show {name}.py as it is: python/examples/page.py"
        assert (ROOT / "docs" / "images" / f"python-{name}.png").exists()


def test_page_runs(tmp_path, monkeypatch):
    """The code of the introduction, in its order."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "python" / "examples" / "introduction.md").read_text()
    blocks = [part.split("```")[0] for part in page.split("```python\n")[1:]]
    assert len(blocks) >= 5
    place = {}
    for block in blocks:
        exec(block, place)


def test_readme_runs():
    block = (ROOT / "README.md").read_text().split("```python\n")[1].split("```")[0]
    place = {}
    exec(block, place)
    assert place["codes"].shape == (1797, 10) and place["labels"].shape == (1797,)


@pytest.mark.skipif(FEW, reason="no C is run")
def test_types(tmp_path):
    """mypy, strict, on the package and on code that uses it."""
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(
        "import numpy as np\nimport armilla\n"
        "X = np.ones((4, 3))\n"
        "model: armilla.Model = armilla.fit(X, 2, model='nmf')\n"
        "labels: np.ndarray = armilla.SphericalKMeans(2, random_state=0).fit(X).labels_\n"
        "codes: np.ndarray = armilla.SphericalNMF(2).fit_transform(X)\n"
        "pca: armilla.SphericalPCA = armilla.SphericalPCA(2, radius=1.5, init=codes, time_limit=2).fit(X)\n"
        "auto: armilla.AutoCluster = armilla.AutoCluster(None, method='argmax', n_components=3).fit(X)\n"
        "kmeans = armilla.SphericalKMeans(n_clusters=3, n_init='auto')\n"
    )
    (tmp_path / "wrong.py").write_text(
        "import armilla\n"
        "armilla.SphericalNMF(2, n_restart=3)\n"
        "armilla.SphericalPCA(2, model='nmf')\n"
        "armilla.SphericalKMeans(2, max_iter='many')\n"
        "armilla.AutoCluster(n_cluster=3)\n"
        "reveal_type(armilla.SphericalNMF(2).fit([[1.0]]))\n"
    )
    words = ["--config-file", ROOT / "python" / "pyproject.toml", "--cache-dir", tmp_path / "cache", "--no-error-summary"]
    done = subprocess.run([sys.executable, "-m", "mypy", *words, ROOT / "python" / "armilla", tmp_path / "use.py"], cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([sys.executable, "-m", "mypy", *words, tmp_path / "wrong.py"], cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert [int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line] == [2, 3, 4, 5], done.stdout
    assert 'wrong.py:6: note: Revealed type is "armilla._factorization.SphericalNMF' in done.stdout


def test_constructors_for_type_checkers():
    """The stub that is shipped is what the option table gives."""
    done = subprocess.run([sys.executable, ROOT / "scripts" / "signatures.py"], capture_output=True, text=True, check=False)
    assert done.stdout == (ROOT / "python" / "armilla" / "_signatures.pyi").read_text(), "run scripts/signatures.py"


def test_plots(tmp_path):
    plt = pytest.importorskip("matplotlib.pyplot")
    import armilla.plot

    X = make_data("f64")
    two, three, kmeans = armilla.fit(X, 2), armilla.SphericalNMF(3).fit(X), armilla.SphericalKMeans(3).fit(X)
    assert armilla.plot.convergence(two, three).get_ylabel() == "relative error"
    assert armilla.plot.convergence(three, by="seconds", labels=["a"]).get_xlabel() == "seconds"
    assert armilla.plot.sphere(two, np.arange(60) % 3).name == "rectilinear" and armilla.plot.sphere(three).name == "3d"
    assert len(armilla.plot.atoms(three, (11, 1)).axes) == 3 and len(armilla.plot.atoms(three, columns=2).axes) == 4
    armilla.plot.clusters(kmeans, X=X)
    armilla.plot.clusters(armilla.AutoCluster(3, random_state=0).fit(X))
    with pytest.raises(ValueError, match="rank 1"):
        armilla.plot.sphere(armilla.fit(X, 1))
    with pytest.raises(ValueError, match="codes='free' are not on a sphere and have no radius"):
        armilla.plot.sphere(armilla.fit(X, 3, model="pca"))
    with pytest.raises(ValueError, match="by='time' is neither 'iteration' nor 'seconds'"):
        armilla.plot.convergence(two, by="time")
    with pytest.raises(ValueError, match="labels has 1 entries, but there are 2 models"):
        armilla.plot.convergence(two, three, labels=["a"])
    for draw in (armilla.plot.convergence, armilla.plot.sphere, armilla.plot.atoms, armilla.plot.clusters):
        with pytest.raises(NotFittedError):
            draw(armilla.SphericalNMF(3))
    for number in plt.get_fignums():
        plt.figure(number).savefig(tmp_path / f"{number}.png")
    plt.close("all")


def test_labels_of_plots():
    """Labels of any kind have a colour each, and a legend in the library's order of labels."""
    plt = pytest.importorskip("matplotlib.pyplot")
    import pandas

    import armilla.plot

    X = make_data("f64")
    model = armilla.fit(X, 3)
    words = np.array(["b", "a", "c"])[np.arange(60) % 3]
    some = pandas.Series(words, name="kind").astype(pandas.CategoricalDtype(["c", "b", "a", "unused"]))
    some.iloc[:2] = None
    ordered = some.cat.as_ordered()
    texts = [str(k) for k in range(8, 12)] * 15
    cases = [
        (np.arange(60) % 2, ["0", "1"]),
        (words, ["a", "b", "c"]),
        (words.tolist(), ["a", "b", "c"]),
        (some, ["a", "b", "c", "(missing)"]),
        (ordered, ["c", "b", "a", "(missing)"]),
        ([None, *words[1:]], ["a", "b", "c", "(missing)"]),
        (texts, ["8", "9", "10", "11"]),
        (pandas.Categorical(texts), ["8", "9", "10", "11"]),
        (["1e3", "2", "-0.5"] * 20, ["-0.5", "2", "1e3"]),
        (["1e3", "2", "1f"] * 20, ["1e3", "1f", "2"]),
        (["NA", "b", "", "a", np.nan] * 12, ["a", "b", "(missing)"]),
        (["ä", "z", "B"] * 20, ["B", "z", "ä"]),
        (np.arange(60) % 12, [str(k) for k in range(12)]),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for draw in (armilla.plot.sphere, armilla.plot.clusters):
            for labels, names in cases:
                legend = draw(model, labels).get_legend()
                assert [entry.get_text() for entry in legend.get_texts()] == names
                assert len({tuple(np.ravel(handle.get_facecolor())) for handle in legend.legendHandles}) == len(names)
            assert draw(model, some).get_legend().get_title().get_text() == "kind"
            assert draw(model, None).get_legend() is None and draw(model, np.arange(60)).get_legend() is None
            with pytest.raises(ValueError, match="labels has 59 entries, but there are 60 samples"):
                draw(model, words[1:])
            plt.close("all")


def test_order_of_labels_is_that_of_the_command(command, tmp_path):
    """The legend of a picture lists the classes as the command's confusion does."""
    plt = pytest.importorskip("matplotlib.pyplot")
    import armilla.plot

    X = make_data("f64")
    model = armilla.fit(X, 3)
    model.save(tmp_path / "model.npz")
    for texts in (["10", "9", "1e1"], ["b", "2", "NA"], ["x", "-1", "1.5"]):
        labels = [texts[k % 3] for k in range(60)]
        (tmp_path / "labels.txt").write_text("".join(f"{text}\n" for text in labels))
        command("plot", tmp_path / "model.npz", "--kind", "scatter", "--labels", tmp_path / "labels.txt", "--out", tmp_path / "x.svg", "--force", "--quiet")
        ours = [entry.get_text() for entry in armilla.plot.clusters(model, labels).get_legend().get_texts()]
        drawn = (tmp_path / "x.svg").read_text()
        places = [drawn.index(f">{name}<") for name in ours]
        assert places == sorted(places) and len(set(ours)) == 3, (texts, ours)
    plt.close("all")


def test_axis_labels_are_inside_the_picture():
    plt = pytest.importorskip("matplotlib.pyplot")
    import armilla.plot

    ax = armilla.plot.sphere(armilla.fit(make_data("f64"), 3), np.arange(60) % 8)
    ax.figure.canvas.draw()
    renderer, whole = ax.figure.canvas.get_renderer(), ax.figure.bbox
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        box = axis.label.get_window_extent(renderer)
        assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1, axis.label.get_text()
    plt.close("all")
