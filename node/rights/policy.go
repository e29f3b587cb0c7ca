package rights

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/actornode/actornode/wire"
)

// Config is what a [Policy] says.
type Config struct {
	// Rules are tried in order. Nil, not empty: every node that knows a cookie may do everything.
	Rules []Rule
	// Cookies are cookies that a node which connects may prove to know in place of the one that is meant for its name,
	// by a name of this node's own. Only incoming connections use them.
	Cookies map[string]string
}

// Rule is for those nodes that all its conditions hold for. An empty condition holds for all.
type Rule struct {
	// Peer is the name of the node, NAME@HOST. A * in either part stands for any characters.
	Peer string
	// TLS is what the certificate of the node is for: dns:NAME, uri:URI, or cn:NAME for the common name of its subject.
	// A * stands for any characters.
	TLS string
	// Cookie is the name of one of Config.Cookies that the node has proved to know.
	Cookie string
	// May are the rights, see the package comment. None: the node may not even connect.
	May []string
}

// Identity is what is known of a node over one connection.
type Identity struct {
	Name   wire.Atom
	TLS    []string // what its certificate is for, as in Rule.TLS; nil: there is no certificate
	Cookie string   // the one of Config.Cookies that it has proved to know; "": that which is meant for its name
}

// Equal reports whether both are the same node by all that is known: who has the name of another is not that.
func (id Identity) Equal(other Identity) bool {
	return id.Name == other.Name && id.Cookie == other.Cookie && slices.Equal(id.TLS, other.TLS)
}

// Policy says what each node may do. Its methods are for any goroutine.
type Policy struct{ set atomic.Pointer[set] }

// set is a Config that has been read. It never changes.
type set struct {
	any     *Granted // what everybody may; nil: rules say
	rules   []rule
	cookies map[string]string
}

// New returns a policy. The error says which rule is wrong, and what is allowed.
func New(c Config) (*Policy, error) {
	p := new(Policy)
	return p, p.Set(c)
}

// Set changes what the policy says. It holds for what comes from now on. A connection of a node that may no longer
// connect ends with the next signal of the node, at the latest a quarter of node.Timing.TickTime later. After an error the
// policy is as before.
func (p *Policy) Set(c Config) error {
	s := &set{cookies: c.Cookies}
	names := make(map[string]string)
	for name, cookie := range c.Cookies {
		if other, twice := names[cookie]; twice && cookie != "" {
			return fmt.Errorf("rights: the cookies %s and %s are the same: who knows one could be either", min(name, other),
				max(name, other))
		}
		names[cookie] = name
	}
	if c.Rules == nil {
		s.any = everything(0)
		s.any.of = s
	}
	for i, r := range c.Rules {
		read, err := r.read()
		if err == nil && r.Cookie != "" && c.Cookies[r.Cookie] == "" {
			err = fmt.Errorf("there is no cookie %q among Config.Cookies", r.Cookie)
		}
		if err != nil {
			return fmt.Errorf("rights: rule %d: %w", i+1, err)
		}
		read.grants.of, read.grants.Rule = s, i+1
		s.rules = append(s.rules, read)
	}
	p.set.Store(s)
	return nil
}

// Of returns what a node may do now: before, which Of has returned for it, if the policy has not changed since. before
// may be nil.
func (p *Policy) Of(id Identity, before *Granted) *Granted {
	if s := p.set.Load(); before == nil || before.of != s {
		return s.of(id, false)
	}
	return before
}

// MayAdmit reports whether a node that has not proved a cookie yet may be allowed to connect by some rule.
func (p *Policy) MayAdmit(id Identity) bool { return p.set.Load().of(id, true).Connect() }

func (s *set) of(id Identity, anyCookie bool) *Granted {
	if s.any != nil {
		return s.any
	}
	for i := range s.rules {
		r := &s.rules[i]
		if (r.peer == "" || r.peer.matchesNode(string(id.Name))) && (r.tls == "" || slices.ContainsFunc(id.TLS, r.tls.matches)) &&
			(r.cookie == "" || r.cookie == id.Cookie || anyCookie && r.grants.Connect()) {
			return r.grants
		}
	}
	return &Granted{of: s}
}

// Accept returns which of Config.Cookies a node has proved to know, and the name of that cookie. knows reports whether the node
// knows a cookie. ok is false if the node knows none of them.
func (p *Policy) Accept(knows func(cookie string) bool) (cookie, name string, ok bool) {
	for name, cookie := range p.set.Load().cookies {
		if cookie != "" && knows(cookie) {
			return cookie, name, true
		}
	}
	return "", "", false
}
