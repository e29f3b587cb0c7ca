package epmdclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/wire/epmd"
)

// Client queries port mappers. It holds no connection and may be used concurrently.
type Client struct{ cfg settings }

// NewClient returns a client, or an error if cfg is invalid.
func NewClient(cfg epmd.Config) (*Client, error) {
	s, err := settings(cfg).withDefaults()
	if err != nil {
		return nil, err
	}
	return &Client{s}, nil
}

// Lookup queries the port mapper of host ("" is this one) for the node name, given without its host. It returns ErrNotFound
// if there is none, ErrUnreachable if there is no port mapper.
func (c *Client) Lookup(ctx context.Context, host, name string) (Registration, error) {
	if err := checkName(name); err != nil {
		return Registration{}, err
	}
	a, err := ask(ctx, c, host, epmdserver.Request{Op: epmdserver.OpPort, Name: name}, maxPortAnswer, epmdserver.ParsePort)
	switch {
	case err != nil:
		return Registration{}, fmt.Errorf("look up %q: %w", name, err)
	case a.Result != 0:
		return Registration{}, fmt.Errorf("%w: %q", epmd.ErrNotFound, name)
	}
	return received(a.Registration), nil
}

// maxPortAnswer is the size of the longest PORT2_RESP.
const maxPortAnswer = 2 + epmdserver.Fixed + 2*epmdserver.MaxFrame

// Names queries the port mapper of host ("" is this one) for its live nodes, the newest first.
func (c *Client) Names(ctx context.Context, host string) ([]Entry, error) {
	b, err := ask(ctx, c, host, epmdserver.Request{Op: epmdserver.OpNames}, c.cfg.MaxNames, untilEOF)
	if err == nil {
		var n epmdserver.NamesAnswer
		if n, err = epmdserver.ParseNames(b); err == nil {
			all := make([]Entry, len(n.Entries))
			for i, e := range n.Entries {
				all[i] = Entry(e)
			}
			return all, nil
		}
	}
	return nil, fmt.Errorf("names: %w", err)
}

// errUntilEOF is returned by untilEOF, the parser of answers that end with the connection, for each incomplete answer.
var errUntilEOF = errors.New("epmd: the answer lasts until the connection ends")

func untilEOF(b []byte) (all, rest []byte, err error) { return b, nil, errUntilEOF }

// ask sends r to the port mapper of host and returns its answer.
func ask[T any](ctx context.Context, c *Client, host string, r epmdserver.Request, limit int,
	parse func([]byte) (T, []byte, error)) (answer T, err error) {
	var conn net.Conn
	answer, conn, err = exchange(ctx, c, host, r, limit, parse)
	if conn != nil {
		_ = conn.Close()
	}
	return answer, err
}

// exchange sends r to the port mapper of host and returns its answer, of at most
// limit bytes, and the connection, which the caller must close and which is nil on error. A parser that needs more bytes
// than there are returns what it has.
func exchange[T any](ctx context.Context, c *Client, host string, r epmdserver.Request, limit int,
	parse func([]byte) (T, []byte, error)) (answer T, _ net.Conn, err error) {
	b, err := r.Append(nil)
	if err != nil {
		return answer, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	conn, err := c.dial(ctx, host) // not a named result, because the next function may still use it after a return
	if err != nil {
		return answer, nil, err
	}
	cut := context.AfterFunc(ctx, func() { _ = conn.Close() })
	if _, err = conn.Write(b); err != nil {
		err = fmt.Errorf("%w (%w)", errHungUp, err)
	} else {
		answer, err = receive(conn, limit, parse)
	}
	if !cut() { // the connection is being closed concurrently
		err = fmt.Errorf("epmd: at %s: %w", conn.RemoteAddr(), cause.Of(ctx))
	}
	if err != nil {
		_ = conn.Close()
		return answer, nil, err
	}
	return answer, conn, nil
}

// dial connects to the port mapper of host, or of this host if it is "".
func (c *Client) dial(ctx context.Context, host string) (net.Conn, error) {
	hosts := []string{host}
	if host == "" {
		hosts = c.cfg.Local
	}
	var first error
	for _, h := range hosts {
		conn, err := c.cfg.Dial(ctx, "tcp", c.cfg.at(h))
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("%w: %w", epmd.ErrUnreachable, first)
}

// receive reads from r until parse reports that the answer is complete.
func receive[T any](r io.Reader, limit int, parse func([]byte) (T, []byte, error)) (answer T, err error) {
	var b []byte
	chunk := make([]byte, 4096)
	for {
		n, rerr := r.Read(chunk)
		if b = append(b, chunk[:n]...); len(b) > limit {
			return answer, fmt.Errorf("%w: the answer is longer than %d bytes", epmdserver.ErrTooLong, limit)
		}
		answer, rest, err := parse(b)
		switch {
		case err == nil && len(rest) > 0:
			return answer, fmt.Errorf("%w: %d unexpected bytes after the answer", epmdserver.ErrMalformed, len(rest))
		case !errors.Is(err, epmdserver.ErrShort) && err != errUntilEOF:
			return answer, err
		case rerr != nil && len(b) == 0:
			return answer, fmt.Errorf("%w (%w)", errHungUp, rerr)
		case rerr == io.EOF && err == errUntilEOF:
			return answer, nil
		case rerr != nil:
			return answer, fmt.Errorf("%w: %w", epmdserver.ErrShort, rerr)
		}
	}
}
