"""All experiments, or those that are named, and the page of their results: run.py BUILD [NAME...].

The environment may have DATA, a folder of more labelled sets, and SEEDS, how many each clustering is run with."""
import os
import pathlib
import subprocess
import sys

import progress

NAMES = ["cones", "convergence", "mnist", "clustering"]
STYLE = """body{font:16px/1.5 sans-serif;max-width:960px;margin:2em auto;padding:0 1em;color:#222}
img{max-width:100%;height:auto}figure{margin:1.5em 0}figcaption{color:#555;font-size:90%}
table{border-collapse:collapse;margin:1em 0}td,th{border-bottom:1px solid #ddd;padding:.2em .8em;text-align:right}
.wide{overflow-x:auto}td,th{white-space:nowrap}.best{font-weight:bold}
td:first-child,th:first-child{text-align:left}code{background:#f4f4f4}nav a{margin-right:1em}"""


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    here, out = pathlib.Path(__file__).resolve().parent, build / "experiments"
    unknown = set(sys.argv[2:]) - set(NAMES)
    if unknown:
        raise SystemExit(f"no experiment is called {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    out.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, ARMILLA=str(build / "armilla"), EXPERIMENTS=str(out), MNIST=str(build / "mnist"))
    if {"mnist", "clustering"} & set(sys.argv[2:] or NAMES):
        subprocess.run([str(here / "mnist.sh"), str(build / "mnist")], check=False)
    failed, plan = [], progress.Plan()
    show = progress.Show(plan)
    for name in sys.argv[2:] or NAMES:
        plan.expect(name, progress.parts_of(name, environment))
    for name in sys.argv[2:] or NAMES:
        print(f"experiment {name}", file=sys.stderr)
        if progress.relay([sys.executable, str(here / f"{name}.py")], name, show, environment) != 0:
            failed.append(name)
    sections = [(out / name / "section.html") for name in NAMES]
    page = "".join(path.read_text(encoding="utf-8") for path in sections if path.exists())
    (out / "index.html").write_text(f"<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>Armilla: experiments"
                                    f"</title><style>{STYLE}</style><h1>The paper's experiments</h1>{page}</html>\n",
                                    encoding="utf-8")
    print(f"written {out / 'index.html'}", file=sys.stderr)
    if failed:
        raise SystemExit(f"not done: {', '.join(failed)}")


main()
