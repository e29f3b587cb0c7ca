package match

import (
	"reflect"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// requests is the case of [Reply].
type requests[C *node.Context | *node.Process, Q any] struct {
	answer func(c C, r node.Request[Q]) error
}

func newRequests[C *node.Context | *node.Process, Q, R any](f func(c C, q Q) (R, error)) Case {
	return requests[C, Q]{func(c C, r node.Request[Q]) error {
		reply, err := f(c, r.Body)
		if err != nil {
			if calls.IsExit(err) {
				return err
			}
			_ = r.From.Fail(err) // fails if the caller has given up
			return nil
		}
		_ = any(c).(interface {
			Reply(from node.From, reply any) error
		}).Reply(r.From, reply)
		return nil
	}}
}

// addTo is part of Case.
func (q requests[C, Q]) addTo(m *Match) {
	m.belongsTo(reflect.TypeFor[C]())
	run := func(who any, r node.Request[Q]) error { return q.answer(who.(C), r) }
	m.add(reflect.TypeFor[node.Request[Q]](), rule{run: func(who, bound any) error {
		return run(who, bound.(node.Request[Q]))
	}})
	// Requests from other nodes, and from code that does not state the type.
	kind, isTagged := values.TaggedOf(reflect.TypeFor[Q]())
	kept := newKept[node.Request[Q]]()
	far := rule{
		bind: func(who, msg any) (any, bool) {
			n, _ := nodeOf(who).(*node.Node)
			r, ok := n.AsRequest(msg)
			if !ok {
				return nil, false
			}
			body, ok := r.Body.(Q)
			if t, isTuple := r.Body.(wire.Tuple); !ok && isTuple && isTagged {
				ok = kind.Read(n, t, &body)
			}
			if !ok {
				return nil, false
			}
			return kept.put(node.Request[Q]{Body: body, From: r.From}), true
		},
		run: func(who, bound any) error { return run(who, kept.take(bound)) },
	}
	if typ := reflect.TypeFor[Q](); typ.Kind() == reflect.Interface {
		m.add(anyType, far)
		return
	}
	for _, t := range asRequests {
		m.add(t, far)
	}
}

// asRequests are the message types of requests from other nodes, and of those without a stated type.
var asRequests = []reflect.Type{reflect.TypeFor[wire.Tuple](), reflect.TypeFor[node.Request[any]](),
	reflect.TypeFor[node.Request[wire.Tuple]](), reflect.TypeFor[node.PeerMessage]()}
