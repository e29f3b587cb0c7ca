package storm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
)

// agent is a node of the storm, ours or OTP's: it runs commands, and reports its view.
type agent interface {
	// do starts a command, and returns the process that it is about, if any.
	do(c command) string
	look() view
	// kill ends the node, if it can, as kill -9 does, and waits for its end.
	kill()
}

// command is an action for an agent. It has the fields that its Op needs.
type command struct {
	Op     string // register, again, unregister, lock, try, unlock, end, release, connect, join (connect and wait), disconnect, look
	ID     int    // of the client, a new process for each of the first five
	Name   string // or the resource
	Method string // exit, notify, all
	Node   string // full name
}

// view is what a node knows.
type view struct {
	Nodes  []string            `json:"nodes"`  // connected, sorted
	Known  []string            `json:"known"`  // to global, sorted
	Synced []string            `json:"synced"` // sorted
	Busy   string              `json:"busy"`   // what is under way; "": nothing
	Shown  []string            `json:"shown"`  // registered_names
	Names  map[string]string   `json:"names"`  // the process by name
	Locks  map[string][]string `json:"locks"`  // holders by resource; for our nodes only the number of resources
	Client map[int]client      `json:"clients"`
}

// client is the state of a process of a command.
type client struct {
	Answer   string `json:"answer"` // yes, no, true, false, unlocked; "": none yet
	Conflict bool   `json:"conflict"`
	Alive    bool   `json:"alive"`
}

const host = "@127.0.0.1"

// erlAgent is an OTP node.
type erlAgent struct{ *erltest.Node }

func startErl(t testing.TB, w *network, name string) agent {
	a := erlAgent{erltest.Start(t, erltest.Options{
		Name: name + host, EPMD: w.mapper(name), Sources: []string{"testdata/storm.erl"},
		Args: []string{"-kernel", "logger_level", "none"},
	})}
	require.Equal(t, "ok", a.Ask("storm:start()"))
	return a
}

func (a erlAgent) do(c command) string {
	var answer string
	switch c.Op {
	case "register", "again":
		how := map[string]string{"register": "new", "again": "again"}[c.Op]
		answer = a.Ask("storm:register(%d, %s, %s, %s)", c.ID, c.Name, how, c.Method)
	case "unregister":
		answer = a.Ask("storm:unregister(%d, %s)", c.ID, c.Name)
	case "lock":
		answer = a.Ask("storm:lock(%d, %s, infinity)", c.ID, c.Name)
	case "try":
		answer = a.Ask("storm:lock(%d, %s, 0)", c.ID, c.Name)
	case "unlock":
		answer = a.Ask("storm:unlock(%d)", c.ID)
	case "end":
		answer = a.Ask("storm:finish(%d)", c.ID)
	case "release":
		answer = a.Ask("storm:release()")
	case "connect":
		answer = a.Ask("storm:join('%s')", c.Node)
	case "join":
		answer = a.Ask("net_kernel:connect_node('%s')", c.Node)
	case "disconnect":
		answer = a.Ask("storm:drop('%s')", c.Node)
	}
	if pid, err := strconv.Unquote(answer); err == nil {
		return pid
	}
	return ""
}

func (a erlAgent) look() (v view) {
	text := a.Ask("storm:look()")
	quoted, err := strconv.Unquote(text)
	if err == nil {
		err = json.Unmarshal([]byte(quoted), &v)
	}
	if err != nil {
		panic(fmt.Sprintf("%s: %v: %s", a.Name, err, text))
	}
	return v
}

func (a erlAgent) kill() { a.Kill() }

// goAgent is one of our nodes.
type goAgent struct {
	n   *node.Node
	ctx context.Context // of all that it does; its end is the agent's

	mu      sync.Mutex
	clients map[int]*goClient
}

type goClient struct {
	client
	pid    node.PID
	unlock chan struct{}
}

