package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/migrate"
	otpio "github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/port"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/stage"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/node/trace"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/epmd"
	"github.com/actornode/actornode/wire/etf"
	"github.com/actornode/actornode/wire/pickle"
)

// sentinels are the exported errors of this module.
var sentinels = map[string]error{
	"node.ErrBadName": node.ErrBadName, "node.ErrBadOption": node.ErrBadOption, "node.ErrBadTimeout": node.ErrBadTimeout,
	"node.ErrCycle":   node.ErrCycle,
	"node.ErrDropped": node.ErrDropped, "node.ErrExited": node.ErrExited, "node.ErrIgnored": node.ErrIgnored,
	"node.ErrMailboxFull": node.ErrMailboxFull, "node.ErrNameTaken": node.ErrNameTaken, "node.ErrNilBehaviour": node.ErrNilBehaviour,
	"node.ErrNoConnection": node.ErrNoConnection, "node.ErrNoDest": node.ErrNoDest, "node.ErrNoName": node.ErrNoName,
	"node.ErrNoProcess": node.ErrNoProcess, "node.ErrNodeStopped": node.ErrNodeStopped, "node.ErrNotHere": node.ErrNotHere,
	"node.ErrPending": node.ErrPending, "node.ErrProtected": node.ErrProtected, "node.ErrReplied": node.ErrReplied,
	"node.ErrReplyType": node.ErrReplyType, "node.ErrSelfCall": node.ErrSelfCall, "node.ErrThreadLocked": node.ErrThreadLocked,
	"node.ErrTimeout": node.ErrTimeout, "node.ErrTooMany": node.ErrTooMany, "node.ErrType": node.ErrType,
	"node.ErrUnhandled":             node.ErrUnhandled,
	"node_discovery.ErrUnknownNode": discovery.ErrUnknownNode, "node_event.ErrNoCalls": event.ErrNoCalls,
	"node_event.ErrNoHandler": event.ErrNoHandler, "node_event.ErrRemove": event.ErrRemove,
	"node_global.ErrNotPublished": global.ErrNotPublished, "node_global.ErrTaken": global.ErrTaken,
	"node_genserver.ErrReplyLater": genserver.ErrReplyLater, "node_otp.ErrNoLeader": otpio.ErrNoLeader,
	"node_pg.ErrBadGroup": pg.ErrBadGroup, "node_pg.ErrNotJoined": pg.ErrNotJoined, "node_pg.ErrNotLocal": pg.ErrNotLocal,
	"node_migrate.ErrFailed": migrate.ErrFailed, "node_migrate.ErrFixed": migrate.ErrFixed,
	"node_migrate.ErrUnknown": migrate.ErrUnknown,
	"node_migrate.ErrMoving":  migrate.ErrMoving, "node_migrate.ErrNotAllowed": migrate.ErrNotAllowed,
	"node_migrate.ErrNotStarted": migrate.ErrNotStarted, "node_migrate.ErrNotThere": migrate.ErrNotThere,
	"node_port.ErrBusy": port.ErrBusy, "node_port.ErrConfig": port.ErrConfig, "node_port.ErrFrame": port.ErrFrame,
	"node_stage.ErrClosed": stage.ErrClosed, "node_stage.ErrDetached": stage.ErrDetached,
	"node_stage.ErrOffStage": stage.ErrOffStage, "node_stage.ErrOrdered": stage.ErrOrdered,
	"node_stage.ErrTooMany":    stage.ErrTooMany,
	"node_statem.ErrUnhandled": statem.ErrUnhandled, "node_trace.ErrFull": trace.ErrFull,
	"supervisor.ErrAlreadyPresent": supervisor.ErrAlreadyPresent, "supervisor.ErrNotFound": supervisor.ErrNotFound,
	"supervisor.ErrNotSimple": supervisor.ErrNotSimple, "supervisor.ErrRestarting": supervisor.ErrRestarting,
	"supervisor.ErrRunning": supervisor.ErrRunning, "supervisor.ErrSimple": supervisor.ErrSimple,
	"wire_dist.ErrBusy": dist.ErrBusy, "wire_dist.ErrCookie": dist.ErrCookie, "wire_dist.ErrLater": dist.ErrLater,
	"wire_dist.ErrNotAllowed": dist.ErrNotAllowed, "wire_dist.ErrPeerName": dist.ErrPeerName,
	"wire_dist.ErrPeerProtocol": dist.ErrPeerProtocol, "wire_epmd.ErrNotFound": epmd.ErrNotFound,
	"wire_epmd.ErrRefused": epmd.ErrRefused, "wire_epmd.ErrUnreachable": epmd.ErrUnreachable, "wire_etf.ErrCut": etf.ErrCut,
	"wire_etf.ErrLimit": etf.ErrLimit, "wire_etf.ErrMalformed": etf.ErrMalformed, "wire_etf.ErrMismatch": etf.ErrMismatch,
	"wire_etf.ErrNoTerm": etf.ErrNoTerm, "wire_pickle.ErrMismatch": pickle.ErrMismatch,

	"node.ErrStop": nil, "node.ErrIgnore": nil, // exit reasons: they cross as *node.ExitError
	"node_rpc.ErrUndef": nil, // the exception undef, as in Erlang: it crosses as *rpc.Error
}

// No exported error of the module is forgotten in sentinels.
func TestSentinelsAreAll(t *testing.T) {
	files, err := filepath.Glob("../testdata/api/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	line := regexp.MustCompile(`(?m)^var (Err\w+)`)
	all := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			name := filepath.Base(f[:len(f)-len(".txt")]) + "." + m[1]
			require.Contains(t, sentinels, name, "an exported error that no test takes to another node")
			all++
		}
	}
	require.Len(t, sentinels, all, "some of these are no exported errors any more")
}

// Every node knows the exported errors of the module: errors.Is finds them in an error of a call, and
// in that of a function that is called by name, on whichever node and with whichever types.
func TestSentinelsCross(t *testing.T) {
	for _, protocol := range []string{"native", "erlang"} {
		t.Run(protocol, func(t *testing.T) {
			where := &nodetest.Places{}
			start := func(name node.Atom) *node.Node {
				d := node.Distribution{Cookie: "secret", Finder: where, Types: &node.Types{}}
				var err error
				d.Protocols, err = d.ProtocolsByName(protocol)
				require.NoError(t, err)
				return nodetest.Start(t, node.Config{Name: name, Distribution: &d})
			}
			a, b := start("a@127.0.0.1"), start("b@127.0.0.1")
			pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
				r := msg.(node.Request[string])
				return r.Fail(fmt.Errorf("so: %w", sentinels[r.Body]))
			}))
			require.NoError(t, err)
			f := wire.Export{Module: "m", Function: "f", Arity: 1}
			require.NoError(t, rpc.Export(b, f, func(_ context.Context, args []any) (any, error) {
				name, _ := wire.Text(args[0])
				return nil, fmt.Errorf("so: %w", sentinels[name])
			}))
			for name, want := range sentinels {
				if want == nil {
					continue
				}
				_, err := node.Call[int](testkit.Context(t), a, pid, name)
				require.ErrorIs(t, err, want, name)
				require.EqualError(t, err, "so: "+want.Error())
				for _, n := range []*node.Node{a, b} {
					_, err = rpc.Call[int](testkit.Context(t), n, b.Name(), "m", "f", name)
					require.ErrorIs(t, err, want, name)
				}
			}
		})
	}
}
