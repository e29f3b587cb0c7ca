package port

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", lineBytes)
	text := "one\r\n\n" + long + "\n" + long + "yz\nend"
	want := []string{"one 0", " 0", long + " 0", long + " 2", "end 0"}
	for size := 1; size < len(text); size = size*3 + 1 {
		var l lines
		var got []string
		emit := func(line []byte, more int) { got = append(got, fmt.Sprintf("%s %d", line, more)) }
		for b := []byte(text); len(b) > 0; b = b[min(size, len(b)):] {
			l.feed(b[:min(size, len(b))], emit)
			require.LessOrEqual(t, cap(l.buf), 2*lineBytes)
		}
		l.end(emit)
		require.Equal(t, want, got, size)
	}
}

// A line above the rate is logged when the second is over, and at the end of stderr, with the number of those before it.
func TestStderrRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		from, to := io.Pipe()
		var all sync.WaitGroup
		all.Go(func() { logLines(from, log.Logger(), 2) }) // ends with the pipe
		const missed = `"port: some lines of the program's stderr were not logged: too many a second" lines=`
		said := func(text string) string { return `"port: stderr" text=` + text + "\n" }
		say := func(text string) string { // and returns what is logged then
			fmt.Fprintln(to, text)
			synctest.Wait()
			return take(log)
		}
		require.Equal(t, said("one"), say("one"))
		require.Equal(t, said("two"), say("two"))
		require.Empty(t, say("a \xff"))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, said("\"a \uFFFD\""), take(log))
		require.Equal(t, said("three"), say("three"))
		require.Empty(t, say("four"))
		require.Empty(t, say("five"))
		require.Empty(t, say(strings.Repeat("x", lineBytes+7)))
		to.Close()
		all.Wait()
		require.Equal(t, missed+"2\n"+said(strings.Repeat("x", lineBytes)+" bytes_left_out=7"), take(log))
		time.Sleep(time.Hour)
		require.Empty(t, take(log))
	})
}

// A warning above the rate is logged when the second is over, and when the port ends.
func TestWarningRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		p := &port{log: log.Logger()}
		p.warnings.Init(env.Env{}, pace(1), p.logWarning)
		p.warn("a", "to", 1)
		require.Equal(t, "a to=1\n", take(log))
		p.warn("a", "to", 2)
		require.Empty(t, take(log))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, "a to=2\n", take(log))
		p.warn("a", "to", 3)
		p.warn("b")
		require.Empty(t, take(log))
		p.warnings.Close()
		require.Equal(t, "b not_logged=1\n", take(log))
		p.warn("c")
		time.Sleep(time.Hour)
		require.Empty(t, take(log))
	})
}

// head is the time of a line of the log, its level, and the name of its message.
var head = regexp.MustCompile(`(?m)^time=\S+ level=\S+ msg=`)

// take takes the lines that have been logged, without their heads.
func take(log *logtest.Text) string { return head.ReplaceAllString(log.Take(), "") }
