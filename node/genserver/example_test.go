package genserver_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

// account is a server's state, a plain Go value.
type account struct{ balance int }

// The requests to an account. The type of the reply is part of the request's.
type (
	Withdraw struct {
		genserver.Returns[int]
		Amount int
	}
	Balance struct{ genserver.Returns[int] }
	Deposit struct{ Amount int } // a cast: no reply
)

var errShort = errors.New("not that much")

func (a *account) withdraw(_ *genserver.Context, r Withdraw) (int, error) {
	if r.Amount > a.balance {
		return 0, errShort // for the caller; the server goes on
	}
	a.balance -= r.Amount
	return a.balance, nil
}

func (a *account) show(*genserver.Context, Balance) (int, error) { return a.balance, nil }

func (a *account) deposit(_ *genserver.Context, d Deposit) error {
	a.balance += d.Amount
	return nil
}

var accounts = genserver.Define(
	genserver.OnCall((*account).withdraw),
	genserver.OnCall((*account).show),
	genserver.OnCast((*account).deposit),
)

func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		panic(err)
	}
	defer n.Stop()
	ctx := context.Background()

	pid, err := accounts.Start(ctx, n, &account{}, node.Options{Name: "savings"})
	if err != nil {
		panic(err)
	}
	genserver.Cast(n, pid, Deposit{Amount: 50})
	left, err := genserver.Call(ctx, n, pid, Withdraw{Amount: 20}) // left is an int
	fmt.Println(left, err)
	_, err = genserver.Call(ctx, n, node.Atom("savings"), Withdraw{Amount: 100})
	fmt.Println(errors.Is(err, errShort))
	// Output:
	// 30 <nil>
	// true
}
