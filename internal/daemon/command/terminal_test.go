package command

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
)

// terminal is a pseudo-terminal with an emulator behind it that knows what is on the screen.
type terminal struct {
	t   *testing.T
	pty *os.File
	cmd *exec.Cmd

	drawn chan struct{} // closed when all output of the program is on the screen

	more chan struct{} // capacity 1: there is new output

	mu     sync.Mutex
	screen *vt.Emulator
	raw    strings.Builder // all output of the program
}

// written returns all output of the program, unchanged.
func (x *terminal) written() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.raw.String()
}

// terminal runs a program on a terminal of the given size.
func (s *cliTest) terminal(t *testing.T, width, height int, name string, args ...string) *terminal {
	cmd := s.command(t, name, args...)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)})
	require.NoError(t, err)
	x := &terminal{t: t, pty: f, cmd: cmd, drawn: make(chan struct{}), more: make(chan struct{}, 1), screen: vt.NewEmulator(width, height)}
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { // reads the program's output; ends with the program
		defer wg.Done()
		defer close(x.drawn)
		b := make([]byte, 4096)
		for {
			n, err := f.Read(b)
			x.mu.Lock()
			x.screen.Write(b[:n])
			x.raw.Write(b[:n])
			x.mu.Unlock()
			select {
			case x.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	go func() { // sends the terminal's answers to questions about itself; ends with the emulator
		defer wg.Done()
		io.Copy(f, x.screen)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill() // it may have ended by itself
		cmd.Wait()
		f.Close()
		x.screen.InputPipe().(io.Closer).Close()
		wg.Wait()
	})
	return x
}

// see returns the contents of the screen, without colours.
func (x *terminal) see() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	lines := strings.Split(x.screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// wait waits until the screen matches.
func (x *terminal) wait(pattern string) string {
	re := regexp.MustCompile(pattern)
	seen, ok := x.until(re.MatchString)
	require.True(x.t, ok, "the screen does not show %s: %s", pattern, seen)
	return seen
}

// until checks the screen whenever the program has written to it, until it is as wanted, the program has ended, or the
// time is up.
func (x *terminal) until(wanted func(seen string) bool) (seen string, ok bool) {
	for end := time.After(testkit.Limit); ; {
		if seen = x.see(); wanted(seen) {
			return seen, true
		}
		select {
		case <-x.more:
		case <-x.drawn:
			seen = x.see()
			return seen, wanted(seen)
		case <-end:
			return seen, false
		}
	}
}

// shows waits until the screen matches the pattern, and then until it equals the file: the output comes in pieces.
func (x *terminal) shows(file, pattern string) {
	seen := cells(x.wait(pattern))
	want, err := os.ReadFile(file)
	if err == nil && !erltest.Updating() {
		screen, _ := x.until(func(s string) bool { return cells(s) == string(want) })
		seen = cells(screen)
	}
	golden(x.t, file, seen)
}

// press types keys.
func (x *terminal) press(keys string) {
	_, err := x.pty.WriteString(keys)
	require.NoError(x.t, err)
}

// exit waits until the program has ended, and all its output is on the screen.
func (x *terminal) exit() int {
	err := x.cmd.Wait()
	testkit.Receive(x.t, x.drawn)
	require.NotContains(x.t, x.written(), "SIGQUIT: quit", "it hung")
	var exited *exec.ExitError
	if !errors.As(err, &exited) {
		require.NoError(x.t, err)
	}
	return x.cmd.ProcessState.ExitCode()
}
