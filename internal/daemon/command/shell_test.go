package command

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// shell runs a line as a user would type it and returns what the user sees: both outputs, and the status if it is not
// 0. In make merge a real shell reads the line, otherwise a lineReader.
func (s *cliTest) shell(t *testing.T, line string) string {
	if testkit.At() >= testkit.Merge {
		out, status := s.output(t, s.command(t, "sh", "-c", "exec 2>&1\n"+line))
		return seen(out, status)
	}
	r := lineReader{s: s, t: t, line: line, vars: make(map[string]string)}
	out, status := r.list("")
	require.Empty(t, r.line, "what is left of %s", line)
	return seen(out, status)
}

// seen returns the output of a command, with its exit status if that is not 0.
func seen(out string, status int) string {
	if status != 0 {
		out += fmt.Sprintf("[exit %d]\n", status)
	}
	return out
}

// output runs a command to its end.
func (s *cliTest) output(t *testing.T, cmd *exec.Cmd) (out string, status int) {
	b, err := cmd.Output()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(b), exited.ExitCode()
	}
	require.NoError(t, err, cmd.Args)
	return string(b), 0
}

// lineReader is as much of a shell as the lines of the tests need: commands of actornode in sequence (;) and as long as
// they succeed (&&), variables, both kinds of quotes, the output of another command, $(…), and comments. Standard error
// goes to standard output. There are no pipes and no redirections.
type lineReader struct {
	s    *cliTest
	t    *testing.T
	line string // the rest of it
	vars map[string]string
}

// list runs commands up to end, which is ")" or nothing.
func (r *lineReader) list(end string) (out string, status int) {
	for skip := false; ; {
		text, code, ran := r.simple(end, skip)
		if ran {
			out, status = out+text, code
		}
		switch {
		case strings.HasPrefix(r.line, ";"):
			r.line, skip = r.line[1:], false
		case strings.HasPrefix(r.line, "&&"):
			r.line, skip = r.line[2:], status != 0
		default:
			r.line = strings.TrimPrefix(r.line, end)
			return out, status
		}
	}
}

// simple runs one command, or sets variables; with skip it only reads it.
func (r *lineReader) simple(end string, skip bool) (out string, status int, ran bool) {
	var set, words []string
	for {
		r.line = strings.TrimLeft(r.line, " \n")
		if strings.HasPrefix(r.line, "#") {
			_, r.line, _ = strings.Cut(r.line, "\n")
		}
		if r.line == "" || strings.ContainsRune(";&|<>"+end, rune(r.line[0])) {
			break
		}
		name, _, isSet := strings.Cut(r.line, "=")
		isSet = isSet && len(words) == 0 && !strings.ContainsAny(name, " '\"$-")
		if w := r.word(end, skip); isSet {
			set = append(set, w)
		} else {
			words = append(words, w)
		}
	}
	switch {
	case skip:
		return "", 0, false
	case len(words) == 0:
		for _, v := range set {
			name, value, _ := strings.Cut(v, "=")
			r.vars[name] = value
		}
		return "", 0, true
	}
	require.Equal(r.t, "actornode", words[0], "a line of a session may start nothing else")
	cmd := r.s.command(r.t, words[0], words[1:]...)
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], set...)
	both := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = both, both
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		require.NoError(r.t, err, words)
	}
	return both.String(), cmd.ProcessState.ExitCode(), true
}

// word reads a word, and removes the quotes.
func (r *lineReader) word(end string, skip bool) string {
	var b strings.Builder
	inner := false // within "…"
	for r.line != "" {
		c := r.line[0]
		if !inner && strings.ContainsRune(" \n;&|<>"+end, rune(c)) {
			break
		}
		r.line = r.line[1:]
		switch {
		case c == '"':
			inner = !inner
		case c == '\'' && !inner:
			text, rest, ok := strings.Cut(r.line, "'")
			require.True(r.t, ok, "a quote has no end: %s", r.line)
			b.WriteString(text)
			r.line = rest
		case c == '$' && strings.HasPrefix(r.line, "("):
			r.line = r.line[1:]
			inside := lineReader{s: r.s, t: r.t, line: r.line, vars: r.vars}
			require.False(r.t, skip, "a command of a command that is not run")
			out, _ := inside.list(")")
			r.line = inside.line
			b.WriteString(strings.TrimRight(out, "\n"))
		case c == '$':
			n := 0
			for n < len(r.line) && (r.line[n] == '_' || r.line[n] >= 'A' && r.line[n] <= 'Z' || r.line[n] >= 'a' && r.line[n] <= 'z') {
				n++
			}
			value, ok := r.vars[r.line[:n]]
			if !ok {
				value, _ = r.s.lookup(r.line[:n])
			}
			b.WriteString(value)
			r.line = r.line[n:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// TestLines: lineReader does what a shell does, and make merge compares it with one.
func TestLines(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	help, wrong := s.shell(t, "actornode help help"), s.shell(t, "actornode nothing")
	assert.True(t, strings.HasPrefix(help, "Help provides help"), help)
	assert.True(t, strings.HasSuffix(wrong, "[exit 2]\n"), wrong)
	failed := strings.TrimSuffix(wrong, "[exit 2]\n")
	two := s.shell(t, "actornode 'a b'")
	assert.Contains(t, two, `unknown command "a b"`)
	for line, want := range map[string]string{
		`actornode 'help' "help"`:                                     help,
		"actornode help help # help":                                  help,
		"actornode help help;actornode help help":                     help + help,
		"actornode help help && actornode nothing":                    help + wrong,
		"actornode nothing && actornode help help":                    wrong,
		"actornode nothing; actornode help help":                      failed + help,
		"actornode nothing && actornode nothing; actornode help help": failed + help,
		`x=help && actornode $x "$x"`:                                 help,
		`x='a ' && actornode "$x"'b'`:                                 two,
		"COLUMNS=1 LINES= actornode help help":                        help,
		`actornode "$(actornode help no'thi'ng)"`:                     s.shell(t, "actornode '"+strings.TrimSpace(s.shell(t, "actornode help nothing"))+"'"),
	} {
		assert.Equal(t, want, s.shell(t, line), line)
	}
}
