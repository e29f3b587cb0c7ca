package supervisor_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/internal/testkit/erltest"
)

// The scripts in testdata/supervision are played on this package's supervisors;
// their language is described in testdata/supervision.erl, which plays them on
// OTP's. The answers in the files are OTP's: -update writes them anew.

// block is a line of a script and the indented ones below it.
type block struct {
	line  string
	below []string
}

func blocks(text string) (all []block) {
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] == ' ':
			last := &all[len(all)-1]
			last.below = append(last.below, strings.TrimSpace(line))
		default:
			all = append(all, block{line: strings.TrimRight(line, " ")})
		}
	}
	return all
}

// dialects are the ways to play a script.
var dialects = []dialect{
	{name: "Go"},
	{name: "Erlang", terms: true, inInit: true},
}

func TestScripts(t *testing.T) {
	known := make(map[string]bool)
	for _, f := range erltest.Files(t, "testdata/supervision/*.txt") {
		t.Run(f.Name, func(t *testing.T) {
			for _, s := range f.Scripts {
				known[s.Key()] = true
				for _, d := range dialects {
					t.Run(s.Title+"/"+d.name, func(t *testing.T) {
						deviates := deviations[s.Key()]
						if deviates.skip {
							t.Skip(deviates.reason)
						}
						synctest.Test(t, func(t *testing.T) {
							got := newPlay(t, d).play(blocks(s.Text))
							want := deviates.apply(t, s.Want)
							if !d.terms {
								want, got = unhurried(want), unhurried(got)
							}
							assert.Equal(t, want, got)
						})
					})
				}
			}
		})
	}
	for title := range deviations {
		assert.True(t, known[title], "a deviation of a script that is not there: %s", title)
	}
}

// deviation is a place where our supervisor deliberately gives another answer than OTP's. The file keeps OTP's answer.
type deviation struct {
	reason string
	skip   bool
	answer string            // ours, as a whole; or
	lines  map[string]string // what replaces some lines of OTP's answer
}

// unhurried moves answers to earlier commands to the end: callers in Go are processes of their own, and the order in
// which they get answers is not fixed.
func unhurried(text string) string {
	var out, late []string
	flush := func() {
		slices.Sort(late)
		out = append(out, late...)
		late = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case !strings.HasPrefix(line, "  "):
			flush()
			out = append(out, line)
		case strings.Contains(line, " -> ") && !strings.HasPrefix(line, "  -> "):
			late = append(late, line)
		default:
			out = append(out, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// apply turns OTP's answer into ours.
func (d deviation) apply(t *testing.T, want string) string {
	if d.answer != "" {
		return strings.TrimSpace(d.answer)
	}
	for theirs, ours := range d.lines {
		if ours != "" {
			ours = "  " + ours + "\n"
		}
		changed := strings.ReplaceAll(want+"\n", "  "+theirs+"\n", ours)
		assert.NotEqual(t, want+"\n", changed, "OTP has no line %q", theirs)
		want = strings.TrimSpace(changed)
	}
	return want
}
