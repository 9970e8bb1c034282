# SPDX-License-Identifier: Apache-2.0
"""How often each instruction of a run under callgrind was executed, and what kind of instruction it is.

A function has been called as often as its first instruction ran. Callgrind's graph of calls, which
switches of stacks confuse, is asked for one thing only: what the C library's allocator calls of itself.
"""

import os
import re
import struct
import subprocess
from pathlib import Path

COUNTS = (
    "instructions", "atomics", "allocations", "objects", "references", "clock reads", "system calls",
)
ALLOCATIONS = {
    "malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign",
    "valloc", "pvalloc",
}
# Seconds of a run, which are ten at most unless something grows that should not.
TIMEOUT = 600
PREFIXES = bytes([0x66, 0xF2, 0xF3, 0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65])


class Failure(Exception):
    """Why nothing could be counted."""


class Profile:
    """How often each instruction ran, by the file and the function it stands in."""

    def __init__(self, path):
        self.runs, self.functions = {}, {}
        # Allocations that the C library makes itself, as posix_memalign does by malloc.
        self.relayed = 0
        files, names = {}, {}
        address, skip, file, function, callee, called = 0, False, None, None, None, None
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                first = line[0]
                if first in "0123456789+-*":
                    position, count = line.split()
                    if first == "+":
                        address += int(position[1:], 0)
                    elif first == "-":
                        address -= int(position[1:], 0)
                    elif first != "*":
                        address = int(position, 0)
                    # The line after one of a call is what the callee took.
                    if not skip:
                        runs[address] = runs.get(address, 0) + int(count)
                        self.functions[file, address] = function
                    skip = False
                elif line.startswith("calls="):
                    skip = True
                    if (called or file) == file and is_libc(file) and base(callee) in ALLOCATIONS:
                        self.relayed += int(line.split()[0].partition("=")[2])
                    called = None
                elif line.startswith("ob="):
                    file = resolve(files, line)
                    runs = self.runs.setdefault(file, {})
                elif line.startswith("cob="):
                    called = resolve(files, line)
                elif line.startswith("fn="):
                    function = resolve(names, line)
                elif line.startswith("cfn="):
                    callee = resolve(names, line)


def resolve(names, line):
    """A name that is written out the first time and is a number in parentheses from then on."""
    number, _, name = line.strip().partition("=")[2].partition(" ")
    if name:
        names[number] = name
    return names[number]


def base(function):
    """A function's name without callgrind's 'number, which tells it from itself further out."""
    return re.sub(r"'\d+$", "", function)


def is_libc(path):
    return os.path.basename(path).startswith("libc.so")


class Binary:
    """What is asked of an ELF file: the bytes at an address, and where its functions begin."""

    def __init__(self, path):
        self.name = os.path.basename(path)
        self.data = Path(path).read_bytes()
        if self.data[:5] != b"\x7fELF\x02":
            raise Failure(f"{path} is no 64-bit ELF file")
        start, = struct.unpack_from("<Q", self.data, 32)
        size, count = struct.unpack_from("<HH", self.data, 54)
        headers = (struct.unpack_from("<IIQQQQQ", self.data, start + size * i) for i in range(count))
        self.segments = [(h[3], h[3] + h[5], h[2]) for h in headers if h[0] == 1]
        listing = subprocess.run(
            ["nm", "-D", "--defined-only", "--format=posix", path],
            capture_output=True, text=True, check=True,
        ).stdout
        # What is counted by its calls; and where the clock is read, which is a system call under
        # valgrind only.
        self.counted, self.clock = {}, range(0)
        for line in listing.splitlines():
            name, letter, address, *length = line.split()
            function, begin = name.partition("@")[0], int(address, 16)
            what = counted_as(function, self.name) if letter in "tTwWi" else None
            if what:
                self.counted[begin] = what
            if what == "clock reads" and length:
                self.clock = range(begin, begin + int(length[0], 16))

    def code(self, address):
        """The first bytes of the instruction at an address."""
        for low, high, offset in self.segments:
            if low <= address < high:
                place = address - low + offset
                return self.data[place: place + 12]
        return b""

    def kinds(self, address):
        """What the instruction at an address is counted as, apart from being one."""
        kinds = []
        what = kind(self.code(address))
        if what and not (what == "system calls" and address in self.clock):
            kinds.append(what)
        if address in self.counted:
            kinds.append(self.counted[address])
        return kinds


def kind(code):
    """Whether an instruction is atomic or a system call."""
    place = 0
    while place < len(code) and code[place] in PREFIXES:
        place += 1
    if code[place: place + 1] == b"\xf0":
        return "atomics"
    if code[place: place + 2] == b"\x0f\x05":
        return "system calls"
    if place < len(code) and code[place] & 0xF0 == 0x40:
        place += 1
    # An exchange with memory locks without being told to.
    if place + 1 < len(code) and code[place] in (0x86, 0x87) and code[place + 1] < 0xC0:
        return "atomics"
    return None


def counted_as(function, file):
    """What calls of a function of a shared library are counted as."""
    if is_libc(file):
        if function == "clock_gettime":
            return "clock reads"
        return "allocations" if function in ALLOCATIONS else None
    if not file.startswith("libswiftCore."):
        return None
    if function == "swift_allocObject":
        return "objects"
    plain = function.removeprefix("swift_").removesuffix("_n").lower()
    for part in ("nonatomic_", "unknownobject", "bridgeobject"):
        plain = plain.removeprefix(part)
    return "references" if function.startswith("swift_") and plain in ("retain", "release") else None


class Counter:
    """Runs rows of one program under callgrind, and counts."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.binaries = {}
        # Every run goes the same way through hash tables.
        self.environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}

    def profile(self, row, operations):
        """One run."""
        output = self.folder / f"{row}.{operations}"
        command = [
            "valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no",
            f"--callgrind-out-file={output}", self.program, row, "--operations", str(operations),
            "--no-warm-up",
        ]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, env=self.environment,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            raise Failure(f"{row}: {operations} operations take more than {TIMEOUT} s") from None
        if done.returncode or not output.exists():
            last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            raise Failure(f"{row} failed under valgrind: {last}")
        profile = Profile(output)
        output.unlink()
        return profile

    def binary(self, path):
        """A file that a profile names, or None if it cannot be read, as the kernel's own."""
        if path not in self.binaries:
            try:
                self.binaries[path] = Binary(path)
            except (OSError, Failure):
                self.binaries[path] = None
        return self.binaries[path]

    def counts(self, profile):
        """All counts of one run, and beside them the instructions of all files."""
        counts = dict.fromkeys((*COUNTS, "in all"), 0)
        for path, runs in profile.runs.items():
            counts["in all"] += sum(runs.values())
            binary = self.binary(path)
            if binary:
                for address, count in runs.items():
                    for what in binary.kinds(address):
                        counts[what] += count
        counts["instructions"] = self.own(profile)
        counts["allocations"] -= profile.relayed
        return counts

    def own(self, profile):
        """Instructions of the program's own binary in one run."""
        return sum(profile.runs[str(self.program)].values())

    def by_function(self, profile):
        """Instructions and what else is counted, by function."""
        counts = {}
        for path, runs in profile.runs.items():
            binary = self.binary(path)
            for address, count in runs.items():
                key = os.path.basename(path), base(profile.functions[path, address])
                entry = counts.setdefault(key, dict.fromkeys(COUNTS, 0))
                entry["instructions"] += count
                for what in binary.kinds(address) if binary else ():
                    entry[what] += count
        return counts
