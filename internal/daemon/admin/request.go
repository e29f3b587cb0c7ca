package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// command defines how one kind of request is checked and answered.
type command struct {
	args  string // as in the documentation, for people
	min   int    // number of arguments
	max   int
	flags commandFlags
	run   func(q *request) (any, error)
}

// commandFlags are the properties of a command.
type commandFlags uint8

const (
	looks     commandFlags = 0         // answered at once, changes nothing
	changes   commandFlags = 1 << iota // refused if Config.ReadOnly
	slow                               // runs in its own process
	essential                          // runs even when the service is busy
	reveals                            // shows the contents of messages
	measures                           // costs CPU, and shows the code that runs
)

// commands holds all requests by their first word. It is set in init, since the functions refer to it.
var commands map[node.Atom]*command

func init() {
	commands = map[node.Atom]*command{
		"status":      {"", 0, 0, slow | essential, (*request).status},
		"nodes":       {"", 0, 0, looks, (*request).nodes},
		"ps":          {"[Query]", 0, 1, slow, (*request).processes},
		"tree":        {"[#{limit => N}]", 0, 1, slow, (*request).tree},
		"waits":       {"[WaitQuery]", 0, 1, slow, (*request).waits},
		"info":        {"Target", 1, 1, slow, (*request).info},
		"profile":     {"ProfileQuery", 1, 1, measures, (*request).profile},
		"stack":       {"Target", 1, 1, measures | slow, (*request).stack},
		"send":        {"Target, Message", 2, 2, changes | slow, (*request).send},
		"call":        {"Target, Body, Milliseconds", 3, 3, changes | slow, (*request).call},
		"spawn":       {"Module, Function, Args [, Name]", 3, 4, changes | slow, (*request).spawn},
		"exit":        {"Target, Reason [, Milliseconds]", 2, 3, changes | slow | essential, (*request).exit},
		"register":    {"Name, Target", 2, 2, changes, (*request).register},
		"unregister":  {"Name", 1, 1, changes, (*request).unregister},
		"connect":     {"Node", 1, 1, changes | slow, (*request).connect},
		"disconnect":  {"Node", 1, 1, changes | slow, (*request).disconnect},
		"drain":       {"", 0, 0, changes, (*request).drain},
		"stop":        {"", 0, 0, changes | slow | essential, (*request).stop},
		"log_level":   {"[Level]", 0, 1, looks, (*request).logLevel},
		"log_levels":  {"[#{name => Name, behaviour => Text, level => Level}]", 0, 1, looks, (*request).logLevels},
		"trace":       {"TraceQuery", 1, 1, reveals, (*request).trace},
		"deadletters": {"[LetterQuery]", 0, 1, reveals, (*request).deadLetters},
	}
}

// read parses a request: an atom, or a tuple that starts with one.
func (q *request) read(body any) (*command, error) {
	switch b := body.(type) {
	case wire.Atom:
		q.command = b
	case wire.Tuple:
		if len(b) > 0 {
			q.command, _ = b[0].(wire.Atom)
			q.args = b[1:]
		}
	}
	d := commands[q.command]
	if d == nil {
		return nil, fmt.Errorf("%w: %s: want one of %s", ErrBadRequest, brief(body), commandNames())
	}
	if len(q.args) < d.min || len(q.args) > d.max {
		return nil, fmt.Errorf("%w: %s has %d arguments: want {%s}", ErrBadRequest, q.command, len(q.args),
			strings.TrimSuffix(string(q.command)+", "+d.args, ", "))
	}
	change := d.flags&changes != 0 || (q.command == "log_level" || q.command == "log_levels") && len(q.args) > 0
	q.audited = change || d.flags&(reveals|measures) != 0
	peer, addr, known := q.from.Peer()
	program := !q.from.Inside(process.Key{}).IsTerm() // Go code on this node
	if q.peer, q.addr = peer, addr; program {
		peer, q.peer = q.n.Name(), q.n.Name()
	}
	granted, who := q.from.Inside(process.Key{}).Granted()
	q.who = who
	if g := granted; !permits(g, change, d.flags) {
		q.audited = true
		return nil, fmt.Errorf("%w: %s, for %s: its rights are %v", ErrNotAllowed, q.command, cmp.Or(peer, "an unknown node"), g)
	}
	switch says, allow, operators := q.from.Caller().Node(), q.s.cfg.Allow, q.s.cfg.Operators; {
	case known && says == "": // see From.Caller
		return nil, fmt.Errorf("%w: %s: the request came from %s, but its caller or the reply's receiver is not on that node",
			ErrNotAllowed, q.command, peer)
	case known && says != peer:
		return nil, fmt.Errorf("%w: %s: the request names %s as its sender, but it came from %s",
			ErrNotAllowed, q.command, brief(says), peer)
	case change && q.s.cfg.ReadOnly:
		return nil, fmt.Errorf("%w: %s: the operator service of the node is read-only", ErrNotAllowed, q.command)
	case allow != nil && !allow(peer, q.command), q.audited && !program && operators != nil && !operators(peer):
		return nil, fmt.Errorf("%w: %s, for %s", ErrNotAllowed, q.command, cmp.Or(peer, "an unknown node"))
	}
	return d, nil
}

// permits reports whether g permits a request with some flags, which may change something.
func permits(g *rights.Granted, change bool, flags commandFlags) bool {
	switch {
	case change:
		return g.Act()
	case flags&reveals != 0:
		return g.Trace()
	case flags&measures != 0:
		return g.Profile()
	}
	return g.Look()
}

// log logs a request of an operator, whether it succeeded or not.
func (q *request) log(err error) {
	if !q.audited {
		return
	}
	outcome := "ok"
	if err != nil {
		outcome = short(err.Error())
	}
	about := []any{"peer", string(cmp.Or(q.peer, "unknown")), "addr", q.addr}
	if q.who.TLS != nil {
		about = append(about, "certificate", short(strings.Join(q.who.TLS, " ")))
	}
	if q.who.Cookie != "" {
		about = append(about, "cookie_name", q.who.Cookie)
	}
	q.n.Log().Info("operator action", append(about, "action", string(q.command), "arguments", q.loggedArgs(), "outcome", outcome)...)
}

// loggedArgs formats the arguments for the log, without possible secrets: messages and arguments of functions.
func (q *request) loggedArgs() string {
	args := q.args
	switch q.command {
	case "send", "call":
		args = args[:min(1, len(args))]
	case "spawn":
		args = append(slices.Clone(args[:min(2, len(args))]), args[min(3, len(args)):]...)
	}
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = brief(a)
	}
	return short(strings.Join(texts, ", "))
}

// short shortens a text for the log.
func short(text string) string {
	const most = 300
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// commandNames lists the first words of all requests, in alphabetical order.
func commandNames() string {
	l := make([]string, 0, len(commands))
	for w := range commands {
		l = append(l, string(w))
	}
	slices.Sort(l)
	return strings.Join(l, ", ")
}

// brief formats a term for an error message.
func brief(t any) string { return wire.Format(cut(t, 100)) }

// options reads the map of options that may be the last argument.
func (q *request) options(into any) error {
	if len(q.args) == 0 {
		return nil
	}
	if err := etf.FromTerm(q.args[len(q.args)-1], into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBadRequest, q.command, err)
	}
	return nil
}

// name reads an argument that is an atom.
func (q *request) name(i int, what string) (node.Atom, error) {
	a, ok := q.args[i].(wire.Atom)
	if !ok {
		return "", fmt.Errorf("%w: %s: %s is not a %s: want an atom", ErrBadRequest, q.command, brief(q.args[i]), what)
	}
	return a, nil
}
