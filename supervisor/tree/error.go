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

// publicErrors is what a reader says, in this package's types: an [*Error] for each thing,
// joined by errors.Join, sorted by line and column, at most 100 of them.
func publicErrors(err error) error {
	var found strict.Errors
	if !errors.As(err, &found) {
		return err
	}
	all := make([]error, len(found))
	for i, e := range found {
		all[i] = (*Error)(e)
	}
	return errors.Join(all...)
}
