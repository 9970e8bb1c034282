# SPDX-License-Identifier: Apache-2.0
"""Core files of gdb's that have the coroutines' stacks.

gdb gives a mapping up at the first page that it cannot read, and guards made with MADV_GUARD_INSTALL are such pages."""

import struct

import gdb

import coroutine_memory as model
from gdb_view import source


def save_core(path):
    """Does `gcore`, and writes the stacks into the file."""
    gdb.execute(f"gcore {path}")
    added = 0
    with open(path, "r+b") as file:
        segments = loaded_segments(file)
        for one in model.coroutines(source):
            # From below the stack pointer, where leaf functions may have something, to the slot's end.
            start = max(one.low, (one.registers[1] & ~4095) - 4096) if one.registers else one.low
            for address in range(start, one.high + 4096 & ~4095 if one.stack else start, 4096):
                for first, size, offset in segments:
                    if first <= address < first + size:
                        file.seek(offset + address - first)
                        file.write(source.read(address, 4096))
                        added += 1
    print(f"Added {added} pages of coroutines' stacks.")


def loaded_segments(file):
    """Address, size and place of what an ELF core file of 64 bits has of the memory."""
    header = file.read(64)
    start, = struct.unpack_from("<Q", header, 32)
    size, count = struct.unpack_from("<HH", header, 54)
    result = []
    for index in range(count):
        file.seek(start + index * size)
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", file.read(56))
        if kind == 1:
            result.append((address, length, offset))
    return result
