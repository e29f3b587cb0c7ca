package wire

import (
	"strings"
	"unicode/utf8"
	"unique"
)

// Atom is an Erlang atom: a symbolic constant of at most [MaxAtomRunes] characters on the wire. Atoms are ordinary Go
// strings with their own type, so peers cannot fill a global atom table.
type Atom string

// MaxAtomRunes is the longest atom, in characters, that Erlang accepts.
const MaxAtomRunes = 255

// Valid reports whether an atom can be sent: it must be UTF-8 of at most [MaxAtomRunes] characters.
func (a Atom) Valid() bool {
	return utf8.ValidString(string(a)) && (len(a) <= MaxAtomRunes || utf8.RuneCountInString(string(a)) <= MaxAtomRunes)
}

// AtomOf makes a valid atom from any text, such as the name of a Go type: invalid UTF-8 becomes "?", and text that is too
// long is truncated.
func AtomOf(text string) Atom {
	if a := Atom(text); a.Valid() {
		return a
	}
	runes := []rune(strings.ToValidUTF8(text, "?"))
	return Atom(runes[:min(len(runes), MaxAtomRunes)])
}

// Atoms that the runtime itself uses.
const (
	AtomTrue      Atom = "true"
	AtomFalse     Atom = "false"
	AtomUndefined Atom = "undefined"
	AtomOK        Atom = "ok"
	AtomError     Atom = "error"
)

// AsBool reads the atoms true and false, or a Go bool. For any other term ok is false.
func AsBool(t any) (value, ok bool) {
	switch t := t.(type) {
	case bool:
		return t, true
	case Atom:
		return t == AtomTrue, t == AtomTrue || t == AtomFalse
	}
	return false, false
}

// NodeID names one incarnation of a node: its name and the creation that distinguishes
// this incarnation from an earlier one under the same name.
type NodeID struct {
	Name     Atom   // "go@host"; "nonode@nohost" if the node is not distributed
	Creation uint32 // never 0 for a live node
}

// internedNode is an interned NodeID: one word that compares by value, so a PID stays
// two words long and still carries its node's name and creation.
type internedNode = unique.Handle[NodeID]
