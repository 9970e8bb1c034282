# SPDX-License-Identifier: Apache-2.0
"""What check-site looks at: the pages of the site, and the texts that they are made of."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

from docsite import CATALOGUE, ROOT, anchor, headings, say

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
# Languages that a block of an article may be in, besides Swift.
LANGUAGES = {"swift", "text", "sh", "c"}
SWIFT = re.compile(
    r"^\s*(import \w+$|(public |final |private )*(func|let|var|struct|class|enum|extension|protocol) \w"
    r"|try \w|for \w+ in |guard |@\w+\s*(func|class|struct))")
# What Swift itself brings, and what stands for something of the reader's, in the tables.
WORDS = set(
    "let var try in for do catch static defer throws nil map x y v e n f a b p c g q s T d "
    "Int Sequence Value channel generator loop scheduleTask".split())

# What differs from case to case in a message, or is left out.
VALUE = re.compile(r'''…|coroutine #\d+(?: "[^"]*")?(?: \(\w+\))?|[\d.]+ seconds|\S*[\d"#()]\S*''')
# Messages of the compiler and of Swift's runtime.
OF_SWIFT = [
    "is unavailable from asynchronous contexts", "sending risks causing data races",
    "Simultaneous accesses to", "but modification requires exclusive access",
]


def texts():
    """The Markdown files of the repository that people read."""
    for path in sorted(ROOT.rglob("*.md")):
        parts = path.relative_to(ROOT).parts
        if any(part.startswith(".") or part == "node_modules" for part in parts):
            continue
        yield path


def articles():
    return [path for path in texts() if CATALOGUE in path.parents]


def prose(text):
    """The lines outside blocks of code, with their numbers, code spans blanked out."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside:
            yield number, re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)


def check_documents():
    """Relative links of Markdown files."""
    complaints, count = [], 0
    for path in texts():
        for number, line in prose(path.read_text()):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                count += 1
                place = f"{path.relative_to(ROOT)}:{number}"
                name, _, fragment = target.partition("#")
                if CATALOGUE in path.parents:
                    complaints.append(f"{place}: {target}: write doc:… in an article")
                    continue
                file = (path.parent / unquote(name)).resolve() if name else path
                if not file.exists():
                    complaints.append(f"{place}: {target}: there is no such file")
                elif fragment and file.suffix == ".md":
                    if fragment not in {anchor(heading) for heading in headings(file.read_text())}:
                        complaints.append(f"{place}: {target}: there is no such heading")
    say(f"documents: {count} relative links")
    return complaints


def check_blocks():
    """Blocks of code in articles: no Swift but in blocks that say so, which check-docs compares."""
    complaints = []
    for path in articles():
        inside, language, blank = False, "", True
        for number, line in enumerate(path.read_text().splitlines(), 1):
            place = f"{path.relative_to(ROOT)}:{number}"
            if line.lstrip().startswith("```"):
                inside = not inside
                language = line.strip().removeprefix("```")
                if inside and language not in LANGUAGES:
                    complaints.append(
                        f"{place}: a block in {language or 'no language'}; say one of "
                        + ", ".join(sorted(LANGUAGES)))
            elif inside and language != "swift" and SWIFT.match(line):
                complaints.append(f"{place}: Swift that nobody compiles: make it a snippet")
            elif not inside and blank and re.match(r"    +[^\s*|-]", line):
                complaints.append(f"{place}: an indented block of code: make it a snippet")
            blank = not line.strip()
    return complaints


def check_tables():
    """Names that guides give for the names of elsewhere: each is in a snippet of the same page."""
    complaints, count = [], 0
    for path in articles():
        if not path.stem.startswith(("MigratingFrom", "For")):
            continue
        text = path.read_text()
        compiled = set(re.findall(r"\w+", " ".join(re.findall(r"```swift\n(.*?)```", text, re.S))))
        column = None
        for number, line in enumerate(text.splitlines(), 1):
            if not line.startswith("|"):
                column = None
                continue
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if column is None:
                # What is different, and why, is no table of names.
                column = -1 if "why" in cells else next(
                    (index for index, cell in enumerate(cells) if cell in ("here", "`Coroutines`")), -1)
            elif column >= 0:
                spans = " ".join(re.findall(r"`([^`]+)`", cells[column]))
                for name in re.findall(r"[A-Za-z_]\w*", spans):
                    count += 1
                    if name not in compiled and name not in WORDS:
                        complaints.append(
                            f"{path.relative_to(ROOT)}:{number}: {name} is in no snippet of this page")
    say(f"tables: {count} names")
    return complaints


