// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
)

// What the rows have in common, in all languages.
const (
	treeValues = 4095
	fringe     = 1024
	permuted   = 8
	ring       = 503
	creatures  = 10
	bigActors  = 100
	fan        = 64
	chain      = 1000
	contenders = 8
	workers    = 8
	jobSteps   = 4000
	children   = 10
	askers     = 100
	batch      = 100
)

// How many goroutines take turns; how many produce and how many consume.
var (
	crowds = [...]int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000}
	grid   = [...]int{1, 4, 16, 64}
)

// job is what a worker makes of a number: some microseconds of arithmetic.
func job(number int) int {
	random := newXorshift(number)
	for i := 1; i < jobSteps; i++ {
		random.next()
	}
	return int(random.next() % 1024)
}

// xorshift makes numbers that look random and are the same in all programs.
type xorshift struct{ state uint64 }

func newXorshift(seed int) *xorshift {
	return &xorshift{88172645463325252 + uint64(seed)*2654435761}
}

func (x *xorshift) next() uint64 {
	x.state ^= x.state << 13
	x.state ^= x.state >> 7
	x.state ^= x.state << 17
	return x.state
}

func sleepLengths(n int) []int {
	random := newXorshift(0)
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = int(1 + random.next()%1000)
	}
	return lengths
}

type tree struct {
	left, right *tree
	value       int
}

func balanced(low, high int) *tree {
	if low >= high {
		return nil
	}
	middle := (low + high) / 2
	return &tree{balanced(low, middle), balanced(middle+1, high), middle}
}

// leaves has the numbers of a range in its leaves, one in so many to the left.
func leaves(low, high, share int) *tree {
	if high-low <= 1 {
		return &tree{nil, nil, low}
	}
	middle := low + max(1, (high-low)/share)
	return &tree{leaves(low, middle, share), leaves(middle, high, share), -1}
}

func filePath(kind string, number int) string {
	folder := os.Getenv("BENCHMARK_FILES")
	if folder == "" {
		fail("BENCHMARK_FILES names no folder of files; run this row by compare")
	}
	count := 16
	if kind == "256k" {
		count = 256
	}
	return fmt.Sprintf("%s/%s-%d", folder, kind, number%count)
}
