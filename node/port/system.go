package port

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Info describes a port as it was at one moment.
type Info struct {
	Command   string
	OSPID     int  `etf:"os_pid"`
	Ending    bool // it waits for its program to exit
	FramesIn  int  // that the program has written
	BytesIn   int  // of these, and of what has not been understood yet
	FramesOut int  // for the program
	Waiting   int  // bytes that the program has not read
	Calls     int  // to the program, not answered
	Asks      int  // calls by the program, not answered
	Monitors  int  // by the program
	Links     int  // by the program
	Refused   int  // messages that could not be written to the program
}

// Inspect asks a port for its Info, wherever it is: sys:get_state. Errors: those of
// [sys.GetState].
func Inspect(ctx context.Context, from node.Caller, to node.Dest) (Info, error) {
	var i Info
	t, err := sys.GetState(ctx, from, to)
	if err != nil {
		return i, err
	}
	if pair, ok := t.(wire.Tuple); ok && len(pair) == 2 && pair[0] == wire.AtomOK { // {ok, State}, see package sys
		t = pair[1]
	}
	if err := etf.FromTerm(t, &i); err != nil {
		return i, fmt.Errorf("port: %v is not a port: %w", to, err)
	}
	return i, nil
}

func (p *port) info() Info {
	out, waiting := p.feed.stats()
	return Info{
		Command: p.cfg.Command, OSPID: p.prog.cmd.Process.Pid, Ending: p.ending,
		FramesIn: int(p.prog.frames.Load()), BytesIn: int(p.prog.stdout.in.Load()), FramesOut: int(out), Waiting: waiting,
		Calls: len(p.calls), Asks: len(p.asks), Monitors: len(p.monitors), Links: len(p.links), Refused: int(p.refused),
	}
}

// system is a port as system messages see it.
type system struct{ *port }

// Module is part of sysmsg.Server.
func (system) Module() wire.Atom { return "port" }

// State is part of sysmsg.Server: the fields of an Info.
func (s system) State() any {
	t, err := etf.ToTerm(s.info())
	if err != nil { // a field that is no term: ours to mend
		panic(err)
	}
	return t
}

var errNoState = errors.New("port: the state of a port belongs to its program and cannot be replaced")

// Replace is part of sysmsg.Server.
func (system) Replace(any) error { return errNoState }

// Status is part of sysmsg.Server.
func (s system) Status() any {
	parent := s.c.Self()
	if s.child {
		parent = s.c.Parent()
	}
	return s.sys.ServerStatus(s.c, parent, s.State())
}

// ChangeCode is part of sysmsg.Server.
func (system) ChangeCode(wire.Atom, any, any) error { return nil }

// End is part of sysmsg.Server: the end comes when the program is gone, and a
// suspended port handles that too.
func (s system) End(c *node.Context, reason any) error {
	s.c = c
	if s.sys.State() == "suspended" {
		c.Unbecome()
	}
	s.stop(reason)
	return nil
}

// Enter is part of sysmsg.Enterer.
func (s system) Enter(c *node.Context) { s.c = c }

// Resumed is part of sysmsg.Enterer.
func (system) Resumed(*node.Context) error { return nil }

// text is a term in Erlang's syntax, for people.
func text(t any) string { return sysmsg.Words(t) }
