package main

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/actornode/actornode/bench/internal/contract"
)

var nqueens = contract.Bench{
	Name:  "nqueens",
	About: "a master hands boards to workers",
	Params: []contract.Param{
		contract.Int("size", 11).Range(4, maxQueens), contract.Int("workers", 4),
		contract.Int("threshold", 4).Range(0, maxQueens),
	},
	Ops: func(p contract.Params) int { return solutions[p.Int("size")-1] },
	Run: runNqueens,
}

const maxQueens = 16

// solutions are the numbers of ways to place 1, 2, … queens (OEIS A000170).
var solutions = [maxQueens]int{1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512}

// board holds the column of the queen in each of the first rows.
type board struct {
	rows    int8
	columns [maxQueens]int8
}

type solved struct{ count int }

func runNqueens(p contract.Params, m *contract.Meter) error {
	size, threshold := p.Int("size"), p.Int("threshold")
	return onSystem(func(root *actor.RootContext) error {
		workers, found := make([]*actor.PID, p.Int("workers")), make(chan int, 1)
		master := root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &queensMaster{workers: workers, found: found} }))
		props := actor.PropsFromProducer(func() actor.Actor { return &queensWorker{master, size, threshold} })
		for i := range workers {
			workers[i] = root.Spawn(props)
		}
		m.Start()
		root.Send(master, &board{})
		count := <-found
		m.Stop()
		if want := solutions[size-1]; count != want {
			return fmt.Errorf("%d solutions, not %d", count, want)
		}
		return nil
	})
}

// queensMaster hands out boards round robin until none is open. A worker's new boards arrive before its count, so if none
// is open, none will come.
type queensMaster struct {
	workers           []*actor.PID
	turn, open, count int
	found             chan<- int
}

func (q *queensMaster) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *board:
		to := q.workers[q.turn]
		if q.turn++; q.turn == len(q.workers) {
			q.turn = 0
		}
		q.open++
		ctx.Send(to, m)
	case *solved:
		q.count += m.count
		if q.open--; q.open == 0 {
			q.found <- q.count
		}
	}
}

// queensWorker adds a queen below the threshold, and solves the rest above it.
type queensWorker struct {
	master          *actor.PID
	size, threshold int
}

func (q *queensWorker) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *board:
		if int(m.rows) >= q.threshold || int(m.rows) == q.size {
			ctx.Send(q.master, &solved{solve(m.columns[:m.rows], q.size)}) // the board is this worker's alone by now
			return
		}
		for column := range int8(q.size) {
			if safe(m.columns[:m.rows], column) {
				ctx.Send(q.master, m.with(column))
			}
		}
		ctx.Send(q.master, &solved{})
	}
}

// with returns a copy of b with one more queen.
func (b board) with(column int8) *board {
	b.columns[b.rows] = column
	b.rows++
	return &b
}

// solve counts the solutions for size that start with queens, whose capacity is size.
func solve(queens []int8, size int) (count int) {
	if len(queens) == size {
		return 1
	}
	for column := range int8(size) {
		if safe(queens, column) {
			count += solve(append(queens, column), size)
		}
	}
	return count
}

// safe checks a queen in the next row against each earlier one, the nearest first: up and down are the columns where the
// diagonals cross that row.
func safe(queens []int8, column int8) bool {
	up, down := column, column
	for row := len(queens) - 1; row >= 0; row-- {
		up++
		down--
		if c := queens[row]; c == column || c == up || c == down {
			return false
		}
	}
	return true
}
