package epmd_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/actornode/actornode/wire/epmd"
)

// A port mapper of our own, a node that registers at it, and another that asks
// where it is.
func Example() {
	ctx := context.Background()
	l, err := net.Listen("tcp", "127.0.0.1:0") // ":4369" in real life
	if err != nil {
		panic(err)
	}
	cfg := epmd.Config{
		Port:   l.Addr().(*net.TCPAddr).Port,
		Logger: slog.New(slog.DiscardHandler),
	}
	server, err := epmd.NewServer(cfg)
	if err != nil {
		panic(err)
	}
	go server.Serve(ctx, l) // ended by Stop
	defer server.Stop()

	client, err := epmd.NewClient(cfg)
	if err != nil {
		panic(err)
	}
	alive, err := client.Register(ctx, epmd.Registration{Name: "cart", Port: 9100, Extra: []byte("native=9101")})
	if err != nil {
		panic(err)
	}
	defer alive.Stop()

	r, err := client.Lookup(ctx, "localhost", "cart")
	fmt.Println(r.Port, r.Highest, string(r.Extra), err)
	_, err = client.Register(ctx, epmd.Registration{Name: "cart", Port: 9200})
	fmt.Println(err)
	// Output:
	// 9100 6 native=9101 <nil>
	// register "cart": epmd: registration refused: the name is already registered or not allowed (result 1)
}
