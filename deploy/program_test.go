package deploy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/actornode/actornode"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/pool"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// asProgram is the variable that makes the test binary a daemon of its own, with faults: its value is the version.
const asProgram = "ACTORNODE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if version := os.Getenv(asProgram); version != "" {
		actornode.Main(actornode.Program{Version: version, Started: obey})
	}
	os.Exit(m.Run())
}

// obey begins and ends faults as standard input says: each line is the name of one, or "end". At the end of input,
// which is that of the test, the process ends.
func obey(ctx context.Context, n *node.Node) error {
	// It lives as long as the process: nothing else reads standard input.
	go func() {
		end := func() {}
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			end()
			end = func() {}
			begin, ok := faults[in.Text()]
			if !ok {
				continue
			}
			var err error
			if end, err = begin(ctx, n); err != nil {
				fmt.Fprintln(os.Stderr, "fault", in.Text(), err)
				os.Exit(1)
			}
		}
		os.Exit(1)
	}()
	return nil
}

// faults are the misbehaviours of the program, by name, and what it does when it is well. Each returns a function that ends it.
var faults = map[string]func(ctx context.Context, n *node.Node) (end func(), err error){
	"a supervisor gives up": giveUp,
	"a child crashes often": crashOften,
	"a process is stuck":    getStuck,
	"messages for nobody":   sendToNobody,
	"processes do not end":  leak,
	"handlers block":        block,
	"much for a slow peer":  sendMuch,
	"a group and a pool":    startGroups,
}

// crasher panics when it gets a message. It sends itself one after a while; 0: it does not.
func crasher(after time.Duration) func(...any) (node.Actor, error) {
	return func(...any) (node.Actor, error) {
		return node.ProcessFunc(func(p *node.Process) error {
			if after > 0 {
				if _, err := p.SendAfter(after, p.Self(), "crash"); err != nil {
					return err
				}
			}
			p.Receive()
			panic("this is the fault")
		}), nil
	}
}

// stop asks a process to end.
func stop(n *node.Node, pid node.PID) func() {
	return func() { n.Exit(pid, wire.Atom("shutdown")) }
}

// giveUp starts a supervisor whose child may not crash, below one that restarts it.
func giveUp(ctx context.Context, n *node.Node) (func(), error) {
	inner := supervisor.Spec{Intensity: supervisor.NoRestarts, Children: []supervisor.Child{
		{ID: wire.Atom("till"), Start: crasher(0), Options: node.Options{Name: "till"}}}}
	top, err := supervisor.Start(ctx, n, supervisor.Spec{Children: []supervisor.Child{{ID: wire.Atom("shop"),
		Type: supervisor.Supervisor, Options: node.Options{Name: "shop"},
		Start: func(...any) (node.Actor, error) { return supervisor.New(inner), nil }}}}, node.Options{Name: "shops"})
	if err != nil {
		return nil, err
	}
	return stop(n, top), n.Send(wire.Atom("till"), "crash")
}

// crashOften starts a child that crashes, and is restarted within the intensity of its supervisor.
func crashOften(ctx context.Context, n *node.Node) (func(), error) {
	top, err := supervisor.Start(ctx, n, supervisor.Spec{Intensity: 1000, Period: time.Second, Children: []supervisor.Child{
		{ID: wire.Atom("till"), Start: crasher(500 * time.Millisecond), Options: node.Options{Name: "till"}}}},
		node.Options{Name: "shop"})
	return stop(n, top), err
}

// getStuck starts a process that takes nothing from its mailbox.
func getStuck(ctx context.Context, n *node.Node) (func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	pid, err := n.SpawnOpt(node.Options{Name: "stuck"}, node.ProcessFunc(func(p *node.Process) error {
		<-ctx.Done()
		return nil
	}))
	for range 10_001 {
		err = errors.Join(err, n.Send(pid, "more"))
	}
	return cancel, err
}

// sendToNobody sends a hundred messages a second to a process that has ended.
func sendToNobody(_ context.Context, n *node.Node) (func(), error) {
	ended, err := n.Spawn(node.ProcessFunc(func(*node.Process) error { return nil }))
	if err != nil {
		return nil, err
	}
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, _ any) error { return c.Send(ended, "hello") }))
	if err != nil {
		return nil, err
	}
	_, err = n.SendInterval(10*time.Millisecond, pid, "send")
	return stop(n, pid), err
}

// leak starts processes that do not end, up to 19 of 20 that the limit permits.
func leak(_ context.Context, n *node.Node) (func(), error) {
	limit := n.LimitUsage()[0]
	ctx, cancel := context.WithCancel(context.Background())
	for i := limit.Used; i < limit.Max*19/20; i++ {
		if _, err := n.Spawn(node.ProcessFunc(func(*node.Process) error { <-ctx.Done(); return nil })); err != nil {
			return cancel, err
		}
	}
	return cancel, nil
}

// block starts an actor whose handler waits, again and again, for something other than a message.
func block(_ context.Context, n *node.Node) (func(), error) {
	nap := func() { time.Sleep(50 * time.Millisecond) } // this is the fault
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, _ any) error {
		nap()
		return c.Send(c.Self(), "again")
	}))
	if err != nil {
		return nil, err
	}
	return stop(n, pid), n.Send(pid, "begin")
}

// sendMuch sends short messages to a peer without end.
func sendMuch(ctx context.Context, n *node.Node) (func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	text := strings.Repeat("much ", 200)
	_, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		for ctx.Err() == nil {
			if err := p.Send(node.At{Name: "sink", Node: "slow@127.0.0.1"}, text); err != nil {
				return err
			}
		}
		return nil
	}))
	return cancel, err
}

// startGroups starts a keyed group and a pool, and uses each once.
func startGroups(ctx context.Context, n *node.Node) (func(), error) {
	idle := node.ActorFunc(func(*node.Context, any) error { return nil })
	carts, err := keyed.Start(ctx, n, keyed.Kind[string]{Name: "carts", New: func(string) (node.Actor, error) { return idle, nil }})
	if err != nil {
		return nil, err
	}
	if _, err = pool.Start(ctx, n, pool.Options{Name: "resize", New: func() node.Actor { return idle }}); err != nil {
		return nil, err
	}
	end := func() {
		n.Exit(wire.Atom("carts"), node.Shutdown)
		n.Exit(wire.Atom("resize"), node.Shutdown)
	}
	return end, errors.Join(keyed.Send(ctx, n, carts, "ann", "hello"), n.Send(wire.Atom("resize"), "hello"))
}
