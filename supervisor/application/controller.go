package application

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

// registeredName is the name of the controller's process.
const registeredName wire.Atom = "application_controller"

// Controller runs the applications of a node. Do not call its methods in an Actor's handler: those that take a context
// wait.
type Controller struct {
	n    *node.Node
	pid  node.PID
	done chan struct{}

	mu     sync.RWMutex
	err    error // why the controller ends; set before it exits
	loaded map[wire.Atom]*Spec
	order  map[wire.Atom]int // the order of the loads
	loads  int
	env    map[wire.Atom]map[wire.Atom]any
}

// Start starts the controller of a node, and exports the functions that Erlang calls. A node has only one: for a second one
// the error is [node.ErrNameTaken]. Its process is protected ([node.Options].Protected), and is not restarted: its state
// would be lost, so its end must end the node, as in OTP; see Done.
func Start(ctx context.Context, from node.Caller) (*Controller, error) {
	n := from.Inside(process.Key{}).Node()
	c := &Controller{n: n, done: make(chan struct{}), loaded: make(map[wire.Atom]*Spec), order: make(map[wire.Atom]int),
		env: make(map[wire.Atom]map[wire.Atom]any)}
	pid, err := controllerServers.Start(ctx, from,
		&controllerServer{Controller: c, starting: make(map[wire.Atom]*instance), started: make(map[wire.Atom]RestartType),
			places: make(map[wire.Atom]*list.Element), masters: make(map[node.PID]*instance)},
		node.Options{Name: registeredName, Protected: true, Place: node.Detached()}) // it blocks while applications stop
	if err != nil {
		return nil, err
	}
	c.pid = pid
	if err := c.export(); err != nil {
		n.Exit(pid, node.Kill)
		return nil, err
	}
	go c.watch() // ends with the controller
	return c, nil
}

// watch closes done when the controller has exited.
func (c *Controller) watch() {
	reason, err := node.AwaitExit(context.Background(), c.n, c.pid)
	if err == nil && reason != node.NoProc { // it may have exited before
		c.ends(reason)
	}
	close(c.done)
}

// ends records why the controller ends; it keeps the first reason.
func (c *Controller) ends(reason any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := reason.(*Error); c.err == nil && ok {
		c.err = e
	} else if c.err == nil && reason != node.Normal && reason != node.Shutdown {
		c.err = &node.ExitError{Reason: reason}
	}
}

// Done returns a channel that is closed when the controller has exited: either an application has ended all others, and the
// node must be stopped, or the node has been stopped.
func (c *Controller) Done() <-chan struct{} { return c.done }

// Err returns why Done was closed: an [*Error] with the Code application_terminated or application_start_failure. It is nil
// before that, and if the node has been stopped.
func (c *Controller) Err() error {
	select {
	case <-c.done:
		c.mu.RLock()
		defer c.mu.RUnlock()
		return c.err
	default:
		return nil
	}
}

// Load adds an application, and sets its environment to Env: values of an earlier SetEnv remain if s has none. Errors:
// [*Error] with the Code bad_spec, already_loaded, or cycle if it depends on itself.
func (c *Controller) Load(s Spec) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.StopTimeout == 0 {
		s.StopTimeout = defaultStopTimeout
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded[s.Name] != nil {
		return wrongState("already_loaded", s.Name)
	}
	c.loaded[s.Name] = &s
	c.loads++
	c.order[s.Name] = c.loads
	for k, v := range s.Env {
		c.setEnv(s.Name, k, v)
	}
	return nil
}

// Unload removes an application and its environment. Errors: [*Error] running or not_loaded, and those of [node.Call].
func (c *Controller) Unload(ctx context.Context, name wire.Atom) error {
	_, err := genserver.Call(ctx, c.n, c.pid, unload{name: name})
	return err
}

// forget removes an application from the table.
func (c *Controller) forget(name wire.Atom) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded[name] == nil {
		return wrongState("not_loaded", name)
	}
	delete(c.loaded, name)
	delete(c.env, name)
	delete(c.order, name)
	return nil
}

// Start starts one application and waits until it has started. If ctx ends first, the start continues. Errors: [*Error]
// unknown, already_started, start_failed, or not_started and not_running for a dependency; and those of [node.Call].
func (c *Controller) Start(ctx context.Context, name wire.Atom, t RestartType) error {
	if c.spec(name) == nil {
		return wrongState(unknown, name)
	}
	_, err := genserver.Call(ctx, c.n, c.pid, startOne{name: name, typ: t})
	return err
}

// Stop stops one application and waits until it is gone. It does not check whether others depend on it. Errors: [*Error]
// not_started, and those of [node.Call].
func (c *Controller) Stop(ctx context.Context, name wire.Atom) error {
	_, err := genserver.Call(ctx, c.n, c.pid, stopOne{name: name})
	return err
}

