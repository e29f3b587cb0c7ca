// Package globalnames has the names that all nodes of a cluster share, as one of them knows them, and the methods that
// decide which of two processes keeps a name.
//
// Nouns: a [Table] has an [Entry] for each name. A name is any term; two names are the same if =:= says so. A method is a
// function that is exported as Module:Function/3; those of OTP's module global are here.
//
// Invariants: a Table has one writer and any number of readers.
//
// It has no goroutines.
package globalnames
