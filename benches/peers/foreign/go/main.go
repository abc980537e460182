// The rows in Go. For each line "<work> <count>" of its input, the program does the work and prints
// its cost and its time on the clock in nanoseconds, and the number of operations.
//
// With the argument "http" it serves HTTP instead, and speaks to its parent as the other servers do:
// it prints its port, and for each line of its input the CPU time of the process. With the argument
// "version" it prints Go's.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	pairs    = 64
	yielders = 200
	batch    = 128
	waiting  = 1024 // The capacity of an actor's channel: Go has no unbounded one.
	sleepers = 100
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println(runtime.Version())
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "http" {
		serve()
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var work string
		var count int
		if _, err := fmt.Sscan(lines.Text(), &work, &count); err != nil {
			panic(err)
		}
		cost, wall, ops := run(work, count)
		fmt.Println(cost.Nanoseconds(), wall.Nanoseconds(), ops)
	}
}

func run(work string, count int) (cost, wall time.Duration, ops int) {
	switch work {
	case "spawn":
		wall = timed(func() { spawn(count) })
		return wall, wall, count
	case "pairs":
		wall = timed(func() { pingPong(count) })
		return wall, wall, pairs * count
	case "yields":
		wall = timed(func() { yields(count) })
		return wall, wall, yielders * count
	case "post":
		actor := newActor()
		wall = timed(func() { check(post(actor, count) == count) })
		return wall, wall, count
	case "post_memory":
		actor := newActor()
		post(actor, 1000)
		before := resetPeak()
		check(post(actor, count) == count)
		return time.Duration(status("VmHWM:") - before), 0, 1
	case "call", "call_64":
		clients := 1
		if work == "call_64" {
			clients = 64
		}
		actor := newActor()
		wall = timed(func() { call(actor, clients, count) })
		return wall, wall, clients * count
	case "sleeps_cpu":
		return sleeps(count, false)
	case "sleeps_late":
		return sleeps(count, true)
	case "idle":
		return time.Duration(idle(count)), 0, count
	}
	panic("no such work: " + work)
}

func check(right bool) {
	if !right {
		panic("a count is wrong")
	}
}

func timed(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}

// Starts goroutines and waits for them; each leaves its number behind.
func spawn(count int) {
	numbers := make([]int, count)
	var all sync.WaitGroup
	all.Add(count)
	for index := 0; index < count; index++ {
		go func() {
			numbers[index] = index
			all.Done()
		}()
	}
	all.Wait()
	sum := 0
	for _, number := range numbers {
		sum += number
	}
	check(sum == count*(count-1)/2)
}

func pingPong(rounds int) {
	done := make(chan int)
	for pair := 0; pair < pairs; pair++ {
		ping, pong := make(chan int), make(chan int)
		go func() {
			for ball := range ping {
				pong <- ball
			}
		}()
		go func() {
			back := 0
			for ball := 0; ball < rounds; ball++ {
				ping <- ball
				if <-pong == ball {
					back++
				}
			}
			close(ping)
			done <- back
		}()
	}
	back := 0
	for pair := 0; pair < pairs; pair++ {
		back += <-done
	}
	check(back == pairs*rounds)
}

func yields(each int) {
	done := make(chan int, yielders)
	for task := 0; task < yielders; task++ {
		go func() {
			yielded := 0
			for yielded < each {
				runtime.Gosched()
				yielded++
			}
			done <- yielded
		}()
	}
	sum := 0
	for task := 0; task < yielders; task++ {
		sum += <-done
	}
	check(sum == yielders*each)
}

type message struct {
	answer chan int
	take   bool
}

func newActor() chan message {
	actor := make(chan message, waiting)
	go func() {
		sum := 0
		for message := range actor {
			switch {
			case message.answer == nil:
				sum++
			case message.take:
				message.answer <- sum
				sum = 0
			default:
				sum++
				message.answer <- sum
			}
		}
	}()
	return actor
}

// Sends messages by two producers, and returns how many have arrived.
func post(actor chan message, count int) int {
	var both sync.WaitGroup
	for _, half := range []int{count / 2, count - count/2} {
		both.Add(1)
		go func() {
			for sent := 1; sent <= half; sent++ {
				actor <- message{}
				if sent%batch == 0 {
					runtime.Gosched()
				}
			}
			both.Done()
		}()
	}
	both.Wait()
	answer := make(chan int, 1)
	actor <- message{answer, true}
	return <-answer
}

func call(actor chan message, clients, each int) {
	var all sync.WaitGroup
	for client := 0; client < clients; client++ {
		all.Add(1)
		go func() {
			answer := make(chan int, 1)
			last := 0
			for asked := 0; asked < each; asked++ {
				actor <- message{answer, false}
				sum := <-answer
				check(sum > last)
				last = sum
			}
			all.Done()
		}()
	}
	all.Wait()
	answer := make(chan int, 1)
	actor <- message{answer, true}
	check(<-answer == clients*each)
}

// Sleeps of 1 to 5 ms: their CPU time, or the median of how late they end.
func sleeps(each int, late bool) (cost, wall time.Duration, ops int) {
	all := make(chan []time.Duration)
	start, cpu := time.Now(), cpuTime()
	for sleeper := 0; sleeper < sleepers; sleeper++ {
		random := rand.New(rand.NewSource(int64(sleeper)))
		go func() {
			own := make([]time.Duration, 0, each)
			for slept := 0; slept < each; slept++ {
				length := time.Duration(1000+random.Intn(4001)) * time.Microsecond
				start := time.Now()
				time.Sleep(length)
				own = append(own, time.Since(start)-length)
			}
			all <- own
		}()
	}
	var lateness []time.Duration
	for sleeper := 0; sleeper < sleepers; sleeper++ {
		lateness = append(lateness, <-all...)
	}
	cpu, wall = cpuTime()-cpu, time.Since(start)
	check(len(lateness) == sleepers*each)
	if !late {
		return cpu, wall, len(lateness)
	}
	sort.Slice(lateness, func(a, b int) bool { return lateness[a] < lateness[b] })
	check(lateness[0] >= 0)
	return lateness[len(lateness)/2], wall, 1
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Bytes by which the process grows by this many goroutines that wait for ever.
func idle(count int) int {
	debug.FreeOSMemory()
	before := status("VmRSS:")
	var started sync.WaitGroup
	started.Add(count)
	never := make(chan struct{})
	for task := 0; task < count; task++ {
		go func() {
			started.Done()
			<-never
		}()
	}
	started.Wait()
	return status("VmRSS:") - before
}

func resetPeak() int {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		panic(err)
	}
	return status("VmRSS:")
}

// A line of this process's status, in bytes.
func status(name string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, found := strings.CutPrefix(line, name); found {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				panic(err)
			}
			return kib * 1024
		}
	}
	panic("no line " + name)
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/", func(writer http.ResponseWriter, _ *http.Request) {
		io.WriteString(writer, "Hello, World!")
	})
	go func() { panic(http.Serve(listener, nil)) }()
	fmt.Println("PORT", listener.Addr().(*net.TCPAddr).Port)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println("CPU", cpuTime().Nanoseconds())
	}
}
