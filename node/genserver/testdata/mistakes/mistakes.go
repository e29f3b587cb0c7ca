// Package mistakes does not compile: TestCompilerMessages reads what the compiler says.
package mistakes

import (
	"context"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
)

type plain struct{}

type returning struct{ genserver.Returns[int] }

type server struct{}

func (*server) plain(*genserver.Context, plain) (int, error) { return 0, nil }

func calls(ctx context.Context, n *node.Node, pid node.PID, addr genserver.Addr[*server]) {
	genserver.Call(ctx, n, pid, plain{})
	genserver.OnCall((*server).plain)
	genserver.CallTo(ctx, n, addr, returning{})
	var name string
	n.Send(name, plain{})
}