// startGo starts an agent whose port mapper is at a port of this host.
func startGo(name string, port int, log *slog.Logger, protocols ...string) (*goAgent, error) {
	d := &node.Distribution{
		Published: global.Join(global.Config{}), Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: epmd.Config{Port: port, Logger: log}},
	}
	var err error
	if len(protocols) > 0 {
		if d.Protocols, err = d.ProtocolsByName(protocols...); err != nil {
			return nil, err
		}
	}
	n, err := node.Start(node.Config{Name: node.Atom(name + host), Log: log, Distribution: d})
	if err != nil {
		return nil, err
	}
	return &goAgent{n: n, ctx: context.Background(), clients: map[int]*goClient{}}, nil
}

func (a *goAgent) kill() { a.n.Stop() }

func (a *goAgent) do(c command) string {
	switch c.Op {
	case "register", "again":
		p := a.client(c.ID, func(*node.Process, *goClient) {})
		method := map[string]wire.Export{"exit": global.RandomExit, "notify": global.RandomNotify, "all": global.NotifyAll}[c.Method]
		go func() { // ended by the answer, or by the node's end
			err := global.Register(a.ctx, a.n, node.Atom(c.Name), p.pid, global.Options{Method: method, Again: c.Op == "again"})
			a.answer(c.ID, err, "yes")
		}()
		return pidText(p.pid)
	case "unregister":
		p := a.client(c.ID, func(p *node.Process, _ *goClient) {
			a.answer(c.ID, global.Unregister(a.ctx, p, node.Atom(c.Name)), "yes")
		})
		return pidText(p.pid)
	case "lock", "try":
		return pidText(a.client(c.ID, func(p *node.Process, g *goClient) { a.lock(p, g, c) }).pid)
	case "unlock":
		a.unlock(a.clients[c.ID])
	case "release":
		for _, g := range a.clients {
			a.unlock(g)
		}
	case "end":
		a.n.Exit(a.clients[c.ID].pid, node.Kill)
	case "connect":
		go a.n.Connect(a.ctx, node.Atom(c.Node)) // ended by its result
	case "join":
		a.n.Connect(a.ctx, node.Atom(c.Node))
	case "disconnect":
		a.n.Disconnect(node.Atom(c.Node))
	}
	return ""
}

// client starts a process that does something and then waits for its end.
func (a *goAgent) client(id int, do func(p *node.Process, g *goClient)) *goClient {
	g := &goClient{unlock: make(chan struct{}, 1)}
	a.mu.Lock()
	defer a.mu.Unlock()
	pid, err := a.n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		do(p, g)
		for {
			m := p.Receive()
			if t, ok := m.(wire.Tuple); ok && len(t) > 1 && t[0] == any(wire.Atom("global_name_conflict")) {
				a.mu.Lock()
				g.Conflict = true
				a.mu.Unlock()
			}
		}
	}))
	if err != nil {
		panic(err)
	}
	g.pid = pid
	a.clients[id] = g
	return g
}

// lock locks a resource and keeps the lock until it is told to unlock.
func (a *goAgent) lock(p *node.Process, g *goClient, c command) {
	id := global.ID{Resource: node.Atom(c.Name), Requester: p.Self()}
	nodes := append([]node.Atom{a.n.Name()}, a.n.Nodes()...)
	ok, err := true, error(nil)
	if c.Op == "lock" {
		err = global.Lock(p.Context(), p, id, nodes...)
	} else {
		ok, err = global.TryLock(p.Context(), p, id, nodes...)
	}
	a.answer(c.ID, err, strconv.FormatBool(ok))
	if err != nil || !ok {
		return
	}
	select {
	case <-g.unlock:
		a.answer(c.ID, global.Unlock(p.Context(), p, id, nodes...), "unlocked")
	case <-p.Context().Done():
	}
}

func (a *goAgent) unlock(g *goClient) {
	a.mu.Lock()
	held := g.Answer == "true"
	a.mu.Unlock()
	if held {
		select {
		case g.unlock <- struct{}{}:
		default:
		}
	}
}

