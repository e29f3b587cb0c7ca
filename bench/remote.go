package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// The two nodes of a remote bench. The near one runs the bench and listens, the far one dials and is the peer of the bench.
const (
	nearName node.Atom = "near@127.0.0.1"
	farName  node.Atom = "far@127.0.0.1"
)

// nearMain is the process that the far end reports to: the main process of the bench.
var nearMain = node.At{Name: "bench", Node: nearName}

// farGrace is how long the far end may take to end after the near one.
const farGrace = time.Minute

// betweenNodes completes a bench between two OS processes with a node each. far starts a process on the far node, which
// near finds in [nearEnd].
func betweenNodes(
	b contract.Bench,
	near func(p contract.Params, m *contract.Meter, e nearEnd) error,
	far func(p contract.Params, n *node.Node) (node.PID, error),
) contract.Bench {
	b.Params = append(b.Params, contract.Word("proto", "native", "erlang"), contract.Style())
	b.Run = func(p contract.Params, m *contract.Meter) error {
		return onTwoNodes(b, p, func(e nearEnd) error { return near(p, m, e) })
	}
	b.Far = func(args []string) error { return onFarNode(b.Params, args, far) }
	return b
}

// protocolOf returns the protocol between the two nodes, with a node's default settings.
func protocolOf(p contract.Params) dist.Protocol {
	protocols, err := (&node.Distribution{}).ProtocolsByName(p.Word("proto"))
	if err != nil {
		panic(err) // the parameter allows no others
	}
	return protocols[0]
}

// nearEnd holds the near half of a bench.
type nearEnd struct {
	main *node.Process // as in onNode
	far  node.PID      // at the other end
	tap  *tap
}

// receive returns the next message to main, or an error if the far end has ended.
func (e nearEnd) receive() (any, error) {
	msg := e.main.Receive()
	if over, ok := msg.(farOver); ok {
		return nil, fmt.Errorf("the far end is over before its time (%v)", over.err)
	}
	return msg, nil
}

// onTwoNodes runs body with a node here and one in another OS process.
func onTwoNodes(b contract.Bench, p contract.Params, body func(nearEnd) error) error {
	cookie := rand.Text()
	t := &tap{Protocol: protocolOf(p)}
	n, err := node.Start(node.Config{
		Name: nearName, Coroutines: p.Style() == contract.Coroutine, Log: quiet,
		Distribution: &node.Distribution{Cookie: cookie, Finder: ports{}, Protocols: []dist.Protocol{t},
			Timing: node.Timing{Awake: awakeOf(b.Params, p)}},
	})
	if err != nil {
		return err
	}
	main, err := n.Open()
	if err == nil {
		err = n.Register(nearMain.Name, main.Self()) // before the far end starts to report there
	}
	if err != nil {
		return errors.Join(err, n.Stop())
	}
	far, err := startFar(b.Name, p, cookie, n)
	if err != nil {
		return errors.Join(err, n.Stop())
	}
	go far.wait(main)
	err = meet(nearEnd{main: main, tap: t}, body)
	return errors.Join(err, n.Stop(), far.stop()) // the end of n ends the far end
}

// meet waits for the far node and runs body.
func meet(e nearEnd, body func(nearEnd) error) error {
	msg, err := e.receive()
	if err != nil {
		return err
	}
	pid, ok := msg.(node.PID)
	if !ok {
		return fmt.Errorf("the far end says %v, not where it is", msg)
	}
	e.far = pid
	return body(e)
}

// farProcess is the OS process of the far node.
type farProcess struct {
	cmd  *exec.Cmd
	over chan error // capacity 1: its exit
}

// farOver notifies main of the end of the far end.
type farOver struct{ err error }

func startFar(bench string, p contract.Params, cookie string, n *node.Node) (*farProcess, error) {
	port := n.Addr().(*net.TCPAddr).Port
	cmd, err := contract.Far(bench, append(p.Args(), "cookie="+cookie, "port="+strconv.Itoa(port))...)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), profileFile+"="+farProfile(os.Getenv(profileFile)))
	return &farProcess{cmd, make(chan error, 1)}, cmd.Start()
}

// wait is the goroutine that waits for the far end: started by onTwoNodes, awaited by stop.
func (f *farProcess) wait(main *node.Process) {
	err := f.cmd.Wait()
	main.Node().Send(main.Self(), farOver{err}) // lost after a timeout
	f.over <- err
}

func (f *farProcess) stop() error {
	select {
	case err := <-f.over:
		return err
	case <-time.After(farGrace):
		f.cmd.Process.Kill()
		return fmt.Errorf("the far end had to be killed: %w", <-f.over)
	}
}

