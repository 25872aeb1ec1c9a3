"""The page of bench.py: the text of bench/README.md down to a mark, then the last results of every part.

Results are kept by part, so that parts can be measured in several runs and on several days: each says when, by which
version and at which load of the machine. Publishing some parts keeps the others as they stand on the page."""
import os
import re
import shutil

MARK = "<!-- What follows is written by `make bench ARGS=--publish`. -->\n"
SOURCE = os.path.dirname(os.path.abspath(__file__))


def table(rows):
    lines = ["| what | measured | target | met? |", "|---|---|---|---|"]
    lines += [f"| {row['what'].strip()} | {row['measured']} | {row['target']} | {row['met']} |" for row in rows]
    return "\n".join(lines)


def verdict(sections):
    """How many targets there are, and how many are met."""
    judged = [row for section in sections for row in re.findall(r" \| (yes|NO) \|$", section, re.MULTILINE)]
    return f"{judged.count('yes')} of {len(judged)} targets are met."


def circumstances(part):
    machine = part["machine"]
    quick = ", `--quick`" if part["quick"] else ""
    return (f"{machine['date']}, {machine['armilla']}, {machine['threads']} threads, load {machine['load']:.1f} before and "
            f"{machine['load_after']:.1f} after{quick}.")


def section(name, part, images):
    lines = [f"### {name}: {part['what']}\n", circumstances(part) + "\n"]
    for picture in part["pictures"]:
        lines.append(f"<img src=\"{images}{picture['file']}\" width=\"800\" alt=\"{picture['title']}: {picture['alt']}\">\n")
    lines.append(table(part["rows"]) + "\n")
    lines += [f"Note: {note}.\n" for note in part["notes"]]
    return "\n".join(lines)


def published():
    """The text of the page above its results, and its sections by part."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        text, _, results = file.read().partition(MARK)
    found = re.split(r"^(?=### \w+: )", results, flags=re.MULTILINE)[1:]
    return text, {section[4:].split(":")[0]: section for section in found}


def write(path, parts, order, images, kept):
    text = published()[0]
    machine = next(reversed(parts.values()))["machine"]
    peers = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    made = {**kept, **{name: section(name, part, images) for name, part in parts.items()}}
    sections = [made[name].rstrip("\n") + "\n" for name in order if name in made]
    body = [text + MARK, "## The last results\n",
            f"{machine['cpu']}, {machine['cores']} cores. {peers}. {verdict(sections)}\n", *sections]
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(body))


def publish(parts, order, folder):
    """Page and pictures into the source tree."""
    images = os.path.join(SOURCE, "images")
    os.makedirs(images, exist_ok=True)
    for picture in (picture for part in parts.values() for picture in part["pictures"]):
        if os.path.exists(os.path.join(folder, picture["file"])):
            shutil.copy(os.path.join(folder, picture["file"]), images)
    write(os.path.join(SOURCE, "README.md"), parts, order, "images/", published()[1])
