# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: what make-site makes and check-site looks at.

Symbol graphs come from the toolchain's extractor, pages from its `docc`; neither needs the network. All
library products are converted together, so that every page can link to every other.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "Sources" / "Coroutines" / "Coroutines.docc"


class Failure(Exception):
    """What went wrong, in a sentence for whoever called the script."""


def say(text):
    print(f"{Path(sys.argv[0]).name}: {text}", file=sys.stderr, flush=True)


def run(command, **options):
    """Runs a program, and returns what it prints; a failure says what it printed."""
    try:
        done = subprocess.run(
            [str(part) for part in command], cwd=ROOT, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, **options)
    except FileNotFoundError:
        raise Failure(f"{command[0]} is not installed") from None
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def tool(name):
    """A program of the toolchain that `swift` is of."""
    swift = shutil.which("swift")
    if swift is None:
        raise Failure("swift is not in the PATH")
    for folder in (Path(swift).parent, Path(os.path.realpath(swift)).parent):
        if (folder / name).exists():
            return folder / name
    raise Failure(f"{name} is not beside {swift}: a whole toolchain is needed")


def library_modules():
    """The modules of the library products, in the order of the manifest."""
    package = json.loads(run(["swift", "package", "dump-package"]))
    modules = []
    for product in package["products"]:
        if "library" in product["type"]:
            modules += [target for target in product["targets"] if target not in modules]
    return modules


def build(modules):
    """Builds the modules; returns the compiler's flags for who imports them."""
    for module in modules:
        run(["swift", "build", "--target", module])
    products = Path(run(["swift", "build", "--show-bin-path"]).strip())
    target = json.loads(run(["swift", "-print-target-info"]))["target"]["unversionedTriple"]
    flags = ["-I", products / "Modules", "-target", target]
    for map_file in sorted(products.glob("C*.build/module.modulemap")):
        flags += ["-Xcc", f"-fmodule-map-file={map_file}"]
    if sys.platform == "darwin":
        flags += ["-sdk", run(["xcrun", "--show-sdk-path"]).strip()]
    return [*flags, "-module-cache-path", products / "ModuleCache"]


def extract_symbol_graphs(modules, folder):
    """Builds the modules, and writes what is public in them into `folder`; returns `build`'s flags."""
    flags = build(modules)
    for module in modules:
        run([tool("swift-symbolgraph-extract"), "-module-name", module, "-output-dir", folder,
             "-minimum-access-level", "public", "-skip-synthesized-members",
             "-skip-inherited-docs", "-emit-extension-block-symbols", *flags])
    return flags


def anchor(heading):
    """What docc, but for upper case, and forges make of a heading."""
    plain = re.sub(r"[^\w\s-]", "", heading.strip().lower())
    return re.sub(r"\s", "-", plain)


def headings(text):
    """The headings of a Markdown text, without those inside blocks of code."""
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside and (match := re.match(r"#{1,6} +(.*)", line)):
            yield match.group(1)


def docc_fragment(heading):
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.strip()))


def led_to():
    """The documents of the repository that are pages of the site: those that an article leads to."""
    names = set()
    for article in CATALOGUE.glob("*.md"):
        names.update(re.findall(r"<doc:(\w+)>", article.read_text()))
    return [page for page in sorted((ROOT / "Documentation").glob("*.md")) if page.stem in names]


def stage_catalogue(folder):
    """Copies the catalogue to where docc reads it, with the documents that its articles lead to.

    Documents have relative links in them, as their other readers need. Those that lead to a page of the
    site become links of docc; of the others the text is left.
    """
    staged = folder / CATALOGUE.name
    shutil.copytree(CATALOGUE, staged)
    documents = led_to()
    pages = {page.name: page for page in [*CATALOGUE.glob("*.md"), *documents]}

    def fragment(page, wanted):
        for heading in headings(page.read_text()):
            if anchor(heading) == wanted:
                return "#" + docc_fragment(heading)
        return ""

    for document in documents:

        def rewrite(match, document=document):
            text, target = match.groups()
            path, _, wanted = target.partition("#")
            page = pages.get(Path(path).name) if path else document
            if re.match(r"\w+:", target):
                return match.group(0)
            if page is None:
                return text
            return f"[{text}](doc:{page.stem}{fragment(page, wanted) if wanted else ''})"

        (staged / document.name).write_text(
            re.sub(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)", rewrite, document.read_text()))
    return staged


def convert(staged, graphs, site, base_path=None):
    """Has docc make the pages; returns its diagnostics, one a line."""
    diagnostics = graphs.parent / "diagnostics.json"
    command = [
        tool("docc"), "convert", staged, "--additional-symbol-graph-dir", graphs, "--output-dir", site,
        "--fallback-default-module-kind", "Library", "--diagnostics-file", diagnostics,
    ]
    if base_path:
        command += ["--hosting-base-path", base_path]
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True)
    found = []
    if diagnostics.exists():
        for entry in json.loads(diagnostics.read_text())["diagnostics"]:
            start = entry.get("range", {}).get("start", {})
            source = entry.get("source", "").replace(f"file://{staged}", str(CATALOGUE.relative_to(ROOT)))
            found.append(f"{source}:{start.get('line', 0)}: {entry['severity']}: {entry['summary']}")
    if done.returncode != 0 and not found:
        raise Failure(f"docc failed:\n{done.stdout}{done.stderr}")
    return found


def write_front_page(site, modules, base_path):
    """The root leads to the first module; docc leaves its own page empty there."""
    base = f"/{base_path.strip('/')}/" if base_path else "/"
    links = "\n".join(
        f'<li><a href="{base}documentation/{module.lower()}/">{module}</a></li>' for module in modules)
    first = f"{base}documentation/{modules[0].lower()}/"
    (site / "index.html").write_text(f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>swift-coroutines</title>
<meta http-equiv="refresh" content="0; url={first}">
</head>
<body>
<p><a href="{first}">The documentation of swift-coroutines</a></p>
<ul>
{links}
</ul>
</body>
</html>
""")
