package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/supervisor"
)

type account struct{ balance int }

type Withdraw struct {
	genserver.Returns[int]
	Amount int
}

var errShort = errors.New("not that much")

func (a *account) withdraw(_ *genserver.Context, r Withdraw) (int, error) {
	if r.Amount < 0 {
		panic("a crash, after which the supervisor starts the account anew")
	}
	if r.Amount > a.balance {
		return 0, errShort // for the caller; the server goes on
	}
	a.balance -= r.Amount
	return a.balance, nil
}

var accounts = genserver.Define(genserver.OnCall((*account).withdraw))

func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()

	sup, err := supervisor.Start(ctx, n, supervisor.Spec{
		Strategy:  supervisor.RestForOne,
		Intensity: 10, Period: time.Minute,
		Children: []supervisor.Child{{
			ID:      "savings",
			Start:   func(...any) (node.Actor, error) { return accounts.New(&account{balance: 50}), nil },
			Options: node.Options{Name: "savings"},
		}},
	}, node.Options{Name: "top"})
	if err != nil {
		panic(err)
	}
	left, err := genserver.Call(ctx, n, node.Atom("savings"), Withdraw{Amount: 20}) // left is an int
	fmt.Println(left, err)

	_, err = genserver.Call(ctx, n, node.Atom("savings"), Withdraw{Amount: -1})
	var exit *node.ExitError
	fmt.Println(errors.As(err, &exit))

	children, _ := supervisor.WhichChildren(ctx, n, sup) // the answer comes after the restart
	fmt.Println(children[0].ID, children[0].Restarts)
	left, err = genserver.Call(ctx, n, node.Atom("savings"), Withdraw{Amount: 20})
	fmt.Println(left, err)
	// Output:
	// 30 <nil>
	// true
	// savings 1
	// 30 <nil>
}
