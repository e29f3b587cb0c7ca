package peers

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// picky is a protocol and a link that refuses the frames it is set to refuse.
type picky struct {
	dist.Protocol
	refuses string
}

func (p picky) Check(_ wire.Dest, msg any) error {
	if msg == any(p.refuses) || msg == "all" {
		return errors.New(p.refuses)
	}
	return nil
}

// Before a peer is connected, a frame that all protocols refuse is refused; afterwards, one that its link refuses.
func TestCheck(t *testing.T) {
	c, _ := cluster(limits.Limits{}, 1)
	p := newPeer(c, "b@127.0.0.1")
	refused := func(msg any) string {
		if err := (check{p}).Check(there.PID(1), msg); err != nil {
			return err.Error()
		}
		return ""
	}
	require.Empty(t, refused("all"), "there is no protocol")
	c.cfg.Protocols = []dist.Protocol{picky{refuses: "a"}, picky{refuses: "b"}}
	require.Equal(t, "a", refused("all"))
	require.Empty(t, refused("a"))
	require.Empty(t, refused("b"))
	c.cfg.Protocols = append(c.cfg.Protocols, struct{ dist.Protocol }{})
	require.Empty(t, refused("all"), "one cannot say")
	checker := links.Checker(picky{refuses: "c"})
	p.checks.Store(&checker)
	require.Equal(t, "c", refused("c"))
	require.Empty(t, refused("a"))
	checker = nil
	p.checks.Store(&checker)
	require.Empty(t, refused("all"), "the link cannot say")
}