def message_texts():
    """What string literals of the sources say, in one text; what is put into them is cut out."""
    pieces = []
    sources = sorted((ROOT / "Sources").rglob("*.[sch]*"))
    for path in sources + sorted((ROOT / "scripts/debuggers").glob("*.py")):
        if path.suffix not in (".swift", ".c", ".h", ".py") or path.is_dir():
            continue
        text = re.sub(r'"\s*\n\s*\+?\s*f?"', "", path.read_text())
        pieces.append(re.sub(r"\\\((?:[^()]|\([^()]*\))*\)|[`*]", " ", text))
    return re.sub(r"\s+", " ", " ".join(pieces))


def check_messages():
    """What the tables of mistakes say that the library prints is in its sources."""
    complaints, count, known = [], 0, message_texts()
    for path in articles():
        column = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("|"):
                column = column or line.startswith("| what you see |")
                quotes = re.findall(r"`([^`]+)`", line.split("|")[1]) if column else []
            else:
                column = False
                quotes = re.findall(r'\*\*"([^*]+)"', line)
            for quote in quotes:
                # Runs of words between what is left out and what differs from case to case.
                for run in re.split(VALUE, quote):
                    words = run.strip(" .,:;")
                    if len(words.split()) < 3:
                        continue
                    count += 1
                    if words not in known and not any(words in text for text in OF_SWIFT):
                        complaints.append(
                            f"{path.relative_to(ROOT)}:{number}: nothing prints “{words}”")
    say(f"messages: {count} quotations")
    return complaints


def references(node):
    """All links of a page's JSON that are not by reference, as (kind, target)."""
    if isinstance(node, dict):
        if node.get("type") == "link" and "destination" in node:
            yield node["destination"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def anchors_of(data):
    """Anchors of a page, as its headings have them."""
    found = set()

    def walk(node):
        if isinstance(node, dict):
            if "anchor" in node:
                found.add(node["anchor"])
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(data)
    return found


def check_pages(site, modules):
    """Links between the pages of the site."""
    pages = {}
    for file in sorted((site / "data").rglob("*.json")):
        url = "/" + str(file.relative_to(site / "data").with_suffix(""))
        pages[url] = json.loads(file.read_text())
    anchors, complaints, count = {}, [], 0

    def complain_about(target, page):
        path, _, fragment = target.partition("#")
        path = unquote(path).rstrip("/").lower() or page
        if re.match(r"(https?|mailto):", target):
            return None
        if path.startswith("/documentation"):
            if path not in pages:
                return "there is no such page"
            if not (site / path.lstrip("/") / "index.html").exists():
                return "the page has data and no HTML"
            if path not in anchors:
                anchors[path] = {name.lower() for name in anchors_of(pages[path])}
            if fragment and unquote(fragment).lower() not in anchors[path]:
                return "there is no such heading"
            return None
        return None if (site / path.lstrip("/")).exists() and target.startswith("/") \
            else "this leads nowhere"

    for page, data in pages.items():
        targets = list(references(data))
        for reference in data.get("references", {}).values():
            kind = reference.get("type")
            # Those that cannot be resolved are of other modules (docc complains of ours) and no links.
            if kind in ("topic", "section", "link") and reference.get("url"):
                targets.append(reference["url"])
            elif kind in ("image", "video", "download", "file"):
                targets += [variant["url"] for variant in reference.get("variants", [])]
        for target in targets:
            count += 1
            if problem := complain_about(target, page):
                complaints.append(f"{page}: {target}: {problem}")
    for module in modules:
        if f"/documentation/{module.lower()}" not in pages:
            complaints.append(f"{module} has no page")
    say(f"pages: {count} links on {len(pages)} pages")
    return sorted(set(complaints))
