package native

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode/wire/dist"
)

// exchange sends the shapes of this node's types to the peer, and receives those of its types, before anything else is
// sent, so that even the first message is checked. The dialing side begins. If exchange fails, the link is closed.
func (l *link) exchange(ctx context.Context, dialled bool, timeout time.Duration) error {
	if l.in.shapes == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout,
		fmt.Errorf("%s has not told the shapes of its types within %v", l.peer.ID.Name, timeout))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if l.session != nil {
			l.session.finish(context.Cause(ctx))
			return
		}
		_ = l.conn.Close()
	})
	defer stop()
	steps := []func() error{l.tell, l.learn}
	if !dialled {
		steps[0], steps[1] = steps[1], steps[0]
	}
	for _, step := range steps {
		err := step()
		if ctx.Err() != nil {
			err = fmt.Errorf("native: handshake: %w", context.Cause(ctx))
		}
		if err != nil {
			_ = l.Close()
			return err
		}
	}
	return nil
}

// tell sends the shapes, which newLink has written, and the end marker.
func (l *link) tell() error {
	l.mu.Lock()
	at := len(l.out.buf)
	l.out.buf = append(l.out.buf, 0, 0, opPart, shapeStream, nilByte)
	l.out.close(at)
	l.mu.Unlock()
	_, err := l.Flush(false)
	return err
}

// learn reads until the peer has sent all shapes.
func (l *link) learn() error {
	for !l.in.told {
		b, err := l.next()
		if err == nil && len(b) > 0 {
			var f dist.Frame
			var ok bool
			if ok, err = l.in.frame(b, &f); ok && err == nil {
				err = wrong("%s before all shapes of types have been told", f.Op)
			}
		}
		if err != nil {
			return l.readError(err)
		}
	}
	return nil
}
