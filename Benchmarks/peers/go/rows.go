// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

var rows = []row{
	{name: "yield", threads: 1, body: counted(yields)},
	{name: "generator", threads: 1, body: counted(generatorValues)},
	{name: "launch-join", threads: 1, body: counted(joins)},
	{name: "launch", threads: 1, body: counted(launches)},
	{name: "scope", threads: 1, body: counted(scopes)},
	{name: "launch-2", threads: 2, body: counted(launches)},
	{name: "launch-pool", threads: 2, body: counted(batches)},
	{name: "workers", threads: 2, body: counted(jobs)},
	{name: "reply-2", threads: 2, body: counted(replies)},
	{name: "handover", threads: 1, body: counted(func(n int) int { return send(n, 0) })},
	{name: "buffered128", threads: 1, body: counted(func(n int) int { return send(n, 128) })},
	{name: "select4", threads: 1, body: counted(selectOne)},
	{name: "select4-default", threads: 1, body: counted(selectNone)},
	{name: "select64", threads: 1, body: counted(selectMany)},
	{name: "promise", threads: 1, body: counted(promises)},
	{name: "promise-park", threads: 1, body: counted(parkedPromises)},
	{name: "promise-chain", threads: 1, body: counted(promiseChain)},
	{name: "ask", threads: 1, body: counted(ask)},
	{name: "skynet", threads: 1, operations: 1_000_000, warmsUp: true, body: counted(skynet)},
	{name: "skynet-2", threads: 2, operations: 1_000_000, warmsUp: true, body: counted(skynet)},
	{name: "handover-2", threads: 2, body: counted(lockedHandover)},
	{name: "handover-pair", threads: 2, body: counted(func(n int) int { return send(n, 0) })},
	{name: "buffered128-4x4", threads: 2, body: counted(fourByFour)},
	{name: "timers", threads: 1, operations: 100_000, body: sleeps},
	{name: "cancel-sleepers", threads: 1, operations: 100_000, body: cancellation},
	{name: "idle", threads: 1, operations: 1_000_000, body: idle},
	{name: "mutex", threads: 1, body: counted(mutex)},
	{name: "fan-in", threads: 1, body: counted(fanIn)},
	{name: "fan-out", threads: 1, body: counted(fanOut)},
	{name: "tree-walk", threads: 1, body: counted(treeWalk)},
	{name: "same-fringe", threads: 1, body: counted(sameFringe)},
	{name: "permutations", threads: 1, body: counted(permutations)},
	{name: "thread-ring", threads: 1, body: counted(threadRing)},
	{name: "chameneos", threads: 1, body: counted(chameneos)},
	{name: "big", threads: 1, body: counted(big)},
	{name: "read-256k", threads: 2, operations: 256, warmsUp: true,
		body: counted(func(n int) int { return readFiles("256k", n) })},
	{name: "read-20m", threads: 2, operations: 16, warmsUp: true,
		body: counted(func(n int) int { return readFiles("20m", n) })},
}

func init() {
	for _, size := range crowds {
		size := size
		rows = append(rows, row{name: fmt.Sprintf("crowd-%d", size), threads: 1,
			operations: max(1_000_000, 10*size), body: func(n int) outcome { return crowd(size, n) }})
	}
	for _, producers := range grid {
		for _, consumers := range grid {
			producers, consumers := producers, consumers
			rows = append(rows, row{name: fmt.Sprintf("grid-%dx%d", producers, consumers), threads: 1,
				body: counted(func(n int) int { return manyToMany(n, producers, consumers) })})
		}
	}
}
