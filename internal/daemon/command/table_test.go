package command

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
)

func TestTables(t *testing.T) {
	f := newFakeNode(5)
	for i := range f.list {
		f.list[i].Rate = float64(i) * 51.25
	}
	columns, rows := processTable(f.list, "go@host", true, false)
	var b strings.Builder
	require.NoError(t, writeTable(&b, 0, columns, rows))
	require.NoError(t, writeTable(&b, 80, columns, rows))
	require.NoError(t, writeTable(&b, 0, columns, nil))
	golden(t, "testdata/table.txt", ansi.Strip(b.String()))
	for line := range strings.Lines(ansi.Strip(b.String())) {
		assert.Equal(t, strings.TrimRight(line, " \n")+"\n", line, "spaces at the end of a line")
	}
}

func TestForest(t *testing.T) {
	f := newFakeNode(6)
	forest := admin.Forest{Loose: 1234, Cut: 2, Missing: 1, Trees: []admin.Branch{
		{ID: "shop", Kind: "application", Version: "1.2", PID: f.list[0].PID, State: "waiting", Children: []admin.Branch{
			{ID: "top", Kind: "supervisor", Name: "shop_sup", PID: f.list[1].PID, State: "idle", Children: []admin.Branch{
				{ID: "carts", Kind: "supervisor", Name: "carts", PID: f.list[2].PID, State: "idle", Count: 12000,
					Note: "12000 children: not listed"},
				{ID: "till", Kind: "worker", Name: "till", Behaviour: "*shop.till", PID: f.list[3].PID, State: "running", Mailbox: 4321},
				{ID: "printer", Kind: "worker", State: "restarting"},
			}},
		}},
		{ID: "alone", Kind: "supervisor", PID: f.list[4].PID, State: "idle"},
	}}
	golden(t, "testdata/tree.txt", ansi.Strip(drawForest(forest, "go@host"))+"\n")
	assert.Equal(t, "go@host", ansi.Strip(drawForest(admin.Forest{}, "go@host")))
}

func TestTexts(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 134217727: "134,217,727", -1234: "-1,234",
		-123: "-123"} {
		assert.Equal(t, want, countText(n))
	}
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1<<20 - 1: "1.0 MiB", 3 << 29: "1.5 GiB",
		1<<64 - 1: "16.0 EiB"} {
		assert.Equal(t, want, bytesText(n))
	}
	for d, want := range map[time.Duration]string{0: "0ms", 999 * time.Millisecond: "999ms", time.Second: "1.0s",
		61 * time.Second:            "1m1s",
		3*time.Hour + 2*time.Minute: "3h2m", 50 * time.Hour: "2d2h"} {
		assert.Equal(t, want, spanText(d))
	}
	for r, want := range map[float64]string{0: "0", 0.26: "0.3", 99.9: "99.9", 12345.6: "12,345"} {
		assert.Equal(t, want, rateText(r))
	}
	assert.Empty(t, momentText(admin.Time{}))
}

// TestColours: there are colours on a terminal, unless they are turned off.
func TestColours(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	run := func(vars ...string) string {
		s := &cliTest{home: s.home, env: append(s.env[:len(s.env):len(s.env)], vars...)}
		x := s.terminal(t, 80, 24, "actornode", "ps", "counter")
		require.Equal(t, exitOK, x.exit())
		x.wait("counter")
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.screen.Render()
	}
	const cyan = "\x1b[36m"
	assert.Contains(t, run(), cyan)
	assert.NotContains(t, run("NO_COLOR=1"), cyan)
	assert.NotContains(t, s.shell(t, "actornode tree; actornode ps; actornode status"), "\x1b")

	piped := s.command(t, "actornode", "ps", "counter")
	ours, theirs, err := pty.Open()
	require.NoError(t, err)
	defer ours.Close()
	defer theirs.Close()
	piped.Stdin, piped.Stderr = theirs, theirs
	out, err := piped.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "counter")
	assert.NotContains(t, string(out), cyan, "only its standard output is none")
}

// info of one process shows what the activations of active objects wait for.
func TestActivations(t *testing.T) {
	for want, a := range map[string]admin.Activations{
		"": {},
		"waiting: 2,000 for a future, 1 for a condition; the longest 1m1s": {Future: 2000, Condition: 1, Time: 61 * time.Second},
		"waiting: 1 for their turn; the longest 0ms":                       {Turn: 1},
		"waiting: 2 for a time; the longest 0ms":                           {Asleep: 2},
	} {
		assert.Equal(t, want, activationsText(a))
	}
}

// info of one process shows messages that are left.
func TestUnhandled(t *testing.T) {
	for want, u := range map[string]admin.Unhandled{
		"": {},
		"2,000 left in the mailbox; the oldest, a float64, for 1m1s": {Count: 2000, Oldest: "float64", Time: 61 * time.Second},
	} {
		assert.Equal(t, want, unhandledText(u))
		assert.Contains(t, (&session{at: "go@host"}).detailFields(admin.Detail{Unhandled: u}), [2]string{"Unhandled", want})
	}
}

// The table has a column for what processes wait for if one of them waits for more than a message; info of one process
// always shows it.
func TestWaits(t *testing.T) {
	pid := fakeOrigin.PID(500)
	for _, c := range []struct {
		wait admin.Wait
		want string
	}{
		{admin.Wait{}, ""},
		{admin.Wait{For: "message", Time: time.Minute}, ""},
		{admin.Wait{For: "reply", PID: pid, Time: 61 * time.Second}, "reply from " + shownAt(pid, "go@host") + ", 1m1s"},
		{admin.Wait{For: "reply", Name: "the bank", Node: "b@host", Time: 5 * time.Millisecond}, "reply from 'the bank' at b@host, 5ms"},
		{admin.Wait{For: "future", Node: "b@host"}, "future of b@host, 0ms"},
		{admin.Wait{For: "future", Time: time.Second}, "future, 1.0s"},
		{admin.Wait{For: "exit", PID: pid}, "exit of " + shownAt(pid, "go@host") + ", 0ms"},
		{admin.Wait{For: "space", Node: "b@host"}, "space at b@host, 0ms"},
	} {
		assert.Equal(t, c.want, waitText(c.wait, "go@host"))
		f := newFakeNode(3)
		f.list[1].Wait = c.wait
		columns, rows := processTable(f.list, "go@host", false, false)
		assert.Equal(t, c.want != "", columns[len(columns)-2].title == "WAITS FOR")
		if c.want != "" {
			assert.Equal(t, c.want, rows[1][len(columns)-2])
			d := drive(t, f, 160, 10)
			assert.Contains(t, d.view(), c.want)
		}
	}
	s := &session{at: "go@host"}
	assert.Contains(t, s.detailFields(admin.Detail{Process: admin.Process{Wait: admin.Wait{For: "message", Time: time.Minute}}}),
		[2]string{"Waits for", "message, 1m0s"})
}
