package isolation

import (
	"fmt"

	"github.com/actornode/actornode/wire"
)

// Config says how a node isolates messages: it is a field of node.Config. The zero value does
// nothing.
type Config struct {
	// Copy copies all messages that processes of the node send to each other. Check does not look at
	// what Copy copies.
	Copy bool
	// Check reports messages that are changed after they were sent. It is for development and tests.
	Check bool
	// Report is called with each change that Check finds, on the goroutine that finds it; it must not
	// wait for a process of the node. Changes are also logged. Default: they are only logged.
	Report func(Change)
	// MaxBytes is how much of a message Check compares, with 64 bytes more for each reference.
	// Default: 65,536.
	MaxBytes int
}

// Change is a message that was changed after it was sent.
type Change struct {
	From wire.PID   // the sender; zero: a plain goroutine
	To   wire.PID   // the receiver
	Also []wire.PID // processes that received the same message before, and may have changed it
	Type string     // of the message
	Path string     // what has changed, such as .Items[2].Price; "" for the message itself
	Was  string     // the old value, shortened
	Now  string     // the new value
	When string     // when it was found: "received", "exited", "waiting", "stopped" or "sent" by a timer
}

// String describes the change in a sentence.
func (c Change) String() string {
	path := c.Path
	if path == "" {
		path = "the value itself"
	}
	return fmt.Sprintf("a %s from %v to %v was changed after it was sent: %s was %s and is %s (%s)",
		c.Type, c.From, c.To, path, c.Was, c.Now, c.When)
}
