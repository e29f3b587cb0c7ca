package wire

import (
	"strings"
	"unicode/utf8"
	"unique"
)

// Atom is an Erlang atom: a name that stands for itself, at most
// [MaxAtomRunes] characters long on the wire. Atoms are ordinary Go strings of
// their own type, so peers cannot fill a global table with them.
type Atom string

// MaxAtomRunes is the longest atom, in characters, that Erlang accepts.
const MaxAtomRunes = 255

// Valid reports whether an atom can travel: it is UTF-8, of at most [MaxAtomRunes] characters.
func (a Atom) Valid() bool {
	return utf8.ValidString(string(a)) && (len(a) <= MaxAtomRunes || utf8.RuneCountInString(string(a)) <= MaxAtomRunes)
}

// AtomOf makes a valid atom of any text, such as the name of a Go type: what is no UTF-8 becomes "?", and what is too long is
// cut.
func AtomOf(text string) Atom {
	if a := Atom(text); a.Valid() {
		return a
	}
	runes := []rune(strings.ToValidUTF8(text, "?"))
	return Atom(runes[:min(len(runes), MaxAtomRunes)])
}

// Atoms that the runtime itself speaks.
const (
	True      Atom = "true"
	False     Atom = "false"
	Undefined Atom = "undefined"
	OK        Atom = "ok"
	Error     Atom = "error"
)

// Bool reads the atoms true and false, or a Go bool. It reports false in ok for
// any other term.
func Bool(t any) (value, ok bool) {
	switch t := t.(type) {
	case bool:
		return t, true
	case Atom:
		return t == True, t == True || t == False
	}
	return false, false
}

// NodeID names one incarnation of a node: its name and the creation that distinguishes
// this incarnation from an earlier one under the same name.
type NodeID struct {
	Name     Atom   // "go@host"; a node that is not distributed is "nonode@nohost"
	Creation uint32 // never 0 for a live node
}

// internedNode is an interned NodeID: one word that compares by value, so a PID stays
// two words long and still carries its node's name and creation.
type internedNode = unique.Handle[NodeID]
