# SPDX-License-Identifier: Apache-2.0
"""Compiles the examples in documentation comments, each by itself.

An example shows the few lines that matter and takes names like `url` for granted. What those are stands
in comment-examples.swift, in a section for each example that needs one.
"""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from docsite import ROOT, Failure, say, tool

STAND_INS = ROOT / "scripts" / "comment-examples.swift"
SECTION = re.compile(r"// == (file: )?(\S+)(?: (\d+))?$")
COMMON = """
import Dispatch
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif
#if canImport(FoundationXML)
import FoundationXML
#endif
func unmade<Value>(_ type: Value.Type) -> Value { fatalError() }
"""


def read_stand_ins():
    """The sections: whether they are for the top of a file, and their lines, by file and number."""
    sections, lines = {}, []
    for line in STAND_INS.read_text().splitlines():
        if match := SECTION.match(line):
            at_top, name, number = match.groups()
            lines = []
            key = (name, int(number or 1))
            if key in sections:
                raise Failure(f"{STAND_INS.name}: two sections for {name} {number or 1}")
            sections[key] = (bool(at_top), lines)
        else:
            lines.append(line)
    return sections


def examples(module):
    """The Swift blocks of the comments of a module: file, number in the file, line, text."""
    for path in sorted((ROOT / "Sources" / module).rglob("*.swift")):
        number, block = 0, None
        for line_number, line in enumerate(path.read_text().splitlines(), 1):
            comment = re.match(r"\s*/// ?(.*)", line)
            if block is None:
                if comment and comment.group(1).strip() == "```swift":
                    number, block, first = number + 1, [], line_number + 1
            elif comment is None or comment.group(1).strip() == "```":
                yield path, number, first, block
                block = None
            else:
                block.append(comment.group(1))


def source_of(module, path, first, block, section):
    """The file that is compiled: the example's lines have the numbers that they have in their file."""
    imports = [f"import {module}"] + ([] if module == "coswift" else ["import Coroutines"])
    at_top, added = section or (False, [])
    imports += [line for line in added if line.startswith("import ")]
    added = [line for line in added if not line.startswith("import ")]
    place = f'#sourceLocation(file: "{path}", line: {first})'
    if at_top:
        return "\n".join([*imports, COMMON, *added, place, *block, ""])
    return "\n".join([
        *imports, COMMON, "func example() throws {", *added, place, *block,
        "#sourceLocation()", "}", ""])


def check_examples(modules, flags, work):
    """Compiles all; a complaint for each error, at its place in the sources."""
    sections = read_stand_ins()
    folder = work / "examples"
    folder.mkdir()
    compiler = tool("swiftc")
    plugins = Path(os.path.realpath(compiler)).parent.parent / "lib/swift/host/plugins"
    jobs = []
    for module in modules:
        for path, number, first, block in examples(module):
            section = sections.pop((str(path.relative_to(ROOT / "Sources")), number), None)
            file = folder / f"Example{len(jobs)}.swift"
            file.write_text(source_of(module, path, first, block, section))
            mode = [] if section and section[0] else ["-parse-as-library"]
            jobs.append(([compiler, "-typecheck", "-swift-version", "6", "-plugin-path", plugins,
                          *mode, *flags, file], path, first))

    def compile_one(job):
        command, path, first = job
        done = subprocess.run([str(part) for part in command], text=True, capture_output=True)
        if done.returncode == 0:
            return []
        errors = re.findall(r"^(/\S+?:\d+):\d+: error: (.*)$", done.stderr, re.M)
        place = f"{path.relative_to(ROOT)}:{first}"
        return [
            f"{where.removeprefix(f'{ROOT}/')}: {what} (an example; what it takes for granted belongs "
            f"into scripts/{STAND_INS.name})" for where, what in dict.fromkeys(errors)
        ] or [f"{place}: an example does not compile: {done.stderr}"]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [line for found in pool.map(compile_one, jobs) for line in found]
    for name, number in sections:
        complaints.append(f"scripts/{STAND_INS.name}: {name} has no example {number}")
    say(f"examples: {len(jobs)} in documentation comments")
    return complaints
