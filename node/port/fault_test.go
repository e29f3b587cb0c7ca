//go:build unix

package port

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func TestFaults(t *testing.T) {
	is := func(name string, args ...string) Config { return runs(t, name, args...) }
	writes := func(b string) Config { return runs(t, "write", strconv.Quote(b)) }
	stops := func(b string) Config { return runs(t, "write, and close stdout", strconv.Quote(b)) }
	for _, c := range []struct {
		name string
		cfg  Config
		want string // the exit reason; one that ends in … is a prefix
	}{
		{"exits with 0", is("exit", "0"), "normal"},
		{"exits with 3", is("exit", "3"), "{exit_status,3}"},
		{"killed by a signal", is("signal", strconv.Itoa(int(syscall.SIGTERM))), "{signal,sigterm}"},
		{"killed for good", is("signal", strconv.Itoa(int(syscall.SIGKILL))), "{signal,sigkill}"},
		{"writes text", writes("hello, world\n"), "{frame_too_large,1751477356,67108864}"},
		{"writes zeros and goes on", is("write zeros", "100"), `{badframe,<<"frame 1: an empty frame">>}`},
		{"writes garbage in a frame", writes(string(framed([]byte("\xc1")))), `{badframe,<<"frame 1: pack: offset 0: the byte 0xc1…`},
		{"a frame of an integer", writes(string(framed([]byte("\x07")))), `{badframe,<<"frame 1: want an array…`},
		{"an unknown word", writes(string(framed([]byte("\x91\xa3abc")))),
			`{badframe,<<"frame 1: unknown kind of frame: \"abc\"">>}`},
		{"says it is a gigabyte", writes("\x40\x00\x00\x00"), "{frame_too_large,1073741824,67108864}"},
		{"a frame that does not come", stops("\x03\x00\x00\x00abc"), "stdout_closed"},
		{"closes its stdout", stops(""), "stdout_closed"},
		{"closes its stdout and says why", is("close stdout and exit", "4"), "{exit_status,4}"},
		{"closes its stdin", is("close stdin"), "stdin_closed"},
		{"floods stdout with frames of nothing", is("write zeros"), `{badframe,…`},
		{"answers what nobody has asked", is("answer nobody"), `{badframe,<<"an answer to 7, which is not an open call">>}`},
		{"two calls of one id", is("call twice"), `{badframe,<<"a call with the id 1, which another open call has">>}`},
		{"exits with a reason", is("exit with a reason"), "{shutdown,7}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newPortTest(t)
			if strings.HasSuffix(c.want, "_closed") { // it does not exit by itself
				c.cfg.Grace = 100 * time.Millisecond
			}
			pid, err := node.SpawnWait(ctx, w.self, node.Options{Monitor: new(node.Ref)}, New(c.cfg))
			require.NoError(t, err)
			if strings.Contains(c.name, "its stdin") { // noticed only when something is written
				testkit.UntilTrue(t, func() bool {
					w.n.Send(pid, "x")
					i, err := Inspect(ctx, w.n, pid)
					return err != nil || i.Ending
				}, "EPIPE")
			}
			why := format(w.reason(pid))
			if begin, more := strings.CutSuffix(c.want, "…"); more {
				require.True(t, strings.HasPrefix(why, begin), why)
			} else {
				require.Equal(t, c.want, why)
			}
		})
	}
}

func TestNotStarted(t *testing.T) {
	w := newPortTest(t)
	copies := func(dir string, init any) Config {
		cfg := runs(t, "copy")
		cfg.Dir, cfg.Init = dir, init
		return cfg
	}
	never, exits := runs(t, "read nothing"), runs(t, "exit", "5")
	never.Ready, never.Grace = 20*time.Millisecond, 100*time.Millisecond
	exits.Ready = testkit.Limit
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"nothing there":     {Config{Command: "/nonexistent/x"}, "{not_started,enoent}"},
		"not in PATH":       {Config{Command: "no-such-program-anywhere"}, "{not_started,enoent}"},
		"no program":        {Config{Command: "/etc/passwd"}, "{not_started,eacces}"},
		"no such directory": {copies("/nonexistent", nil), "{not_started,enoent}"},
		"no command":        {Config{}, `{bad_config,<<"port: invalid configuration: Command is missing; want the program to run">>}`},
		"no codec": {Config{Command: "x", Codec: "json"},
			`{bad_config,<<"port: invalid configuration: Codec is \"json\"; want msgpack, plain or etf">>}`},
		"no size": {Config{Command: "x", Queue: -1},
			`{bad_config,<<"port: invalid configuration: Queue is -1; want 1 to 2147483647, or 0 for 1048576">>}`},
		"no time": {Config{Command: "x", Grace: -1},
			`{bad_config,<<"port: invalid configuration: Grace is -1ns; want a time above 0">>}`},
		"no term":     {copies("", make(chan int)), `{bad_config,<<"Init: …`},
		"never ready": {never, "start_timeout"},
		"exits first": {exits, "{exit_status,5}"},
	} {
		_, err := Start(ctx, w.n, c.cfg, node.Options{})
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit, name)
		if begin, more := strings.CutSuffix(c.want, "…"); more {
			require.Contains(t, format(exit.Reason), begin, name)
		} else {
			require.Equal(t, c.want, format(exit.Reason), name)
		}
	}
}

