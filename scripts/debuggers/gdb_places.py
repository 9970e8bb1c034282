# SPDX-License-Identifier: Apache-2.0
"""Where coroutines are in the code, for gdb."""

import gdb

import coroutine_memory as model
from gdb_view import Selection, register, register_names, source

def innermost_own(frame):
    """The innermost frame of the program's own from here on; this one if there is none."""
    older = frame
    while older is not None:
        # Several frames have one address where functions are inlined; the outermost has the symbol.
        if older.type() == gdb.NORMAL_FRAME and look_up(older.pc())[3]:
            return older
        older = older.older()
    return frame


def symbol_at(pc):
    text = gdb.execute(f"info symbol {pc:#x}", to_string=True)
    return None if text.startswith("No symbol") else text.split()[0]


_places = {}


def look_up(pc):
    """Of the call before an address: symbol, file, line, and whether it is the program's own."""
    if pc not in _places:
        line = gdb.find_pc_line(pc - 1)
        file = line.symtab.fullname() if line.symtab else None
        symbol = symbol_at(pc - 1)
        _places[pc] = (symbol, file, line.line, model.is_own(symbol, file, gdb.solib_name(pc - 1)))
    return _places[pc]


def where_of(pcs):
    for pc in pcs:
        symbol, file, line, is_own = look_up(pc)
        if is_own:
            return model.place(symbol, file, line)
    return "–"


def thread_of(coroutine):
    """The thread that runs a coroutine, and its frames' addresses on the coroutine's stack."""
    before, level = gdb.selected_thread(), gdb.selected_frame().level()
    selection, Selection.current = Selection.current, None
    gdb.invalidate_cached_frames()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            names = register_names()
            frame, pcs = gdb.newest_frame(), []
            # The thread may be in a handler of a signal, or in a generator's body.
            for _ in range(200):
                if frame is None:
                    break
                if coroutine.holds(register(frame, names[1])):
                    pcs.append(frame.pc() + (1 if frame.level() == 0 else 0))
                frame = frame.older()
            if pcs:
                return thread, pcs
        return None, []
    finally:
        go_back(selection, before, level)


def go_back(selection, thread, level):
    """To what gdb showed before."""
    Selection.current = selection
    thread.switch()
    gdb.invalidate_cached_frames()
    gdb.execute(f"frame level {level}", to_string=True)


def where(coroutine):
    if not coroutine.stack:
        return f"launched at {coroutine.site}"
    if coroutine.registers is None:
        thread, pcs = thread_of(coroutine)
        return where_of(pcs) + (f" (thread {thread.num})" if thread else "")
    return where_of(model.addresses(source, coroutine))


def forget_places(_):
    _places.clear()


def install():
    gdb.events.new_objfile.connect(forget_places)
