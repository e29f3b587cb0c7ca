package pair

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"time"

	"github.com/actornode/actornode/bench/internal/contract"
)

// farGrace is how long the far end may take to dial, and to end after the near one.
const farGrace = time.Minute

// Between completes a bench between two OS processes with a connection. Each end ends when its function returns; then its
// connection is closed.
func Between(
	b contract.Bench,
	near func(p contract.Params, m *contract.Meter, conn net.Conn) error,
	far func(p contract.Params, conn net.Conn) error,
) contract.Bench {
	b.Run = func(p contract.Params, m *contract.Meter) error {
		f, err := startFar(b.Name, p)
		if err != nil {
			return err
		}
		return errors.Join(near(p, m, f.conn), f.stop())
	}
	b.Far = func(args []string) error {
		p, err := contract.Parse(append(b.Params, contract.Int("port", 1).Range(1, 1<<16-1)), args)
		if err != nil {
			return err
		}
		conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Int("port"))))
		if err != nil {
			return err
		}
		err = far(p, conn)
		if over := conn.Close(); !errors.Is(over, net.ErrClosed) { // far may have closed it
			err = errors.Join(err, over)
		}
		return err
	}
	return b
}

// farEnd is the OS process of the far end and the connection to it.
type farEnd struct {
	conn net.Conn // nil until far has dialled
	cmd  *exec.Cmd
	over chan error // capacity 1: its exit
}

// startFar starts the far end of a bench and returns when it has dialled.
func startFar(bench string, p contract.Params) (*farEnd, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	cmd, err := contract.Far(bench, append(p.Args(), "port="+strconv.Itoa(port))...)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f := &farEnd{cmd: cmd, over: make(chan error, 1)}
	go f.wait(listener)
	listener.SetDeadline(time.Now().Add(farGrace))
	if f.conn, err = listener.Accept(); err != nil {
		return nil, fmt.Errorf("the far end has not dialled: %w", errors.Join(err, f.stop()))
	}
	return f, nil
}

// wait is the goroutine that waits for the far end: started by startFar, awaited by stop. When the far end ends, it closes
// the listener, so that nothing waits for the dial.
func (f *farEnd) wait(listener net.Listener) {
	err := f.cmd.Wait()
	listener.Close()
	f.over <- err
}

// stop closes the connection, which ends the far end, waits for it, and returns its error.
func (f *farEnd) stop() error {
	if f.conn != nil {
		f.conn.Close()
	}
	kill := time.AfterFunc(farGrace, func() { f.cmd.Process.Kill() })
	defer kill.Stop()
	if err := <-f.over; err != nil {
		return fmt.Errorf("the far end: %w", err)
	}
	return nil
}
