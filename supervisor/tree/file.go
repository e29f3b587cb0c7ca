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

// errNoTree means that a file describes applications instead of one tree.
var errNoTree = errors.New("tree: the file describes applications")

// Known lists what a file may refer to.
type Known struct {
	// Behaviours are the behaviours for children: the result of Behaviours of package node/rpc.
	Behaviours []wire.Export
	// Own are additional behaviours for children, which no node exports. Only the file can name them, not a process that
	// sends a child specification to one of its supervisors.
	Own map[wire.Export]Make
	// Applications are further applications that those of the file may depend on.
	Applications []wire.Atom
	// Mailbox limits the mailboxes of workers. Default: no limits.
	Mailbox mailbox.Bounds
	// Published means that the node shares names with all others, so that processes may have global names. See package
	// node/global.
	Published bool
}

// Make checks the args of a child, as many as the arity, and returns the child's Start, as in [supervisor.Child], whose
// arguments are those that simple_one_for_one adds. It must not start anything.
type Make func(args []any) (start func(more ...any) (node.Actor, error), err error)

// File is a checked file: one tree, or applications.
type File struct {
	Name string // of the file
	// Top is the supervisor at the top of the tree, and TopOptions are the options of its spawn. Top is nil if the file
	// describes applications.
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

// Check reads a whole description and checks it without starting anything. name is the file's name in errors. The error is
// that of from, or joins (errors.Join) an [*Error] for each problem, sorted by line and column, at most 100.
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

// read reads a document that contains only f.
func (f *File) read(from *strict.Reader, root strict.Value, known Known) {
	got := from.Object(root, f.Fields(from, known)...)
	_, is := got["supervisor"]
	if _, are := got["applications"]; !is && !are && got != nil {
		from.Fail(at{Line: root.Line, Column: root.Column, Path: "supervisor"}, "missing; want supervisor or applications")
	}
}

// Fields is for packages of this module that read a document with a tree and other fields. It returns the fields supervisor
// and applications, which set f. At most one of the two is allowed. Errors are reported to from.
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

// Start starts the file's tree with [supervisor.Start]. It returns an error if the file describes applications.
func (f *File) Start(ctx context.Context, from node.Caller) (node.PID, error) {
	if f.Top == nil {
		return node.PID{}, fmt.Errorf("%w: %s", errNoTree, f.Name)
	}
	return supervisor.Start(ctx, from, *f.Top, f.TopOptions)
}

// Load loads the applications into c. It stops at the first error: see [application.Controller.Load].
func (f *File) Load(c *application.Controller) error {
	for _, a := range f.Applications {
		if err := c.Load(a); err != nil {
			return err
		}
	}
	return nil
}
