package node

import (
	"testing"
	"unsafe"
)

// What an idle actor costs, beside its own state and a slot of the table.
func TestSizes(t *testing.T) {
	if s := unsafe.Sizeof(proc{}); s > 176 {
		t.Errorf("a proc takes %d bytes, want at most 176", s)
	}
	t.Log(unsafe.Sizeof(proc{}), unsafe.Sizeof(cell{}), unsafe.Sizeof(cold{}), unsafe.Sizeof(promise{}))
}
