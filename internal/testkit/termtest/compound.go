package termtest

import (
	"math/rand/v2"

	"github.com/actornode/actornode/wire"
)

// Of returns a random term made of words: one of them, or a list, an improper list or a
// tuple of such terms, at most depth levels deep.
func Of(r *rand.Rand, words []any, depth int) any {
	if depth == 0 || r.IntN(3) == 0 {
		return words[r.IntN(len(words))]
	}
	all := make([]any, r.IntN(6))
	for k := range all {
		all[k] = Of(r, words, depth-1)
	}
	switch r.IntN(4) {
	case 0:
		return wire.List(all)
	case 1:
		return wire.ImproperList{Head: append(all, 1), Tail: Of(r, words, 0)}
	}
	return wire.Tuple(all)
}
