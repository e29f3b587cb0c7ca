package command

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// hostile is a text from another node: it writes the clipboard, clears the screen, starts new lines, moves back in
// them, reverses them, and hides.
const hostile = "x\x1b]52;c;ZXZpbA==\a\x1b[31m\x1b[2J\r\b\n\u009b2J\u009d0;t\u009c\x7f\u202e\u2066\u200b\u2028\nforged"

// obeyed matches what a terminal must not get, except line breaks and our own colours.
var obeyed = regexp.MustCompile("\x1b[^\\[]|\x1b\\[2J|\x1b\\[31m\r|[\a\b\\x7f\u0080-\u009f\u202e\u2066\u200b\u2028]|(?m)^forged")

// hostileService answers as the operator's service does, with hostile in every text: with the requested value, with an
// error, or with a malformed answer.
type hostileService struct{ answer string }

var hostilePID = wire.NewOrigin(wire.NodeID{Name: "x\x1b[31m\n\u202eforged@h", Creation: 7}).PID(3)

// hostileTerm returns a value of a type as a term, with hostile for every text.
func hostileTerm[T any]() any {
	var v T
	fillHostile(reflect.ValueOf(&v).Elem(), 0)
	t, err := etf.ToTerm(v)
	if err != nil {
		panic(err)
	}
	return t
}

