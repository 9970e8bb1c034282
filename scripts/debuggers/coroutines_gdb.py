# SPDX-License-Identifier: Apache-2.0
"""Coroutines of swift-coroutines in gdb: source scripts/debuggers/coroutines_gdb.py, then `help coroutine`."""

import os
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import coroutine_memory as model  # noqa: E402
import gdb_places  # noqa: E402
import gdb_view  # noqa: E402
from gdb_core_file import save_core  # noqa: E402
from gdb_places import go_back, innermost_own, thread_of, where  # noqa: E402
from gdb_view import Selection, source  # noqa: E402


def show(coroutine):
    """Lets gdb show a coroutine."""
    if not coroutine.stack:
        raise model.Problem(
            f"coroutine {coroutine.title} has not begun, so it has no stack; it was launched at {coroutine.site}"
        )
    if coroutine.registers is not None:
        Selection.set(coroutine)
        innermost_own(gdb.selected_frame()).select()
        return
    thread, _ = thread_of(coroutine)
    if thread is None:
        raise model.Problem(f"coroutine {coroutine.title} runs, but none of the threads is on its stack")
    thread.switch()
    Selection.set(None)


def headline(coroutine):
    return f"coroutine {coroutine.title} {coroutine.state}, launched at {coroutine.site}"


def run(coroutine, command):
    """Does a command with a coroutine, and goes back to where gdb was."""
    before = (Selection.current, gdb.selected_thread(), gdb.selected_frame().level())
    try:
        show(coroutine)
        gdb.execute(command)
    finally:
        go_back(*before)


def need_program():
    if gdb.selected_thread() is None:
        raise model.Problem("there is no process and no core file to look at")


class InfoCoroutines(gdb.Command):
    """Coroutines of swift-coroutines that have not ended.

Usage: info coroutines [-group]
  -group  those that are at the same place for the same reason in one line

`where` is the innermost function of the program's own. Of those that have not begun, the ones are listed that
lie at a scheduler which has run something before; what a dispatch queue has in line is not found."""

    def __init__(self):
        super().__init__("info coroutines", gdb.COMMAND_STATUS)

    def invoke(self, argument, _):
        try:
            need_program()
            if argument not in ("", "-group"):
                raise model.Problem("usage: info coroutines [-group]")
            found = model.coroutines(source)
            if not found:
                print("No coroutines.")
                return
            shown = Selection.current.coroutine.id if Selection.current else None
            lines = model.grouped_table(found, where) if argument else model.table(found, where, shown)
            print("\n".join(lines))
        except model.Problem as problem:
            raise gdb.GdbError(f"info coroutines: {problem}")


class CoroutineCommand(gdb.Command):
    """Looks at a coroutine of swift-coroutines.

Usage: coroutine N            shows coroutine N: bt, up, down, frame, info locals are about it
       coroutine N COMMAND    does a command with it: coroutine 7 bt
       coroutine NAME [COMMAND]
                              the same by name, if only one has it: coroutine "worker 1" bt
       coroutine all COMMAND  does it with each that has begun
       coroutine main         back to what the thread does
       coroutine              which one is shown
       coroutine save-core FILE
                              gcore, with the stacks: gcore leaves them out where their guards are made with
                              MADV_GUARD_INSTALL (Linux 6.13)

Nothing is changed in the program, so this works with core files, too. In a coroutine that is suspended the stack
pointer, the frame pointer and the place in the code are known; the other registers are what it does without.
Go back with `coroutine main` before you step; `continue` does so by itself."""

    def __init__(self):
        super().__init__("coroutine", gdb.COMMAND_STACK)

    def invoke(self, argument, _):
        try:
            need_program()
            self.perform(*model.parse(argument))
        except model.Problem as problem:
            raise gdb.GdbError(f"coroutine: {problem}")

    def perform(self, who, command):
        if who == "":
            current = Selection.current
            print(headline(current.coroutine) if current else "No coroutine is shown, but what the thread does.")
        elif who == "main" and not command:
            Selection.set(None)
            gdb.execute("frame")
        elif who == "save-core" and command:
            save_core(command)
        elif who == "all" and command:
            for one in model.coroutines(source):
                if one.stack:
                    print(f"\n{headline(one)}")
                    run(one, command)
        elif who in ("all", "save-core") or (who == "main" and command):
            raise model.Problem(
                "usage: coroutine N|NAME [COMMAND] | coroutine all COMMAND | coroutine main | coroutine save-core FILE")
        else:
            one = model.find(source, who)
            print(headline(one))
            if command:
                run(one, command)
            else:
                show(one)
                gdb.execute("frame")


gdb_view.install()
gdb_places.install()
InfoCoroutines()
CoroutineCommand()
