package admin

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// ProcessLevel is the log level of some processes: see [node.LogLevel].
type ProcessLevel struct {
	Name      node.Atom `json:"name,omitzero" etf:",omitzero"`
	Behaviour string    `json:"behaviour,omitzero" etf:",omitzero"`
	Level     node.Atom `json:"level" etf:",omitzero"` // "" in a request: as the node's
}

// ProcessLevels returns the log levels of processes of a node, in the order in which they are tried.
func ProcessLevels(ctx context.Context, from node.Caller, at node.Atom) (all []ProcessLevel, err error) {
	err = ask(ctx, from, at, wire.Atom("log_levels"), &all)
	return all, err
}

// SetProcessLevel sets the log level of some processes of a node; a zero Level takes it back. It returns the levels that are
// set then.
func SetProcessLevel(ctx context.Context, from node.Caller, at node.Atom, l ProcessLevel) (all []ProcessLevel, err error) {
	t, err := etf.ToTerm(l)
	if err != nil {
		return nil, err
	}
	err = ask(ctx, from, at, wire.Tuple{wire.Atom("log_levels"), t}, &all)
	return all, err
}

func (q *request) logLevels() (any, error) {
	if len(q.args) == 1 {
		var l ProcessLevel
		if err := q.options(&l); err != nil {
			return nil, err
		}
		if l.Name == "" && l.Behaviour == "" {
			return nil, fmt.Errorf("%w: log_levels: want a name, a behaviour or both", ErrBadRequest)
		}
		if l.Level == "" {
			q.n.ResetLogLevel(l.Name, l.Behaviour)
		} else if level, err := levelOf(l.Level); err != nil {
			return nil, err
		} else if err := q.n.SetLogLevel(node.LogLevel{Name: l.Name, Behaviour: l.Behaviour, Level: level}); err != nil {
			return nil, err
		}
	}
	all := []ProcessLevel{}
	for _, l := range q.n.LogLevels() {
		all = append(all, ProcessLevel{l.Name, l.Behaviour, levelAtom(l.Level)})
	}
	return etf.ToTerm(all)
}

// levelAtom returns debug, info, warn, error, or a level between in slog's syntax: 'info+1'.
func levelAtom(l slog.Level) node.Atom { return node.Atom(strings.ToLower(l.String())) }

func levelOf(a node.Atom) (l slog.Level, err error) {
	if err := l.UnmarshalText([]byte(a)); err != nil {
		return 0, fmt.Errorf("%w: unknown log level %q: want debug, info, warn or error", ErrBadRequest, a)
	}
	return l, nil
}
