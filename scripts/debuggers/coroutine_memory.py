# SPDX-License-Identifier: Apache-2.0
"""Coroutines of swift-coroutines in the memory of a process or a core file, for the debuggers' scripts.

Where everything is, the program itself tells: its table `cck_debug_layout` (Sources/CCoroutineKernel/layout.c).
A debugger's script passes an object with `read(address, count)`, which raises `Unreadable`, and
`address_of(symbol)`, which returns None if there is no such symbol.
"""

import os
import re
import shutil
import subprocess

VERSION = 1
NO_STACKS = (
    "the coroutines' stacks are missing from this core file: gdb's gcore leaves them out where their guards are "
    "made with MADV_GUARD_INSTALL (Linux 6.13). Make it with `coroutine save-core FILE`, or let the kernel write it"
)
NO_TABLE = (
    "this program has no table of coroutines (the symbol cck_debug_layout): it does not use swift-coroutines, "
    "or an older one than this script, or its symbols have been stripped"
)
PHASES = ["ready", "running", "suspended", "finished", "ending"]


class Problem(Exception):
    """Something that the user is to be told."""


class Unreadable(Exception):
    """Memory that is not there."""


class Memory:
    """Numbers and texts in a program's memory."""

    def __init__(self, source):
        self.source = source
        self.constants = {}

    def constant(self, address, count=None):
        """A text that does not change and that many have: up to its zero, or so many bytes."""
        key = (address, count)
        if key not in self.constants:
            self.constants[key] = (
                self.text(address) if count is None else self.source.read(address, count).decode("utf-8", "replace")
            )
        return self.constants[key]

    def number(self, address, size=8):
        return int.from_bytes(self.source.read(address, size), "little")

    def text(self, address, limit=256):
        result = b""
        while len(result) < limit:
            byte = self.source.read(address + len(result), 1)
            if byte == b"\0":
                break
            result += byte
        return result.decode("utf-8", "replace")

    def layout(self):
        table = self.source.address_of("cck_debug_layout")
        if table is None:
            raise Problem(NO_TABLE)
        facts = {}
        try:
            while len(facts) < 1000:
                name = self.number(table)
                if name == 0:
                    break
                facts[self.text(name)] = self.number(table + 8)
                table += 16
        except Unreadable:
            raise Problem("the program's table of coroutines cannot be read: start the program first")
        version = facts.get("version", 0)
        if version != VERSION:
            raise Problem(
                f"the program's table of coroutines has version {version}, and this script knows version "
                f"{VERSION}: use the script that came with the library's version"
            )
        if "slabs" not in facts:
            raise Problem("on this architecture the library keeps no table of coroutines: only on x86_64 and arm64")
        return facts


class Coroutine:
    """One that has not ended, as it is in memory."""

    def __init__(self, memory, layout, fiber, stack):
        # One look for all fields: a debugger takes its time for each.
        fields = memory.source.read(fiber, layout["fiber.site_line"] + 4)

        def field(name, size=8):
            offset = layout["fiber." + name]
            return int.from_bytes(fields[offset : offset + size], "little")

        self.fiber = fiber
        self.stack = stack
        self.id = field("identifier")
        phase = field("phase", 1)
        self.phase = PHASES[phase] if phase < len(PHASES) else "unknown"
        self.name = None
        self.operation = None
        self.site = "an unknown place"
        self.registers = None
        self.low = self.high = 0
        try:
            extras = field("extras")
            label = memory.number(extras + layout["extras.label"]) if extras else 0
            self.name = memory.text(label) if label else None
            operation = field("operation") if self.phase == "suspended" else 0
            self.operation = memory.constant(operation) if operation else None
            file = memory.constant(field("site_start"), min(field("site_length", 4), 1024))
            self.site = f'{file}:{field("site_line", 4)}'
            if stack:
                self.low = memory.number(stack + layout["stack.low"])
                self.high = stack
                if self.phase != "running":
                    self.registers = tuple(
                        memory.number(stack + layout["stack." + name]) for name in ("pc", "sp", "fp")
                    )
        except Unreadable:
            pass

    @property
    def state(self):
        if self.phase == "suspended":
            return f'waits in {self.operation or "an unknown call"}'
        return "ready to begin" if not self.stack else self.phase

    @property
    def title(self):
        return f"#{self.id}" + (f' "{self.name}"' if self.name else "")

    def holds(self, address):
        return self.low <= address < self.high


def coroutines(source):
    """All that are found, in the order of their numbers."""
    memory = Memory(source)
    layout = memory.layout()
    found, homes, are_missing = {}, set(), False
    for stack in records(memory, layout):
        try:
            low, home, fiber = (memory.number(stack + layout["stack." + name]) for name in ("low", "home", "fiber"))
            are_missing = are_missing or low == 0
            homes.add(home)
            if fiber:
                found[fiber] = Coroutine(memory, layout, fiber, stack)
        except Unreadable:
            are_missing = True
    homes.discard(0)
    if are_missing and not homes:
        raise Problem(NO_STACKS)
    for home in homes:
        for fiber in unstarted(memory, layout, home):
            try:
                if fiber not in found and memory.number(fiber + layout["fiber.stack"]) == 0:
                    found[fiber] = Coroutine(memory, layout, fiber, 0)
            except Unreadable:
                continue
    return sorted((one for one in found.values() if one.phase != "finished"), key=lambda one: one.id)


def parse(argument):
    """What a command is about, as it was written, and what is to be done with it."""
    argument = argument.strip()
    if argument.startswith('"') and '"' in argument[1:]:
        end = argument.index('"', 1) + 1
        return argument[:end], argument[end:].strip()
    who, _, command = argument.partition(" ")
    return who, command.strip()


