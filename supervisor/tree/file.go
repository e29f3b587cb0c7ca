package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

const infinity = node.Infinity

// ErrNoTree says that a file has applications, not one tree.
var ErrNoTree = errors.New("tree: the file describes applications")

// Known is what a file may refer to.
type Known struct {
	// Behaviours are what can be children: those of
	// [node.Node.Behaviours].
	Behaviours []wire.Export
	// Applications are those that the file's may depend on beside one another.
	Applications []wire.Atom
}

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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("tree: %w", err)
	}
	defer f.Close()
	return Check(path, f, known)
}

// Check reads a description to its end and checks all of it; nothing is started.
// name is what errors call the file. The error is an [Errors] if there is
// something wrong with the description, else what reading it has returned.
func Check(name string, from io.Reader, known Known) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("tree: reading %s: %w", name, err)
	}
	r := &reader{file: name, known: known, names: make(map[wire.Atom]at)}
	f := &File{Name: name}
	r.check(f, text)
	if len(r.errs) > 0 {
		r.errs.sort()
		return nil, r.errs
	}
	return f, nil
}

func (r *reader) check(f *File, text []byte) {
	start := at{line: 1, column: 1, path: "yaml"}
	if len(text) > maxBytes {
		r.fail(start, "the file is too long; at most %d bytes are allowed", maxBytes)
		return
	}
	var doc, next yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); err != nil && err != io.EOF {
		r.broken(err)
		return
	}
	if len(doc.Content) == 0 {
		r.fail(start, "the file is empty; want supervisor or applications")
		return
	}
	if err := dec.Decode(&next); err == nil {
		r.fail(at{line: next.Line, column: next.Column, path: "yaml"}, "a second document; one is allowed")
	} else if err != io.EOF {
		r.broken(err)
		return
	}
	root, ok := r.enter(at{}, doc.Content[0], "")
	if !ok {
		return
	}
	got := r.object(root,
		field{name: "supervisor", read: func(v at) {
			var s supervisor.Spec
			s, f.TopOptions = r.supervisor(v)
			f.Top = &s
		}},
		field{name: "applications", read: func(v at) { f.Applications = r.applications(v) }},
	)
	apps, are := got["applications"]
	switch _, is := got["supervisor"]; {
	case is && are:
		r.fail(apps, "together with supervisor; want one of the two")
	case !is && !are && got != nil:
		r.fail(at{line: root.line, column: root.column, path: "supervisor"}, "missing; want supervisor or applications")
	}
}

var lineOf = regexp.MustCompile(`^line (\d+): `)

// broken notes an error of the YAML library: "yaml: line 7: …", or without a line.
func (r *reader) broken(err error) {
	v := at{line: 1, column: 1, path: "yaml"}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := lineOf.FindStringSubmatch(text); m != nil {
		v.line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	r.fail(v, "%s", text)
}

// Start starts the one tree: [supervisor.Start] of what the file says. The error
// is ErrNoTree if it describes applications.
func (f *File) Start(ctx context.Context, from node.Caller) (node.PID, error) {
	if f.Top == nil {
		return node.PID{}, fmt.Errorf("%w: %s", ErrNoTree, f.Name)
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
