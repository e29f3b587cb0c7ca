package node

import (
	"fmt"
	"slices"

	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/etf"
	"github.com/actornode/actornode/wire/native"
)

// defaults fills in the concrete protocol and the way to find nodes. No other code names them.
func (d *Distribution) defaults() {
	if d.Types == nil {
		d.Types = &registered
	}
	if len(d.Protocols) == 0 {
		d.Protocols = d.all()
	}
	if d.Finder == nil {
		d.Finder = &discovery.EPMD{}
	}
	if d.Transport == nil {
		d.Transport = dist.TCP{}
	}
}

// all are the protocols there are, the preferred one first.
func (d *Distribution) all() []dist.Protocol {
	types := d.Types
	if types == nil {
		types = &registered
	}
	codec := types.enterOwn()
	own := &native.Protocol{Foreign: codec.Foreign, Compress: d.Compress}
	own.SetTypes(&types.all.Codec)
	return []dist.Protocol{
		own,
		&erldist.Protocol{Foreign: codec.Term, Values: codec},
	}
}

// ProtocolsByName returns the default Protocols of these names, native and erlang, in this order: to use only one of
// them, or to prefer the other. Set Types and Compress before. Any other name is an error.
func (d *Distribution) ProtocolsByName(names ...string) ([]dist.Protocol, error) {
	var chosen []dist.Protocol
	for _, name := range names {
		all := d.all()
		i := slices.IndexFunc(all, func(p dist.Protocol) bool { return p.Name() == name })
		if i < 0 {
			return nil, fmt.Errorf("node: unknown protocol %q: want %s or %s", name, all[0].Name(), all[1].Name())
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// erlang is the name of the protocol that OTP nodes speak.
const erlang = "erlang"

// convert reads a term into a Go value, as the value's type and tags say; see
// package etf.
func convert(term, into any) error { return etf.FromTerm(term, into) }
