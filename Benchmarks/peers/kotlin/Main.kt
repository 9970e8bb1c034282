// SPDX-License-Identifier: Apache-2.0

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.withContext

fun main(arguments: Array<String>) {
    val rows = arrayListOf(
        row("yield") { yields(it) },
        Row("generator", note = "stackless") { Outcome(generatorValues(it)) },
        row("launch-join") { joins(it) },
        row("launch") { launches(it) },
        row("scope") { scopes(it) },
        row("launch-2") { launchesOnTwo(it) },
        row("launch-pool") { batches(it) },
        row("workers") { jobs(it) },
        row("reply-2") { replies(it) },
        row("skynet", 1_000_000) { skynet(0, sizeOfTree(it)) },
        row("skynet-2", 1_000_000) { withContext(Dispatchers.Default) { skynetOnTwo(0, sizeOfTree(it)) } },
        row("mutex") { mutex(it) },
        row("handover") { send(it, Channel.RENDEZVOUS) },
        row("handover-2") { handoverOnTwo(it) },
        row("handover-pair") { pair(it) },
        row("buffered128") { send(it, 128) },
        row("buffered128-4x4") { fourByFour(it) },
        row("fan-in") { fanIn(it) },
        row("fan-out") { fanOut(it) },
        row("select4") { selectOne(it) },
        row("select64") { selectMany(it) },
        row("thread-ring") { threadRing(it) },
        row("chameneos") { chameneos(it) },
        row("promise") { promises(it) },
        row("promise-park") { parkedPromises(it) },
        row("promise-chain") { promiseChain(it) },
        row("ask") { ask(it) },
        row("big") { big(it) },
        Row("tree-walk", note = "stackless") { Outcome(treeWalk(it)) },
        Row("same-fringe", note = "stackless") { Outcome(sameFringe(it)) },
        Row("permutations", note = "stackless") { Outcome(permutations(it)) },
        Row("timers", 100_000) { sleeps(it) },
        Row("cancel-sleepers", 100_000) { cancellation(it) },
        Row("idle", 1_000_000, "stackless; bytes of the heap in use") { idle(it) },
        row("offload") { offload(it) },
        row("read-256k", 256) { read("256k", it) },
        row("read-20m", 16) { read("20m", it) }
    )
    for (size in CROWDS) rows += Row("crowd-$size", maxOf(1_000_000, 10 * size)) { crowd(size, it) }
    for (producers in GRID) {
        for (consumers in GRID) {
            rows += row("grid-${producers}x$consumers") { manyToMany(it, producers, consumers) }
        }
    }
    program(rows, arguments)
}
