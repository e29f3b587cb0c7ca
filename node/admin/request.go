package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// duty is how a request is answered.
type duty struct {
	args string // as doc.go has them, for people
	min  int    // how many
	max  int
	how  how
	do   func(q *question) (any, error)
}

// how are properties of a request.
type how uint8

const (
	looks   how = 0         // at once, and nothing changes
	changes how = 1 << iota // refused if Config.ReadOnly
	slow                    // by a process of its own
	vital                   // also when there is much to do
	reveals                 // shows what is in messages
)

// duties are all requests, by their first word. Set once, for the functions refer
// to it.
var duties map[node.Atom]*duty

func init() {
	duties = map[node.Atom]*duty{
		"status":      {"", 0, 0, slow | vital, (*question).status},
		"nodes":       {"", 0, 0, looks, (*question).nodes},
		"ps":          {"[Query]", 0, 1, slow, (*question).processes},
		"tree":        {"[#{limit => N}]", 0, 1, slow, (*question).tree},
		"info":        {"Target", 1, 1, slow, (*question).info},
		"send":        {"Target, Message", 2, 2, changes | slow, (*question).send},
		"call":        {"Target, Body, Milliseconds", 3, 3, changes | slow, (*question).call},
		"spawn":       {"Module, Function, Args [, Name]", 3, 4, changes | slow, (*question).spawn},
		"exit":        {"Target, Reason", 2, 2, changes | slow | vital, (*question).exit},
		"register":    {"Name, Target", 2, 2, changes, (*question).register},
		"unregister":  {"Name", 1, 1, changes, (*question).unregister},
		"connect":     {"Node", 1, 1, changes | slow, (*question).connect},
		"disconnect":  {"Node", 1, 1, changes | slow, (*question).disconnect},
		"drain":       {"", 0, 0, changes, (*question).drain},
		"stop":        {"", 0, 0, changes | slow | vital, (*question).stop},
		"log_level":   {"[Level]", 0, 1, looks, (*question).logLevel},
		"trace":       {"TraceQuery", 1, 1, reveals, (*question).trace},
		"deadletters": {"[LetterQuery]", 0, 1, reveals, (*question).deadLetters},
	}
}

// read reads a request: an atom, or a tuple that begins with one.
func (q *question) read(body any) (*duty, error) {
	switch b := body.(type) {
	case wire.Atom:
		q.word = b
	case wire.Tuple:
		if len(b) > 0 {
			q.word, _ = b[0].(wire.Atom)
			q.args = b[1:]
		}
	}
	d := duties[q.word]
	if d == nil {
		return nil, fmt.Errorf("%w: %s: want one of %s", ErrBadRequest, brief(body), words())
	}
	if len(q.args) < d.min || len(q.args) > d.max {
		return nil, fmt.Errorf("%w: %s has %d arguments: want {%s}", ErrBadRequest, q.word, len(q.args),
			strings.TrimSuffix(string(q.word)+", "+d.args, ", "))
	}
	change := d.how&changes != 0 || q.word == "log_level" && len(q.args) > 0
	q.acts = change || d.how&reveals != 0
	peer, addr, known := q.from.Peer()
	program := !q.from.IsTerm() // Go code on this node
	if q.peer, q.addr = peer, addr; program {
		peer, q.peer = q.n.Name(), q.n.Name()
	}
	switch says, allow, operators := q.from.Caller().Node(), q.s.cfg.Allow, q.s.cfg.Operators; {
	case known && says != peer:
		return nil, fmt.Errorf("%w: %s: the request names %s as its sender, but it came from %s",
			ErrNotAllowed, q.word, brief(says), peer)
	case change && q.s.cfg.ReadOnly:
		return nil, fmt.Errorf("%w: %s: the operator service of the node is read-only", ErrNotAllowed, q.word)
	case allow != nil && !allow(peer, q.word), q.acts && !program && operators != nil && !operators(peer):
		return nil, fmt.Errorf("%w: %s, for %s", ErrNotAllowed, q.word, cmp.Or(peer, "an unknown node"))
	}
	return d, nil
}

// log logs what an operator has done, or tried to do.
func (q *question) log(err error) {
	if !q.acts {
		return
	}
	outcome := "ok"
	if err != nil {
		outcome = short(err.Error())
	}
	q.n.Log().Info("operator action", "peer", string(cmp.Or(q.peer, "unknown")), "addr", q.addr, "action", string(q.word),
		"arguments", q.shown(), "outcome", outcome)
}

// shown are the arguments for the log, without what may be secret: messages and
// arguments of functions.
func (q *question) shown() string {
	args := q.args
	switch q.word {
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

// short cuts a text for the log.
func short(text string) string {
	const most = 300
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// words are the first words of all requests, in alphabetical order.
func words() string {
	l := make([]string, 0, len(duties))
	for w := range duties {
		l = append(l, string(w))
	}
	slices.Sort(l)
	return strings.Join(l, ", ")
}

// brief is a term for an error message.
func brief(t any) string { return wire.FormatPlain(cut(t, 100)) }

// options reads the map of options that may be the last argument.
func (q *question) options(into any) error {
	if len(q.args) == 0 {
		return nil
	}
	if err := etf.FromTerm(q.args[len(q.args)-1], into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBadRequest, q.word, err)
	}
	return nil
}

// name reads an argument that is an atom.
func (q *question) name(i int, what string) (node.Atom, error) {
	a, ok := q.args[i].(wire.Atom)
	if !ok {
		return "", fmt.Errorf("%w: %s: %s is not a %s: want an atom", ErrBadRequest, q.word, brief(q.args[i]), what)
	}
	return a, nil
}
