// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func sleeps(n int) outcome {
	lengths := sleepLengths(n)
	overshoot := make([]int, n)
	var group sync.WaitGroup
	for i, length := range lengths {
		group.Add(1)
		go func(i, length int) {
			defer group.Done()
			start := time.Now()
			time.Sleep(time.Duration(length) * time.Millisecond)
			overshoot[i] = int(time.Since(start)) - length*1_000_000
		}(i, length)
		if i%1024 == 1023 {
			runtime.Gosched()
		}
	}
	group.Wait()
	slept := 0
	for _, length := range lengths {
		slept += length
	}
	o := outcome{result: slept}
	o.addOvershoot(overshoot)
	return o
}

func cancellation(n int) outcome {
	ctx, cancel := context.WithCancel(context.Background())
	var asleep, ended sync.WaitGroup
	var count atomic.Int64
	making := startStopwatch()
	for i := 0; i < n; i++ {
		asleep.Add(1)
		ended.Add(1)
		go func() {
			defer ended.Done()
			timer := time.NewTimer(time.Hour)
			defer timer.Stop()
			asleep.Done()
			select {
			case <-timer.C:
			case <-ctx.Done():
				count.Add(1)
			}
		}()
	}
	asleep.Wait()
	made := making.elapsed()
	watch := startStopwatch()
	cancel()
	ended.Wait()
	e := watch.elapsed()
	return outcome{int(count.Load()), &e, []extra{{"create_ns", float64(made.wall) / float64(n)}}}
}

// memory is resident pages and page tables, in bytes.
func memory() (resident, tables float64) {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseFloat(fields[1], 64)
		switch fields[0] {
		case "VmRSS:":
			resident = kib * 1024
		case "VmPTE:":
			tables = kib * 1024
		}
	}
	return
}

// The time is that of making them; their end is an extra.
func idle(n int) outcome {
	gate := make(chan struct{})
	var count atomic.Int64
	var asleep, ended sync.WaitGroup
	asleep.Add(n)
	ended.Add(n)
	rss, tables := memory()
	watch := startStopwatch()
	for i := 0; i < n; i++ {
		go func() {
			asleep.Done()
			<-gate
			count.Add(1)
			ended.Done()
		}()
	}
	asleep.Wait()
	e := watch.elapsed()
	rssAfter, tablesAfter := memory()
	ending := startStopwatch()
	close(gate)
	ended.Wait()
	rss, tables = (rssAfter-rss)/float64(n), (tablesAfter-tables)/float64(n)
	return outcome{int(count.Load()), &e, []extra{{"bytes", rss + tables}, {"rss_bytes", rss},
		{"pte_bytes", tables}, {"end_ns", float64(ending.elapsed().wall) / float64(n)}}}
}

func readFiles(kind string, n int) int {
	sums := make(chan int, n)
	for i := 0; i < n; i++ {
		go func(i int) {
			bytes, err := os.ReadFile(filePath(kind, i))
			if err != nil {
				fail(err.Error())
			}
			sums <- len(bytes) + int(bytes[len(bytes)-1])
		}(i)
	}
	sum := 0
	for i := 0; i < n; i++ {
		sum += <-sums
	}
	return sum
}
