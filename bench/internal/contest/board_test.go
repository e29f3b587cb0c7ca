package contest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/bench/internal/contract"
)

func TestRoundsAreInterleaved(t *testing.T) {
	b := newBoard([]Case{{Bench: "a"}, {Bench: "b"}}, []Entrant{
		{Name: "x", benches: []string{"a", "b"}},
		{Name: "y", benches: []string{"b"}},
	}, 2)
	var order string
	run := func(_ context.Context, e Entrant, c Case) (contract.Result, error) {
		order += e.Name + c.Bench + " "
		return contract.Result{}, nil
	}
	require.NoError(t, b.play(t.Context(), run, io.Discard))
	assert.Equal(t, "xa xb yb xa xb yb ", order)
	assert.Len(t, b.cells[0][0].runs, 2)
	assert.Empty(t, b.cells[0][1].runs, "y does not have a")
	assert.Empty(t, b.failures())
}

func TestAFailedCaseIsNotRunAgainAndTheRestIs(t *testing.T) {
	b := newBoard([]Case{{Bench: "a"}, {Bench: "b", Params: []string{"n=2"}}}, []Entrant{
		{Name: "x", benches: []string{"a", "b"}},
		{Name: "y", benches: []string{"a", "b"}},
		{Name: "z", err: errors.New("build: no")},
		{Name: "none", err: errors.New("build: not here"), absent: true},
	}, 3)
	runs := map[string]int{}
	run := func(_ context.Context, e Entrant, c Case) (contract.Result, error) {
		key := e.Name + c.Bench
		runs[key]++
		if key == "yb" && runs[key] == 2 {
			return contract.Result{}, errors.New("crash")
		}
		return contract.Result{NsPerOp: 5, Seconds: 0.25}, nil
	}
	var log bytes.Buffer
	require.NoError(t, b.play(t.Context(), run, &log))
	assert.Equal(t, map[string]int{"xa": 3, "xb": 3, "ya": 3, "yb": 2}, runs)
	assert.Empty(t, b.cells[1][1].runs, "what came before the failure does not count")
	assert.Equal(t, []string{"z: build: no", "y: b n=2: crash"}, b.failures())
	assert.Contains(t, log.String(), "round 1/3  a  x  5.00 ns/op in 250ms\n")
	assert.Contains(t, log.String(), "round 2/3  b n=2  y  failed: crash\n")
}

func TestPlayEndsWithItsContext(t *testing.T) {
	b := newBoard([]Case{{Bench: "a"}}, []Entrant{{Name: "x", benches: []string{"a"}}}, 2)
	ctx, cancel := context.WithCancel(t.Context())
	run := func(context.Context, Entrant, Case) (contract.Result, error) {
		cancel()
		return contract.Result{}, errors.New("killed")
	}
	assert.ErrorIs(t, b.play(ctx, run, io.Discard), context.Canceled)
	assert.Empty(t, b.failures(), "a run that we ended has not failed")
}
