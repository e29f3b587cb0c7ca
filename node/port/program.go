package port

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/actornode/actornode/node"
)

// program is the operating-system process of a port, with the goroutines that serve
// it. Its state only moves forward:
//
//	running ──ask──> asked ──Grace──> warned ──Grace──> shot
//	   │                                ^                 ^
//	   └──────────push──────────────────┘     kill ───────┘   from any
//
// and from each state, by the program's exit, to reaped.
type program struct {
	cfg   *Config
	cmd   *exec.Cmd
	log   *slog.Logger
	codec *codec
	box   *inbox
	feed  *writeQueue

	stdin          *os.File
	stdout, stderr *outputPipe
	frames         atomic.Uint64 // read
	owned          atomic.Bool   // by serve, or by abandon

	asked, pushed chan struct{} // closed by ask and push; the actor's
	exited        chan struct{} // closed when it has been reaped

	mu     sync.Mutex
	reaped bool // another process may have its number
}

// launch starts the program; nothing reads or writes yet.
func launch(cfg *Config, log *slog.Logger, c *codec, box *inbox) (r *program, err error) {
	cmd := exec.Command(cfg.Command, cfg.Args...)
	if cfg.Dir != "" && filepath.Base(cfg.Command) != cfg.Command {
		if cmd.Path, err = filepath.Abs(cmd.Path); err != nil {
			return nil, err
		}
	}
	cmd.Dir = cfg.Dir
	cmd.Env = inherited(os.Environ())
	for k, v := range cfg.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	ownGroup(cmd)
	var mine, theirs [3]*os.File
	for i := range mine {
		in, out, err := os.Pipe()
		if err != nil {
			closeAll(mine[:], theirs[:])
			return nil, err
		}
		if mine[i], theirs[i] = in, out; i == 0 {
			mine[i], theirs[i] = out, in
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	err = cmd.Start()
	closeAll(theirs[:])
	if err != nil {
		closeAll(mine[:])
		return nil, err
	}
	return &program{
		cfg: cfg, cmd: cmd, log: log.With("os_pid", cmd.Process.Pid), codec: c, box: box, feed: newWriteQueue(cfg, box.note),
		stdin: mine[0], stdout: newOutputPipe(mine[1]), stderr: newOutputPipe(mine[2]),
		asked: make(chan struct{}), pushed: make(chan struct{}), exited: make(chan struct{}),
	}, nil
}

func closeAll(sets ...[]*os.File) {
	for _, s := range sets {
		for _, f := range s {
			f.Close() // of nil: an error
		}
	}
}

// ask closes the program's stdin; push sends it SIGTERM. Both are the actor's, and
// do nothing the second time.
func (r *program) ask() {
	if !isClosed(r.asked) {
		close(r.asked)
		r.feed.finish()
	}
}

func (r *program) push() {
	if !isClosed(r.pushed) {
		close(r.pushed)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// signal sends a signal to the program's group.
func (r *program) signal(s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reaped {
		signalGroup(r.cmd.Process, s)
	}
}

// serve runs the program's goroutines until it is gone. It ends the program when asked to, or when ctx, the actor's
// life, is over.
func (r *program) serve(ctx context.Context) {
	if r.owned.Swap(true) {
		return
	}
	stop := context.AfterFunc(ctx, r.box.close)
	defer stop()
	var all sync.WaitGroup
	all.Go(func() { r.feed.run(r.stdin) })   // ends with feed.drop below
	all.Go(r.read)                           // ends with the stdout, see drain below
	all.Go(func() { r.logErrors(r.stderr) }) // ends with the stderr, see drain below
	all.Go(r.reap)                           // ends with the program
	forced := r.attend(ctx)
	r.feed.drop(r.stdin)
	r.stdout.drain()
	r.stderr.drain()
	all.Wait()
	closeAll([]*os.File{r.stdout.File, r.stderr.File})
	e := endOf(r.cmd.ProcessState)
	e.forced = forced
	r.box.note(e)
}

// attend waits for the program's exit and signals it when asked to. It
// reports whether it has sent a signal.
func (r *program) attend(ctx context.Context) (forced bool) {
	asked, pushed, dead := r.asked, r.pushed, ctx.Done()
	next := syscall.SIGTERM
	late := time.NewTimer(node.Infinity)
	defer late.Stop()
	signalNext := func() {
		forced = true
		r.signal(next)
		next = syscall.SIGKILL
		late.Reset(r.cfg.Grace)
	}
	for {
		select {
		case <-r.exited:
			return forced
		case <-asked:
			asked = nil
			if !forced {
				late.Reset(r.cfg.Grace)
			}
		case <-pushed:
			pushed = nil
			if !forced {
				signalNext()
			}
		case <-dead:
			dead = nil
			e, _ := context.Cause(ctx).(*node.ExitError)
			if killed := e != nil && e.Reason == node.Killed; killed {
				next = syscall.SIGKILL
				signalNext()
			} else if !forced {
				signalNext()
			}
		case <-late.C:
			signalNext()
		}
	}
}

// reap waits for the program's exit, ends what it leaves behind in its group, and takes its exit status.
func (r *program) reap() {
	defer close(r.exited)
	held := awaitExit(r.cmd.Process.Pid)
	if !held {
		r.cmd.Wait()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	signalGroup(r.cmd.Process, syscall.SIGKILL)
	if held {
		r.cmd.Wait() // the status is in ProcessState; there is nothing else to wait for
	}
	r.reaped = true
}

// read takes what the program writes, frame by frame.
func (r *program) read() {
	f := frames{r: bufio.NewReaderSize(r.stdout, step), limit: r.cfg.Frame}
	for {
		b, err := f.next()
		if err != nil {
			r.unreadable(err)
			return
		}
		op, err := r.codec.decode(b)
		if err != nil {
			r.box.note(corrupt{badFrame(fmt.Errorf("frame %d: %w", r.frames.Load()+1, err))})
			return
		}
		r.frames.Add(1)
		if !r.box.put(op, len(b)) {
			return
		}
	}
}

func (r *program) unreadable(err error) {
	var large *tooLarge
	switch {
	case errors.As(err, &large):
		r.box.note(corrupt{frameTooLarge(large.n, large.limit)})
	case errors.Is(err, errEmptyFrame):
		r.box.note(corrupt{badFrame(fmt.Errorf("frame %d: %w", r.frames.Load()+1, err))})
	default:
		r.box.note(closed{stdoutClosed})
	}
}

func (r *program) logErrors(from *outputPipe) { logLines(from, r.log, r.cfg.LogRate) }

// abandon ends a program that nothing serves. A runner that was killed when it was about to serve it may do so all the
// same.
func (r *program) abandon() {
	if r.owned.Swap(true) {
		return
	}
	r.signal(syscall.SIGKILL)
	r.cmd.Wait()
	closeAll([]*os.File{r.stdin, r.stdout.File, r.stderr.File})
}

// runner is the process that supervises a program until it is gone, even if the port
// is killed. The node's Stop waits for it.
type runner struct {
	r   *program
	ctx context.Context // the port's
}

// BehaviourName is part of node.BehaviourNamer.
func (runner) BehaviourName() string { return "port.runner" }

// Init serves the program all its life. The port waits for the Announce: from then
// on this function runs, so the program is served even if the runner is killed.
func (k runner) Init(c *node.Context) error {
	c.TrapExit(true) // the port says when it is over
	c.Announce()
	k.r.serve(k.ctx)
	return node.ErrStop
}

// Receive is part of node.Actor; no process sends to it.
func (runner) Receive(*node.Context, any) error { return nil }
