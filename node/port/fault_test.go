//go:build unix

package port

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		want string // the exit reason; one that ends in … is its beginning
	}{
		{"exits with 0", sh("exit 0"), "normal"},
		{"exits with 3", sh("exit 3"), "{exit_status,3}"},
		{"killed by a signal", sh("kill -SEGV $$"), "{signal,sigsegv}"},
		{"killed for good", sh("kill -KILL $$"), "{signal,sigkill}"},
		{"writes text", sh("echo hello, world; cat >/dev/null"), "{frame_too_large,1751477356,67108864}"},
		{"writes zeros", sh("head -c 100 /dev/zero; cat >/dev/null"), `{badframe,<<"frame 1: an empty frame">>}`},
		{"writes garbage in a frame", sh(`printf '\000\000\000\001\301'; cat >/dev/null`),
			`{badframe,<<"frame 1: pack: offset 0: the byte 0xc1…`},
		{"a frame of an integer", sh(`printf '\000\000\000\001\007'; cat >/dev/null`), `{badframe,<<"frame 1: want an array…`},
		{"an unknown word", sh(`printf '\000\000\000\005\221\243abc'; cat >/dev/null`),
			`{badframe,<<"frame 1: unknown kind of frame: \"abc\"">>}`},
		{"says it is a gigabyte", sh(`printf '\100\000\000\000'; cat >/dev/null`), "{frame_too_large,1073741824,67108864}"},
		{"a frame that does not come", sh(`printf '\003\000\000\000abc'; exec >&-; sleep 100`), "stdout_closed"},
		{"closes its stdout", sh("exec >&-; sleep 100"), "stdout_closed"},
		{"closes its stdout and says why", sh("exec >&-; exit 4"), "{exit_status,4}"},
		{"closes its stdin", sh("exec <&-; sleep 100"), "stdin_closed"},
		{"floods stdout with frames of nothing", sh("cat /dev/zero"), `{badframe,…`},
		{"answers what nobody has asked", python("port = Port()\nport.reply(7, 1)\nport.run()"),
			`{badframe,<<"an answer to 7, which is not an open call">>}`},
		{"two calls of one id", python("port = Port()\nfor _ in range(2): port._write('call', 1, port.me, 1)\nport.run()"),
			`{badframe,<<"a call with the id 1, which another open call has">>}`},
		{"exits with a reason", python("port = Port()\nport.exit((Atom('shutdown'), 7))\nport.run()"), "{shutdown,7}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newPortTest(t)
			if c.cfg.Grace = patience; strings.HasSuffix(c.want, "_closed") { // it does not exit by itself
				c.cfg.Grace = 100 * time.Millisecond
			}
			pid, _, err := node.SpawnWaitMonitor(ctx, w.self, node.Options{}, New(c.cfg))
			require.NoError(t, err)
			if strings.Contains(c.name, "its stdin") { // it is seen when something is written
				eventually(t, "EPIPE", func() bool {
					w.n.Send(pid, "x")
					i, err := Inspect(ctx, w.n, pid)
					return err != nil || i.Ending
				})
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
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"nothing there":     {Config{Command: "/nonexistent/x"}, "{not_started,enoent}"},
		"not in PATH":       {Config{Command: "no-such-program-anywhere"}, "{not_started,enoent}"},
		"no program":        {Config{Command: "/etc/passwd"}, "{not_started,eacces}"},
		"no such directory": {Config{Command: "/bin/cat", Dir: "/nonexistent"}, "{not_started,enoent}"},
		"no command":        {Config{}, `{bad_config,<<"port: invalid configuration: Command is missing; want the program to run">>}`},
		"no codec": {Config{Command: "x", Codec: "json"},
			`{bad_config,<<"port: invalid configuration: Codec is \"json\"; want msgpack, plain or etf">>}`},
		"no size": {Config{Command: "x", Queue: -1},
			`{bad_config,<<"port: invalid configuration: Queue is -1; want 1 to 2147483647, or 0 for 1048576">>}`},
		"no time": {Config{Command: "x", Grace: -1},
			`{bad_config,<<"port: invalid configuration: Grace is -1ns; want a time above 0">>}`},
		"no term":     {Config{Command: "/bin/cat", Init: make(chan int)}, `{bad_config,<<"Init: …`},
		"never ready": {Config{Command: "/bin/sleep", Args: []string{"100"}, Ready: 20 * time.Millisecond}, "start_timeout"},
		"exits first": {Config{Command: "/bin/sh", Args: []string{"-c", "exit 5"}, Ready: patience}, "{exit_status,5}"},
	} {
		c.cfg.Grace = max(c.cfg.Grace, -1)
		if c.cfg.Grace == 0 {
			c.cfg.Grace = 100 * time.Millisecond
		}
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

// A program that reads nothing: what goes to it is bounded, the rest waits in the
// mailbox, and what waits there is bounded where the mailbox is.
func TestStopsReading(t *testing.T) {
	w := newPortTest(t)
	cfg := sh("sleep 1000")
	cfg.Queue, cfg.Stall, cfg.Grace = 100_000, 3*time.Second, 100*time.Millisecond
	pid, err := Start(ctx, w.n, cfg, node.Options{Limits: mailbox.Limits{Messages: 100}})
	require.NoError(t, err)
	w.self.Monitor(pid)
	full := false
	for range 10_000 {
		if err := w.n.Send(pid, make([]byte, 1000)); err != nil {
			require.ErrorIs(t, err, node.ErrMailboxFull)
			full = true
			break
		}
		if !w.n.IsAlive(pid) {
			break
		}
	}
	require.True(t, full)
	require.Equal(t, "{stdin_stalled,3000}", format(w.reason(pid)))
}

// The program goes on after a while: nothing is lost, and the order is kept, through
// a bounded mailbox too.
func TestReadsLate(t *testing.T) {
	for name, o := range map[string]node.Options{
		"unbounded": {},
		"bounded":   {Limits: mailbox.Limits{Messages: 10, Policy: mailbox.Block}},
	} {
		t.Run(name, func(t *testing.T) { testReadsLate(t, o) })
	}
}

func testReadsLate(t *testing.T, o node.Options) {
	w := newPortTest(t)
	gate := filepath.Join(t.TempDir(), "gate")
	cfg := python(`
port = Port()
while not os.path.exists(sys.argv[1]): time.sleep(0.01)
seen = []
@port.on_info
def info(m):
    if isinstance(m, list): seen.append(m[0])
@port.on_call
def call(body, caller): return [len(seen), seen == sorted(seen)]
port.run()
`)
	cfg.Args = append(cfg.Args, gate)
	cfg.Queue = 10_000
	pid := w.start(cfg, o)
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
	if o.Limits.Messages > 0 { // a system message does not get in either
		eventually(t, "full", func() bool { i, err := w.n.Info(pid); return err == nil && i.Mailbox >= o.Limits.Messages })
	} else {
		eventually(t, "full", func() bool { return w.info(pid).Waiting >= 10_000 })
		require.Less(t, w.info(pid).Waiting, 10_200)
	}
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	require.NoError(t, <-done)
	require.Equal(t, "[2000,true]", w.call(pid, "get"))
}

// A program that writes much while it reads nothing, and the other way round, comes
// through: neither direction waits for the other.
func TestBothDirectionsFull(t *testing.T) {
	w := newPortTest(t)
	cfg := python(`
port = Port()
@port.on_info
def info(m):
    for _ in range(10): port.send("sink", m)
port.run()
`)
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
	cfg := sh(`echo one >&2; printf 'tw\377o\r\n' >&2; head -c 10000 /dev/zero | tr '\0' x >&2; echo >&2; printf end >&2`)
	require.Equal(t, "normal", format(w.reason(w.monitored(cfg))))
	log := w.log.String()
	require.Contains(t, log, `text=one`)
	require.Contains(t, log, "text=\"tw\uFFFDo\"\n")
	require.Contains(t, log, "xxx bytes_left_out=5904\n")
	require.Contains(t, log, "text=end\n")
	require.Contains(t, log, "command=/bin/sh")
}

func TestStderrFlood(t *testing.T) {
	w := newPortTest(t)
	cfg := sh(`i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done >&2; head -c 3000000 /dev/zero >&2`)
	cfg.LogRate = 10
	require.Equal(t, "normal", format(w.reason(w.monitored(cfg))))
	log := w.log.String()
	require.Less(t, strings.Count(log, "text="), 1500)
	require.Contains(t, log, "stderr were not logged")
	require.Less(t, len(log), 100_000)
}

// A grandchild in the group is ended with the program; one that has left the group
// holds the pipes open, and nobody waits for it.
func TestGrandchildren(t *testing.T) {
	for name, start := range map[string]string{"in the group": "", "outside": "setsid "} {
		t.Run(name, func(t *testing.T) {
			w := newPortTest(t)
			file := filepath.Join(t.TempDir(), "pid")
			grandchild := `sh -c 'echo $$ >` + file + `; exec sleep 1000' & ` // says who it is when it is where it will be
			pid := w.monitored(sh(start + grandchild + `while [ ! -s ` + file + ` ]; do sleep 0.01; done; exit 6`))
			require.Equal(t, "{exit_status,6}", format(w.reason(pid)))
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			child, err := strconv.Atoi(strings.TrimSpace(string(b)))
			require.NoError(t, err)
			if name == "outside" {
				require.False(t, dead(child), "nobody has waited for its end")
				require.NoError(t, syscall.Kill(child, syscall.SIGKILL))
				return
			}
			eventually(t, "the end of the grandchild", func() bool { return dead(child) })
		})
	}
}

// dead reports whether a process is gone, or a zombie of somebody else's.
func dead(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.Contains(b, []byte(") Z "))
}

// What the program has written before it exits arrives.
func TestLastWords(t *testing.T) {
	w := newPortTest(t)
	require.NoError(t, w.n.Register("sink", w.self.Self()))
	pid := w.start(python(`
port = Port()
for i in range(3000): port.send("sink", i)
os._exit(3)
`), node.Options{})
	for i := range 3000 {
		require.Equal(t, i, w.receive())
	}
	require.Equal(t, "{exit_status,3}", format(w.reason(pid)))
}

// Calls that wait end with the port.
func TestCallersOfTheDead(t *testing.T) {
	w := newPortTest(t)
	pid := w.start(python("port = Port()\n@port.on_call\ndef call(b, c): os._exit(9)\nport.run()"), node.Options{})
	var all []*node.Future[any]
	for i := range 100 {
		all = append(all, node.Async[any](w.n, pid, i))
	}
	for _, f := range all {
		_, err := f.Await(ctx)
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		require.Contains(t, []string{"{exit_status,9}", "noproc"}, format(exit.Reason))
	}
}

func TestMessagesThatCannotBeWritten(t *testing.T) {
	w := newPortTest(t)
	cfg := counter()
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
