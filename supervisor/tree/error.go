package tree

import (
	"errors"

	"github.com/actornode/actornode/internal/strict"
)

// Error is one error in a file, with its position.
type Error struct {
	File         string
	Line, Column int    // from 1; Column is 1 if the YAML itself is invalid
	Field        string // such as supervisor.children[0].id; "yaml" if the YAML itself is invalid
	Problem      string // what is wrong, and what is allowed
}

// Error returns file:line:column: field: problem.
func (e *Error) Error() string { return (*strict.Error)(e).Error() }

// publicErrors converts a reader's error to this package's types: an [*Error] for each problem, joined by errors.Join,
// sorted by line and column, at most 100.
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
