// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

func yields(n int) int {
	var over atomic.Bool
	ended := make(chan struct{})
	go func() {
		for !over.Load() {
			runtime.Gosched()
		}
		close(ended)
	}()
	for i := 0; i < n/2; i++ {
		runtime.Gosched()
	}
	over.Store(true)
	<-ended
	return n / 2
}

func joins(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		value := make(chan int, 1)
		go func(i int) { value <- i }(i)
		sum += <-value
	}
	return sum
}

func batches(n int) int {
	sum := 0
	for start := 0; start < n; start += batch {
		var values []chan int
		for i := start; i < min(start+batch, n); i++ {
			value := make(chan int, 1)
			go func(i int) { value <- i }(i)
			values = append(values, value)
		}
		for _, value := range values {
			sum += <-value
		}
	}
	return sum
}

func launches(n int) int {
	var ended atomic.Int64
	for start := 0; start < n; start += 1000 {
		var group sync.WaitGroup
		for i := start; i < min(start+1000, n); i++ {
			group.Add(1)
			go func() {
				ended.Add(1)
				group.Done()
			}()
		}
		group.Wait()
	}
	return int(ended.Load())
}

// Workers that have begun before there is anything to do.
func jobs(n int) int {
	numbers, began, sums := make(chan int, 128), make(chan int), make(chan int)
	for w := 0; w < workers; w++ {
		go func() {
			began <- 1
			sum := 0
			for number := range numbers {
				sum += job(number)
			}
			sums <- sum
		}()
	}
	for w := 0; w < workers; w++ {
		<-began
	}
	go func() {
		for i := 0; i < n; i++ {
			numbers <- i
		}
		close(numbers)
	}()
	sum := 0
	for w := 0; w < workers; w++ {
		sum += <-sums
	}
	return sum
}

// A group that waits; it cancels nobody.
func scopes(n int) int {
	sum := 0
	for start := 0; start < n; start += children {
		var group sync.WaitGroup
		var values [children]int
		for i := start; i < min(start+children, n); i++ {
			group.Add(1)
			go func(i int) {
				runtime.Gosched()
				values[i-start] = i
				group.Done()
			}(i)
		}
		group.Wait()
		for _, value := range values {
			sum += value
		}
	}
	return sum
}

// Each question brings a channel for its answer; who answers is locked to a thread of its own.
func replies(n int) int {
	type question struct {
		number int
		answer chan int
	}
	questions := make(chan question, 128)
	go func() {
		runtime.LockOSThread()
		for q := range questions {
			q.answer <- q.number + 1
		}
	}()
	sums := make(chan int)
	for asker := 0; asker < askers; asker++ {
		go func(asker int) {
			sum := 0
			for number := asker; number < n; number += askers {
				answer := make(chan int, 1)
				questions <- question{number, answer}
				sum += <-answer
			}
			sums <- sum
		}(asker)
	}
	sum := 0
	for asker := 0; asker < askers; asker++ {
		sum += <-sums
	}
	close(questions)
	return sum
}

func skynet(n int) int {
	size := 1
	for size*10 <= n {
		size *= 10
	}
	result := make(chan int)
	go skynetNode(result, 0, size)
	return <-result
}

func skynetNode(result chan int, first, size int) {
	if size == 1 {
		result <- first
		return
	}
	part := size / 10
	parts := make(chan int)
	for i := 0; i < 10; i++ {
		go skynetNode(parts, first+i*part, part)
	}
	sum := 0
	for i := 0; i < 10; i++ {
		sum += <-parts
	}
	result <- sum
}

func mutex(n int) int {
	var lock sync.Mutex
	var group sync.WaitGroup
	total := 0
	for c := 0; c < contenders; c++ {
		group.Add(1)
		go func(c int) {
			defer group.Done()
			for i := c; i < n; i += contenders {
				lock.Lock()
				total++
				runtime.Gosched()
				lock.Unlock()
			}
		}(c)
	}
	group.Wait()
	return total
}

// So many goroutines that yield in turn, from when all have begun until all have ended. They may begin
// while others are still being made: so they wait for a gate, and leaving it is the first of their turns.
func crowd(size, n int) outcome {
	rounds := max(1, n/size)
	gate := make(chan struct{})
	var yields atomic.Int64
	var begun, ended sync.WaitGroup
	begun.Add(size)
	ended.Add(size)
	for i := 0; i < size; i++ {
		go func() {
			defer ended.Done()
			begun.Done()
			<-gate
			mine := int64(1)
			for r := 1; r < rounds; r++ {
				runtime.Gosched()
				mine++
			}
			yields.Add(mine)
		}()
	}
	begun.Wait()
	watch := startStopwatch()
	close(gate)
	ended.Wait()
	e := watch.elapsed()
	return outcome{result: int(yields.Load()), elapsed: &e}
}
