package node

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/node/rights"
)

// A message that a peer has asked to be sent to a name arrives in the form that its receiver wants, even though the
// name keeps moving from one process to another.
func TestPassOnToChangingName(t *testing.T) {
	n, err := Start(Config{Workers: 2})
	require.NoError(t, err)
	defer n.Stop()
	var wrong, got atomic.Int64
	receiver := func(shown bool) PID {
		pid, err := n.SpawnOpt(Options{ShowPeer: shown}, ActorFunc(func(_ *Context, msg any) error {
			if _, is := msg.(PeerMessage); is != shown {
				wrong.Add(1)
			}
			got.Add(1)
			return nil
		}))
		require.NoError(t, err)
		return pid
	}
	pids := [2]PID{receiver(true), receiver(false)}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = n.Register("changing", pids[i%2])
				_ = n.Unregister("changing")
			}
		}
	}()
	done := make(chan struct{})
	_, err = n.SpawnOpt(Options{Place: Detached()}, &passer{done})
	require.NoError(t, err)
	<-done
	close(stop)
	<-ended
	require.Zero(t, wrong.Load(), "of %d", got.Load())
}

// passer passes messages on until some thousands have found a receiver.
type passer struct{ done chan struct{} }

func (p *passer) Init(c *Context) error {
	by := &peers.Asker{System: &c.Node().sys, Who: rights.Identity{Name: "peer@host"}}
	for found := 0; found < 20_000; {
		if c.Node().sendFor(c.by, by, Atom("changing"), 1) == nil {
			found++
		}
	}
	close(p.done)
	return ErrStop
}

func (*passer) Receive(*Context, any) error { return nil }
