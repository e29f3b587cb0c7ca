package attack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode"
	"github.com/actornode/actornode/deploy/attack/internal/raw"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	noderpc "github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// The vault is a daemon with processes that keep secrets, like those of a user. The test binary is that daemon if this
// variable is set.
const asVault = "ATTACK_VAULT"

// inVault makes a row's daemon the vault.
func inVault(t testing.TB, o *raw.Options) {
	self, err := os.Executable()
	require.NoError(t, err)
	o.Program = self
	o.Env = append(o.Env, asVault+"=1")
}

// secret is in each password of the vault, and must never leave it.
const secret = "hunter2-of-the-vault"

// account is a value that a process keeps, or gets. Tagged fields stay on their node in each protocol.
type account struct {
	Name     string `etf:"name"`
	Password string `etf:"-"`
	Token    string `msgpack:"-"`
}

func newAccount() account {
	return account{Name: "alice", Password: secret, Token: secret}
}

// keeper is a server whose state is secret.
type keeper struct{ account }

var keepers = genserver.Define(
	genserver.OnAnyCall(func(k *keeper, _ *genserver.Context, q wire.Atom) (any, error) {
		switch q {
		case "value":
			return k.account, nil
		case "pointer":
			return &k.account, nil
		case "list":
			return []account{k.account}, nil
		case "map":
			return map[string]account{"it": k.account}, nil
		case "any":
			return wire.Tuple{wire.Atom("it"), wire.List{k.account}}, nil
		}
		return nil, &genserver.UnhandledError{Server: "vault", Request: q}
	}),
)

// vault is the program.
var vault = actornode.Program{
	Name: "vault",
	Export: func(n *node.Node) error {
		behaviour := func([]any) (node.Actor, error) { return keepers.New(&keeper{newAccount()}), nil }
		if err := noderpc.ExportBehaviour(n, wire.Export{Module: "vault", Function: "keeper"}, behaviour); err != nil {
			return err
		}
		breaks := func([]any) (node.Actor, error) { return nil, errors.New("the vault is broken") }
		if err := noderpc.ExportBehaviour(n, wire.Export{Module: "vault", Function: "broken", Arity: 2}, breaks); err != nil {
			return err
		}
		for f, do := range map[wire.Atom]noderpc.Function{
			"crash":      func(ctx context.Context, _ []any) (any, error) { return crashAll(ctx, n) },
			"references": func(ctx context.Context, args []any) (any, error) { return references(ctx, n, args[0]) },
		} {
			arity := map[wire.Atom]int{"references": 1}[f]
			if err := noderpc.Export(n, wire.Export{Module: "vault", Function: f, Arity: arity}, do); err != nil {
				return err
			}
		}
		return nil
	},
	Started: func(_ context.Context, n *node.Node) error {
		_, err := n.SpawnOpt(node.Options{Name: "keeper"}, keepers.New(&keeper{newAccount()}))
		return err
	},
}

// crashes are the ways to end a process that has a secret, and has got one in a message.
var crashes = map[string]func() error{
	"an error":      func() error { return errors.New("the vault is broken") },
	"a panic":       func() error { panic("the vault is broken") },
	"a bad index":   func() error { var none []int; return fmt.Errorf("%d", none[len(none)]) },
	"a nil pointer": func() error { var k *keeper; return errors.New(k.Name) },
	"an exit":       func() error { return node.ExitWith(wire.Atom("broken")) },
	"no handler":    func() error { return node.ErrUnhandled },
}

// broken is a state machine, an event handler and an active object, which end in a given way.
type broken struct {
	account
	end func() error
}

func (b *broken) open(*statem.Context, statem.Event) (statem.State[*broken], error) {
	return nil, b.end()
}

func (b *broken) HandleEvent(*event.Context, any) error { return b.end() }

func (b *broken) HandleCall(*event.Context, any) (any, error) { return nil, b.end() }

// Enter is a method of an active object.
func (b *broken) Enter(*active.Context, account) (int, error) { return 0, b.end() }

var machines = statem.Define((*broken).open)

// crashAll makes each kind of process end in each way, after each form of a message with a secret, and returns how many
// there were.
func crashAll(ctx context.Context, n *node.Node) (ended int, err error) {
	a := newAccount()
	messages := []any{a, &a, wire.Tuple{wire.Atom("login"), "alice", secret}, wire.List{secret}, secret, []byte(secret),
		map[string]string{"password": secret}, wire.NewMap(wire.Atom("password"), secret)}
	for _, end := range crashes {
		b := &broken{newAccount(), end}
		servers := genserver.Define(genserver.OnCast(func(*broken, *genserver.Context, any) error { return end() }),
			genserver.OnInfo(func(*broken, *genserver.Context, any) error { return end() }))
		for _, message := range messages {
			for _, actor := range []node.Actor{
				node.ActorFunc(func(*node.Context, any) error { return end() }),
				node.ProcessFunc(func(p *node.Process) error { p.Receive(); return end() }),
				servers.New(b), machines.New(b), active.New(b),
			} {
				pid, err := n.Spawn(actor)
				if err != nil {
					return ended, err
				}
				_ = genserver.Cast(n, pid, message)
				if err := n.Send(pid, message); err != nil {
					return ended, err
				}
				n.Exit(pid, node.Shutdown) // if it is still alive
				if _, err := node.AwaitExit(ctx, n, pid); err != nil {
					return ended, err
				}
				ended++
			}
			events, err := event.Start(ctx, n, event.Config{}, node.Options{})
			if err != nil {
				return ended, err
			}
			if err := event.Add(ctx, n, events, event.ID{Module: "vault"}, b); err != nil {
				return ended, err
			}
			_ = event.SyncNotify(ctx, n, events, message)
			n.Exit(events, node.Kill)
			if err := n.Send(events, message); err != nil { // it becomes a dead letter
				return ended, err
			}
		}
		_, _ = supervisor.Start(ctx, n, supervisor.Spec{Children: []supervisor.Child{{
			ID: "broken", Named: supervisor.Named{Module: "vault", Function: "broken", Args: []any{newAccount(), secret}},
		}}}, node.Options{})
	}
	return ended, nil
}

// references gives a peer's process references of each kind that grants something, eachReference of each: {alias, Ref},
// {from, From} of a caller, and calls, and then {done, PID} of the process that has the aliases. Whoever has one may
// send to that process, or answer it.
func references(ctx context.Context, n *node.Node, peer any) (any, error) {
	to, ok := peer.(wire.PID)
	if !ok {
		return nil, errors.New("no process")
	}
	asked, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok { // the peer is to answer it
			return c.Send(to, wire.Tuple{wire.Atom("from"), r.From})
		}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		for range eachReference {
			for _, m := range []any{wire.Tuple{wire.Atom("alias"), p.Alias()}, wire.Tuple{wire.Atom("alias"), p.AliasOnce()}} {
				if err := p.Send(to, m); err != nil {
					return err
				}
			}
			//actornode:ignore lostfuture the peer shows what it gets
			node.Async[int](p, to, 1)
			//actornode:ignore lostfuture the peer answers, or guesses
			node.Async[int](n, asked, 1)
		}
		if err := p.Send(to, wire.Tuple{wire.Atom("done"), p.Self()}); err != nil {
			return err
		}
		for {
			p.Receive()
		}
	}))
}

// eachReference is the number of references of each kind.
const eachReference = 64