// A program that reads nothing: the data on its way to it is bounded, the rest waits in the mailbox, and that is
// bounded if the mailbox is.
func TestStopsReading(t *testing.T) {
	w := newPortTest(t)
	start := func(stall time.Duration) node.PID {
		cfg := runs(t, "read nothing")
		cfg.Queue, cfg.Stall, cfg.Grace = 100_000, stall, 50*time.Millisecond
		pid, err := Start(ctx, w.n, cfg, node.Options{Bounds: mailbox.Bounds{Messages: 100}})
		require.NoError(t, err)
		w.self.Monitor(pid)
		return pid
	}
	pid, full := start(node.Infinity), false
	for range 10_000 {
		if err := w.n.Send(pid, make([]byte, 1000)); err != nil {
			require.ErrorIs(t, err, node.ErrMailboxFull)
			full = true
			break
		}
	}
	require.True(t, full)
	w.n.Exit(pid, node.Kill)
	require.Equal(t, node.Killed, w.reason(pid))

	pid = start(200 * time.Millisecond)
	testkit.UntilTrue(t, func() bool { w.n.Send(pid, make([]byte, 1000)); return !w.n.IsAlive(pid) }, "its end")
	require.Equal(t, "{stdin_stalled,200}", format(w.reason(pid)))
}

// The program resumes reading after a while: nothing is lost, and the order is kept, through a bounded mailbox too.
func TestReadsLate(t *testing.T) {
	for name, o := range map[string]node.Options{
		"unbounded": {},
		"bounded":   {Bounds: mailbox.Bounds{Messages: 10, Policy: mailbox.Block}},
	} {
		t.Run(name, func(t *testing.T) { testReadsLate(t, o) })
	}
}

