package channel

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// Owner is a *[node.Process] or a *[node.Context]: the process that receives.
type Owner interface {
	node.Caller
	Node() *node.Node
	Unalias(node.Ref) bool
}

// Input is the receiving end of a channel. Only the process that made it may use its methods.
type Input[T any] struct{ to Output[T] }

// New makes a channel to a process, which is open until Close, or until the process exits.
func New[T any](p Owner) *Input[T] { return input[T](p, false) }

// Once makes a channel for one value, such as a reply. It is closed when the value comes.
func Once[T any](p Owner) *Input[T] { return input[T](p, true) }

func input[T any](p Owner, once bool) *Input[T] {
	in, n := &Input[T]{}, p.Node()
	opened := make(chan struct{}) // nobody has the reference earlier, but anybody may guess it
	in.to.Ref = p.Inside(process.Key{}).Alias(once, func(m any) (any, bool) {
		<-opened
		if _, isCall := n.AsRequest(m); isCall {
			return nil, false
		}
		v, ok := read[T](m)
		return value[T]{in.to, v}, ok
	})
	close(opened)
	return in
}

// value is a message of a channel in the mailbox of its process.
type value[T any] struct {
	by Output[T]
	v  T
}

// String is for those who look into a mailbox.
func (v value[T]) String() string { return wire.Describe(v.v, 1<<10) }

// read returns a message as a T; false: it is not a T, nor a term for one.
func read[T any](m any) (v T, ok bool) {
	if v, ok = m.(T); ok {
		return v, true
	}
	if m == nil {
		return v, reflect.TypeFor[T]().Kind() == reflect.Interface
	}
	defer func() {
		if recover() != nil { // in a method of T, which reads what anybody may have sent
			ok = false
		}
	}()
	return v, etf.FromTerm(m, &v) == nil
}

// Output returns the sending end.
func (in *Input[T]) Output() Output[T] { return in.to }

// Of returns the value of a message of this channel; false: m is another message.
func (in *Input[T]) Of(m any) (T, bool) {
	v, ok := m.(value[T])
	return v.v, ok && v.by == in.to
}

// Receive takes the oldest value of this channel, waiting for one if need be; all other messages stay. p is the
// process that made it. A handle that is killed gets the zero T, as from [node.ReceiveOf].
func (in *Input[T]) Receive(p *node.Process) T {
	v, _ := in.Of(in.by(p).ReceiveKind(in.is, in))
	return v
}

// ReceiveWithin is Receive with a timeout, like [node.Process.ReceiveWithin].
func (in *Input[T]) ReceiveWithin(p *node.Process, d time.Duration) (T, error) {
	m, err := in.by(p).ReceiveKindWithin(d, in.is, in)
	v, _ := in.Of(m)
	return v, err
}

// by is p for package runner: the next receive need not look again at what a receive for a channel has left.
func (*Input[T]) by(p *node.Process) *runner.Blocking {
	return runner.BlockingOf(p.Inside(process.Key{}).Acting())
}

func (in *Input[T]) is(m any) bool {
	_, ok := in.Of(m)
	return ok
}

// Messages returns the values of this channel as they come, until ctx ends: see [Messages]. Values of
// other channels of the same type are not taken.
func (in *Input[T]) Messages(ctx context.Context, p *node.Process) iter.Seq[T] {
	return func(yield func(T) bool) {
		for v := range Matching[value[T]](ctx, p, in.is) {
			if !yield(v.v) {
				return
			}
		}
	}
}

// Close ends the channel: later values are dead letters. Values that have come can still be received. It
// reports whether the channel was open.
func (in *Input[T]) Close(p Owner) bool { return p.Unalias(in.to.Ref) }

// Output is the sending end of a channel, wherever its process is. Outputs can be compared.
type Output[T any] struct{ Ref node.Ref }

// Send sends a value through the channel. The errors are those of [node.Send]; for the zero Output,
// [node.ErrArgument].
func (o Output[T]) Send(from node.Caller, v T) error {
	if o.Ref.IsZero() {
		return node.ErrArgument
	}
	return node.Send(from, o.Ref, v)
}

// Term returns the reference, which is the form of an Output for OTP nodes; undefined for the zero Output.
func (o Output[T]) Term() any {
	if o.Ref.IsZero() {
		return node.Atom("undefined")
	}
	return o.Ref
}

// SetTerm makes o the Output of a reference; the zero Output for undefined.
func (o *Output[T]) SetTerm(term any) error {
	switch t := term.(type) {
	case node.Ref:
		o.Ref = t
		return nil
	case node.Atom:
		if t == "undefined" {
			o.Ref = node.Ref{}
			return nil
		}
	}
	return fmt.Errorf("channel: got %T for an Output, want a reference", term)
}

// Outputs of types that every node knows can be sent to other nodes without being registered.
func init() {
	node.Know(process.Key{}, node.TypeOf[Output[any]]("$output.any"), node.TypeOf[Output[bool]]("$output.bool"),
		node.TypeOf[Output[int]]("$output.int"), node.TypeOf[Output[int64]]("$output.int64"),
		node.TypeOf[Output[float64]]("$output.float64"), node.TypeOf[Output[string]]("$output.string"),
		node.TypeOf[Output[[]byte]]("$output.bytes"), node.TypeOf[Output[node.Atom]]("$output.atom"),
		node.TypeOf[Output[node.PID]]("$output.pid"))
}