// onFarNode runs the whole far end: a node that lives while it is connected to the near one.
func onFarNode(params []contract.Param, args []string, start func(contract.Params, *node.Node) (node.PID, error)) error {
	p, err := contract.Parse(append(params, contract.Text("cookie", ""), contract.Int("port", 1)), args)
	if err != nil {
		return err
	}
	n, err := node.Start(node.Config{
		Name: farName, Coroutines: p.Style() == contract.Coroutine, Log: quiet,
		Distribution: &node.Distribution{Cookie: p.Word("cookie"), Listen: "-", Finder: ports{nearName: p.Int("port")},
			Protocols: []dist.Protocol{protocolOf(p)}, Timing: node.Timing{Awake: awakeOf(params, p)}},
	})
	if err != nil {
		return err
	}
	return errors.Join(serveNear(p, n, start), n.Stop())
}

func serveNear(p contract.Params, n *node.Node, start func(contract.Params, *node.Node) (node.PID, error)) error {
	main, err := n.Open()
	if err != nil {
		return err
	}
	pid, err := start(p, n)
	if err != nil {
		return err
	}
	if err := n.Connect(main.Context(), nearName); err != nil {
		return err
	}
	main.MonitorNode(nearName)
	if err := main.Send(nearMain, pid); err != nil {
		return err
	}
	node.ReceiveOf[node.NodeDown](main)
	return nil
}

// ports is a Finder that knows the ports of nodes on this host, and ignores announcements.
type ports map[node.Atom]int

func (p ports) Find(_ context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	port, ok := p[name]
	if !ok {
		return nil, fmt.Errorf("bench: nobody knows where %s is", name)
	}
	return []discovery.Endpoint{{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}}, nil
}

func (ports) Announce(context.Context, discovery.Announcement) (stop func(), err error) {
	return func() {}, nil
}

// tap is a protocol that keeps its link, to read the link's traffic counters.
type tap struct {
	dist.Protocol
	link atomic.Pointer[dist.Link] // the first one, set before the far end is connected
}

func (t *tap) Accept(ctx context.Context, conn net.Conn, h dist.Handshake) (dist.Link, error) {
	link, err := t.Protocol.Accept(ctx, conn, h)
	if err == nil {
		t.link.CompareAndSwap(nil, &link)
	}
	return link, err
}

// sent returns the number of bytes sent to the far end.
func (t *tap) sent() uint64 {
	_, out := (*t.link.Load()).Traffic()
	return out
}

// sumAtFar is the report of a [tally].
const sumAtFar node.Atom = "sum"

// tally runs on the far end: it adds up the received numbers, plain or in the first 8 bytes of a binary, and reports to the
// near end when all have arrived.
type tally struct{ left, total, bytes int }

// add handles a message, and reports whether it counts.
func (t *tally) add(msg any) bool {
	switch m := msg.(type) {
	case []byte:
		t.total += numberIn(m)
		t.bytes += len(m)
	case int:
		t.total += m
	default:
		return false
	}
	t.left--
	return true
}

func (t *tally) report() wire.Tuple {
	return wire.Tuple{sumAtFar, t.total, t.bytes, contract.PeakRSS()}
}

func (t *tally) Receive(ctx *node.Context, msg any) error {
	if !t.add(msg) {
		return node.ErrUnhandled
	}
	if t.left == 0 {
		return ctx.Send(nearMain, t.report())
	}
	return nil
}

func (t *tally) process(p *node.Process) error {
	for t.left > 0 {
		t.add(p.Receive())
	}
	return p.Send(nearMain, t.report())
}

// startTally starts a tally of messages in the requested style.
func startTally(p contract.Params, n *node.Node, messages int) (node.PID, error) {
	t := &tally{left: messages}
	if p.Blocking() {
		return n.Spawn(node.ProcessFunc(t.process))
	}
	return n.Spawn(t)
}

// tallied is the content of a report.
type tallied struct{ total, bytes, peakRSS int }

// receiveTally waits for the report of the far end.
func (e nearEnd) receiveTally() (r tallied, err error) {
	msg, err := e.receive()
	if err != nil {
		return r, err
	}
	return tallyOf(msg)
}

// tallyOf reads a report of the far end.
func tallyOf(msg any) (r tallied, err error) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 4 || t[0] != sumAtFar {
		return r, fmt.Errorf("the far end says %v, not what it has counted", wire.Format(msg))
	}
	return tallied{t[1].(int), t[2].(int), t[3].(int)}, nil
}

// spinKey names the parameter that selects whether readers spin.
const spinKey = "spin"

// awakeOf returns Distribution.Timing.Awake for the parameter spinKey.
func awakeOf(params []contract.Param, p contract.Params) time.Duration {
	if !slices.ContainsFunc(params, func(q contract.Param) bool { return q.Key == spinKey }) {
		return 0
	}
	switch p.Word(spinKey) {
	case "on":
		return 100 * time.Microsecond
	case "off":
		return -1
	}
	return 0
}
