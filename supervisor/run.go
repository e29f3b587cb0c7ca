package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// Service is what a program has in front of a supervision tree, such as an HTTP server: see [Run]. The zero value is a
// program that has nothing but the tree.
type Service struct {
	// Serve runs until Drain ends it. If it returns before, with or without an error, the program ends. It must not panic: it
	// runs on a goroutine of its own.
	Serve func() error
	// Drain lets Serve begin nothing more and waits for what it has begun, as http.Server.Shutdown does. ctx ends when the
	// time of Stop is over.
	Drain func(ctx context.Context) error
	// Stop is how long the end may take: Drain, the return of Serve, and the end of the tree. Default: 25 s, because
	// Kubernetes kills a program after 30 s.
	Stop time.Duration
}

// defaultStop is less than the time after which Kubernetes kills a program, 30 s.
const defaultStop = 25 * time.Second

// Run runs a program until ctx ends: the body of a main function that has started a node and a supervision tree, whose
// supervisor is top, a process of that node.
//
//	err = supervisor.Run(ctx, n, top, supervisor.Service{
//		Serve: func() error { return server.Serve(listener) },
//		Drain: server.Shutdown,
//	})
//
// It ends earlier if Serve returns or top ends. Whatever the cause, what is left then ends from the outside in: Drain is
// called, Serve returns, and top gets the exit signal shutdown and stops its children. The node goes on: who has started it
// stops it.
//
// If ctx has ended and all of this went well, the error is nil. Else it joins that of Serve, unless Drain was called before;
// that of Drain; a [*node.ExitError] with the reason of top, if that has ended by itself, or with another reason than
// shutdown; and context.DeadlineExceeded if the time of Stop was over before the end of all.
func Run(ctx context.Context, n *node.Node, top node.PID, s Service) error {
	var tree context.Context // ends with top
	if p := n.Inside(process.Key{}).Acting().System.Lookup(top); p != nil {
		tree = p.Context()
	} else {
		var end context.CancelCauseFunc
		tree, end = context.WithCancelCause(context.Background())
		end(&node.ExitError{Reason: node.NoProc})
	}

	// Ends with Serve, which Drain ends.
	var served chan error
	if s.Serve != nil {
		served = make(chan error, 1)
		go func() { served <- s.Serve() }()
	}

	serving := s.Serve != nil
	var failures []error
	select {
	case <-ctx.Done():
	case <-tree.Done():
	case err := <-served:
		serving = false
		failures = append(failures, err)
	}

	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(s.Stop, defaultStop))
	defer cancel()
	if s.Drain != nil {
		failures = append(failures, s.Drain(last))
	}
	if serving {
		select {
		case <-served: // because of Drain
		case <-last.Done():
			failures = append(failures, fmt.Errorf("supervisor: Serve has not returned: %w", last.Err()))
		}
	}
	asked := tree.Err() == nil // else it has ended by itself, perhaps while Drain ran
	n.Exit(top, node.Shutdown)
	select {
	case <-tree.Done():
		why := context.Cause(tree)
		if exit, ok := why.(*node.ExitError); !ok || !asked || exit.Reason != node.Shutdown {
			failures = append(failures, fmt.Errorf("supervisor: the supervision tree has ended: %w", why))
		}
	case <-last.Done():
		failures = append(failures, fmt.Errorf("supervisor: the supervision tree has not ended: %w", last.Err()))
	}
	return errors.Join(failures...)
}
