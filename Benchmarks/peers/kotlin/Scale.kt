// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.*

fun sleeps(count: Int): Outcome = runBlocking {
    val lengths = sleepLengths(count)
    val overshoot = LongArray(count)
    var slept = 0L
    coroutineScope {
        for ((number, length) in lengths.withIndex()) {
            launch {
                val start = System.nanoTime()
                delay(length.toLong())
                overshoot[number] = System.nanoTime() - start - length * 1_000_000L
                slept += length
            }
            if (number % 1024 == 1023) yield()
        }
    }
    Outcome(slept).apply { addOvershoot(overshoot) }
}

/** From the first cancellation until all have ended. */
fun cancellation(count: Int): Outcome = runBlocking {
    var ended = 0L
    val making = Stopwatch()
    val sleepers = List(count) {
        launch {
            try {
                delay(3_600_000)
            } finally {
                ended++
            }
        }
    }
    yield()
    val made = making.elapsed()
    val stopwatch = Stopwatch()
    for (sleeper in sleepers) sleeper.cancel()
    for (sleeper in sleepers) sleeper.join()
    val elapsed = stopwatch.elapsed()
    Outcome(ended).apply {
        this.elapsed = elapsed
        extras += "create_ns" to made.wall.toDouble() / count
    }
}

private fun heap(): Long {
    System.gc()
    val runtime = Runtime.getRuntime()
    return runtime.totalMemory() - runtime.freeMemory()
}

/** The time is that of making them; their end is an extra. Bytes are those of the heap that are in use. */
fun idle(count: Int): Outcome = runBlocking {
    val gate = CompletableDeferred<Unit>()
    var ended = 0L
    var made: Elapsed? = null
    var bytes = 0L
    var ending: Stopwatch? = null
    coroutineScope {
        val before = heap()
        val stopwatch = Stopwatch()
        for (number in 0 until count) {
            launch {
                gate.await()
                ended++
            }
        }
        yield()
        made = stopwatch.elapsed()
        bytes = heap() - before
        ending = Stopwatch()
        gate.complete(Unit)
    }
    val end = ending!!.elapsed()
    Outcome(ended).apply {
        elapsed = made
        extras += "bytes" to bytes.toDouble() / count
        extras += "end_ns" to end.wall.toDouble() / count
    }
}

/** On a thread for blocking work, one piece after the other. */
suspend fun offload(count: Int): Long {
    var sum = 0L
    for (number in 0 until count) sum += withContext(Dispatchers.IO) { number }
    return sum
}

/** A coroutine for each file, on threads for blocking work. */
suspend fun read(kind: String, count: Int): Long {
    val sum = AtomicLong()
    coroutineScope {
        for (number in 0 until count) {
            launch(Dispatchers.IO) {
                val bytes = benchmarkFile(kind, number).readBytes()
                sum.addAndGet(bytes.size + (bytes.last().toLong() and 0xff))
            }
        }
    }
    return sum.get()
}
