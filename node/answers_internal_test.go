package node

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/dist"
)

// script is a link on which frames come as if in pieces, and that notes how many answers
// have been written whenever they are sent.
type script struct {
	dist.Link
	frames []dist.Frame
	ends   []int // of pieces
	read   int
	wrote  int
	sent   []int
}

func (s *script) Peer() dist.Peer { return dist.Peer{} }
func (s *script) Close() error    { return nil }

func (s *script) Read(f *dist.Frame) error {
	if s.read == len(s.frames) {
		return errors.New("the end")
	}
	*f = s.frames[s.read]
	s.read++
	return nil
}

func (s *script) More() bool {
	for _, end := range s.ends {
		if s.read == end {
			return false
		}
	}
	return true
}

func (s *script) Write(*dist.Frame) (int, error) {
	s.wrote++
	return s.wrote, nil
}

func (s *script) Try() bool {
	s.sent = append(s.sent, s.wrote)
	return false
}

// What answers frames that have come together is sent together, when there is no more to
// read or it is many.
func TestAnswersTogether(t *testing.T) {
	n, err := Start(Config{Name: "a@127.0.0.1", Distribution: &Distribution{Cookie: "c", Finder: &discovery.Static{}}})
	require.NoError(t, err)
	defer n.Stop()
	l := &script{ends: []int{1, 41, 43, 48}}
	dead := n.sys.Origin.PID(1 << 40)
	for i := range 48 {
		l.frames = append(l.frames, dist.Frame{Op: dist.OpMonitor, To: dead, Ref: n.sys.Origin.RefOf(uint64(i + 1))})
	}
	n.dist.Detached("b@127.0.0.1", l).Owner().Read(l)
	assert.Equal(t, []int{1, 33, 41, 43, 48}, l.sent)
}

// A handler that may take long keeps no answer but those that it gives.
func TestAnswersBeforeAHandler(t *testing.T) {
	n, err := Start(Config{Name: "a@127.0.0.1", Distribution: &Distribution{Cookie: "c", Finder: &discovery.Static{}, Awake: -time.Nanosecond}})
	require.NoError(t, err)
	defer n.Stop()
	l := &script{ends: []int{11}}
	var sent []int
	pid, err := n.Spawn(ActorFunc(func(*Context, any) error {
		sent = append(sent, l.sent...)
		return nil
	}))
	require.NoError(t, err)
	for s := n.sys.Pool.Stats(); s.Active+s.Waiting > 0; s = n.sys.Pool.Stats() {
		runtime.Gosched() // until the actor is at rest: else its worker may handle the message, not the reader
	}
	for i := range 10 {
		f := dist.Frame{Op: dist.OpMonitor, To: n.sys.Origin.PID(1 << 40), Ref: n.sys.Origin.RefOf(uint64(i + 1))}
		l.frames = append(l.frames, f)
	}
	l.frames = append(l.frames, dist.Frame{Op: dist.OpSend, To: pid, Payload: "m"})
	n.dist.Detached("b@127.0.0.1", l).Owner().Read(l)
	require.NoError(t, n.Stop())
	assert.Equal(t, []int{10}, sent)
}
