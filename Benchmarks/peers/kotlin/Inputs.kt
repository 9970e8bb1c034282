// SPDX-License-Identifier: Apache-2.0

import java.io.File
import kotlin.system.exitProcess

// What the rows have in common, in all languages.

const val TREE_VALUES = 4095
const val FRINGE = 1024
const val PERMUTED = 8
const val RING = 503
const val CREATURES = 10
const val BIG_ACTORS = 100
const val FAN = 64
const val CHAIN = 1000
const val CONTENDERS = 8
const val WORKERS = 8
const val JOB_STEPS = 4000
const val CHILDREN = 10
const val ASKERS = 100
const val BATCH = 100

/** How many coroutines take turns; how many produce and how many consume. */
val CROWDS = listOf(1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
val GRID = listOf(1, 4, 16, 64)

/** Numbers that look random and are the same in all programs. */
class Xorshift(seed: Int = 0) {
    private var state = 88172645463325252L + seed.toLong() * 2654435761L

    /** The next one, below a limit. */
    fun next(limit: Int): Int {
        state = state xor (state shl 13)
        state = state xor (state ushr 7)
        state = state xor (state shl 17)
        return java.lang.Long.remainderUnsigned(state, limit.toLong()).toInt()
    }
}

/** What a worker makes of a number: some microseconds of arithmetic. */
fun job(number: Int): Int {
    var state = 88172645463325252L + number.toLong() * 2654435761L
    for (step in 0 until JOB_STEPS) {
        state = state xor (state shl 13)
        state = state xor (state ushr 7)
        state = state xor (state shl 17)
    }
    return java.lang.Long.remainderUnsigned(state, 1024L).toInt()
}

fun sleepLengths(count: Int): IntArray {
    val random = Xorshift()
    return IntArray(count) { 1 + random.next(1000) }
}

class Tree(val left: Tree?, val right: Tree?, val value: Int)

fun balanced(low: Int, high: Int): Tree? {
    if (low >= high) return null
    val middle = (low + high) / 2
    return Tree(balanced(low, middle), balanced(middle + 1, high), middle)
}

/** A tree that has the numbers of a range in its leaves, one in so many to the left. */
fun leaves(low: Int, high: Int, share: Int): Tree {
    if (high - low <= 1) return Tree(null, null, low)
    val middle = low + maxOf(1, (high - low) / share)
    return Tree(leaves(low, middle, share), leaves(middle, high, share), -1)
}

fun benchmarkFile(kind: String, number: Int): File {
    val folder = System.getenv("BENCHMARK_FILES")
        ?: fail("BENCHMARK_FILES names no folder of files; run this row by compare")
    return File(folder, "$kind-${number % (if (kind == "256k") 256 else 16)}")
}

fun fail(message: String): Nothing {
    System.err.println(message)
    exitProcess(64)
}
