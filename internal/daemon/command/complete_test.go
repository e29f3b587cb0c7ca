package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// offered asks for completions until they equal want: a user at a prompt waits one second for them, and a busy machine
// may be slower.
func (s *cliTest) offered(t *testing.T, want []string, words ...string) {
	eventually(t, strings.Join(words, " "), func() bool {
		got := s.completions(t, words...)
		return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(got, w) })
	})
}

// completions makes the request of a completion script; the last line, the directive, is for the script.
func (s *cliTest) completions(t *testing.T, words ...string) []string {
	out, err := s.command(t, "actornode", append([]string{"__completeNoDesc"}, words...)...).Output()
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[:len(lines)-1]
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	assert.Empty(t, s.completions(t, "ping", "--node", ""), "no port mapper runs")
	s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	s.offered(t, []string{"go"}, "ping", "--node", "")
	assert.LessOrEqual(t, len(s.completions(t, "ping", "--node", "")), 1)
	for _, words := range [][]string{{"call", ""}, {"call", "--node", "go", ""}, {"info", ""}, {"kill", ""}, {"trace", "echo", ""},
		{"send", ""}} {
		s.offered(t, []string{"counter", "actornode"}, words...)
	}
	assert.Empty(t, s.completions(t, "call", "counter", ""), "nobody knows the term")
	assert.Equal(t, []string{"debug", "info", "warn", "error"}, s.completions(t, "log", "level", ""))
	assert.Equal(t, append(groupSorts, sorts...), s.completions(t, "ps", "--sort", ""))
	assert.Contains(t, s.completions(t, "deadletters", "--cause", ""), "mailbox_full")
	assert.Contains(t, s.completions(t, "st"), "status")
	assert.Contains(t, s.completions(t, "ps", "--"), "--registered")
	s.daemon(t, "--name", "other@127.0.0.1")
	assert.NotContains(t, s.completions(t, "disconnect", "--node", "go", ""), "other@127.0.0.1")
	s.shell(t, "actornode connect other@127.0.0.1 --node go")
	s.offered(t, []string{"other@127.0.0.1"}, "disconnect", "--node", "go", "")
}

// TestCompletionScripts: there is a script for each shell.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		assert.Contains(t, s.shell(t, "actornode completion "+shell), "__complete")
	}
}

// TestCompletionScript lets bash complete a word with its script.
func TestCompletionScript(t *testing.T) {
	t.Parallel()
	bash := testkit.Program(t, testkit.Merge, "bash")
	s := newCLITest(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	script := `source <(actornode completion bash)
_get_comp_words_by_ref() { # of the package bash-completion
	words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
}
compopt() { :; } # it wants to be called by the shell itself
_init_completion() { _get_comp_words_by_ref; }
COMP_WORDS=(actornode call cou) COMP_CWORD=2 COMP_LINE="actornode call cou" COMP_POINT=18 COMP_TYPE=9
__start_actornode
echo "${COMPREPLY[@]}"
COMP_WORDS=(actornode log level w) COMP_CWORD=3 COMP_LINE="actornode log level w" COMP_POINT=21 COMPREPLY=()
__start_actornode
echo "${COMPREPLY[@]}"`
	eventually(t, "words are completed", func() bool { // within a second, if the machine is idle
		out, err := s.command(t, bash, "--norc", "-c", script).CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.ReplaceAll(string(out), " \n", "\n") == "counter\nwarn\n"
	})
}
