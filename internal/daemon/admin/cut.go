package admin

import (
	"fmt"
	"math/big"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// ellipsis replaces parts that are left out.
const ellipsis wire.Atom = "..."

// cut converts any value to a term and keeps about size bytes of it: the first elements of a long list, the beginning of a
// long text, followed by an ellipsis. It does not read the rest, shares no memory that may change, and does not panic.
func cut(v any, size int) any {
	k := &truncator{budget: size}
	return k.term(v)
}

// truncator does one cut. Each level of nesting has a cost, so budget bounds the depth as well.
type truncator struct{ budget int }

// termCost is the cost of an element in bytes, without its contents.
const termCost = 8

func (k *truncator) term(v any) any {
	k.budget -= termCost
	switch v := v.(type) {
	case wire.Atom: // whole: the length of an atom is bounded
		k.budget -= len(v)
		return v
	case nil, bool, wire.PID, wire.Ref, wire.Port, wire.Export,
		int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, float32, float64:
		return v
	case *big.Int:
		if bytes := v.BitLen() / 8; bytes > k.budget {
			return ellipsis
		}
		k.budget -= v.BitLen() / 8
		return new(big.Int).Set(v)
	case string:
		return k.text(v)
	case []byte:
		return k.text(string(v[:min(len(v), max(k.budget, 0)+1)]))
	case wire.Charlist:
		return wire.Charlist(k.text(string(v)))
	case wire.Bitstring:
		if k.budget -= v.BitLen() / 8; k.budget < 0 {
			return ellipsis
		}
		return v
	case wire.Tuple:
		return wire.Tuple(k.list(v))
	case wire.List:
		return wire.List(k.list(v))
	case wire.ImproperList:
		if head := k.list(v.Head); k.budget > 0 {
			return wire.ImproperList{Head: head, Tail: k.term(v.Tail)}
		}
		return ellipsis
	case wire.Map:
		return k.maps(v)
	case wire.Fun:
		return fmt.Sprintf("#Fun<%s.%d.%d>", v.Module, v.OldIndex, v.OldUniq)
	}
	return k.foreign(v)
}

func (k *truncator) text(s string) string {
	if k.budget -= len(s); k.budget >= 0 {
		return s
	}
	keep := max(len(s)+k.budget, 0)
	k.budget = 0
	for i := 0; i < utf8.UTFMax && keep > 0 && !utf8.RuneStart(s[keep]); i++ {
		keep--
	}
	return s[:keep] + string(ellipsis)
}

func (k *truncator) list(l []any) []any {
	kept := make([]any, 0, min(len(l), max(k.budget, 0)/termCost+1))
	for _, v := range l {
		if k.budget <= 0 {
			return append(kept, ellipsis)
		}
		kept = append(kept, k.term(v))
	}
	return kept
}

func (k *truncator) maps(m wire.Map) any {
	kept := wire.MakeMap(min(m.Len(), max(k.budget, 0)/termCost+1))
	n := 0
	for key, v := range m.Unordered() {
		if k.budget <= 0 {
			kept.Put(ellipsis, m.Len()-n)
			return kept
		}
		kept.Put(k.term(key), k.term(v))
		n++
	}
	return kept
}

// foreign converts a Go value: to its term if it provides one, else to its own text, or to its type.
func (k *truncator) foreign(v any) (term any) {
	if crash := sysmsg.Guard(func() {
		if t, ok := termof.Of(v); ok {
			term = ellipsis
			if k.budget > 0 {
				term = k.term(t)
			}
			return
		}
		term = k.text(wire.Describe(v, max(k.budget, 0)))
	}); crash != nil {
		return fmt.Sprintf("%T: panic", v)
	}
	return term
}
