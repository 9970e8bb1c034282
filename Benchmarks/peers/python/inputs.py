# SPDX-License-Identifier: Apache-2.0
"""What the rows have in common, in all languages."""

TREE_VALUES = 4095
FRINGE = 1024
PERMUTED = 8


class Tree:
    __slots__ = ("left", "right", "value")

    def __init__(self, left, value, right):
        self.left, self.value, self.right = left, value, right


def balanced(low, high):
    if low >= high:
        return None
    middle = (low + high) // 2
    return Tree(balanced(low, middle), middle, balanced(middle + 1, high))


def leaves(low, high, share):
    """The numbers of a range in the leaves of a tree, one in so many to the left."""
    if high - low <= 1:
        return Tree(None, low, None)
    middle = low + max(1, (high - low) // share)
    return Tree(leaves(low, middle, share), -1, leaves(middle, high, share))
