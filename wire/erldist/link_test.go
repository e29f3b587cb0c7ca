package erldist

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/linkkit"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func TestProtocol(t *testing.T) {
	for name, p := range map[string]*Protocol{
		"All":            {},
		"Packet4":        {Packet4: true},
		"NoCache":        {Without: uint64(erlflags.DistHdrAtomCache)},
		"NoFragments":    {Without: uint64(erlflags.Fragments)},
		"NoExitPayload":  {Without: uint64(erlflags.ExitPayload)},
		"NoSender":       {Without: uint64(erlflags.SendSender)},
		"NoAltact":       {Without: uint64(erlflags.AltactSig)},
		"NoAliasOrSpawn": {Without: uint64(erlflags.AltactSig | erlflags.Alias | erlflags.Spawn)},
		"NoMonitor":      {Without: uint64(erlflags.DistMonitor | erlflags.DistMonitorName)},
		"NoMonitorName":  {Without: uint64(erlflags.DistMonitorName)},
		"NoAcks":         {Without: uint64(erlflags.UnlinkID | erlflags.Mandatory25Digest)},
		"Digest":         {Without: uint64(erlflags.Needed)},
		"As25":           {Without: uint64(erlflags.AltactSig | erlflags.Mandatory25Digest)},
	} {
		t.Run(name, func(t *testing.T) {
			if erlflags.Flags(p.Without)&(erlflags.Fragments|erlflags.DistHdrAtomCache) != 0 { // the one needs the other
				linkkit.Whole(t, p, linkkit.Everything&^linkkit.Explainer)
			} else {
				linkkit.Test(t, p, linkkit.Everything&^linkkit.Explainer)
			}
		})
	}
}

// Frames for which a peer lacks the flags, and which OTP drops then, are dropped: all other frames are read.
func TestDropped(t *testing.T) {
	here, there := peerOrigin, wire.NewOrigin(self)
	from, to, ref := here.PID(5), there.PID(7), here.RefOf(9)
	dropped := map[string]struct {
		without erlflags.Flags
		frames  []dist.Frame
	}{
		"monitors": {erlflags.DistMonitor, []dist.Frame{
			{Op: dist.OpMonitor, From: from, To: to, Ref: ref}, {Op: dist.OpMonitor, From: from, Name: "name", Ref: ref},
			{Op: dist.OpDemonitor, From: from, To: to, Ref: ref}, {Op: dist.OpDown, From: from, To: to, Ref: ref, Payload: 1},
		}},
		"monitors by name": {erlflags.DistMonitorName, []dist.Frame{
			{Op: dist.OpMonitor, From: from, To: to, Ref: ref}, {Op: dist.OpMonitor, From: from, Name: "name", Ref: ref},
			{Op: dist.OpDemonitor, From: from, Name: "name", Ref: ref}, {Op: dist.OpDown, Name: "name", To: to, Ref: ref, Payload: 1},
		}},
		"acknowledgements": {erlflags.UnlinkID, []dist.Frame{{Op: dist.OpUnlinkAck, From: from, To: to, ID: 5}}},
	}
	for name, c := range dropped {
		t.Run(name, func(t *testing.T) {
			for _, headed := range []bool{true, false} {
				w := newWriter(here.NodeID(), self.Name, erlflags.Announce(c.without), dist.LinkLimits{}, nil)
				w.headed = w.headed && headed
				for _, f := range c.frames {
					require.NoError(t, w.write(&f), "%v", f)
					require.Empty(t, w.buf, "%v", f)
				}
				require.NoError(t, w.write(&dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: wire.Atom("next")}))
				require.NotEmpty(t, w.buf)
			}
		})
	}
}

// The reason why nothing was started is one of a few atoms: only a node of this project, which keeps none, gets a text.
func TestSpawnErrors(t *testing.T) {
	here, there := peerOrigin, wire.NewOrigin(self)
	for _, c := range []struct {
		why      any
		otp, own wire.Atom
	}{
		{wire.Atom("system_limit"), "system_limit", "system_limit"},
		{"a text of this moment", "badarg", "a text of this moment"},
		{wire.Tuple{wire.Atom("no"), 1}, "badarg", "{no,1}"},
	} {
		for _, flags := range []erlflags.Flags{erlflags.Announced, erlflags.Announced | erlflags.GoValues} {
			want := c.otp
			if flags.Has(erlflags.GoValues) {
				want = c.own
			}
			w := newWriter(here.NodeID(), self.Name, flags, dist.LinkLimits{}, nil)
			require.Equal(t, want, w.spawnError(c.why))
			require.NoError(t, w.write(&dist.Frame{Op: dist.OpSpawnReply, Ref: there.RefOf(1), To: there.PID(1), Payload: c.why}))
		}
	}
}
