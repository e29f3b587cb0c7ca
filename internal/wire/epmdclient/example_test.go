package epmdclient_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/actornode/actornode/internal/wire/epmdclient"
	"github.com/actornode/actornode/wire/epmd"
)

// A node registers and becomes the port mapper of its host, as nobody else is, and another asks where it is.
func Example() {
	ctx := context.Background()
	client, err := epmdclient.NewClient(atFreePort()) // epmd.Config{} is what erl uses
	if err != nil {
		panic(err)
	}
	keeper, err := client.Keep(ctx, epmdclient.Registration{Name: "cart", Port: 9100, Extra: []byte("native=9101")})
	if err != nil {
		panic(err)
	}
	defer keeper.Stop()
	fmt.Println(keeper.Serving())

	r, err := client.Lookup(ctx, "localhost", "cart")
	fmt.Println(r.Port, r.Highest, string(r.Extra), err)
	_, err = client.Register(ctx, epmdclient.Registration{Name: "cart", Port: 9200})
	fmt.Println(err)
	// Output:
	// true
	// 9100 6 native=9101 <nil>
	// register "cart": epmd: registration refused: the name is already registered or not allowed (result 1)
}

// atFreePort lets an example run beside a port mapper of this host.
func atFreePort() epmd.Config {
	var mapper net.Listener
	return epmd.Config{
		Logger: slog.New(slog.DiscardHandler),
		Listen: func(_ context.Context, network, _ string) (l net.Listener, err error) {
			mapper, err = net.Listen(network, "127.0.0.1:0")
			return mapper, err
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			if mapper == nil {
				return nil, errors.New("nobody listens")
			}
			return (&net.Dialer{}).DialContext(ctx, network, mapper.Addr().String())
		},
	}
}
