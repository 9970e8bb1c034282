// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// outcome is what a run came to.
type outcome struct {
	result int
	// times that count, if they are not those of the whole body
	elapsed *elapsed
	extras  []extra
}

type extra struct {
	name  string
	value float64
}

// elapsed is a time in nanoseconds: on the clock at the wall, and of all processors.
type elapsed struct{ wall, cpu int64 }

type stopwatch struct {
	wall time.Time
	cpu  int64
}

func startStopwatch() stopwatch { return stopwatch{time.Now(), processorTime()} }

func (s stopwatch) elapsed() elapsed {
	return elapsed{time.Since(s.wall).Nanoseconds(), processorTime() - s.cpu}
}

func processorTime() int64 {
	const processCPU = 2 // CLOCK_PROCESS_CPUTIME_ID
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, processCPU, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

// row is one benchmark; operations 0 finds out how many take 0.3 s.
type row struct {
	name       string
	threads    int
	operations int
	warmsUp    bool
	body       func(n int) outcome
}

func counted(body func(n int) int) func(n int) outcome {
	return func(n int) outcome { return outcome{result: body(n)} }
}

func (o *outcome) addOvershoot(ns []int) {
	sort.Ints(ns)
	if len(ns) == 0 {
		return
	}
	at := func(i int) float64 { return float64(ns[i]) / 1000 }
	o.extras = append(o.extras, extra{"p50_us", at(len(ns) / 2)},
		extra{"p99_us", at(len(ns) * 99 / 100)}, extra{"max_us", at(len(ns) - 1)})
	// How many of a whole are at most 1, 2, 4, … µs.
	for power := 0; power <= 20; power++ {
		count := sort.SearchInts(ns, 1000<<power+1)
		name := fmt.Sprintf("le_%d_us", 1<<power)
		o.extras = append(o.extras, extra{name, float64(count) / float64(len(ns))})
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(64)
}

func calibrate(r row) int {
	n := 100
	for {
		watch := startStopwatch()
		r.body(n)
		wall := watch.elapsed().wall
		if wall > 30_000_000 {
			n = int(float64(n) * 3e8 / float64(wall))
			if n < 1 {
				n = 1
			}
			return n
		}
		n *= 10
	}
}

func main() {
	arguments := os.Args[1:]
	if len(arguments) == 1 && arguments[0] == "list" {
		for _, r := range rows {
			fmt.Println(r.name)
		}
		return
	}
	const usage = "usage: go list | ROW [--operations N]"
	if len(arguments) != 1 && !(len(arguments) == 3 && arguments[1] == "--operations") {
		fail(usage)
	}
	for _, r := range rows {
		if r.name != arguments[0] {
			continue
		}
		runtime.GOMAXPROCS(r.threads)
		n := r.operations
		if len(arguments) == 3 {
			var err error
			if n, err = strconv.Atoi(arguments[2]); err != nil || n < 1 {
				fail("--operations needs a number of 1 or more")
			}
		}
		if n == 0 {
			n = calibrate(r)
		} else if r.warmsUp || r.operations == 0 {
			r.body(max(1, n/10))
		}
		watch := startStopwatch()
		o := r.body(n)
		e := watch.elapsed()
		if o.elapsed != nil {
			e = *o.elapsed
		}
		fields := []string{
			fmt.Sprintf(`"row": %q, "peer": "go", "operations": %d`, r.name, n),
			fmt.Sprintf(`"ns": %g`, float64(e.wall)/float64(n)),
			fmt.Sprintf(`"cpu_ns": %g`, float64(e.cpu)/float64(n)),
			fmt.Sprintf(`"result": %d`, o.result),
		}
		for _, x := range o.extras {
			fields = append(fields, fmt.Sprintf(`%q: %g`, x.name, x.value))
		}
		fmt.Println("{" + strings.Join(fields, ", ") + "}")
		return
	}
	fail("no row " + arguments[0])
}

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
