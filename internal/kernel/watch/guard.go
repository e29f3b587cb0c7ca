package watch

import "github.com/actornode/actornode/wire"

// Guard isolates the messages of a node: see package watch. It is part of the traces because every message checks these
// anyway.
type Guard interface {
	// Checks reports whether messages are compared with what they were when they were sent.
	Checks() bool
	// Copy returns what is sent instead of a message. must reports that it must be a copy.
	Copy(must bool, msg any) (any, error)
	// Watch returns what is notified when a message that is being sent is received, or nil. Hold is Watch for a timer.
	Watch(from, to wire.PID, msg any) Watch
	Hold(from, to wire.PID, msg any) Watch
	// Gone is called when a process has exited.
	Gone(pid wire.PID)
}

// Watch is notified when a message is about to be handed to its receiver.
type Watch interface{ Received() }

// Replied is a watched reply, instead of the error of a call.
type Replied struct {
	Value any
	Watch Watch
}

func (r *Replied) Error() string { return "node: a reply that was not opened" }

// Open returns the reply.
func (r *Replied) Open() any {
	r.Watch.Received()
	return r.Value
}

// Keep makes a guard see all messages, even if nothing is traced. It cannot be undone.
func (r *Traces) Keep(g Guard) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guard != nil {
		return
	}
	r.guard = g
	was := r.now.Load()
	v := r.newView()
	defer r.now.Store(v)
	if was == nil {
		return
	}
	for e := range was.of.all() {
		v.of.put(e.pid, e.value)
		v.count(e.pid, 1)
	}
	for e := range was.quiet.all() {
		v.quiet.put(e.pid, e.value)
	}
	v.loud.Store(v.quiet.n == 0)
}

// Guards reports whether there is a guard.
func (v *TraceView) Guards() bool { return v != nil && v.guard != nil }

// Checks reports whether a guard compares messages.
func (v *TraceView) Checks() bool { return v.Guards() && v.guard.Checks() }

// Copied returns what is sent instead of a message. A message of the node itself is sent unchanged, and so is one of a
// process to itself.
func (v *TraceView) Copied(from, to wire.PID, must bool, msg any) (any, error) {
	if !v.Guards() || from == to || v.host.IsOwn(msg) {
		return msg, nil
	}
	return v.guard.Copy(must, msg)
}

// Watched returns a message as it is stored in the mailbox of a process if it will be compared.
func (v *TraceView) Watched(from, to wire.PID, msg any) any {
	return v.watched(from, to, msg, Guard.Watch)
}

// Held is Watched for a message of a timer.
func (v *TraceView) Held(from, to wire.PID, msg any) any { return v.watched(from, to, msg, Guard.Hold) }

func (v *TraceView) watched(from, to wire.PID, msg any, watch func(Guard, wire.PID, wire.PID, any) Watch) any {
	if !v.Guards() || v.host.IsOwn(msg) {
		return msg
	}
	if w := watch(v.guard, from, to, msg); w != nil {
		return &Carried{Msg: msg, Watch: w}
	}
	return msg
}

// Read returns what one of the readers of a future receives instead of its value.
func (v *TraceView) Read(value any) (any, error) {
	if !v.Guards() || value == nil {
		return value, nil
	}
	return v.guard.Copy(false, value)
}

// Reply returns what a call of asker is settled with instead of a value. waits reports that asker waits, and opens it.
func (v *TraceView) Reply(from, asker wire.PID, waits bool, value any) (any, error) {
	if !v.Guards() || value == nil {
		return value, nil
	}
	value, err := v.guard.Copy(false, value)
	if err != nil || !waits {
		return value, err
	}
	if w := v.guard.Watch(from, asker, value); w != nil {
		return nil, &Replied{value, w}
	}
	return value, nil
}
