// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.runBlocking

/** For how long the virtual machine warms up: it compiles meanwhile, on the same processor. In nanoseconds. */
private const val WARM_UP = 1_500_000_000L

private val system =
    ManagementFactory.getOperatingSystemMXBean() as com.sun.management.OperatingSystemMXBean

/** A time in nanoseconds: on the clock at the wall, and of all processors, which is told in hundredths of a second. */
class Elapsed(val wall: Long, val cpu: Long)

class Stopwatch {
    private val cpu = system.processCpuTime
    private val wall = System.nanoTime()

    fun elapsed() = Elapsed(System.nanoTime() - wall, system.processCpuTime - cpu)
}

/** What a run came to. */
class Outcome(val result: Long) {
    /** The time that counts, if it is not that of the whole body. */
    var elapsed: Elapsed? = null
    val extras = ArrayList<Pair<String, Double>>()

    fun addOvershoot(nanoseconds: LongArray) {
        nanoseconds.sort()
        fun at(index: Int) = nanoseconds[index] / 1000.0
        extras += "p50_us" to at(nanoseconds.size / 2)
        extras += "p99_us" to at((nanoseconds.size.toLong() * 99 / 100).toInt())
        extras += "max_us" to at(nanoseconds.size - 1)
        // How many of a whole are at most 1, 2, 4, … µs.
        for (power in 0..20) {
            val limit = 1000L shl power
            val share = nanoseconds.count { it <= limit }.toDouble() / nanoseconds.size
            extras += "le_${1 shl power}_us" to share
        }
    }
}

/** A benchmark; `operations` 0 finds out how many take 0.3 s. */
class Row(
    val name: String, val operations: Int = 0, val note: String? = null, val body: (Int) -> Outcome
)

/** A row whose body runs on one thread, in `runBlocking`. */
fun row(
    name: String, operations: Int = 0, note: String? = null, body: suspend CoroutineScope.(Int) -> Long
) = Row(name, operations, note) { count -> Outcome(runBlocking { body(count) }) }

private fun warmUp(row: Row, count: Int) {
    val start = System.nanoTime()
    do row.body(count) while (System.nanoTime() - start < WARM_UP)
}

/** How many operations take 30 ms, found by trying. */
private fun calibrate(row: Row): Int {
    var count = 100
    while (true) {
        val start = System.nanoTime()
        row.body(count)
        if (System.nanoTime() - start > 30_000_000) return count
        count *= 10
    }
}

private fun measure(row: Row, given: Int?): String {
    var count = given ?: row.operations
    if (given == null && row.operations > 0) {
        warmUp(row, maxOf(1, count / 10))
    } else if (given == null) {
        warmUp(row, calibrate(row))
        // Faster now.
        val trial = calibrate(row)
        val start = System.nanoTime()
        row.body(trial)
        count = maxOf(1, (trial * 3e8 / (System.nanoTime() - start)).toInt())
    }
    val stopwatch = Stopwatch()
    val outcome = row.body(count)
    val elapsed = outcome.elapsed ?: stopwatch.elapsed()
    val fields = ArrayList<String>()
    fields += "\"row\": \"${row.name}\", \"peer\": \"kotlin\", \"operations\": $count"
    fields += "\"ns\": ${elapsed.wall.toDouble() / count}, \"cpu_ns\": ${elapsed.cpu.toDouble() / count}"
    fields += "\"result\": ${outcome.result}"
    outcome.extras.forEach { (name, value) -> fields += "\"$name\": $value" }
    if (row.note != null) fields += "\"note\": \"${row.note}\""
    return fields.joinToString(", ", "{", "}")
}

/** Does what the command line says: `list`, or `ROW [--operations N]`. */
fun program(rows: List<Row>, arguments: Array<String>) {
    if (arguments.contentEquals(arrayOf("list"))) return rows.forEach { println(it.name) }
    if (arguments.size != 1 && !(arguments.size == 3 && arguments[1] == "--operations")) {
        fail("usage: kotlin list | ROW [--operations N]")
    }
    val row = rows.find { it.name == arguments[0] } ?: fail("no row ${arguments[0]}")
    val given = if (arguments.size == 1) null else arguments[2].toIntOrNull()
    if (arguments.size == 3 && (given == null || given < 1)) {
        fail("--operations needs a number of 1 or more")
    }
    println(measure(row, given))
}
