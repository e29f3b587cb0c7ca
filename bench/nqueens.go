package main

import (
	"fmt"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
)

var nqueens = contract.Bench{
	Name:  "nqueens",
	About: "a master hands boards to workers",
	Params: []contract.Param{
		contract.Int("size", 11).Range(4, maxQueens), contract.Int("workers", 4),
		contract.Int("threshold", 4).Range(0, maxQueens), contract.Style(),
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
	return onNode(p, func(main *node.Process) error {
		workers := make([]node.PID, p.Int("workers"))
		var master node.PID
		if p.Blocking() {
			master = must(main.Spawn(masterProcess(main.Self(), workers)))
			for i := range workers {
				workers[i] = must(main.SpawnOpt(apart(p, main, i), workerProcess(master, size, threshold)))
			}
		} else {
			master = must(main.Spawn(&queensMaster{main: main.Self(), workers: workers}))
			for i := range workers {
				workers[i] = must(main.SpawnOpt(apart(p, main, i), &queensWorker{master, size, threshold}))
			}
		}
		m.Start()
		main.Send(master, board{})
		got := node.ReceiveOf[solved](main)
		m.Stop()
		if want := solutions[size-1]; got.count != want {
			return fmt.Errorf("%d solutions, not %d", got.count, want)
		}
		return nil
	})
}

// queensMaster hands out boards round robin until none is open. A worker's new boards arrive before its count, so if none
// is open, none will come.
type queensMaster struct {
	main              node.PID
	workers           []node.PID
	turn, open, count int
}

func (q *queensMaster) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case board:
		to := q.workers[q.turn]
		if q.turn++; q.turn == len(q.workers) {
			q.turn = 0
		}
		q.open++
		return ctx.Send(to, msg)
	case solved:
		q.count += m.count
		if q.open--; q.open == 0 {
			return ctx.Send(q.main, solved{q.count})
		}
		return nil
	}
	return node.ErrUnhandled
}

// queensWorker adds a queen below the threshold, and solves the rest above it.
type queensWorker struct {
	master          node.PID
	size, threshold int
}

func (q *queensWorker) Receive(ctx *node.Context, msg any) error {
	switch m := msg.(type) {
	case board:
		if int(m.rows) >= q.threshold || int(m.rows) == q.size {
			return ctx.Send(q.master, solved{solve(m.columns[:m.rows], q.size)})
		}
		for column := range int8(q.size) {
			if safe(m.columns[:m.rows], column) {
				ctx.Send(q.master, m.with(column))
			}
		}
		return ctx.Send(q.master, solved{})
	}
	return node.ErrUnhandled
}

func masterProcess(main node.PID, workers []node.PID) node.ProcessFunc {
	return func(p *node.Process) error {
		first := p.Receive()
		p.Send(workers[0], first)
		count := 0
		for open, turn := 1, 1; open > 0; {
			msg := p.Receive()
			switch m := msg.(type) {
			case board:
				p.Send(workers[turn%len(workers)], msg)
				turn++
				open++
			case solved:
				count += m.count
				open--
			}
		}
		return p.Send(main, solved{count})
	}
}

func workerProcess(master node.PID, size, threshold int) node.ProcessFunc {
	return func(p *node.Process) error {
		for {
			b := p.Receive().(board)
			if int(b.rows) >= threshold || int(b.rows) == size {
				p.Send(master, solved{solve(b.columns[:b.rows], size)})
				continue
			}
			for column := range int8(size) {
				if safe(b.columns[:b.rows], column) {
					p.Send(master, b.with(column))
				}
			}
			p.Send(master, solved{})
		}
	}
}

// with returns b with one more queen.
func (b board) with(column int8) board {
	b.columns[b.rows] = column
	b.rows++
	return b
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
