package otp_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// logging is a node of Go with the tools, and its log.
func logging(t *testing.T, c otp.Config, d *node.Distribution) (*node.Node, *logtest.Text) {
	t.Helper()
	log := &logtest.Text{}
	cfg := node.Config{Log: log.Logger(), Distribution: d}
	if d != nil {
		cfg.Name = "go@127.0.0.1"
	}
	n := nodetest.Start(t, cfg)
	c.Output = log
	require.NoError(t, otp.Serve(n, c))
	return n, log
}

// says waits until a log has a line with all of parts.
func says(t *testing.T, log *logtest.Text, parts ...string) {
	t.Helper()
	testkit.Until(t, func() string {
		for line := range strings.Lines(log.String()) {
			found := true
			for _, part := range parts {
				found = found && strings.Contains(line, part)
			}
			if found {
				return ""
			}
		}
		return "no line has " + strings.Join(parts, " and ") + " in\n" + log.String()
	})
}

// What a node of OTP logs about a process that works for this node appears in this node's log, as between nodes of OTP.
func TestLogEventsOTP(t *testing.T) {
	erltest.Need(t)
	cfg := epmdtest.Serve(t, "127.0.0.1")
	n, log := logging(t, otp.Config{}, &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: cfg}})
	e := erltest.Start(t, erltest.Options{Name: "e@127.0.0.1", EPMD: cfg.Port})
	require.NoError(t, n.Ping(testkit.Context(t), "e@127.0.0.1"))
	require.NoError(t, rpc.Cast(n, "e@127.0.0.1", "erlang", "error", wire.Atom("spilt_milk")))
	says(t, log, "level=ERROR", "peer=e@127.0.0.1", "process=<", "spilt_milk")
	for _, args := range [][]any{
		{wire.Atom("warning"), "low on ~p ~ts", wire.List{wire.Atom("milk"), "ä"}},
		{wire.Atom("error"), wire.NewMap(wire.Atom("milk"), wire.Atom("sour"))},
		{wire.Atom("critical"), wire.Charlist("no cow")},
		{wire.Atom("error"), "~p of ~p", wire.List{1}},
	} {
		_, err := rpc.Call[any](testkit.Context(t), n, "e@127.0.0.1", "logger", "log", args...)
		require.NoError(t, err)
	}
	says(t, log, "level=WARN", "low on milk ä")
	says(t, log, "level=ERROR", "#{milk => sour}")
	says(t, log, "level=ERROR", "no cow")
	says(t, log, "level=ERROR", "~p of ~p")
	require.NotContains(t, e.Ask("process_info(whereis(logger_proxy), message_queue_len)"), "error")
}

// A node that sends too many events, malformed ones, or very long ones, does not fill the log; the log says how many
// were left out.
func TestLogEventsAreBounded(t *testing.T) {
	now := time.Now()
	n, log := logging(t, otp.Config{Now: func() time.Time { return now }}, nil)
	event := func(text any) wire.Tuple { return wire.Tuple{wire.Atom("log"), wire.AtomError, text, wire.NewMap()} }
	send := func(m any) { require.NoError(t, n.Send(wire.Atom("logger_proxy"), m)) }
	send(event(strings.Repeat("ä", 1<<20)))
	for _, m := range []any{wire.Tuple{}, wire.Tuple{wire.Atom("log")}, 1, wire.Tuple{wire.Atom("log"), 1, 2, 3, 4}} {
		send(m)
	}
	for range 100 {
		send(event("spilt"))
	}
	told := regexp.MustCompile(`left out log events.* events=(\d+)`)
	testkit.Until(t, func() string { // in one line, or in several if sending took its time
		all := 0
		for _, m := range told.FindAllStringSubmatch(log.String(), -1) {
			n, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			all += n
		}
		if all != 55 {
			return fmt.Sprintf("%d events are told as left out, want 55", all)
		}
		return ""
	})
	assert.Equal(t, 45, strings.Count(log.String(), "spilt"))
	assert.Less(t, len(log.String()), 40<<10)
}
