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

// member is one run of a node, as the others see it.
type member struct {
	discovery.Announcement
	incarnation time.Time // to the millisecond
}

// Limits of a member's metadata.
const (
	maxMeta      = 512 // bytes: memberlist's limit
	maxEndpoints = 16
	metaVersion  = "actornode/1"
)

// errMember reports a member that is not an actornode.
var errMember = errors.New("gossip: the member is not an actornode")

// id returns the member's name for memberlist. It differs in each run of a node: a restarted node is a new member, at
// any address, whether or not the others have noticed that the old one died.
func (m member) id() string { return fmt.Sprintf("%s#%08x", m.Name, m.Creation) }

// meta returns the member's metadata.
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

// portable returns an endpoint that others can use. Of a listener on all addresses it keeps only the port; parse adds
// the host of the node's name.
func portable(e discovery.Endpoint) discovery.Endpoint {
	host, port, err := net.SplitHostPort(e.Addr)
	if ip := net.ParseIP(host); err == nil && ip.IsUnspecified() {
		e.Addr = ":" + port
	}
	return e
}

// parse is the reverse of id and meta. It fills in missing hosts of endpoints.
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
			if _, err := discovery.ParseEndpoint(e.String()); err != nil { // the host in a name may be invalid
				return bad("the host")
			}
		}
		m.Endpoints = append(m.Endpoints, e)
	}
	return m, nil
}

// newest sorts the runs of a node, the one that started last first, by the clocks of the hosts. Of equals the greater
// creation comes first.
func newest(lives []member) {
	slices.SortFunc(lives, func(a, b member) int {
		return cmp.Or(b.incarnation.Compare(a.incarnation), cmp.Compare(b.Creation, a.Creation))
	})
}
