# SPDX-License-Identifier: Apache-2.0
"""What the Python programs have in common: command line, calibration, the line of JSON."""

import json
import sys
import time


class Outcome:
    """What a run came to; `elapsed` are the times that count, if not those of the whole body."""

    def __init__(self, result, elapsed=None, note=None, **extras):
        self.result, self.elapsed, self.note, self.extras = result, elapsed, note, extras


class Row:
    """One benchmark; without a number of operations it finds out how many take 0.3 s."""

    def __init__(self, body, operations=None, warms_up=None):
        self.body, self.operations = body, operations
        self.warms_up = operations is None if warms_up is None else warms_up

    def run(self, count):
        outcome = self.body(count)
        return outcome if isinstance(outcome, Outcome) else Outcome(outcome)


def times():
    return time.monotonic_ns(), time.process_time_ns()


def since(start):
    return time.monotonic_ns() - start[0], time.process_time_ns() - start[1]


def calibrate(row):
    count = 100
    while True:
        start = times()
        row.run(count)
        wall = since(start)[0]
        if wall > 30_000_000:
            return max(1, int(count * 3e8 / wall))
        count *= 10


def program(peer, rows):
    arguments = sys.argv[1:]
    if arguments == ["list"]:
        print("\n".join(rows))
        return
    if len(arguments) not in (1, 3) or (len(arguments) == 3 and arguments[1] != "--operations"):
        sys.exit(f"usage: {peer} list | ROW [--operations N]")
    row = rows.get(arguments[0]) or sys.exit(f"no row {arguments[0]}")
    count = row.operations
    if len(arguments) == 3:
        count = int(arguments[2]) if arguments[2].isdecimal() else 0
        if count < 1:
            sys.exit("--operations needs a number of 1 or more")
    if count is None:
        count = calibrate(row)
    elif row.warms_up:
        row.run(max(1, count // 10))
    start = times()
    outcome = row.run(count)
    wall, cpu = outcome.elapsed or since(start)
    figures = {
        "row": arguments[0],
        "peer": peer,
        "operations": count,
        "ns": wall / count,
        "cpu_ns": cpu / count,
        "result": outcome.result,
        **outcome.extras,
    }
    if outcome.note:
        figures["note"] = outcome.note
    print(json.dumps(figures))


def memory():
    """Resident pages and page tables, in bytes."""
    figures = {}
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            name, _, rest = line.partition(":")
            if name in ("VmRSS", "VmPTE"):
                figures[name] = int(rest.split()[0]) * 1024
    return figures.get("VmRSS", 0), figures.get("VmPTE", 0)


def growth(before, after, count):
    rss, tables = ((b - a) / count for a, b in zip(before, after))
    return {"bytes": rss + tables, "rss_bytes": rss, "pte_bytes": tables}
