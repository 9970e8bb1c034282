// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A promise in Go is a channel with room for one value.
func promises(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		promise := make(chan int, 1)
		promise <- i
		sum += <-promise
	}
	return sum
}

// One makes a promise and parks; the other settles it and yields.
func parkedPromises(n int) int {
	var slot atomic.Pointer[chan int]
	var over atomic.Bool
	go func() {
		for number := 0; !over.Load(); runtime.Gosched() {
			if promise := slot.Swap(nil); promise != nil {
				*promise <- number
				number++
			}
		}
	}()
	sum := 0
	for i := 0; i < n; i++ {
		promise := make(chan int, 1)
		slot.Store(&promise)
		sum += <-promise
	}
	over.Store(true)
	return sum
}

// A link is a goroutine that waits for the one before it.
func promiseChain(n int) int {
	sum := 0
	for start := 0; start < n; start += chain {
		head := make(chan int, 1)
		last := head
		for i := start; i < min(start+chain, n); i++ {
			next := make(chan int, 1)
			go func(last chan int) { next <- <-last + 1 }(last)
			last = next
		}
		head <- 0
		sum += <-last
	}
	return sum
}

type request struct {
	number int
	reply  chan int
}

// An actor in Go is a goroutine with a channel of requests.
func ask(n int) int {
	counter := make(chan request, 16)
	go func() {
		total := 0
		for r := range counter {
			total += r.number
			r.reply <- total
		}
	}()
	last := 0
	for i := 0; i < n; i++ {
		reply := make(chan int, 1)
		counter <- request{1, reply}
		last = <-reply
	}
	close(counter)
	return last
}

type ball struct {
	isPing bool
	from   int
}

// A mailbox has room for all the messages that can be under way.
func big(n int) int {
	var players [bigActors]chan ball
	for i := range players {
		players[i] = make(chan ball, 2*bigActors)
	}
	var ended, actors sync.WaitGroup
	var handled atomic.Int64
	for i := range players {
		ended.Add(1)
		actors.Add(1)
		left := n / bigActors
		if i < n%bigActors {
			left++
		}
		go func(i, left int) {
			defer actors.Done()
			random := newXorshift(i)
			mine := 0
			pingNext := func() {
				if left == 0 {
					ended.Done()
					return
				}
				left--
				players[random.next()%bigActors] <- ball{true, i}
			}
			pingNext()
			for message := range players[i] {
				if message.isPing {
					mine++
					players[message.from] <- ball{false, i}
				} else {
					pingNext()
				}
			}
			handled.Add(int64(mine))
		}(i, left)
	}
	ended.Wait()
	for _, player := range players {
		close(player)
	}
	actors.Wait()
	return int(handled.Load())
}
