package event_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/sys"
)

// Alarm is an event.
type Alarm struct{ What string }

// book is a handler: it writes down alarms and returns how many there were.
type book struct{ alarms []string }

func (b *book) HandleEvent(_ *event.Context, e any) error {
	if a, ok := e.(Alarm); ok {
		b.alarms = append(b.alarms, a.What)
	}
	return nil
}

func (b *book) HandleCall(*event.Context, any) (any, error) { return len(b.alarms), nil }

func (b *book) Terminate(*event.Context, event.End) any { return b.alarms }

func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()

	pid, err := event.Start(ctx, n, event.Config{}, node.Options{Name: "alarms"})
	if err != nil {
		panic(err)
	}
	books := event.ID{Module: "book"}
	event.Add(ctx, n, pid, books, &book{})
	event.Add(ctx, n, pid, event.ID{Module: "printer"}, event.Func(func(_ *event.Context, a Alarm) error {
		fmt.Println("alarm:", a.What)
		return nil
	}))
	alarms, err := event.Subscribe[Alarm](ctx, n, pid, 16)
	if err != nil {
		panic(err)
	}

	event.Notify(n, node.Atom("alarms"), Alarm{"fire"})
	event.SyncNotify(ctx, n, pid, Alarm{"flood"})
	count, err := event.Call[int](ctx, n, pid, books, "how many?")
	fmt.Println(count, err)
	fmt.Println(event.Delete(ctx, n, pid, books, nil))

	sys.Stop(ctx, n, pid, node.Normal)
	for a := range alarms.C {
		fmt.Println("read:", a.What)
	}
	// Output:
	// alarm: fire
	// alarm: flood
	// 2 <nil>
	// [fire flood] <nil>
	// read: fire
	// read: flood
}
