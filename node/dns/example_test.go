package dns_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/dns"
)

// cluster stands for the DNS of a cluster with two ready pods.
type cluster struct{ dns.Resolver }

func (cluster) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("10.0.0.7"), netip.MustParseAddr("10.0.0.8")}, nil
}

// The pods of a headless service: each node is named go@ADDRESS and listens at port
// 4370; with Distribution.Mesh all are connected.
func Example() {
	f, err := dns.New(dns.Config{
		Host:     "actors.default.svc.cluster.local.",
		At:       []discovery.Endpoint{{Addr: ":4370"}},
		Resolver: cluster{}, // in a pod: leave it out
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = node.Config{Name: "go@10.0.0.7", Distribution: &node.Distribution{
		Cookie: "secret", Listen: "0.0.0.0:4370", Finder: f, Mesh: &discovery.Mesh{}}}

	all, err := f.List(context.Background())
	fmt.Println(all, err)
	at, err := f.Find(context.Background(), "go@10.0.0.8")
	fmt.Println(at, err)
	// Output:
	// [go@10.0.0.7 go@10.0.0.8] <nil>
	// [10.0.0.8:4370] <nil>
}

var _ dns.Resolver = (*net.Resolver)(nil)
