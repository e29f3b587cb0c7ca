package node

import (
	"testing"
	"unsafe"
)

// What an idle actor costs, beside its own state and a slot of the table.
func TestSizes(t *testing.T) {
	if s := unsafe.Sizeof(proc{}); s > 192 {
		t.Errorf("a proc takes %d bytes, want at most 192: three cache lines, and a size that the allocator aligns to them", s)
	}
	if s := unsafe.Sizeof(cold{}); s > 352 {
		t.Errorf("a cold takes %d bytes, want at most 352, a size that the allocator has", s)
	}
	t.Log(unsafe.Sizeof(proc{}), unsafe.Sizeof(Process{}), unsafe.Sizeof(cold{}), unsafe.Sizeof(call{}))
}
