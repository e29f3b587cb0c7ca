package erldist

import (
	"testing"

	"github.com/actornode/actornode/internal/erlflags"
	"github.com/actornode/actornode/internal/linkkit"
)

func TestProtocol(t *testing.T) {
	for name, p := range map[string]*Protocol{
		"All":            {},
		"Packet4":        {Packet4: true},
		"NoCache":        {without: erlflags.DistHdrAtomCache},
		"NoFragments":    {without: erlflags.Fragments},
		"NoExitPayload":  {without: erlflags.ExitPayload},
		"NoSender":       {without: erlflags.SendSender},
		"NoAltact":       {without: erlflags.AltactSig},
		"NoAliasOrSpawn": {without: erlflags.AltactSig | erlflags.Alias | erlflags.Spawn},
		"NoMonitor":      {without: erlflags.DistMonitor | erlflags.DistMonitorName},
		"Digest":         {without: erlflags.Needed},
		"As25":           {without: erlflags.AltactSig | erlflags.Mandatory25Digest},
	} {
		t.Run(name, func(t *testing.T) {
			if p.without&(erlflags.Fragments|erlflags.DistHdrAtomCache) != 0 { // the one needs the other
				linkkit.Whole(t, p, linkkit.Everything&^linkkit.Explainer)
			} else {
				linkkit.Test(t, p, linkkit.Everything&^linkkit.Explainer)
			}
		})
	}
}
