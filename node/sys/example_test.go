package sys_test

import (
	"context"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/sys"
)

// till is a server that describes its state.
type till struct{ cents int }

func (t *till) State() any { return t.cents }

func (t *till) SetState(term any) error {
	cents, ok := term.(int)
	if !ok {
		return fmt.Errorf("want cents, got %v", term)
	}
	t.cents = cents
	return nil
}

// Look at a server, change it and end it while it runs, as from Erlang.
func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()
	tills := genserver.Define(genserver.OnCast(func(t *till, _ *genserver.Context, cents int) error {
		t.cents += cents
		return nil
	}))
	pid, err := tills.Start(ctx, n, &till{}, node.Options{})
	if err != nil {
		panic(err)
	}
	genserver.Cast(n, pid, 250)
	fmt.Println(sys.GetState(ctx, n, pid))
	fmt.Println(sys.ReplaceState(ctx, n, pid, func(state any) (any, error) { return state.(int) * 2, nil }))

	fmt.Println(sys.Suspend(ctx, n, pid))
	genserver.Cast(n, pid, 1) // waits
	fmt.Println(sys.GetState(ctx, n, pid))
	fmt.Println(sys.Resume(ctx, n, pid))
	fmt.Println(sys.GetState(ctx, n, pid))
	fmt.Println(sys.Stop(ctx, n, pid, node.Normal))
	// Output:
	// 250 <nil>
	// 500 <nil>
	// <nil>
	// 500 <nil>
	// <nil>
	// 501 <nil>
	// <nil>
}
