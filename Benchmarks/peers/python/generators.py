# SPDX-License-Identifier: Apache-2.0
"""The language's own generators: stackless."""

from itertools import islice

import inputs
from harness import Outcome, Row, growth, memory, program, since, times


def switches(count):
    rounds = 0

    def other():
        nonlocal rounds
        while True:
            rounds += 1
            yield

    resume = other().__next__
    for _ in range(count // 2):
        resume()
    return rounds


def up_to(count):
    for number in range(count):
        yield number


def generator_values(count):
    total = 0
    for number in up_to(count):
        total += number
    return total


def visit(tree):
    if tree is not None:
        yield from visit(tree.left)
        yield tree.value
        yield from visit(tree.right)


def visit_leaves(tree):
    if tree.left is None:
        yield tree.value
    else:
        yield from visit_leaves(tree.left)
        yield from visit_leaves(tree.right)


def tree_walk(count):
    tree = inputs.balanced(0, inputs.TREE_VALUES)
    total = 0
    while count > 0:
        for value in islice(visit(tree), count):
            total += value
        count -= inputs.TREE_VALUES
    return total


def same_fringe(count):
    one, other = inputs.leaves(0, inputs.FRINGE, 2), inputs.leaves(0, inputs.FRINGE, 8)
    total = 0
    while count > 0:
        for a, b in islice(zip(visit_leaves(one), visit_leaves(other)), count):
            if a == b:
                total += a
        count -= inputs.FRINGE
    return total


def permute(numbers, place):
    if place == len(numbers):
        yield numbers[0] * 8 + numbers[-1]
        return
    for other in range(place, len(numbers)):
        numbers[place], numbers[other] = numbers[other], numbers[place]
        yield from permute(numbers, place + 1)
        numbers[place], numbers[other] = numbers[other], numbers[place]


def permutations(count):
    total = 0
    while count > 0:
        for permutation in permute(list(range(inputs.PERMUTED)), 0):
            total += permutation
            count -= 1
            if count == 0:
                break
    return total


def idle(count):
    ended = 0

    def sleeper():
        nonlocal ended
        yield
        ended += 1

    before, start = memory(), times()
    sleepers = []
    for _ in range(count):
        one = sleeper()
        next(one)
        sleepers.append(one)
    elapsed, after = since(start), memory()
    for one in sleepers:
        next(one, None)
    return Outcome(ended, elapsed, "stackless", **growth(before, after, count))


program(
    "python",
    {
        "switch": Row(switches),
        "generator": Row(generator_values),
        "tree-walk": Row(tree_walk),
        "same-fringe": Row(same_fringe),
        "permutations": Row(permutations),
        "idle": Row(idle, operations=1_000_000),
    },
)
