package epmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
)

// Client asks port mappers. It holds no connection and may be used by many
// goroutines at once.
type Client struct{ cfg Config }

// NewClient returns a client, or an error if cfg makes no sense.
func NewClient(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Client{cfg}, nil
}

// Lookup asks the port mapper of host ("" is this one) for the node name, given
// without its host. It returns ErrNotFound if there is none, ErrUnreachable if
// there is no port mapper.
func (c *Client) Lookup(ctx context.Context, host, name string) (Registration, error) {
	if err := checkName(name); err != nil {
		return Registration{}, err
	}
	a, err := ask(ctx, c, host, Request{Op: OpPort, Name: name}, maxPortAnswer, ParsePort)
	switch {
	case err != nil:
		return Registration{}, fmt.Errorf("look up %q: %w", name, err)
	case a.Result != 0:
		return Registration{}, fmt.Errorf("%w: %q", ErrNotFound, name)
	}
	return a.Registration, nil
}

// maxPortAnswer is the size of the longest PORT2_RESP.
const maxPortAnswer = 2 + regFixed + 2*maxFrame

// Names asks the port mapper of host ("" is this one) for its live nodes, the
// newest first.
func (c *Client) Names(ctx context.Context, host string) ([]Entry, error) {
	b, err := ask(ctx, c, host, Request{Op: OpNames}, c.cfg.MaxNames, untilEOF)
	if err == nil {
		var n NamesAnswer
		if n, err = ParseNames(b); err == nil {
			return n.Entries, nil
		}
	}
	return nil, fmt.Errorf("names: %w", err)
}

// Dump asks the port mapper of host ("" is this one) for all that it knows, as
// text for people. Only the host itself may ask.
func (c *Client) Dump(ctx context.Context, host string) (string, error) {
	b, err := ask(ctx, c, host, Request{Op: OpDump}, c.cfg.MaxNames, untilEOF)
	if err == nil {
		if _, b, err = parseText(b); err == nil {
			return string(bytes.ReplaceAll(b, []byte{0}, nil)), nil
		}
	}
	return "", fmt.Errorf("dump: %w", err)
}

// Kill ends the port mapper of this host. It returns ErrNotAllowed if there are
// live names and the port mapper is not relaxed.
func (c *Client) Kill(ctx context.Context) error {
	return c.command(ctx, Request{Op: OpKill}, "OK", "NO", ErrNotAllowed)
}

// Forget makes the port mapper of this host forget name (a STOP request) and
// close that node's connection, so that the node registers again. It returns
// ErrNotFound if the name is not live, ErrHungUp if the port mapper is not
// relaxed.
func (c *Client) Forget(ctx context.Context, name string) error {
	return c.command(ctx, Request{Op: OpStop, Name: name}, "STOPPED", "NOEXIST", ErrNotFound)
}

// command asks for what is answered in a word, yes or no.
func (c *Client) command(ctx context.Context, r Request, yes, no string, refusal error) error {
	b, err := ask(ctx, c, "", r, len(no)+len(yes), untilEOF)
	switch {
	case err != nil:
		return fmt.Errorf("%v: %w", r.Op, err)
	case string(b) == yes:
		return nil
	case bytes.HasPrefix(b, []byte(no)):
		return fmt.Errorf("%v: %w", r.Op, refusal)
	}
	return fmt.Errorf("%v: %w: answer %.20q", r.Op, ErrMalformed, b)
}

// errUntilEOF is what untilEOF, the parser of answers that only the connection
// ends, says of each beginning.
var errUntilEOF = errors.New("epmd: the answer lasts until the connection ends")

func untilEOF(b []byte) (all, rest []byte, err error) { return b, nil, errUntilEOF }

// ask sends r to the port mapper of host and returns its answer.
func ask[T any](ctx context.Context, c *Client, host string, r Request, limit int,
	parse func([]byte) (T, []byte, error)) (answer T, err error) {
	var conn net.Conn
	answer, conn, err = exchange(ctx, c, host, r, limit, parse)
	if conn != nil {
		_ = conn.Close()
	}
	return answer, err
}

// exchange sends r to the port mapper of host and returns its answer, of at most
// limit bytes, and the connection, which is the caller's to close and nil if
// there is an error. A parser that wants more bytes than there are answers with
// what it has.
func exchange[T any](ctx context.Context, c *Client, host string, r Request, limit int,
	parse func([]byte) (T, []byte, error)) (answer T, conn net.Conn, err error) {
	b, err := r.Append(nil)
	if err != nil {
		return answer, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	conn, err = c.dial(ctx, host)
	if err != nil {
		return answer, nil, err
	}
	cut := context.AfterFunc(ctx, func() { _ = conn.Close() })
	if _, err = conn.Write(b); err != nil {
		err = fmt.Errorf("%w (%w)", ErrHungUp, err)
	} else {
		answer, err = receive(conn, limit, parse)
	}
	if !cut() { // the connection is being closed under us
		err = fmt.Errorf("epmd: at %s: %w", conn.RemoteAddr(), context.Cause(ctx))
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
	return nil, fmt.Errorf("%w: %w", ErrUnreachable, first)
}

// receive reads from r until parse says that the answer is whole.
func receive[T any](r io.Reader, limit int, parse func([]byte) (T, []byte, error)) (answer T, err error) {
	var b []byte
	chunk := make([]byte, 4096)
	for {
		n, rerr := r.Read(chunk)
		if b = append(b, chunk[:n]...); len(b) > limit {
			return answer, fmt.Errorf("%w: the answer is longer than %d bytes", ErrTooLong, limit)
		}
		answer, rest, err := parse(b)
		switch {
		case err == nil && len(rest) > 0:
			return answer, fmt.Errorf("%w: %d unexpected bytes after the answer", ErrMalformed, len(rest))
		case !errors.Is(err, ErrShort) && err != errUntilEOF:
			return answer, err
		case rerr != nil && len(b) == 0:
			return answer, fmt.Errorf("%w (%w)", ErrHungUp, rerr)
		case rerr == io.EOF && err == errUntilEOF:
			return answer, nil
		case rerr != nil:
			return answer, fmt.Errorf("%w: %w", ErrShort, rerr)
		}
	}
}