func (a *goAgent) answer(id int, err error, text string) {
	if errors.Is(err, global.ErrTaken) {
		text = "no"
	} else if err != nil {
		text = err.Error()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clients[id].Answer = text
}

func pidText(pid node.PID) string {
	return fmt.Sprintf("%s/%d/%d", pid.Node(), pid.Creation(), pid.Number())
}

func (a *goAgent) look() view {
	v := view{Names: map[string]string{}, Locks: map[string][]string{}, Client: map[int]client{}}
	s, err := global.Look(a.ctx, a.n)
	if err != nil {
		v.Busy = err.Error()
	}
	v.Nodes, v.Known, v.Synced = texts(a.n.Nodes()), texts(s.Known), texts(s.Synced)
	for _, name := range global.Names(a.n) {
		v.Shown = append(v.Shown, wire.Format(name))
		if pid, ok := global.Whois(a.n, name); ok {
			v.Names[wire.Format(name)] = pidText(pid)
		}
	}
	for i := range s.Locks {
		v.Locks[fmt.Sprint("resource ", i)] = nil
	}
	if !s.Quiet && s.Locks == 0 {
		v.Busy = "not quiet"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, g := range a.clients {
		c := g.client
		c.Alive = a.n.IsAlive(g.pid)
		v.Client[id] = c
	}
	return v
}

func texts(all []node.Atom) []string {
	list := []string{}
	for _, a := range all {
		list = append(list, string(a))
	}
	slices.Sort(list)
	return list
}

// childAgent is one of our nodes in an operating system's process of its own: this test's program, started again.
type childAgent struct {
	t    testing.TB
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	log  *logtest.Text
	once sync.Once
}

// childEnv is the environment variable of such a program: the node's name and the port of its port mapper.
const childEnv = "ACTORNODE_STORM"

func startChild(t testing.TB, w *network, name string, log *logtest.Text) agent {
	a := &childAgent{t: t, name: name, cmd: exec.Command(os.Args[0]), log: log}
	a.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", childEnv, name, w.mapper(name)))
	a.cmd.Stderr = log
	var err error
	a.in, err = a.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := a.cmd.StdoutPipe()
	require.NoError(t, err)
	a.out = bufio.NewReader(out)
	require.NoError(t, a.cmd.Start())
	t.Cleanup(a.kill)
	a.ask(command{Op: "look"})
	return a
}

func (a *childAgent) kill() {
	a.once.Do(func() {
		a.cmd.Process.Kill()
		a.cmd.Wait()
	})
}

// reply is a child's answer to a command.
type reply struct {
	PID  string
	View *view
}

func (a *childAgent) ask(c command) (r reply) {
	b, err := json.Marshal(c)
	require.NoError(a.t, err)
	_, err = a.in.Write(append(b, '\n'))
	require.NoError(a.t, err, a.name)
	stop := time.AfterFunc(testkit.Limit, func() { a.cmd.Process.Kill() }) // a child that hangs is killed, so that the read fails
	defer stop.Stop()
	line, err := a.out.ReadBytes('\n')
	require.NoError(a.t, err, "%s has ended or hangs", a.name)
	require.NoError(a.t, json.Unmarshal(line, &r))
	return r
}

func (a *childAgent) do(c command) string { return a.ask(c).PID }

func (a *childAgent) look() view { return *a.ask(command{Op: "look"}).View }

// child is the program of a childAgent.
func child(env string) error {
	name, port, _ := strings.Cut(env, " ")
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	a, err := startGo(name, n, slog.New(slog.NewTextHandler(os.Stderr, nil)).With("node", name))
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var c command
		if err := json.Unmarshal(bytes.TrimSpace(in.Bytes()), &c); err != nil {
			return err
		}
		var r reply
		if c.Op == "look" {
			v := a.look()
			r.View = &v
		} else {
			r.PID = a.do(c)
		}
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return a.n.Stop()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
