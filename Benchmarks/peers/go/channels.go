// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"runtime"
	"sync"
)

func send(n, capacity int) int {
	values := make(chan int, capacity)
	go func() {
		for i := 0; i < n; i++ {
			values <- i
		}
		close(values)
	}()
	sum := 0
	for value := range values {
		sum += value
	}
	return sum
}

// Both sides are tied to a thread, so that every message goes from one thread to another.
func lockedHandover(n int) int {
	values := make(chan int)
	result := make(chan int)
	go func() {
		runtime.LockOSThread()
		for i := 0; i < n; i++ {
			values <- i
		}
		close(values)
	}()
	go func() {
		runtime.LockOSThread()
		sum := 0
		for value := range values {
			sum += value
		}
		result <- sum
	}()
	return <-result
}

func fourByFour(n int) int { return manyToMany(n, 4, 4) }

func manyToMany(n, producers, consumers int) int {
	values := make(chan int, 128)
	sums := make(chan int)
	var working sync.WaitGroup
	for p := 0; p < producers; p++ {
		working.Add(1)
		go func(p int) {
			defer working.Done()
			for i := p; i < n; i += producers {
				values <- i
			}
		}(p)
	}
	for c := 0; c < consumers; c++ {
		go func() {
			sum := 0
			for value := range values {
				sum += value
			}
			sums <- sum
		}()
	}
	working.Wait()
	close(values)
	sum := 0
	for c := 0; c < consumers; c++ {
		sum += <-sums
	}
	return sum
}

func fanIn(n int) int {
	values := make(chan int)
	for p := 0; p < fan; p++ {
		go func(p int) {
			for i := p; i < n; i += fan {
				values <- i
			}
		}(p)
	}
	sum := 0
	for i := 0; i < n; i++ {
		sum += <-values
	}
	return sum
}

func fanOut(n int) int {
	values := make(chan int)
	sums := make(chan int)
	for c := 0; c < fan; c++ {
		go func() {
			sum := 0
			for value := range values {
				sum += value
			}
			sums <- sum
		}()
	}
	for i := 0; i < n; i++ {
		values <- i
	}
	close(values)
	sum := 0
	for c := 0; c < fan; c++ {
		sum += <-sums
	}
	return sum
}

// The four take turns to be the one that is ready.
func selectOne(n int) int {
	var all [4]chan int
	for i := range all {
		all[i] = make(chan int, 1)
	}
	a, b, c, d := all[0], all[1], all[2], all[3]
	sum := 0
	for i := 0; i < n; i++ {
		select {
		case all[i%4] <- i:
		default:
		}
		select {
		case value := <-a:
			sum += value
		case value := <-b:
			sum += value
		case value := <-c:
			sum += value
		case value := <-d:
			sum += value
		}
	}
	return sum
}

func selectNone(n int) int {
	a, b, c, d := make(chan int, 1), make(chan int, 1), make(chan int, 1), make(chan int, 1)
	none := 0
	for i := 0; i < n; i++ {
		select {
		case value := <-a:
			none += value
		case value := <-b:
			none += value
		case value := <-c:
			none += value
		case value := <-d:
			none += value
		default:
			none++
		}
	}
	return none
}

// A number of cases that is not known when the program is written.
func selectMany(n int) int {
	var all [64]chan int
	cases := make([]reflect.SelectCase, len(all))
	for i := range all {
		all[i] = make(chan int, 1)
		cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(all[i])}
	}
	sum := 0
	for i := 0; i < n; i++ {
		select {
		case all[i%64] <- i:
		default:
		}
		_, value, _ := reflect.Select(cases)
		sum += int(value.Int())
	}
	return sum
}

func threadRing(hops int) int {
	var links [ring]chan int
	for i := range links {
		links[i] = make(chan int)
	}
	last := make(chan int, 1)
	for i := range links {
		go func(i int) {
			next := links[(i+1)%ring]
			for token := range links[i] {
				if token > 0 {
					next <- token - 1
				} else {
					last <- i
				}
			}
		}(i)
	}
	links[0] <- hops
	winner := <-last
	for _, link := range links {
		close(link)
	}
	return winner
}

type visit struct {
	colour int
	answer chan int
}

func chameneos(meetings int) int {
	mall := make(chan visit)
	counts := make(chan int)
	for c := 0; c < creatures; c++ {
		go func(c int) {
			answer := make(chan int)
			colour, met := c%3, 0
			for {
				mall <- visit{colour, answer}
				other := <-answer
				if other < 0 {
					counts <- met
					return
				}
				if other != colour {
					colour = 3 - colour - other
				}
				met++
			}
		}(c)
	}
	for i := 0; i < meetings; i++ {
		one, other := <-mall, <-mall
		one.answer <- other.colour
		other.answer <- one.colour
	}
	for c := 0; c < creatures; c++ {
		(<-mall).answer <- -1
	}
	sum := 0
	for c := 0; c < creatures; c++ {
		sum += <-counts
	}
	return sum
}
