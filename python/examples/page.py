"""Writes docs/python.md: the introduction below it, then each example with what it prints and its pictures.

    page.py DOCS      (run where the examples were run: their pictures and outputs, NAME.txt, are in the current folder)
"""

import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ORDER = ["topics", "parts", "cosine_kmeans", "cells", "choose", "streaming"]


def section(name, docs):
    """An example as a page has it: its first line as the title, its code, its output, its pictures."""
    source = (HERE / f"{name}.py").read_text()
    docstring, code = source.split('"""')[1], source.split('"""', 2)[2].strip()
    title, sentence = docstring.strip().rstrip(".").split(": ", 1)
    parts = [f"## {title}", "", sentence[0].upper() + sentence[1:] + ".", "", "```python", code, "```", ""]
    output = pathlib.Path(f"{name}.txt")
    if output.exists() and output.read_text().strip():
        parts += ["```text", output.read_text().rstrip(), "```", ""]
    for picture in sorted(pathlib.Path().glob(f"{name}*.png")):
        shutil.copy(picture, docs / "images" / f"python-{picture.name}")
        parts += [f"![{title}](images/python-{picture.name})", ""]
    return "\n".join(parts)


def main():
    docs = pathlib.Path(sys.argv[1])
    introduction = (HERE / "introduction.md").read_text().rstrip()
    (docs / "python.md").write_text("\n\n".join([introduction, *(section(name, docs).rstrip() for name in ORDER)]) + "\n")


if __name__ == "__main__":
    main()
