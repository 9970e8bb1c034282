// SPDX-License-Identifier: Apache-2.0

import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.*
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.selects.select

suspend fun send(
    count: Int, capacity: Int, context: CoroutineContext = EmptyCoroutineContext
): Long = coroutineScope {
    val numbers = Channel<Int>(capacity)
    launch(context) {
        for (number in 0 until count) numbers.send(number)
        numbers.close()
    }
    var sum = 0L
    for (number in numbers) sum += number
    sum
}

suspend fun handoverOnTwo(count: Int): Long =
    newSingleThreadContext("producer").use { send(count, Channel.RENDEZVOUS, it) }

suspend fun pair(count: Int): Long =
    withContext(Dispatchers.Default) { send(count, Channel.RENDEZVOUS) }

suspend fun manyToMany(count: Int, producers: Int, consumers: Int): Long = coroutineScope {
    val numbers = Channel<Int>(128)
    val producing = (0 until producers).map { producer ->
        launch { for (number in producer until count step producers) numbers.send(number) }
    }
    val consuming = (0 until consumers).map {
        async {
            var sum = 0L
            for (number in numbers) sum += number
            sum
        }
    }
    for (one in producing) one.join()
    numbers.close()
    var sum = 0L
    for (one in consuming) sum += one.await()
    sum
}

suspend fun fourByFour(count: Int): Long =
    withContext(Dispatchers.Default) { manyToMany(count, 4, 4) }

suspend fun fanIn(count: Int): Long = coroutineScope {
    val numbers = Channel<Int>()
    for (producer in 0 until FAN) {
        launch { for (number in producer until count step FAN) numbers.send(number) }
    }
    var sum = 0L
    for (number in 0 until count) sum += numbers.receive()
    sum
}

suspend fun fanOut(count: Int): Long = coroutineScope {
    val numbers = Channel<Int>()
    val consuming = (0 until FAN).map {
        async {
            var sum = 0L
            for (number in numbers) sum += number
            sum
        }
    }
    for (number in 0 until count) numbers.send(number)
    numbers.close()
    var sum = 0L
    for (one in consuming) sum += one.await()
    sum
}

/** The four take turns to be the one that is ready. */
suspend fun selectOne(count: Int): Long {
    val all = Array(4) { Channel<Int>(1) }
    val (a, b, c, d) = all
    var sum = 0L
    for (number in 0 until count) {
        all[number % 4].offer(number)
        sum += select<Int> {
            a.onReceive { it }
            b.onReceive { it }
            c.onReceive { it }
            d.onReceive { it }
        }
    }
    return sum
}

suspend fun selectMany(count: Int): Long {
    val all = Array(64) { Channel<Int>(1) }
    var sum = 0L
    for (number in 0 until count) {
        all[number % 64].offer(number)
        sum += select<Int> { for (one in all) one.onReceive { it } }
    }
    return sum
}

suspend fun threadRing(hops: Int): Long = coroutineScope {
    val links = Array(RING) { Channel<Int>() }
    val last = CompletableDeferred<Long>()
    for (place in 0 until RING) {
        launch {
            val next = links[(place + 1) % RING]
            for (token in links[place]) {
                if (token > 0) next.send(token - 1) else last.complete(place.toLong())
            }
        }
    }
    links[0].send(hops)
    val winner = last.await()
    for (link in links) link.close()
    winner
}

private class Visit(val colour: Int, val answer: Channel<Int>)

suspend fun chameneos(meetings: Int): Long = coroutineScope {
    val mall = Channel<Visit>()
    val creatures = (0 until CREATURES).map { number ->
        async {
            val answer = Channel<Int>()
            var colour = number % 3
            var met = 0L
            while (true) {
                mall.send(Visit(colour, answer))
                val other = answer.receive()
                if (other < 0) break
                if (other != colour) colour = 3 - colour - other
                met++
            }
            met
        }
    }
    for (meeting in 0 until meetings) {
        val one = mall.receive()
        val other = mall.receive()
        one.answer.send(other.colour)
        other.answer.send(one.colour)
    }
    for (creature in creatures) mall.receive().answer.send(-1)
    var sum = 0L
    for (creature in creatures) sum += creature.await()
    sum
}
