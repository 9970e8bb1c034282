# SPDX-License-Identifier: Apache-2.0
"""A coroutine in place of what a thread does, in gdb: an unwinder that lets the thread's stack go on with the
coroutine's, and a filter that leaves the thread's own frames out. Nothing is written to the program."""

import gdb
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator

import coroutine_memory as model

# pc, stack pointer, frame pointer
REGISTERS = {"i386:x86-64": ("rip", "rsp", "rbp"), "aarch64": ("pc", "sp", "x29")}


class Source:
    """The memory of the process or core file that gdb looks at."""

    def read(self, address, count):
        try:
            return bytes(gdb.selected_inferior().read_memory(address, count))
        except (gdb.MemoryError, gdb.error, OverflowError):
            raise model.Unreadable()

    def address_of(self, symbol):
        language = gdb.parameter("language")
        gdb.execute("set language c", to_string=True)
        try:
            return int(gdb.parse_and_eval(f"(unsigned long)&{symbol}"))
        except gdb.error:
            return None
        finally:
            gdb.execute(f"set language {language}", to_string=True)


source = Source()


def register(frame, name):
    return int(frame.read_register(name)) & (1 << 64) - 1


def register_names():
    name = gdb.newest_frame().architecture().name()
    if name not in REGISTERS:
        raise model.Problem(f"this script does not know the registers of {name}")
    return REGISTERS[name]


class Selection:
    """A coroutine that stands in for what a thread does, for as long as the thread stays where it is."""

    current = None

    def __init__(self, coroutine):
        self.coroutine = coroutine
        self.names = register_names()
        newest = gdb.newest_frame()
        self.thread = gdb.selected_thread().ptid
        self.pc, self.sp = register(newest, self.names[0]), register(newest, self.names[1])

    @staticmethod
    def set(coroutine):
        """Shows a coroutine in the selected thread; None: what the thread really does."""
        Selection.current = None
        gdb.invalidate_cached_frames()
        if coroutine is not None:
            Selection.current = Selection(coroutine)
            gdb.invalidate_cached_frames()
            frame = gdb.newest_frame()
            while frame.older() is not None and Selection.current.hides(frame):
                frame = frame.older()
            frame.select()
        else:
            gdb.newest_frame().select()

    def applies(self):
        thread = gdb.selected_thread()
        return thread is not None and thread.ptid == self.thread

    def hides(self, frame):
        """A frame of the thread itself."""
        return register(frame, self.names[1]) == self.sp


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class CoroutineUnwinder(gdb.unwinder.Unwinder):
    """Makes the coroutine's innermost frame the caller of the thread's."""

    def __init__(self):
        super().__init__("swift-coroutines")

    def __call__(self, pending):
        selection = Selection.current
        if selection is None or not selection.applies():
            return None
        pc, sp, fp = selection.names
        here = pending.read_register(sp)
        if int(here) & (1 << 64) - 1 != selection.sp:
            return None
        if int(pending.read_register(pc)) & (1 << 64) - 1 != selection.pc:
            return None
        word = here.type
        registers = selection.coroutine.registers
        # gdb wants callers to have higher addresses, so this frame says that it is right below the coroutine's.
        info = pending.create_unwind_info(
            FrameId(gdb.Value(registers[1]).cast(word), gdb.Value(registers[0]).cast(word))
        )
        for name, value in zip((pc, sp, fp), registers):
            info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return info


class NamedFrame(FrameDecorator):
    """A frame with its function's Swift name."""

    def function(self):
        name = super().function()
        return model.demangled(name) if isinstance(name, str) else name


class CoroutineFilter:
    """Leaves the thread's own frames out of `bt` while a coroutine is shown, and demangles names."""

    def __init__(self):
        self.name, self.priority, self.enabled = "swift-coroutines", 100, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        selection = Selection.current
        for frame in frames:
            if selection and selection.applies() and selection.hides(frame.inferior_frame()):
                continue
            yield NamedFrame(frame)


def forget(_):
    Selection.current = None


def install():
    gdb.unwinder.register_unwinder(None, CoroutineUnwinder(), replace=True)
    CoroutineFilter()
    gdb.events.cont.connect(forget)
    gdb.events.exited.connect(forget)
