// SPDX-License-Identifier: Apache-2.0

fun generatorValues(count: Int): Long {
    var sum = 0L
    for (number in sequence { for (number in 0 until count) yield(number) }) sum += number
    return sum
}

private suspend fun SequenceScope<Int>.visit(tree: Tree?) {
    if (tree == null) return
    visit(tree.left)
    yield(tree.value)
    visit(tree.right)
}

private suspend fun SequenceScope<Int>.visitLeaves(tree: Tree) {
    if (tree.left == null) return yield(tree.value)
    visitLeaves(tree.left)
    visitLeaves(tree.right!!)
}

fun treeWalk(count: Int): Long {
    val tree = balanced(0, TREE_VALUES)
    var sum = 0L
    var left = count
    while (left > 0) {
        for (value in sequence<Int> { visit(tree) }) {
            sum += value
            if (--left == 0) break
        }
    }
    return sum
}

fun sameFringe(count: Int): Long {
    val one = leaves(0, FRINGE, 2)
    val other = leaves(0, FRINGE, 8)
    var sum = 0L
    var left = count
    while (left > 0) {
        val a = sequence<Int> { visitLeaves(one) }.iterator()
        val b = sequence<Int> { visitLeaves(other) }.iterator()
        while (a.hasNext() && b.hasNext()) {
            val value = a.next()
            if (value == b.next()) sum += value
            if (--left == 0) break
        }
    }
    return sum
}

private suspend fun SequenceScope<Int>.permute(numbers: IntArray, place: Int) {
    if (place == numbers.size) return yield(numbers.first() * 8 + numbers.last())
    for (other in place until numbers.size) {
        numbers.exchange(place, other)
        permute(numbers, place + 1)
        numbers.exchange(place, other)
    }
}

private fun IntArray.exchange(one: Int, other: Int) {
    val kept = this[one]
    this[one] = this[other]
    this[other] = kept
}

fun permutations(count: Int): Long {
    var sum = 0L
    var left = count
    while (left > 0) {
        for (permutation in sequence<Int> { permute(IntArray(PERMUTED) { it }, 0) }) {
            sum += permutation
            if (--left == 0) break
        }
    }
    return sum
}
