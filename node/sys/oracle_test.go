package sys_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// faithful is a gen_server whose state is the last message that it got.
type faithful struct{ plain }

func (f *faithful) Receive(c *node.Context, msg any) error {
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		return f.sys.Handle(c, f, r)
	}
	f.last = msg
	if f.sys.Debugging() {
		f.sys.In(c, msg)
		f.sys.NoReply(c, f.State())
	}
	return nil
}

func (f *faithful) ChangeCode(_ wire.Atom, _, extra any) error {
	if extra == wire.Atom("bad") {
		return node.ExitWith(wire.Atom("not_this"))
	}
	return nil
}

// asked lists the requests to OTP's gen_server and ours, one after the other.
var asked = []string{
	"status",
	"{debug,{statistics,get}}", "{debug,{log,get}}", "{debug,{log,print}}",
	"{debug,{log,true}}", "{send,1}", "{send,{two}}", "{debug,{log,get}}", "{debug,{log,true}}", "{debug,{log,get}}", "{debug,{log,print}}",
	"{debug,{log,false}}", "{debug,{log,get}}", "{debug,{log,{true,3}}}", "{send,3}", "{send,4}", "{send,5}", "{debug,{log,get}}",
	"status",
	"{debug,{statistics,true}}", "{send,6}", "{send,7}", "{debug,{statistics,get}}", "{debug,{statistics,true}}", "{debug,{statistics,get}}",
	"{debug,{trace,true}}", "{debug,{trace,true}}", "status", "{debug,{trace,false}}", "status",
	"{debug,no_debug}", "status", "{debug,{log,get}}", "{debug,{statistics,get}}",
	"{debug,{statistics,true}}", "{send,8}", "{debug,{statistics,get}}", "{debug,{statistics,false}}", "{debug,{statistics,get}}",
	"{debug,{log,{true,0}}}", "{debug,{log,{false,3}}}", "{debug,{log,[]}}", "{debug,{trace,1}}", "{debug,{statistics,x}}",
	"{debug,{remove,nobody}}", "{debug,{log_to_file,false}}", "{debug,{log_to_file,\"/no/such/directory/file\"}}",
	"{debug,x}", "{debug,{a,b,c}}", "{debug,[]}",
	"get_state", "unheard_of", "{unheard,word}",
	"{change_code,m,1,good}", "suspend", "status", "suspend", "{send,9}", "get_state",
	"{change_code,m,1,good}", "{change_code,m,1,bad}", "resume", "resume", "get_state", "status",
}

// shown leaves out what differs from run to run.
func shown(t *testing.T, v any) string {
	if p, ok := v.(wire.Tuple); ok && len(p) == 2 && p[0] == wire.AtomOK {
		if l, ok := p[1].(wire.List); ok && len(l) == 5 {
			if _, ok := l[0].(wire.Tuple)[1].(wire.Tuple); ok && l[0].(wire.Tuple)[0] == wire.Atom("start_time") {
				for i := range 3 {
					require.Len(t, l[i], 2)
					l[i] = l[i].(wire.Tuple)[0]
				}
			}
		}
	}
	return wire.Format(v)
}

// ours returns our answer to a line.
func ours(t *testing.T, n *node.Node, pid node.PID, line any) any {
	ctx := testkit.Context(t)
	answer := func(v any, err error) any {
		if refused := (*sys.RefusedError)(nil); errors.As(err, &refused) {
			require.Contains(t, err.Error(), "sys: refused: ")
			return wire.Tuple{wire.AtomError, refused.Reason}
		}
		require.NoError(t, err)
		if v == nil {
			return wire.AtomOK
		}
		return v
	}
	switch line {
	case wire.Atom("get_state"):
		return answer(sys.GetState(ctx, n, pid))
	case wire.Atom("suspend"):
		return answer(nil, sys.Suspend(ctx, n, pid))
	case wire.Atom("resume"):
		return answer(nil, sys.Resume(ctx, n, pid))
	case wire.Atom("status"):
		s := answer(sys.GetStatus(ctx, n, pid)).(wire.Tuple)
		parts, tools := s[3].(wire.List), wire.List{}
		for _, d := range parts[3].(wire.List) {
			tools = append(tools, d.(wire.Tuple)[0])
		}
		return wire.List{parts[1], tools}
	}
	l, _ := line.(wire.Tuple)
	switch {
	case len(l) == 2 && l[0] == wire.Atom("send"):
		require.NoError(t, n.Send(pid, l[1]))
		return wire.Atom("sent")
	case len(l) == 2 && l[0] == wire.Atom("debug"):
		return answer(sys.Debug(ctx, n, pid, l[1]))
	case len(l) == 4:
		return answer(nil, sys.ChangeCode(ctx, n, pid, l[1].(wire.Atom), l[2], l[3]))
	}
	return answer(node.Call[any](ctx, n, pid, sysmsg.Command{What: line}))
}

// answers is the file of the answers of OTP's gen_server, one line for each of asked.
const answers = "testdata/debug.txt"

// The recorded answers are OTP's: -update writes them anew.
func TestDebugOTP(t *testing.T) {
	erltest.Need(t)
	file := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(asked, ".\n")+".\n"), 0o600))
	theirs := strings.Split(strings.TrimSpace(erltest.Main(t, "testdata/debug.erl", file)), "\n")
	theirs = slices.DeleteFunc(theirs, func(l string) bool { return strings.HasPrefix(l, "*DBG* ") }) // the log, printed
	text := strings.Join(theirs, "\n") + "\n"
	if erltest.Updating() {
		require.NoError(t, os.WriteFile(answers, []byte(text), 0o644))
	}
	want, err := os.ReadFile(answers)
	require.NoError(t, err)
	require.Equal(t, text, string(want))
}

// A server answers debug commands, and malformed system messages, as OTP's does.
func TestDebugLikeOTP(t *testing.T) {
	text, err := os.ReadFile(answers)
	require.NoError(t, err)
	theirs := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, theirs, len(asked))
	n := nodetest.Start(t, node.Config{})
	for _, b := range []node.Actor{new(faithful), sys.Answer(new(last))} {
		pid, err := n.Spawn(b)
		require.NoError(t, err)
		for i, text := range asked {
			line, err := wire.Parse(text)
			require.NoError(t, err, text)
			assert.Equal(t, theirs[i], shown(t, ours(t, n, pid, line)), "%T, line %d: %s", b, i, text)
		}
	}
}
