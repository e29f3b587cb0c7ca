package epmdclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/wire/epmd"
)

// errNotAllowed means that the port mapper refused.
var errNotAllowed = errors.New("epmd: not allowed")

// dump asks the port mapper of host ("" is this one) for everything that it knows, as text for people. Only the host
// itself may ask.
func (c *Client) dump(ctx context.Context, host string) (string, error) {
	b, err := ask(ctx, c, host, epmdserver.Request{Op: epmdserver.OpDump}, c.cfg.MaxNames, untilEOF)
	if err == nil {
		if _, b, err = epmdserver.ParseText(b); err == nil {
			return string(bytes.ReplaceAll(b, []byte{0}, nil)), nil
		}
	}
	return "", fmt.Errorf("dump: %w", err)
}

// kill ends the port mapper of this host. It returns errNotAllowed if there are live names and the port mapper is not
// relaxed.
func (c *Client) kill(ctx context.Context) error {
	return c.command(ctx, epmdserver.Request{Op: epmdserver.OpKill}, "OK", "NO", errNotAllowed)
}

// forget makes the port mapper of this host forget name (a STOP request) and
// close that node's connection, so that the node registers again. It returns
// ErrNotFound if the name is not live, errHungUp if the port mapper is not
// relaxed.
func (c *Client) forget(ctx context.Context, name string) error {
	return c.command(ctx, epmdserver.Request{Op: epmdserver.OpStop, Name: name}, "STOPPED", "NOEXIST", epmd.ErrNotFound)
}

// command sends a request that is answered in a word, yes or no.
func (c *Client) command(ctx context.Context, r epmdserver.Request, yes, no string, refusal error) error {
	b, err := ask(ctx, c, "", r, len(no)+len(yes), untilEOF)
	switch {
	case err != nil:
		return fmt.Errorf("%v: %w", r.Op, err)
	case string(b) == yes:
		return nil
	case bytes.HasPrefix(b, []byte(no)):
		return fmt.Errorf("%v: %w", r.Op, refusal)
	}
	return fmt.Errorf("%v: %w: answer %.20q", r.Op, epmdserver.ErrMalformed, b)
}
