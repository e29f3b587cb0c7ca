package erpc

import (
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Applied returns what a spawn is to run, resolving erlang:apply.
func Applied(s *dist.Spawn) (module, function wire.Atom, args []any) {
	module, function, args = s.Module, s.Function, s.Args
	if module != "erlang" || function != "apply" {
		return module, function, args
	}
	switch len(args) {
	case 2:
		f, ok := args[0].(wire.Export)
		if list, proper := wire.AsList(args[1]); ok && proper && len(list) == f.Arity {
			return f.Module, f.Function, list
		}
	case 3:
		m, ok1 := args[0].(wire.Atom)
		f, ok2 := args[1].(wire.Atom)
		if list, ok := wire.AsList(args[2]); ok && ok1 && ok2 {
			return m, f, list
		}
	}
	return module, function, args
}

// meaningless are the options of a spawn that have no meaning here.
var meaningless = map[wire.Atom]bool{
	"priority": true, "fullsweep_after": true, "min_heap_size": true, "min_bin_vheap_size": true,
	"max_heap_size": true, "message_queue_data": true, "async_dist": true,
}

// Understood reports whether all options of a spawn can be ignored because they have no meaning here; another one is an error
// of the caller.
func Understood(options []any) bool {
	for _, o := range options {
		t, ok := o.(wire.Tuple)
		if !ok || len(t) != 2 {
			return false
		}
		if name, ok := t[0].(wire.Atom); !ok || !meaningless[name] {
			return false
		}
	}
	return true
}
