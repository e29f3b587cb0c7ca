package main

import (
	"fmt"
	"sync"

	"github.com/actornode/actornode/bench/internal/contract"
)

var nqueens = contract.Bench{
	Name:  "nqueens",
	About: "a master hands boards to workers",
	Params: []contract.Param{
		contract.Int("size", 11).Range(4, len(solutions)), contract.Int("workers", 4), contract.Int("threshold", 4).Range(0, 16),
	},
	Ops: func(p contract.Params) int { return solutions[p.Int("size")-1] },
	Run: runNqueens,
}

// solutions are the numbers of ways to place 1, 2, … queens (OEIS A000170).
var solutions = [...]int{1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512}

// board has the column of the queen in each row so far. It is never written
// again once it is sent.
type board []int8

// report is what a worker tells the master: one more board to hand out, or that
// it is done with one and how many solutions it found.
type report struct {
	board board
	count int
	done  bool
}

func runNqueens(p contract.Params, m *contract.Meter) error {
	size, threshold := p.Int("size"), p.Int("threshold")
	workers := make([]chan board, p.Int("workers"))
	// The master never stops reading, so a worker may wait to send to it; a
	// worker that is behind makes the master keep its boards.
	reports := make(chan report, 1024)
	var wg sync.WaitGroup
	for i := range workers {
		workers[i] = make(chan board, 64)
		wg.Go(func() { // ends when runNqueens closes its channel
			for b := range workers[i] {
				work(b, size, threshold, reports)
			}
		})
	}
	m.Start()
	got := master(workers, reports)
	m.Stop()
	for _, w := range workers {
		close(w)
	}
	wg.Wait()
	if want := solutions[size-1]; got != want {
		return fmt.Errorf("%d solutions, not %d", got, want)
	}
	return nil
}

// master hands out boards round robin until none is open. A worker's new
// boards come before its done, so none open means none to come.
func master(workers []chan board, reports <-chan report) (total int) {
	pending := []board{{}}
	for open, turn := 1, 0; open > 0; {
		var to chan<- board // nil, and so never ready, while there is nothing to hand out
		var next board
		if len(pending) > 0 {
			to, next = workers[turn], pending[len(pending)-1]
		}
		select {
		case to <- next:
			pending = pending[:len(pending)-1]
			turn = (turn + 1) % len(workers)
		case r := <-reports:
			if r.done {
				open--
				total += r.count
				continue
			}
			open++
			pending = append(pending, r.board)
		}
	}
	return total
}

// work adds a queen below the threshold and solves the rest from there on.
func work(b board, size, threshold int, reports chan<- report) {
	if len(b) >= threshold || len(b) == size {
		room := append(make(board, 0, size), b...)
		reports <- report{count: solve(room, size), done: true}
		return
	}
	for column := range int8(size) {
		if safe(b, column) {
			reports <- report{board: append(b[:len(b):len(b)], column)}
		}
	}
	reports <- report{done: true}
}

// solve counts the solutions that begin with b, which has room for all rows.
func solve(b board, size int) (count int) {
	if len(b) == size {
		return 1
	}
	for column := range int8(size) {
		if safe(b, column) {
			count += solve(append(b, column), size)
		}
	}
	return count
}

// safe checks a queen in the next row against each earlier one.
func safe(b board, column int8) bool {
	for row, c := range b {
		distance := int8(len(b) - row)
		if c == column || c == column-distance || c == column+distance {
			return false
		}
	}
	return true
}
