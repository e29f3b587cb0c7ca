package trace

import "github.com/actornode/actornode/wire"

// Token is what a process knows of its sequential trace token, {Flags, Label, Serial, Sender,
// Previous}. It belongs to whoever runs the process. The zero value has none.
type Token struct {
	flags any // nil: there is none
	label any
	last  int // serial of the last message that came with a token
	clock int // of the last that came or went, whichever is greater
}

// Receive takes note of the token that a message has come with; nil: with none. It reports
// whether there is one. See seq_trace_update_clock of erts.
func (t *Token) Receive(token any) bool {
	t.flags, t.label = nil, nil
	parts, ok := token.(wire.Tuple)
	if !ok || len(parts) != 5 {
		return false
	}
	t.flags, t.label = parts[0], parts[1]
	if serial, ok := parts[2].(int); ok {
		t.last, t.clock = serial, max(t.clock, serial)
	}
	return true
}

// Next returns the token for what the process sends now; nil: it has none.
func (t *Token) Next(sender wire.PID) any {
	if t.flags == nil {
		return nil
	}
	t.clock++
	return wire.Tuple{t.flags, t.label, t.clock, sender, t.last}
}
