// SPDX-License-Identifier: Apache-2.0

package main

// A generator in Go is a goroutine that sends to an unbuffered channel; stop ends one that is not used up.
type generator struct {
	values chan int
	stop   chan struct{}
}

func generate(body func(yield func(int) bool)) generator {
	g := generator{make(chan int), make(chan struct{})}
	go func() {
		defer close(g.values)
		body(func(value int) bool {
			select {
			case g.values <- value:
				return true
			case <-g.stop:
				return false
			}
		})
	}()
	return g
}

// Nothing ends this one early: it needs no select.
func generatorValues(n int) int {
	values := make(chan int)
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

func (t *tree) visit(yield func(int) bool) bool {
	return t == nil || t.left.visit(yield) && yield(t.value) && t.right.visit(yield)
}

func (t *tree) visitLeaves(yield func(int) bool) bool {
	if t.left == nil {
		return yield(t.value)
	}
	return t.left.visitLeaves(yield) && t.right.visitLeaves(yield)
}

func treeWalk(n int) int {
	t := balanced(0, treeValues)
	sum := 0
	for n > 0 {
		g := generate(func(yield func(int) bool) { t.visit(yield) })
		for value := range g.values {
			sum += value
			n--
			if n == 0 {
				break
			}
		}
		close(g.stop)
	}
	return sum
}

func sameFringe(n int) int {
	one, other := leaves(0, fringe, 2), leaves(0, fringe, 8)
	sum := 0
	for n > 0 {
		a := generate(func(yield func(int) bool) { one.visitLeaves(yield) })
		b := generate(func(yield func(int) bool) { other.visitLeaves(yield) })
		for x := range a.values {
			y, ok := <-b.values
			if !ok {
				break
			}
			if x == y {
				sum += x
			}
			n--
			if n == 0 {
				break
			}
		}
		close(a.stop)
		close(b.stop)
	}
	return sum
}

func permute(numbers []int, place int, yield func(int) bool) bool {
	if place == len(numbers) {
		return yield(numbers[0]*8 + numbers[len(numbers)-1])
	}
	for other := place; other < len(numbers); other++ {
		numbers[place], numbers[other] = numbers[other], numbers[place]
		if !permute(numbers, place+1, yield) {
			return false
		}
		numbers[place], numbers[other] = numbers[other], numbers[place]
	}
	return true
}

func permutations(n int) int {
	sum := 0
	for n > 0 {
		g := generate(func(yield func(int) bool) {
			numbers := make([]int, permuted)
			for i := range numbers {
				numbers[i] = i
			}
			permute(numbers, 0, yield)
		})
		for permutation := range g.values {
			sum += permutation
			n--
			if n == 0 {
				break
			}
		}
		close(g.stop)
	}
	return sum
}
