package gossip

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

// member is one life of a node, as the others know it.
type member struct {
	discovery.Announcement
	incarnation time.Time // to the millisecond
}

// Bounds of what a member says of itself.
const (
	maxMeta      = 512 // bytes: memberlist's
	maxEndpoints = 16
	metaVersion  = "actornode/1"
)

// errMember says that a member is not one of ours.
var errMember = errors.New("gossip: the member is not an actornode")

// id is the name that memberlist knows a member by. It is another one in each life
// of a node: one that is back is a new member, at any address, whether or not the
// others have noticed the death of the old one.
func (m member) id() string { return fmt.Sprintf("%s#%08x", m.Name, m.Creation) }

// meta is the rest of what is said of it.
func (m member) meta() ([]byte, error) {
	if len(m.Endpoints) > maxEndpoints {
		return nil, fmt.Errorf("gossip: %s listens at %d endpoints: want at most %d", m.Name, len(m.Endpoints), maxEndpoints)
	}
	text := fmt.Sprint(metaVersion, " ", m.incarnation.UnixMilli())
	for _, e := range m.Endpoints {
		text += " " + portable(e).String()
	}
	if len(text) > maxMeta {
		return nil, fmt.Errorf("gossip: the endpoints of %s take %d bytes: want at most %d", m.Name, len(text), maxMeta)
	}
	return []byte(text), nil
}

// portable is an endpoint as others can use it: of a listener on all addresses only
// the port is of use, with the host of the node's name.
func portable(e discovery.Endpoint) discovery.Endpoint {
	host, port, err := net.SplitHostPort(e.Addr)
	if ip := net.ParseIP(host); err == nil && ip.IsUnspecified() {
		e.Addr = ":" + port
	}
	return e
}

// parse is the reverse of id and meta. The hosts of the endpoints are filled in.
func parse(id string, meta []byte) (member, error) {
	bad := func(what string) (member, error) {
		return member{}, fmt.Errorf("%w: %s of the member %.80q", errMember, what, id)
	}
	at := strings.LastIndexByte(id, '#')
	if at < 0 || len(id)-at != len("#00000000") || len(id) > 2048 {
		return bad("the name")
	}
	creation, err := strconv.ParseUint(id[at+1:], 16, 32)
	if err != nil {
		return bad("the creation")
	}
	m := member{Announcement: discovery.Announcement{Name: node.Atom(id[:at]), Creation: uint32(creation)}}
	alive, host, _ := strings.Cut(string(m.Name), "@")
	if alive == "" || host == "" || m.id() != id {
		return bad("the name")
	}
	if len(meta) > maxMeta {
		return bad("the size of the data")
	}
	fields := strings.Split(string(meta), " ")
	if len(fields) < 2 || fields[0] != metaVersion || len(fields) > 2+maxEndpoints {
		return bad("the form of the data")
	}
	ms, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || ms < 0 {
		return bad("the birth")
	}
	m.incarnation = time.UnixMilli(ms)
	for _, f := range fields[2:] {
		e, err := discovery.ParseEndpoint(f)
		if err != nil {
			return bad("an endpoint")
		}
		if h, port, _ := net.SplitHostPort(e.Addr); h == "" {
			e.Addr = net.JoinHostPort(host, port)
			if _, err := discovery.ParseEndpoint(e.String()); err != nil { // not every name has a host that is one
				return bad("the host")
			}
		}
		m.Endpoints = append(m.Endpoints, e)
	}
	return m, nil
}

// newest puts the lives of a node in order, the one that was born last first: the
// clocks of the hosts decide, and between equals the greater creation.
func newest(lives []member) {
	slices.SortFunc(lives, func(a, b member) int {
		return cmp.Or(b.incarnation.Compare(a.incarnation), cmp.Compare(b.Creation, a.Creation))
	})
}
