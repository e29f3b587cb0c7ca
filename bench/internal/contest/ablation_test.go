package contest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every case of an ablation has a smoke run, and its tags are in the sources.
func TestTricks(t *testing.T) {
	var constraints strings.Builder
	require.NoError(t, filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".s" {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "//go:build ") {
				constraints.WriteString(line)
			}
		}
		return err
	}))
	for _, trick := range Tricks() {
		require.NotEmpty(t, trick.Flags, trick.Name)
		for _, f := range trick.Flags {
			if tag, ok := strings.CutPrefix(f, "-tags="); ok {
				require.Contains(t, constraints.String(), tag, trick.Name)
			}
		}
		require.Len(t, tiny(trick.Cases), len(trick.Cases), trick.Name)
	}
	_, err := newAblation([]string{"benches=none"})
	require.Error(t, err)
	a, err := newAblation([]string{"tricks=fiber,spin", "benches=remote_latency", "rounds=2"})
	require.NoError(t, err)
	require.Len(t, a.pairs(), 1, "fiber does not matter for it")
}

// The table has the median of the rounds' ratios, and its interval.
func TestAblationTable(t *testing.T) {
	a := ablation{tricks: []Trick{{Name: "box"}}}
	p := &pair{c: row("etf_decode term=list")}
	for i, f := range []float64{1, 1.5, 1.25} {
		full := float64(100 * (i + 1))
		p.full = append(p.full, measure{full, full})
		p.without = append(p.without, measure{f * full, 2 * full})
	}
	var w strings.Builder
	require.NoError(t, a.write(&w, []*pair{p}))
	_, line, _ := strings.Cut(w.String(), "\n")
	want := []string{"box", "etf_decode", "term=list", "200.0", "1.25", "1.00–1.50", "2.00", "2.00–2.00"}
	require.Equal(t, want, strings.Fields(line))
}

// The interval of a median leaves out the values that are known from tables of order statistics.
func TestInterval(t *testing.T) {
	for n, drop := range map[int]int{1: 0, 5: 0, 6: 0, 8: 0, 9: 1, 11: 1, 12: 2, 21: 5, 100: 39} {
		var values []float64
		for i := range n {
			values = append(values, float64((i*7919)%n)) // in any order: 7919 is a prime
		}
		low, high := interval(values)
		require.EqualValues(t, drop, low, "of %d", n)
		require.EqualValues(t, n-1-drop, high, "of %d", n)
	}
}
