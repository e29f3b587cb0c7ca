package command

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/logtest"
)

// stream starts a command that does not end by itself.
func (s *cliTest) stream(t *testing.T, args ...string) (cmd *exec.Cmd, out *logtest.Text) {
	cmd, out = s.command(t, "actornode", args...), &logtest.Text{}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	return cmd, out
}

// traced waits until a process is traced, or is no longer.
func (s *cliTest) traced(t *testing.T, process, yes string) {
	eventually(t, process+" traced: "+yes, func() bool {
		return strings.Contains(s.shell(t, "actornode info "+process+" --json"), `"traced":`+yes)
	})
}

func TestTrace(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	people, text := s.stream(t, "trace", "counter", "--events", "receive", "--max", "2")
	s.traced(t, "counter", "true")
	programs, lines := s.stream(t, "trace", "echo", "--json", "--events", "receive,exit")
	s.traced(t, "echo", "true")

	assert.Equal(t, "sent\n", s.shell(t, "actornode send echo '{hello, <<\"you\">>}'"))
	assert.Equal(t, "5\n", s.shell(t, "actornode call counter '{add, 5}'"))
	assert.Equal(t, "5\n", s.shell(t, "actornode call counter get"))
	require.NoError(t, people.Wait(), text.String())
	golden(t, "testdata/trace/people.txt", masked(noRefs(text.String())))

	s.shell(t, "actornode kill echo")
	require.NoError(t, programs.Wait(), lines.String()) // the command has no process to trace any more
	golden(t, "testdata/trace/json.txt", masked(noRefs(lines.String())))
}

func TestTraceEndsWithCtrlC(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	x := s.terminal(t, 80, 24, "actornode", "trace", "counter")
	s.traced(t, "counter", "true")
	s.shell(t, "actornode call counter crash")
	x.wait(`receive[\s\S]*crash[\s\S]*exit[\s\S]*crash[\s\S]*have exited`)
	assert.Equal(t, exitOK, x.exit())

	s.traced(t, "counter", "false") // a new process, started by the supervisor
	x = s.terminal(t, 80, 24, "actornode", "trace", "counter")
	s.traced(t, "counter", "true")
	s.shell(t, "actornode call counter get")
	x.wait(`receive[\s\S]*get`) // Ctrl-C before the command follows would be an interruption
	x.press("\x03")
	assert.Equal(t, exitOK, x.exit())
	s.traced(t, "counter", "false")
}

func TestTraceRefused(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	d := s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	assert.Equal(t, "Error: no process is registered as nobody on go@127.0.0.1\n[exit 5]\n", s.shell(t, "actornode trace nobody"))
	assert.Contains(t, s.shell(t, "actornode trace counter --events nonsense"), "[exit 2]")
	_, text := s.stream(t, "trace", "counter")
	s.traced(t, "counter", "true")
	s.shell(t, "actornode call counter get")
	text.Await(t, "get") // and the daemon's answer has arrived
	require.NoError(t, d.Process.Kill())
	text.Await(t, "Error: the connection to go@127.0.0.1 was lost")
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	people, text := s.stream(t, "deadletters", "--follow")
	programs, lines := s.stream(t, "deadletters", "-f", "--json", "--cause", "no_process", "--max", "1")
	eventually(t, "a dead letter for each", func() bool {
		s.shell(t, "actornode send 999 '{hello, 1}'")
		return hello(text.String()) != "" && lines.String() != ""
	})
	require.NoError(t, people.Process.Signal(syscall.SIGINT))
	require.NoError(t, people.Wait(), text.String())
	require.NoError(t, programs.Wait(), lines.String())
	golden(t, "testdata/deadletters/people.txt", masked(hello(text.String())))
	golden(t, "testdata/deadletters/json.txt", masked(lines.String()))
}

// hello returns the first whole line about a hello; there may be dead letters of the node itself: late answers on a
// busy machine.
func hello(text string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "{hello,1}") && strings.HasSuffix(line, "\n") {
			return line
		}
	}
	return ""
}