// StopAll stops all applications in reverse order of their start. Errors: those of [node.Call].
func (c *Controller) StopAll(ctx context.Context) error {
	_, err := genserver.Call(ctx, c.n, c.pid, stopAll{})
	return err
}

// Which lists the running applications in reverse order of their start.
func (c *Controller) Which(ctx context.Context) ([]Info, error) {
	return genserver.Call(ctx, c.n, c.pid, which{})
}

// running reports whether an application runs.
func (c *Controller) running(ctx context.Context, name wire.Atom) (bool, error) {
	return genserver.Call(ctx, c.n, c.pid, isUp{name: name})
}

// Loaded lists the loaded applications in alphabetical order.
func (c *Controller) Loaded() []Info {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make([]Info, 0, len(c.loaded))
	for _, s := range c.loaded {
		all = append(all, s.info())
	}
	slices.SortFunc(all, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// EnsureAllStarted starts an application after its dependencies that are not running, all with the type t, and returns
// those it has started, in order. If one fails, they are stopped again. The error is that of its Start, [*Error] unknown or
// [*Error] cycle, with its name in the text.
func (c *Controller) EnsureAllStarted(ctx context.Context, name wire.Atom, t RestartType) ([]wire.Atom, error) {
	return c.ensureAll(ctx, []wire.Atom{name}, func(*Spec) (RestartType, error) { return t, nil })
}

// StartAll is EnsureAllStarted for all loaded applications, each with its own Type, in the order of Load if dependencies
// allow.
func (c *Controller) StartAll(ctx context.Context) error {
	c.mu.RLock()
	names := slices.SortedFunc(maps.Keys(c.order), func(a, b wire.Atom) int { return cmp.Compare(c.order[a], c.order[b]) })
	c.mu.RUnlock()
	_, err := c.ensureAll(ctx, names, func(s *Spec) (RestartType, error) { return s.Type, nil })
	return err
}

func (c *Controller) ensureAll(ctx context.Context, names []wire.Atom, t func(*Spec) (RestartType, error)) ([]wire.Atom, error) {
	e := ensurer{c: c, ctx: ctx, typ: t, at: make(map[wire.Atom]int)}
	for _, name := range names {
		if err := e.ensure(name, false); err != nil {
			for _, name := range slices.Backward(e.started) {
				c.Stop(context.WithoutCancel(ctx), name)
			}
			return nil, err
		}
	}
	return e.started, nil
}

// ensurer is one EnsureAllStarted.
type ensurer struct {
	c       *Controller
	ctx     context.Context
	typ     func(*Spec) (RestartType, error)
	path    []wire.Atom       // from the requested application to the current one
	at      map[wire.Atom]int // the places in path
	started []wire.Atom
}

func (e *ensurer) ensure(name wire.Atom, optional bool) error {
	if up, err := e.c.running(e.ctx, name); up || err != nil {
		return err
	}
	s := e.c.spec(name)
	if s == nil && optional {
		return nil
	}
	if s == nil {
		return &ensureError{name, wrongState(unknown, name)}
	}
	if i, ok := e.at[name]; ok {
		return &ensureError{name, inCircle(append(slices.Clone(e.path[i:]), name))}
	}
	e.at[name] = len(e.path)
	e.path = append(e.path, name)
	for _, d := range s.Depends {
		if err := e.ensure(d, s.isOptional(d)); err != nil {
			return err
		}
	}
	e.path = e.path[:len(e.path)-1]
	delete(e.at, name)
	t, err := e.typ(s)
	if err == nil {
		err = e.c.Start(e.ctx, name, t)
	}
	var state *Error
	switch {
	case err == nil:
		e.started = append(e.started, name)
	case errors.As(err, &state) && state.Code == "already_started" && state.Name == name: // another caller has started it meanwhile
	default:
		return &ensureError{name, err}
	}
	return nil
}

func (c *Controller) spec(name wire.Atom) *Spec {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.loaded[name]
}

// Env returns a value of an application's environment, or false if there is none.
func (c *Controller) Env(name, key wire.Atom) (any, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.env[name][key]
	return v, ok
}

// AllEnv returns a copy of an application's environment.
func (c *Controller) AllEnv(name wire.Atom) map[wire.Atom]any {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Clone(c.env[name])
}

// SetEnv sets a value of the environment of an application, loaded or not.
func (c *Controller) SetEnv(name, key wire.Atom, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setEnv(name, key, value)
}

func (c *Controller) setEnv(name, key wire.Atom, value any) {
	if c.env[name] == nil {
		c.env[name] = make(map[wire.Atom]any)
	}
	c.env[name][key] = value
}

// UnsetEnv removes a value from an application's environment.
func (c *Controller) UnsetEnv(name, key wire.Atom) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.env[name], key)
}
