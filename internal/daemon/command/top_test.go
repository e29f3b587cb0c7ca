package command

import (
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cells masks the parts of a screen that differ from run to run, keeping the columns.
func cells(screen string) string {
	for _, m := range []struct{ what, by string }{
		{`\b\d\d:\d\d:\d\d\b`, "hh:mm:ss"},
		{`up \d+(\.\d+)?m?s *`, "up SPAN  "},
		{`(Processes|named|Messages|Dead letters|Peers|Goroutines|Run queue) [\d,]+`, "$1 N"},
		{`\([\d,]+ named`, "(N named"},
		{`\d+(\.\d)? [KM]?i?B`, "SIZE"},
		{`\d[\d,]* processes`, "N processes"},
		{`(?m)^\d+\.\d+\.[0-9a-z]+`, "PID"},
		{`Process \d+\.\d+\.[0-9a-z]+`, "Process PID"},
		{`\b\d+\.\d+\.[0-9a-z]{4,7}\b`, "PID"},
		{`\d{4}-\d\d-\d\d .* ago`, "MOMENT"},
		{`\b(\d+m)?\d+(\.\d)?m?s `, "SPAN "},
		{`Stage  +\d+`, "Stage         N"},
	} {
		screen = regexp.MustCompile(m.what).ReplaceAllString(screen, m.by)
	}
	var lines []string
	for line := range strings.Lines(screen) {
		if strings.HasPrefix(line, "PID ") && !strings.Contains(line, "STATE") { // a process: PID and SIZE have lost their width
			line = strings.Join(strings.Fields(line), "  ") + "\n"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// TestTop runs top on a terminal of 80 by 24.
func TestTop(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	s.shell(t, "actornode call counter '{add, 5}'")
	x := s.terminal(t, 80, 24, "actornode", "top", "--every", "200ms")
	x.wait(`processes by mailbox[\s\S]*counter`)

	x.press("s")
	x.wait(`processes by handled`)
	x.press("SS")
	x.wait(`processes by name`)

	x.press("/demo.")
	x.wait(`filter: demo\.`)
	x.press("\r")
	x.shows("testdata/top/filter.txt", `by name[\s\S]*▲NAME\s+\S+ +idle.* counter\s+\S+ +idle .* echo`)

	x.press("\r")
	x.shows("testdata/top/info.txt", `Kind +gen_server[\s\S]*Mailbox`)
	x.press("\x1b")
	x.wait(`▲NAME`)
	x.press("r")
	x.shows("testdata/top/reverse.txt", `by name, reversed[\s\S]*▼NAME\s+\S+ +idle.* echo\s+\S+ +idle .* counter`)
	x.press("p")
	x.wait(`; paused`)
	x.press("p?")
	x.shows("testdata/top/help.txt", `page down[\s\S]*quit`)
	x.press("?")
	x.wait(`q quit • \? help`)

	x.mu.Lock()
	x.screen.Resize(120, 12) // first: the program redraws everything once it knows
	require.NoError(t, pty.Setsize(x.pty, &pty.Winsize{Rows: 12, Cols: 120}))
	x.mu.Unlock()
	x.shows("testdata/top/wide.txt", `LINKS[\s\S]*quit`)
	x.press("q")
	assert.Equal(t, exitOK, x.exit())
	assert.NotContains(t, x.see(), "processes", "the screen is as it was before")
}

func TestTopLosesTheNode(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	d := s.daemon(t, "--name", "go@127.0.0.1", "--demo")
	x := s.terminal(t, 80, 24, "actornode", "top", "--every", "200ms")
	x.wait(`processes by mailbox[\s\S]*counter`)
	require.NoError(t, d.Process.Kill())
	x.wait(`connection to go@127.0.0.1 was lost|cannot reach`)
	x.press("\x03")
	assert.Equal(t, exitOK, x.exit())
}
