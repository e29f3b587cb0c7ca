package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSessions plays the sessions in testdata/session, each with one or more demo daemons: its first lines that start
// with "% " have their flags.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/session/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			s, head := newCLITest(t), ""
			rest := string(text)
			for strings.HasPrefix(rest, "% ") {
				line, after, _ := strings.Cut(rest, "\n")
				s.daemon(t, strings.Fields(strings.TrimPrefix(line, "% "))...)
				head, rest = head+line+"\n", after
			}
			golden(t, file, head+s.play(t, rest))
		})
	}
}

// TestNoAnswer: what a command reports when a process does not do what the command waits for.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	said, timeout := s.late(t, "call user hello")
	assert.Regexp(t, `^Error: no answer from go@127.0.0.1 within `+timeout.String()+`\n$`, said)
	said, timeout = s.late(t, "kill demo --reason normal")
	assert.Equal(t, "Error: demo did not exit within "+timeout.String()+": an exit signal with the reason normal ends no other process\n", said)
	said, timeout = s.late(t, "kill demo --reason other")
	assert.Equal(t, "Error: demo did not exit within "+timeout.String()+": it may trap exits\n", said)
}

// TestHelp: every command says what it is for, with examples.
func TestHelp(t *testing.T) {
	env, _, _ := newEnvironment(t, nil)
	root := &cobra.Command{Use: "actornode"}
	addClients(root, env, new(exit))
	count := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		if !c.Runnable() {
			return
		}
		count++
		assert.NotEmpty(t, c.Short, c.Name())
		assert.NotEmpty(t, c.Long, c.Name())
		assert.Contains(t, c.Example, "  actornode ", c.Name())
		for line := range strings.Lines(c.Long + c.Example) {
			assert.LessOrEqual(t, len([]rune(line)), 122, "%s: %s", c.Name(), line)
		}
	}
	visit(root)
	assert.Equal(t, 28, count)
}
