package native

import (
	"testing"

	"github.com/actornode/actornode/wire/linktest"
)

func TestProtocol(t *testing.T) {
	for name, p := range map[string]*Protocol{
		"Plain":      {},
		"Compressed": {Compress: 100},
	} {
		t.Run(name, func(t *testing.T) { linktest.Test(t, p) })
	}
}
