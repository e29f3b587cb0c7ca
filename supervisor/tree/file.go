package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/actornode/actornode/internal/regular"
	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

const infinity = node.Infinity

// errNoTree says that a file has applications, not one tree.
var errNoTree = errors.New("tree: the file describes applications")

// Known is what a file may refer to.
type Known struct {
	// Behaviours are what can be children: those of
	// Behaviours of package node/rpc.
	Behaviours []wire.Export
	// Own are behaviours that children of the file can be though no node exports
	// them: only the file can name them, and not a process that sends its supervisors a
	// child specification.
	Own map[wire.Export]Make
	// Applications are those that the file's may depend on beside one another.
	Applications []wire.Atom
	// Mailbox bounds the mailboxes of children that are workers. Default: nothing does.
	Mailbox mailbox.Limits
	// Published: the node shares names with all others, so that processes may have global ones. See package node/global.
	Published bool
}

// Make checks the args of a child, as many as the arity says, and returns the
// child's Start, as in [supervisor.Child]: what that is given is what
// simple_one_for_one adds to them. It must start nothing.
type Make func(args []any) (start func(more ...any) (node.Actor, error), err error)

// File is what a file describes, checked: one tree, or applications.
type File struct {
	Name string // of the file
	// Top is the supervisor at the top of the one tree, and TopOptions are the
	// options of its spawn. nil: there are applications.
	Top        *supervisor.Spec
	TopOptions node.Options
	// Applications in the order of the file.
	Applications []application.Spec
}

// CheckFile checks a file; see [Check].
func CheckFile(path string, known Known) (*File, error) {
	text, err := regular.File(path)
	if err != nil {
		return nil, fmt.Errorf("tree: %w", err)
	}
	return Check(path, bytes.NewReader(text), known)
}

// Check reads a description to its end and checks all of it; nothing is started.
// name is what errors call the file. The error is what reading the file has returned, or joins
// (errors.Join) an [*Error] for each thing that is wrong, sorted by line and column, at most 100.
func Check(name string, from io.Reader, known Known) (*File, error) {
	text, err := strict.ReadAll(name, from)
	if err != nil {
		return nil, fmt.Errorf("tree: %w", err)
	}
	f := &File{Name: name}
	r, root, ok := strict.Parse(name, text, "supervisor or applications")
	if ok {
		f.read(r, root, known)
	}
	if err := r.Err(); err != nil {
		return nil, publicErrors(err)
	}
	return f, nil
}

// read reads a document that has nothing but f.
func (f *File) read(from *strict.Reader, root strict.Value, known Known) {
	got := from.Object(root, f.Fields(from, known)...)
	_, is := got["supervisor"]
	if _, are := got["applications"]; !is && !are && got != nil {
		from.Fail(at{Line: root.Line, Column: root.Column, Path: "supervisor"}, "missing; want supervisor or applications")
	}
}

// Fields is for packages of this module, which read a tree that stands beside other fields: the fields of a document that from
// reads, supervisor and applications, which become f's. At most one of the two is allowed. Errors go to from.
func (f *File) Fields(from *strict.Reader, known Known) []strict.Field {
	r := &reader{Reader: from, known: known, names: make(map[wire.Atom]at), globals: make(map[wire.Atom]at)}
	first := ""
	onlyOne := func(v at) {
		name := v.Path[strings.LastIndexByte(v.Path, '.')+1:]
		if first != "" {
			r.Fail(v, "cannot be combined with %s; want one of the two", first)
			return
		}
		first = name
	}
	return []field{
		{Name: "supervisor", Read: func(v at) {
			onlyOne(v)
			var s supervisor.Spec
			s, f.TopOptions = r.supervisor(v)
			f.Top = &s
		}},
		{Name: "applications", Read: func(v at) {
			onlyOne(v)
			f.Applications = r.applications(v)
		}},
	}
}

// Start starts the one tree: [supervisor.Start] of what the file says. The error
// says so if it describes applications.
func (f *File) Start(ctx context.Context, from node.Caller) (node.PID, error) {
	if f.Top == nil {
		return node.PID{}, fmt.Errorf("%w: %s", errNoTree, f.Name)
	}
	return supervisor.Start(ctx, from, *f.Top, f.TopOptions)
}

// Load loads the applications into c. It ends with the first that cannot be
// loaded: see [application.Controller.Load].
func (f *File) Load(c *application.Controller) error {
	for _, a := range f.Applications {
		if err := c.Load(a); err != nil {
			return err
		}
	}
	return nil
}
