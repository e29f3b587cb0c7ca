package erldist

import (
	"testing"

	"github.com/actornode/actornode/wire/linktest"
)

func TestProtocol(t *testing.T) {
	for name, p := range map[string]*Protocol{
		"All":            {},
		"Packet4":        {Packet4: true},
		"NoCache":        {Without: FlagDistHdrAtomCache},
		"NoFragments":    {Without: FlagFragments},
		"NoExitPayload":  {Without: FlagExitPayload},
		"NoSender":       {Without: FlagSendSender},
		"NoAltact":       {Without: FlagAltactSig},
		"NoAliasOrSpawn": {Without: FlagAltactSig | FlagAlias | FlagSpawn},
		"NoMonitor":      {Without: FlagDistMonitor | FlagDistMonitorName},
		"Digest":         {Without: mandatoryFlags},
		"As25":           {Without: FlagAltactSig | FlagMandatory25Digest},
	} {
		t.Run(name, func(t *testing.T) {
			if p.Without&(FlagFragments|FlagDistHdrAtomCache) != 0 { // the one needs the other
				linktest.Whole(t, p, linktest.Everything&^linktest.Explainer)
			} else {
				linktest.Test(t, p, linktest.Everything&^linktest.Explainer)
			}
		})
	}
}
