package contest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/bench/internal/contract"
)

func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	for _, cases := range [][]Case{Cases(), Smoke()} {
		seen := map[string]bool{}
		for _, c := range cases {
			assert.False(t, seen[c.name()], c.name())
			seen[c.name()] = true
		}
	}
}

func TestSmokeHasEveryBenchOnce(t *testing.T) {
	smoke := Smoke()
	assert.Len(t, benches(smoke), len(smoke))
	for _, name := range benches(Cases()) {
		assert.Contains(t, benches(smoke), name)
	}
}

func TestSmokeAsksNothing(t *testing.T) {
	for _, c := range Smoke() {
		assert.Equal(t, Case{Bench: c.Bench, Params: c.Params}, c)
	}
}

func TestTargetIsAskedOfThisNodeOnly(t *testing.T) {
	c := Cases()[slices.IndexFunc(Cases(), func(c Case) bool { return c.Bench == "spawn" })]
	actor, asked := Entrant{style: contract.Actor}.target(c)
	require.True(t, asked)
	assert.Equal(t, Target{Ratio: 8, Bytes: 350}, actor)
	process, asked := Entrant{style: contract.Process}.target(c)
	require.True(t, asked)
	assert.Equal(t, Target{Ratio: 1, Bytes: 3200}, process)
	_, asked = Entrant{Name: reference}.target(c)
	assert.False(t, asked)
}