func testReadsLate(t *testing.T, o node.Options) {
	w := newPortTest(t)
	g := newGate(t)
	cfg := runs(t, "read late", g.addr())
	cfg.Stall = node.Infinity
	cfg.Queue = 10_000
	pid := w.start(cfg, o)
	_, waits := g.accept()
	const n = 2000
	done := make(chan error, 1)
	go func() {
		for i := range n {
			if err := w.n.Send(pid, wire.List{i, make([]byte, 100)}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	if o.Bounds.Messages > 0 { // no room for a system message either
		testkit.UntilTrue(t, func() bool { i, err := w.n.Info(pid); return err == nil && i.Mailbox >= o.Bounds.Messages }, "full")
	} else {
		testkit.UntilTrue(t, func() bool { return w.info(pid).Waiting >= 10_000 }, "full")
		require.Less(t, w.info(pid).Waiting, 10_200)
	}
	require.NoError(t, waits.Close())
	require.NoError(t, <-done)
	require.Equal(t, "[2000,true]", w.call(pid, "get"))
}

// A program that writes much while it reads nothing, and one that reads without writing, succeed: neither direction
// waits for the other.
func TestBothDirectionsFull(t *testing.T) {
	w := newPortTest(t)
	cfg := runs(t, "ten for one")
	cfg.Stall = node.Infinity
	cfg.Queue = 10_000
	pid := w.start(cfg, node.Options{})
	require.NoError(t, w.n.Register("sink", w.self.Self()))
	const n = 500
	for range n {
		require.NoError(t, w.n.Send(pid, make([]byte, 2000)))
	}
	for range 10 * n {
		require.Len(t, w.receive(), 2000)
	}
}

func TestStderr(t *testing.T) {
	w := newPortTest(t)
	cfg := runs(t, "errors")
	require.Equal(t, "normal", format(w.reason(w.monitored(cfg))))
	log := w.log.String()
	require.Contains(t, log, `text=one`)
	require.Contains(t, log, "text=\"tw\uFFFDo\"\n")
	require.Contains(t, log, "xxx bytes_left_out=5904\n")
	require.Contains(t, log, "text=end\n")
	require.Contains(t, log, "command="+cfg.Command)
}

func TestStderrFlood(t *testing.T) {
	w := newPortTest(t)
	cfg := runs(t, "flood of errors")
	cfg.LogRate = 10
	begin := time.Now()
	require.Equal(t, "normal", format(w.reason(w.monitored(cfg))))
	most := cfg.LogRate * (int(time.Since(begin)/time.Second) + 2)
	log := w.log.String()
	require.LessOrEqual(t, strings.Count(log, "text="), most)
	require.Contains(t, log, "stderr were not logged")
	require.Less(t, len(log), 4*lineBytes+500*(most+10), "one line of zeros, with an escape for each")
}

// A grandchild in the process group is ended with the program; one that has left the group holds the pipes open, and
// the port does not wait for it.
func TestGrandchildren(t *testing.T) {
	for _, where := range []string{"inside", "outside"} {
		t.Run(where, func(t *testing.T) {
			w, g := newPortTest(t), newGate(t)
			port := w.monitored(runs(t, "leave a child", g.addr(), where))
			child, lives := g.accept()
			parent, waits := g.accept()
			if parent != w.info(port).OSPID {
				child, lives, waits = parent, waits, lives
			}
			require.NoError(t, waits.Close())
			require.Equal(t, "{exit_status,6}", format(w.reason(port)))
			if where == "outside" {
				require.False(t, dead(child), "nobody has waited for its end")
				require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
			}
			_, err := lives.Read(make([]byte, 1))
			require.Error(t, err, "it has ended")
			testkit.UntilTrue(t, func() bool { return dead(child) }, "the end of the grandchild")
		})
	}
}

// dead reports whether a process is gone, or a zombie of another parent.
func dead(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.Contains(b, []byte(") Z "))
}

// What the program writes before it exits arrives.
func TestLastWords(t *testing.T) {
	w := newPortTest(t)
	require.NoError(t, w.n.Register("sink", w.self.Self()))
	pid := w.start(runs(t, "last words"), node.Options{})
	for i := range 3000 {
		require.Equal(t, i, w.receive())
	}
	require.Equal(t, "{exit_status,3}", format(w.reason(pid)))
}

// Waiting calls fail when the port ends.
func TestCallersOfTheDead(t *testing.T) {
	w := newPortTest(t)
	pid := w.start(runs(t, "die when called"), node.Options{})
	var all []*node.Future[any]
	for i := range 100 {
		all = append(all, node.Async[any](w.n, pid, i))
	}
	for _, f := range all {
		_, err := node.Await(ctx, w.n, f)
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		require.Contains(t, []string{"{exit_status,9}", "noproc"}, format(exit.Reason))
	}
}

func TestMessagesThatCannotBeWritten(t *testing.T) {
	w := newPortTest(t)
	cfg := counter(t)
	cfg.Frame = 10_000
	pid := w.start(cfg, node.Options{})
	_, err := node.Call[any](ctx, w.n, pid, make(chan int))
	require.ErrorContains(t, err, "chan int")
	_, err = node.Call[any](ctx, w.n, pid, make([]byte, 10_000))
	require.ErrorIs(t, err, ErrFrame)
	require.NoError(t, w.n.Send(pid, make(chan int)))
	require.NoError(t, w.n.Send(pid, node.Cast[any]{Body: make([]byte, 10_000)}))
	require.Equal(t, "0", w.call(pid, "get"))
	require.Equal(t, 4, w.info(pid).Refused)
	require.Equal(t, 2, strings.Count(w.log.String(), "could not pass a message to the program"))
}

// A warning above the rate is logged at the latest when the port ends, also if it is killed.
func TestWarningsOfTheDead(t *testing.T) {
	for _, reason := range []any{node.Shutdown, node.Kill} {
		w := newPortTest(t)
		cfg := counter(t)
		cfg.LogRate = 1
		pid := w.start(cfg, node.Options{})
		for range 2 {
			require.NoError(t, w.n.Send(pid, make(chan int)))
		}
		require.Equal(t, 2, w.info(pid).Refused)
		w.n.Exit(pid, reason)
		w.reason(pid)
		testkit.UntilTrue(t, func() bool { return strings.Count(w.log.String(), "could not pass a message") == 2 }, "both lines")
	}
}
