package contest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
)

// Board holds the results of a contest. It belongs to one goroutine.
type Board struct {
	Cases    []Case
	Entrants []Entrant // the reference first, if present
	Rounds   int

	cells [][]cell // by case, by entrant
}

// cell is one case on one entrant. If err is nil, runs has a result for each round, or none if the entrant lacks the bench.
type cell struct {
	runs []contract.Result
	err  error
}

// runner runs a case once on an entrant.
type runner func(context.Context, Entrant, Case) (contract.Result, error)

func newBoard(cases []Case, entrants []Entrant, rounds int) *Board {
	b := &Board{Cases: cases, Entrants: entrants, Rounds: rounds, cells: make([][]cell, len(cases))}
	for i := range b.cells {
		b.cells[i] = make([]cell, len(entrants))
	}
	return b
}

// play runs all rounds and writes a line for each run to log. It returns only ctx's error; failures are kept on the board.
func (b *Board) play(ctx context.Context, run runner, log io.Writer) error {
	for round := range b.Rounds {
		for i, c := range b.Cases {
			for j, e := range b.Entrants {
				at := &b.cells[i][j]
				if at.err != nil || !e.takesPart(c) {
					continue
				}
				result, err := run(ctx, e, c)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				at.add(result, err)
				fmt.Fprintf(log, "round %d/%d  %s  %s  %s\n", round+1, b.Rounds, c.name(), e.Name, outcome(result, err))
			}
		}
	}
	return nil
}

func (c *cell) add(r contract.Result, err error) {
	if err != nil {
		c.runs, c.err = nil, err
		return
	}
	c.runs = append(c.runs, r)
}

func outcome(r contract.Result, err error) string {
	if err != nil {
		return "failed: " + err.Error()
	}
	spent := time.Duration(r.Seconds * float64(time.Second)).Round(time.Microsecond)
	return fmt.Sprintf("%s ns/op in %v", figure(r.NsPerOp), spent)
}

// failures returns a line for each case that failed and for each peer that
// could not be built.
func (b *Board) failures() []string {
	var lines []string
	for _, e := range b.Entrants {
		if e.err != nil && !e.absent {
			lines = append(lines, fmt.Sprintf("%s: %v", e.Name, e.err))
		}
	}
	for i, c := range b.Cases {
		for j, e := range b.Entrants {
			if err := b.cells[i][j].err; err != nil {
				lines = append(lines, fmt.Sprintf("%s: %s: %v", e.Name, c.name(), err))
			}
		}
	}
	return lines
}

// version returns the version reported by the entrant name, or "" if no run of it succeeded.
func (b *Board) version(name string) string {
	for i := range b.Cases {
		for j, e := range b.Entrants {
			if e.Name == name && len(b.cells[i][j].runs) > 0 {
				return b.cells[i][j].runs[0].Version
			}
		}
	}
	return ""
}

// params returns the parameters of the runs of case i, without the style.
func (b *Board) params(i int) contract.Fields {
	for _, c := range b.cells[i] {
		if len(c.runs) > 0 {
			return c.runs[0].Params.Without("style")
		}
	}
	return nil
}