def find(source, who):
    """The coroutine with a number (`7`, `#7`) or a name (`worker`, `"worker 1"`), if only one has it."""
    number = who.lstrip("#")
    name = who.strip('"')
    found = [one for one in coroutines(source) if (one.id == int(number) if number.isdigit() else one.name == name)]
    if len(found) > 1:
        raise Problem(f'{len(found)} coroutines are called "{name}": {" ".join(f"#{one.id}" for one in found)}')
    if not found:
        which = f"#{number}" if number.isdigit() else f'called "{name}"'
        raise Problem(f"there is no coroutine {which}: the list of all has the numbers and the names")
    return found[0]


def records(memory, layout):
    """Addresses of the records of all stacks that have been in use."""
    for index in range(memory.number(layout["slab_count"])):
        slab = layout["slabs"] + index * layout["slab.size"]
        base = memory.number(slab + layout["slab.base"])
        stride = memory.number(slab + layout["slab.stride"])
        for slot in range(memory.number(slab + layout["slab.used"])):
            colour = slot % layout["record.colours"] * layout["record.colour_step"]
            yield base + (slot + 1) * stride - layout["record.size"] - colour


def unstarted(memory, layout, home):
    """Fibers in line at a scheduler: of its run queue, of a pool's list, and what was posted to it."""
    def chain(first, link):
        seen = set()
        while first > 1 and first not in seen:
            seen.add(first)
            yield first
            first = memory.number(first + layout[link])

    try:
        yield from chain(memory.number(home + layout["home.run_first"]), "fiber.link_next")
        line = memory.number(home + layout["home.unstarted"])
        yield from chain(memory.number(line + layout["unstarted.newest"]), "fiber.older")
        yield from chain(memory.number(line + layout["unstarted.arrivals"]), "fiber.link_next")
        for link in chain(memory.number(home + layout["home.inbox"]), "fiber.link_next"):
            if memory.number(link + layout["fiber.link_perform"]) == 0:
                yield link
    except Unreadable:
        return


def addresses(source, coroutine, limit=64):
    """Where a coroutine that does not run is in the code, innermost first, by its frame pointers."""
    if coroutine.registers is None:
        return
    pc, _, fp = coroutine.registers
    for _ in range(limit):
        yield pc
        if fp % 8 or not coroutine.holds(fp):
            return
        try:
            frame = source.read(fp, 16)
        except Unreadable:
            return
        following, pc = int.from_bytes(frame[:8], "little"), int.from_bytes(frame[8:], "little")
        if pc == 0 or following <= fp and following != 0:
            return
        fp = following


# MARK: - Names

LIBRARY_FUNCTION = re.compile(r"^(cck|ccb)_")
LIBRARY_MODULE = re.compile(r"^(Coroutines(IO|Testing|Foundation|BlockingCalls)?|CoroutineKernel|coswift)$")
SYSTEM_IMAGE = re.compile(r"^(/usr)?/lib(64)?/|/usr/lib/swift/linux/")
LIBRARY_FILE = re.compile(r"/Sources/(C?Coroutine(s|Kernel)\w*|coswift)/")
MODULE = re.compile(r"^\$s(?:S[a-zA-Z])?(\d+)(\w+)")  # of a type of the standard library: who extends it
_demangled = {}


def is_own(symbol, file, image=None):
    """Whether a function is the program's, not the library's, the runtime's, the system's or a thunk.

    `image` is the shared library it is in, if any.
    """
    if symbol is None or file is None or "/swift/stdlib/" in file or "compiler-generated" in file:
        return False
    if image and SYSTEM_IMAGE.search(image):
        return False
    if not symbol.startswith("$s"):
        return not LIBRARY_FUNCTION.match(symbol)
    module = MODULE.match(symbol)
    if module is None or symbol.endswith(("TR", "TA")):
        return False
    return not LIBRARY_MODULE.match(module[2][: int(module[1])])


def demangled(symbol):
    """A Swift symbol's name for people, if the toolchain is in the path; else the symbol."""
    if not symbol.startswith("$s"):
        return symbol
    if symbol not in _demangled:
        _demangled[symbol] = symbol
        tool = shutil.which("swift-demangle")
        if tool:
            try:
                output = subprocess.run(
                    [tool, "-simplified", "-compact", symbol], capture_output=True, text=True, timeout=10
                ).stdout.strip()
                # The demangler has no word for the code of a main.swift outside functions.
                _demangled[symbol] = (output or symbol) + (" main" if output.endswith(" in") else "")
            except (OSError, subprocess.SubprocessError):
                pass
    return _demangled[symbol]


def place(symbol, file, line, is_exact=False):
    """`receive() at main.swift:12`; a line of the library only if it is wanted."""
    name = demangled(symbol)
    if file is None or "compiler-generated" in file or line == 0:
        return name
    if LIBRARY_FILE.search(file) and not is_exact:
        return name  # something that was inlined there
    return f"{name} at {os.path.basename(file)}:{line}"


def table(found, where, current=None):
    """Lines for a list of coroutines; `where` tells of one where it is."""
    rows = [["", "number", "name", "state", "where"]]
    for one in found:
        rows.append([
            "*" if one.id == current else "", f"{one.id}", one.name or "–", one.state, where(one),
        ])
    return laid_out(rows)


def grouped_table(found, where):
    """The same, with those that are at one place for one reason in one line."""
    groups = {}
    for one in found:
        groups.setdefault((one.state, where(one)), []).append(one)
    rows = [["count", "state", "where", "numbers"]]
    for (state, place_), members in sorted(groups.items(), key=lambda group: -len(group[1])):
        numbers = " ".join(f"#{one.id}" for one in members[:8]) + (" …" if len(members) > 8 else "")
        rows.append([f"{len(members)}", state, place_, numbers])
    return laid_out(rows)


def laid_out(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    ]
