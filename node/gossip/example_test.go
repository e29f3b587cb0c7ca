package gossip_test

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/gossip"
)

// start starts a node that gossips on its own host, at a port of the system's choice.
func start(name node.Atom, seeds ...string) (*node.Node, *gossip.Finder, error) {
	f, err := gossip.New(gossip.Config{Cookie: "secret", Bind: ":0", Seeds: seeds, Pace: "local"})
	if err != nil {
		return nil, nil, err
	}
	n, err := node.Start(node.Config{Name: name, Distribution: &node.Distribution{
		Cookie: "secret", Finder: f, Mesh: &discovery.Mesh{}}})
	return n, f, err
}

// Three nodes: the second and third know where the first gossips, and all of them connect.
func Example() {
	a, first, err := start("a@127.0.0.1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Stop()
	h, err := a.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	h.MonitorNodes()
	for _, name := range []node.Atom{"b@127.0.0.1", "c@127.0.0.1"} {
		n, _, err := start(name, first.Addr())
		if err != nil {
			fmt.Println(err)
			return
		}
		defer n.Stop()
	}
	for range 2 {
		node.ReceiveOfWithin[node.NodeUp](h, time.Minute)
	}
	fmt.Println(a.AllNodes())
	_, err = first.Find(context.Background(), "b@127.0.0.1")
	fmt.Println(err)
	// Output:
	// [b@127.0.0.1 c@127.0.0.1]
	// <nil>
}
