package command

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

const processRefHelp = `
A process is named by its registered name, by {NAME, NODE}, or by its PID as ps prints
it: ID.SERIAL.CREATION, after NODE: if it is on another node. The creation distinguishes
restarts of a node: a PID from before a restart names no process. What Erlang prints,
<0.42.0> or <go@host.42.0>, and a plain 42, mean the creation that runs now.`

// processRef is a process named on the command line.
type processRef struct {
	text string
	node wire.Atom // its node
	name wire.Atom // registered name, or "" for a PID
	pid  wire.PID  // without a creation if it was printed without one
	now  bool      // the creation is not known yet
}

// parseProcessRef parses a process; at is the default node.
func parseProcessRef(text string, at wire.Atom) (processRef, error) {
	w := processRef{text: text, node: at}
	switch {
	case text == "" || text[0] == '\'' || text[0] == '{': // quoted text may look like anything
	case text[0] == '<' || '0' <= text[0] && text[0] <= '9' || strings.Contains(text, "@") && strings.Contains(text, ":"):
		return w, w.parsePID()
	}
	if strings.HasPrefix(text, "{") {
		t, err := parseTerm(text)
		if err != nil {
			return w, err
		}
		pair, ok := t.(wire.Tuple)
		if ok && len(pair) == 2 {
			name, ok1 := pair[0].(wire.Atom)
			n, ok2 := pair[1].(wire.Atom)
			if ok1 && ok2 {
				w.name, w.node = name, n
				return w, nil
			}
		}
		return w, fail(exitUsage, nil, "%s does not name a process: want {NAME, NODE}", text)
	}
	var err error
	w.name, err = parseAtom(text)
	return w, err
}

// parsePID parses every form of a PID.
func (w *processRef) parsePID() error {
	bad := fail(exitUsage, nil, "%s is not a PID: want ID.SERIAL.CREATION as ps prints it, NODE:ID.SERIAL.CREATION, "+
		"<0.ID.SERIAL> or ID", w.text)
	text := w.text
	if strings.HasPrefix(text, "<") { // <NODE.ID.SERIAL>, the node a name or 0
		inner, ok := strings.CutSuffix(text[1:], ">")
		parts := strings.Split(inner, ".")
		if !ok || len(parts) < 3 {
			return bad
		}
		cut := len(parts) - 2
		if n := strings.Join(parts[:cut], "."); n != "0" {
			w.node = wire.Atom(n)
		}
		text = strings.Join(parts[cut:], ".")
	} else if colon := strings.LastIndexByte(text, ':'); colon > 0 {
		w.node, text = wire.Atom(text[:colon]), text[colon+1:]
	}
	switch strings.Count(text, ".") {
	case 2:
		if w.pid.UnmarshalText([]byte(string(w.node)+":"+text)) != nil {
			return bad
		}
		return nil
	case 0:
		text += ".0"
	}
	id, serial, _ := strings.Cut(text, ".")
	low, err1 := strconv.ParseUint(id, 10, 32)
	high, err2 := strconv.ParseUint(serial, 10, 32)
	if err1 != nil || err2 != nil || !strings.Contains(string(w.node), "@") {
		return bad
	}
	w.pid, w.now = wire.NewOrigin(wire.NodeID{Name: w.node}).PID(high<<32|low), true
	return nil
}

// resolveRef parses a process and connects to its node, if that is not the target.
func (s *session) resolveRef(ctx context.Context, text string) (processRef, error) {
	w, err := parseProcessRef(text, s.at)
	if err != nil || w.node == s.at {
		return w, err
	}
	ctx, cancel := s.within(ctx)
	defer cancel()
	if err := s.n.Connect(ctx, w.node); err != nil {
		return w, s.unreachable(s.env, w.node, err)
	}
	return w, nil
}

// find returns the current PID of w, and its printed name.
func (s *session) find(ctx context.Context, w processRef) (wire.PID, error) {
	switch {
	case w.name != "":
		v, err := s.whereis(ctx, w.node, w.name)
		pid, ok := v.(wire.PID)
		if err == nil && !ok {
			err = notRegistered(w)
		}
		return pid, missing(w, err)
	case w.now:
		return s.current(ctx, w)
	}
	return w.pid, nil
}

// whereis asks a node for the PID of a name: like Erlang's nodes, or through the operator's service if that is not exported
// or refused (memory is short, the node drains).
func (s *session) whereis(ctx context.Context, at, name wire.Atom) (any, error) {
	return ask(ctx, s, func(ctx context.Context) (any, error) {
		v, err := rpc.Call[any](ctx, s.n, at, "erlang", "whereis", name)
		var raised *rpc.Error
		if errors.As(err, &raised) && isUndef(raised.Reason) {
			d, err := admin.Info(ctx, s.n, at, name)
			return d.PID, err
		}
		if errors.Is(err, node.ErrTooMany) {
			if d, err := admin.Info(ctx, s.n, at, name); !errors.Is(err, admin.ErrNoService) {
				return d.PID, err
			}
		}
		return v, err
	})
}

// current gives a PID the current creation of its node, taken from a process that every node has.
func (s *session) current(ctx context.Context, w processRef) (wire.PID, error) {
	v, err := s.whereis(ctx, w.node, "net_kernel")
	if err != nil {
		return wire.PID{}, err
	}
	kernel, ok := v.(wire.PID)
	if !ok {
		return wire.PID{}, fail(exitUnsupported, nil,
			"%s does not tell its creation: give the PID with its creation, ID.SERIAL.CREATION", w.node)
	}
	return kernel.Origin().PID(w.pid.Number()), nil
}

// target returns the operator's service's form of w, which must be on its node.
func (s *session) target(ctx context.Context, w processRef) (any, error) {
	switch {
	case w.node != s.at:
		return nil, fail(exitUsage, nil, "%s is on %s: use --node %s", w.text, w.node, w.node)
	case w.name != "":
		return w.name, nil
	}
	return s.find(ctx, w)
}

func notRegistered(w processRef) error {
	return fail(exitNotFound, nil, "no process is registered as %s on %s", shownTerm(w.name), w.node)
}

// missing turns err into a failure that names w if err means that there is no such process.
func missing(w processRef, err error) error {
	switch {
	case !errors.Is(err, node.ErrNoProcess) && !errors.Is(err, node.ErrNoName):
		return err
	case w.name != "":
		return notRegistered(w)
	}
	return fail(exitNotFound, nil, "there is no process %s on %s", w.text, w.node)
}

// shown formats a PID, without its node if that is the target.
func (s *session) shown(pid wire.PID) string { return shownAt(pid, s.at) }

func shownAt(pid wire.PID, at wire.Atom) string {
	text, _ := pid.MarshalText()
	return printable.Text(strings.TrimPrefix(string(text), string(at)+":"))
}
