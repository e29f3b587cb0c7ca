package tree

import (
	"errors"

	"github.com/actornode/actornode/internal/strict"
)

// Error is one thing that is wrong with a file, and where it stands.
type Error struct {
	File         string
	Line, Column int    // from 1; Column is 1 where the YAML itself is broken
	Field        string // such as supervisor.children[0].id; "yaml" where the YAML itself is broken
	Problem      string // what is wrong, and what is allowed
}

// Error is file:line:column: field: problem.
func (e *Error) Error() string { return (*strict.Error)(e).Error() }

// Errors is all that is wrong with a file, sorted by line and column, at most 100 of them.
type Errors []*Error

// Error is a line for each.
func (l Errors) Error() string {
	return strict.Lines(l)
}

// Unwrap lets errors.As find each.
func (l Errors) Unwrap() []error {
	return strict.Each(l)
}

// publicErrors is what a reader says, in this package's types.
func publicErrors(err error) error {
	var found strict.Errors
	if !errors.As(err, &found) {
		return err
	}
	all := make(Errors, len(found))
	for i, e := range found {
		all[i] = (*Error)(e)
	}
	return all
}
