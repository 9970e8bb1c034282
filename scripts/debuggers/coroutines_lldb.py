# SPDX-License-Identifier: Apache-2.0
"""Coroutines of swift-coroutines in lldb, best effort:
command script import scripts/debuggers/coroutines_lldb.py, then `coroutines` and `coroutine N`.

It lists and prints stacks, of a process or a core file. Frames cannot be selected: for that there is gdb's script.
"""

import os
import sys

import lldb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import coroutine_memory as model  # noqa: E402


class Source:
    """The memory of the process or core file that lldb looks at."""

    def __init__(self, target):
        self.target = target
        self.process = target.GetProcess()
        if not self.process.IsValid() or self.process.GetNumThreads() == 0:
            raise model.Problem("there is no process and no core file to look at")

    def read(self, address, count):
        error = lldb.SBError()
        data = self.process.ReadMemory(address, count, error)
        if not error.Success() or len(data) != count:
            raise model.Unreadable()
        return data

    def address_of(self, symbol):
        for context in self.target.FindSymbols(symbol):
            address = context.GetSymbol().GetStartAddress().GetLoadAddress(self.target)
            if address != lldb.LLDB_INVALID_ADDRESS:
                return address
        return None


def stack_of(source, coroutine):
    """Addresses of calls, innermost first."""
    if coroutine.registers is not None:
        return [pc - 1 for pc in model.addresses(source, coroutine)]
    for thread in source.process:
        frames = [frame for frame in thread if coroutine.holds(frame.GetSP())]
        if frames:
            return [frame.GetPC() - (1 if frame.GetFrameID() else 0) for frame in frames]
    return []


def look_up(source, pc):
    """Of an address: symbol, file, line, and whether it is the program's own."""
    address = source.target.ResolveLoadAddress(pc)
    symbol = address.GetSymbol()
    name = (symbol.GetMangledName() or symbol.GetName()) if symbol.IsValid() else None
    line = address.GetLineEntry()
    file = line.GetFileSpec().fullpath if line.IsValid() else None
    image = address.GetModule().GetFileSpec().fullpath
    return name, file, line.GetLine(), model.is_own(name, file, image)


def where(source, coroutine):
    if not coroutine.stack:
        return f"launched at {coroutine.site}"
    for pc in stack_of(source, coroutine):
        symbol, file, line, is_own = look_up(source, pc)
        if is_own:
            return model.place(symbol, file, line)
    return "–"


def list_coroutines(debugger, argument, result, _):
    """Coroutines of swift-coroutines that have not ended. Usage: coroutines [-group]"""
    try:
        source = Source(debugger.GetSelectedTarget())
        found = model.coroutines(source)
        table = model.grouped_table if argument.strip() == "-group" else model.table
        print("\n".join(table(found, lambda one: where(source, one))), file=result)
    except model.Problem as problem:
        result.SetError(f"coroutines: {problem}")


def show_coroutine(debugger, argument, result, _):
    """The stack of a coroutine of swift-coroutines. Usage: coroutine N | coroutine NAME | coroutine all"""
    try:
        source = Source(debugger.GetSelectedTarget())
        who, rest = model.parse(argument)
        if not who or rest:
            raise model.Problem("usage: coroutine N | coroutine NAME | coroutine all")
        found = model.coroutines(source) if who == "all" else [model.find(source, who)]
        for one in found:
            print(f"coroutine {one.title} {one.state}, launched at {one.site}", file=result)
            for index, pc in enumerate(stack_of(source, one)):
                symbol, file, line, _ = look_up(source, pc)
                print(f"  #{index:<3} {pc:#018x} {model.place(symbol or '–', file, line, True)}", file=result)
    except model.Problem as problem:
        result.SetError(f"coroutine: {problem}")


def __lldb_init_module(debugger, _):
    for function, command in ((list_coroutines, "coroutines"), (show_coroutine, "coroutine")):
        debugger.HandleCommand(f"command script add -o -f {__name__}.{function.__name__} {command}")
