# SPDX-License-Identifier: Apache-2.0
"""greenlet: stackful coroutines for Python; their stacks are copied out and in."""

from greenlet import getcurrent, greenlet

import inputs
from harness import Outcome, Row, growth, memory, program, since, times


def switches(count):
    rounds = 0
    back = getcurrent().switch

    def body():
        nonlocal rounds
        while True:
            rounds += 1
            back()

    resume = greenlet(body).switch
    for _ in range(count // 2):
        resume()
    return rounds


def generate(body):
    """An iterator over what the body hands to its argument, from any depth; None ends it."""
    switch_back = getcurrent().switch

    def run():
        body(switch_back)

    return iter(greenlet(run).switch, None)


def generator_values(count):
    def body(give):
        for number in range(count):
            give(number)

    total = 0
    for number in generate(body):
        total += number
    return total


def visit(tree, give):
    if tree is not None:
        visit(tree.left, give)
        give(tree.value)
        visit(tree.right, give)


def visit_leaves(tree, give):
    if tree.left is None:
        give(tree.value)
    else:
        visit_leaves(tree.left, give)
        visit_leaves(tree.right, give)


def tree_walk(count):
    tree = inputs.balanced(0, inputs.TREE_VALUES)
    total = 0
    while count > 0:
        for value in generate(lambda give: visit(tree, give)):
            total += value
            count -= 1
            if count == 0:
                break
    return total


def same_fringe(count):
    one, other = inputs.leaves(0, inputs.FRINGE, 2), inputs.leaves(0, inputs.FRINGE, 8)
    total = 0
    while count > 0:
        left = generate(lambda give: visit_leaves(one, give))
        right = generate(lambda give: visit_leaves(other, give))
        for a, b in zip(left, right):
            if a == b:
                total += a
            count -= 1
            if count == 0:
                break
    return total


def permute(numbers, place, give):
    if place == len(numbers):
        give(numbers[0] * 8 + numbers[-1])
        return
    for other in range(place, len(numbers)):
        numbers[place], numbers[other] = numbers[other], numbers[place]
        permute(numbers, place + 1, give)
        numbers[place], numbers[other] = numbers[other], numbers[place]


def permutations(count):
    total = 0
    while count > 0:
        numbers = list(range(inputs.PERMUTED))
        for permutation in generate(lambda give: permute(numbers, 0, give)):
            total += permutation
            count -= 1
            if count == 0:
                break
    return total


def joins(count):
    total = 0
    for number in range(count):
        total += greenlet(int).switch(number)
    return total


def idle(count):
    ended = 0
    back = getcurrent().switch

    def sleeper():
        nonlocal ended
        back()
        ended += 1

    before, start = memory(), times()
    sleepers = []
    for _ in range(count):
        one = greenlet(sleeper)
        one.switch()
        sleepers.append(one)
    elapsed, after = since(start), memory()
    for one in sleepers:
        one.switch()
    return Outcome(ended, elapsed, "stacks copied out", **growth(before, after, count))


program(
    "greenlet",
    {
        "switch": Row(switches),
        "generator": Row(generator_values),
        "tree-walk": Row(tree_walk),
        "same-fringe": Row(same_fringe),
        "permutations": Row(permutations),
        "launch-join": Row(joins),
        "idle": Row(idle, operations=1_000_000),
    },
)