func fillHostile(v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case admin.Time:
		v.Set(reflect.ValueOf(admin.Time{Time: time.Now()}))
		return
	case wire.PID:
		v.Set(reflect.ValueOf(hostilePID))
		return
	case wire.Ref:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostile)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(3)
	case reflect.Interface:
		v.Set(reflect.ValueOf(wire.Tuple{wire.Atom(hostile), []byte(hostile)}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillHostile(v.Elem(), depth+1)
	case reflect.Slice:
		if depth < 4 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fillHostile(v.Index(0), depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillHostile(key, depth+1)
		fillHostile(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fillHostile(v.Field(i), depth+1)
		}
	}
}

// Receive implements node.Actor.
func (h hostileService) Receive(c *node.Context, msg any) error {
	r, ok := c.Node().AsRequest(msg)
	if !ok {
		return nil
	}
	var request node.Atom
	var query any
	switch body := r.Body.(type) {
	case wire.Atom:
		request = body
	case wire.Tuple:
		request, query = body[0].(wire.Atom), body[1]
	}
	switch h.answer {
	case "error":
		r.Reply(wire.Tuple{wire.AtomError, wire.Tuple{wire.Atom("failed"), []byte(hostile)}})
		return nil
	case "nonsense":
		r.Reply(wire.Tuple{wire.Atom(hostile), []byte(hostile), hostilePID})
		return nil
	}
	switch request {
	case "status":
		r.Reply(wire.Tuple{wire.AtomOK, hostileTerm[admin.Summary]()})
	case "nodes":
		r.Reply(wire.Tuple{wire.AtomOK, hostileTerm[[]admin.Peer]()})
	case "ps":
		r.Reply(wire.Tuple{wire.AtomOK, hostileTerm[admin.Listing]()})
	case "tree":
		r.Reply(wire.Tuple{wire.AtomOK, hostileTerm[admin.Forest]()})
	case "info":
		r.Reply(wire.Tuple{wire.AtomOK, hostileTerm[admin.Detail]()})
	case "waits":
		r.Reply(wire.Tuple{wire.AtomOK, hostileTerm[admin.Waits]()})
	case "stack":
		r.Reply(wire.Tuple{wire.AtomOK, hostileTerm[admin.Stack]()})
	case "trace", "deadletters":
		var to struct{ To node.PID }
		if err := etf.FromTerm(query, &to); err != nil {
			return err
		}
		ref := c.Node().MakeRef()
		r.Reply(wire.Tuple{wire.AtomOK, wire.NewMap(wire.Atom("stream"), c.Self(), wire.Atom("ref"), ref)})
		event := hostileTerm[admin.Event]()
		if request == "deadletters" {
			event = hostileTerm[admin.Letter]()
		}
		c.Node().Send(to.To, wire.Tuple{admin.Name, ref, wire.Tuple{wire.Atom("events"), wire.List{event}, 3}})
		c.Node().Send(to.To, wire.Tuple{admin.Name, ref, wire.Tuple{wire.Atom("ended"), wire.Atom("max")}})
	default:
		r.Reply(wire.Tuple{wire.AtomOK, wire.Atom(hostile)})
	}
	return nil
}

// startHostile starts a node with a hostile service, a process that answers with hostile terms and one that exits with them.
// It returns the arguments with which a command finds it.
func startHostile(t *testing.T, answer string) (args []string) {
	n, err := node.Start(node.Config{Name: "evil@127.0.0.1", Log: quiet, Workers: 1, Distribution: &node.Distribution{Cookie: "secret",
		Listen: "127.0.0.1:0", Finder: &discovery.Static{}}})
	require.NoError(t, err)
	t.Cleanup(func() { n.Stop() })
	_, err = n.SpawnOpt(node.Options{Name: admin.Name}, hostileService{answer})
	require.NoError(t, err)
	_, err = n.SpawnOpt(node.Options{Name: "victim"}, node.ProcessFunc(func(p *node.Process) error {
		p.Receive()
		return &node.ExitError{Reason: wire.Tuple{wire.Atom(hostile), []byte(hostile)}}
	}))
	require.NoError(t, err)
	return []string{"--node", "evil@127.0.0.1", "--cookie", "secret", "--no-epmd", "--peer", fmt.Sprint("evil@127.0.0.1=", n.Addr())}
}

// askingCommands are command lines of all commands that query a node, by command.
var askingCommands = map[string][]string{
	"status": {"status"}, "nodes": {"nodes"}, "ps": {"ps", "ps --sort rate", "ps --sort wait"},
	"waits": {"waits", "waits --cycles"}, "stack": {"stack actornode"}, "profile": {"profile heap"}, "doctor": {"doctor --for 1ms"},
	"tree": {"tree"},
	"info": {"info actornode"}, "top": {"top --once"}, "trace": {"trace actornode"},
	"deadletters": {"deadletters", "deadletters --follow"}, "ping": {"ping"}, "call": {"call actornode x", "call victim x"},
	"send": {"send nobody x"}, "rpc": {"rpc evil evil"}, "spawn": {"spawn evil evil"}, "kill": {"kill victim"},
	"register": {"register new actornode"}, "unregister": {"unregister old"}, "connect": {"connect a@b"},
	"disconnect": {"disconnect a@b"}, "log": {"log level"}, "drain": {"drain"}, "stop": {"stop --timeout 100ms"},
}

// Whatever a node answers, no command sends a terminal anything that it obeys.
func TestHostileNode(t *testing.T) {
	groups := []string{"look", "talk", "steer"}
	for _, c := range Commands(Program{}).Commands() {
		if slices.Contains(groups, c.GroupID) {
			require.Contains(t, askingCommands, c.Name(), "a command without a row")
		}
	}
	for _, answer := range []string{"value", "error", "nonsense"} {
		t.Run(answer, func(t *testing.T) {
			args := startHostile(t, answer)
			for name, lines := range askingCommands {
				for _, line := range lines {
					for _, form := range []string{"", " --json"} {
						env, out, errs := newEnvironment(t, nil)
						run(t.Context(), append(strings.Fields(line+form), args...), env)
						said := out.String() + errs.String()
						require.NotRegexp(t, obeyed, said, line+form)
						require.NotContains(t, said, "\x1b", line+form)
						require.NotEmpty(t, said, line)
						if answer == "value" && slices.Contains([]string{"status", "nodes", "ps", "waits", "stack", "tree", "info", "top",
							"trace"}, name) &&
							!strings.Contains(line, "--cycles") {
							require.Contains(t, said, "forged", line+form)
						}
					}
				}
			}
		})
	}
}

// The same on a terminal, where nothing removes escape sequences.
func TestHostileNodeOnTerminal(t *testing.T) {
	t.Parallel()
	s := newCLITest(t)
	args := startHostile(t, "value")
	for _, name := range []string{"status", "nodes", "ps", "stack", "tree", "info", "trace", "deadletters"} {
		for _, line := range askingCommands[name] {
			x := s.terminal(t, 200, 50, "actornode", append(strings.Fields(line), args...)...)
			require.Equal(t, exitOK, x.exit(), line)
			said := strings.ReplaceAll(x.written(), "\r\n", "\n") // line ends of the terminal itself
			require.Contains(t, said, "forged", line)
			require.NotRegexp(t, obeyed, said, line)
			require.NotContains(t, said, "\r", line)
		}
	}
	x := s.terminal(t, 200, 50, "actornode", append([]string{"top"}, args...)...)
	x.wait("forged")
	x.press("\r")
	x.wait("Monitored by")
	x.press("q")
	require.Equal(t, exitOK, x.exit())
	for _, no := range []string{"\x1b]52", "\x1b[31m\x1b[2J", "\u009b", "\u009d", "\x7f", "\u202e", "\u2066", "\u200b", "\u2028"} {
		require.NotContains(t, x.written(), no)
	}
}

// The shown value is a copy; the parts that are not text are unchanged.
func TestShownValue(t *testing.T) {
	d := admin.Detail{Process: admin.Process{PID: hostilePID, Name: "a\x1bb", Age: time.Second}, Messages: []any{wire.Atom("\x1b")}}
	s := shownValue(d)
	require.EqualValues(t, "a\x1bb", d.Name)
	require.EqualValues(t, `a\x{1B}b`, s.Name)
	s.Name = d.Name
	require.Equal(t, d, s)
	require.Equal(t, "a\x1b", shownValue[any]("a\x1b"), "a term")
	require.Equal(t, map[node.Atom]uint64{`\x{7}`: 1}, shownValue(map[node.Atom]uint64{"\a": 1}))
	require.Nil(t, shownValue[[]admin.Peer](nil))
	for name, want := range map[wire.Atom]string{"a": "a", "A b": "'A b'", "it's": `'it\'s'`, "": "''"} {
		require.Equal(t, want, quotedName(name))
	}
}
