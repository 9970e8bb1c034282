// SPDX-License-Identifier: Apache-2.0

import kotlinx.coroutines.*
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.SendChannel
import kotlinx.coroutines.channels.actor

suspend fun promises(count: Int): Long {
    var sum = 0L
    for (number in 0 until count) {
        val promise = CompletableDeferred<Int>()
        promise.complete(number)
        sum += promise.await()
    }
    return sum
}

/** One makes a promise and parks; the other settles it and yields. */
suspend fun parkedPromises(count: Int): Long = coroutineScope {
    var slot: CompletableDeferred<Int>? = null
    var isOver = false
    launch {
        var number = 0
        while (!isOver) {
            val promise = slot
            if (promise != null) {
                slot = null
                promise.complete(number++)
            }
            yield()
        }
    }
    var sum = 0L
    for (number in 0 until count) {
        val promise = CompletableDeferred<Int>()
        slot = promise
        sum += promise.await()
    }
    isOver = true
    sum
}

/** A link is a coroutine that waits for the one before it. */
suspend fun promiseChain(count: Int): Long = coroutineScope {
    var sum = 0L
    for (start in 0 until count step CHAIN) {
        val head = CompletableDeferred<Int>()
        var last: Deferred<Int> = head
        for (number in start until minOf(start + CHAIN, count)) {
            val before = last
            last = async(start = CoroutineStart.UNDISPATCHED) { before.await() + 1 }
        }
        head.complete(0)
        sum += last.await()
    }
    sum
}

private class Request(val number: Int, val reply: CompletableDeferred<Long>)

suspend fun ask(count: Int): Long = coroutineScope {
    val counter: SendChannel<Request> = actor(capacity = 16) {
        var total = 0L
        for (request in channel) {
            total += request.number
            request.reply.complete(total)
        }
    }
    var last = 0L
    for (number in 0 until count) {
        val request = Request(1, CompletableDeferred())
        counter.send(request)
        last = request.reply.await()
    }
    counter.close()
    last
}

private class Ball(val isPing: Boolean, val from: Int)

/** A hundred actors, each of which pings another one chosen at random, and again when the pong comes. */
suspend fun big(count: Int): Long = coroutineScope {
    val players = Array(BIG_ACTORS) { Channel<Ball>(Channel.UNLIMITED) }
    val ended = (0 until BIG_ACTORS).map { CompletableDeferred<Unit>() }
    var handled = 0L
    val actors = (0 until BIG_ACTORS).map { own ->
        launch {
            val random = Xorshift(own)
            var left = count / BIG_ACTORS + (if (own < count % BIG_ACTORS) 1 else 0)
            suspend fun pingNext() {
                if (left == 0) {
                    ended[own].complete(Unit)
                    return
                }
                left--
                players[random.next(BIG_ACTORS)].send(Ball(true, own))
            }
            pingNext()
            for (message in players[own]) {
                if (message.isPing) {
                    handled++
                    players[message.from].send(Ball(false, own))
                } else {
                    pingNext()
                }
            }
        }
    }
    for (one in ended) one.await()
    for (player in players) player.close()
    for (one in actors) one.join()
    handled
}
