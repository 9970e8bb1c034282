// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.*
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

suspend fun yields(count: Int): Long = coroutineScope {
    var isOver = false
    launch { while (!isOver) yield() }
    for (number in 0 until count / 2) yield()
    isOver = true
    (count / 2).toLong()
}

suspend fun joins(count: Int): Long = coroutineScope {
    var sum = 0L
    for (number in 0 until count) sum += async { number }.await()
    sum
}

suspend fun launches(count: Int): Long {
    var ended = 0L
    for (start in 0 until count step 1000) {
        coroutineScope { for (number in start until minOf(start + 1000, count)) launch { ended++ } }
    }
    return ended
}

/** By one of two threads. */
suspend fun launchesOnTwo(count: Int): Long = withContext(Dispatchers.Default) {
    val ended = AtomicLong()
    for (start in 0 until count step 1000) {
        coroutineScope {
            for (number in start until minOf(start + 1000, count)) launch { ended.incrementAndGet() }
        }
    }
    ended.get()
}

/** Workers that have begun before there is anything to do. */
suspend fun jobs(count: Int): Long = withContext(Dispatchers.Default) {
    val numbers = Channel<Int>(128)
    val began = Channel<Int>()
    val workers = (0 until WORKERS).map {
        async {
            began.send(it)
            var sum = 0L
            for (number in numbers) sum += job(number)
            sum
        }
    }
    for (worker in workers) began.receive()
    launch {
        for (number in 0 until count) numbers.send(number)
        numbers.close()
    }
    workers.map { it.await() }.sum()
}

/** By a thread that is none of theirs. */
suspend fun batches(count: Int): Long = coroutineScope {
    var sum = 0L
    for (start in 0 until count step BATCH) {
        val launched = (start until minOf(start + BATCH, count)).map { async(Dispatchers.Default) { it } }
        for (one in launched) sum += one.await()
    }
    sum
}

suspend fun scopes(count: Int): Long {
    var sum = 0L
    for (start in 0 until count step CHILDREN) {
        coroutineScope {
            val children = (start until minOf(start + CHILDREN, count)).map {
                async {
                    yield()
                    it
                }
            }
            for (child in children) sum += child.await()
        }
    }
    return sum
}

private class Question(val number: Int, val answer: Channel<Int>)

/** Each question brings a channel for its answer. */
suspend fun replies(count: Int): Long = newSingleThreadContext("server").use { server ->
    coroutineScope {
        val questions = Channel<Question>(128)
        launch(server) { for (question in questions) question.answer.send(question.number + 1) }
        val askers = (0 until ASKERS).map { asker ->
            async {
                var sum = 0L
                for (number in asker until count step ASKERS) {
                    val answer = Channel<Int>(1)
                    questions.send(Question(number, answer))
                    sum += answer.receive()
                }
                sum
            }
        }
        var sum = 0L
        for (asker in askers) sum += asker.await()
        questions.close()
        sum
    }
}

fun sizeOfTree(leaves: Int): Int {
    var size = 1
    while (size * 10 <= leaves) size *= 10
    return size
}

/** Children begin at once, so that few are alive at a time. */
suspend fun skynet(first: Int, size: Int): Long {
    if (size == 1) return first.toLong()
    return coroutineScope {
        val part = size / 10
        val parts = (0 until 10).map {
            async(start = CoroutineStart.UNDISPATCHED) { skynet(first + it * part, part) }
        }
        var sum = 0L
        for (one in parts) sum += one.await()
        sum
    }
}

suspend fun skynetOnTwo(first: Int, size: Int): Long {
    if (size == 1) return first.toLong()
    return coroutineScope {
        val part = size / 10
        val parts = (0 until 10).map { async { skynetOnTwo(first + it * part, part) } }
        var sum = 0L
        for (one in parts) sum += one.await()
        sum
    }
}

suspend fun mutex(count: Int): Long {
    val lock = Mutex()
    var total = 0L
    coroutineScope {
        for (contender in 0 until CONTENDERS) {
            launch {
                for (number in contender until count step CONTENDERS) {
                    lock.withLock {
                        total++
                        yield()
                    }
                }
            }
        }
    }
    return total
}

/** So many coroutines that yield in turn, from when all have begun until all have ended. */
fun crowd(size: Int, count: Int): Outcome = runBlocking {
    val rounds = maxOf(1, count / size)
    var begun = 0
    var yields = 0L
    var watch: Stopwatch? = null
    coroutineScope {
        for (number in 0 until size) {
            launch {
                begun++
                if (begun == size) watch = Stopwatch()
                for (round in 0 until rounds) yield()
                yields += rounds
            }
        }
    }
    Outcome(yields).apply { elapsed = watch!!.elapsed() }
}
