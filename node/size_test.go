package node

import (
	"testing"
	"unsafe"

	"github.com/actornode/actornode/node/internal/process"
)

// What an idle actor costs, beside its own state and a slot of the table.
func TestSizes(t *testing.T) {
	if s := unsafe.Sizeof(actor{}); s > 192 {
		t.Errorf("an Actor takes %d bytes, want at most 192: three cache lines, and a size that the allocator aligns to them", s)
	}
	if s := unsafe.Sizeof(Process{}); s > 320 {
		t.Errorf("a Process takes %d bytes, want at most 320: five cache lines, and a size that the allocator aligns to them", s)
	}
	if s := unsafe.Sizeof(process.Cold{}); s > 352 {
		t.Errorf("a cold takes %d bytes, want at most 352, a size that the allocator has", s)
	}
	t.Log(unsafe.Sizeof(actor{}), unsafe.Sizeof(process.Process{}), unsafe.Sizeof(Process{}))
	t.Log(unsafe.Sizeof(process.Cold{}), unsafe.Sizeof(process.Call{}))
}
