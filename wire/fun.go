package wire

// Fun is an Erlang fun of some BEAM node. Go cannot run it; it is kept complete so that it can be sent back or forwarded
// (NEW_FUN_EXT of the external term format).
//
// Two Funs are the same term when Module, Index, Uniq, OldUniq and Free are:
// arity and old index follow from those, and Erlang does not compare the creator either.
type Fun struct {
	Arity    int      // 0 to 255
	Uniq     [16]byte // MD5 of the significant parts of the module's code
	Index    uint32   // of the fun within the module
	Module   Atom
	OldIndex int // signed 32 bits on the wire
	OldUniq  int // signed 32 bits on the wire
	PID      PID // the process that made the fun
	Free     []any
}

// String prints f as Erlang does: #Fun<module.oldindex.olduniq>.
func (f Fun) String() string { return Format(f) }

// Export is a fun that refers to an exported function: fun Module:Function/Arity (EXPORT_EXT).
type Export struct {
	Module   Atom
	Function Atom
	Arity    int // 0 to 255
}

// String prints e as Erlang does: fun lists:map/2.
func (e Export) String() string { return Format(e) }
