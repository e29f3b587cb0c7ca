package command

import (
	"cmp"
	"context"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// Program is what a main adds to the daemon and to its command line: see actornode.Program.
type Program struct {
	Name         string
	About        string
	Version      string
	Export       func(n *node.Node) error
	Sections     map[string]any
	Applications []application.Spec
	Started      func(ctx context.Context, n *node.Node) error
}

// ownName is what the program without a name is called.
const ownName = "actornode"

func (p Program) name() string { return cmp.Or(p.Name, ownName) }

// offers are all that trees can name.
func (p Program) offers() []func(*node.Node) error {
	if p.Export == nil {
		return offered
	}
	return append(offered[:len(offered):len(offered)], p.Export)
}

// applications are the names of those that the file's may depend on.
func (p Program) applications() (names []wire.Atom) {
	for _, a := range p.Applications {
		names = append(names, a.Name)
	}
	return names
}

// calledIn finds actornode as a command in a text of the help.
var calledIn = regexp.MustCompile(`(?m)\bactornode( (?:[a-z]|--|\[))`)

// rename has the texts of a command and of those below it call the program by its name.
func (p Program) rename(c *cobra.Command) {
	if p.name() == ownName {
		return
	}
	with := regexp.QuoteMeta(p.name()) + "$1"
	c.Long, c.Example = calledIn.ReplaceAllString(c.Long, with), calledIn.ReplaceAllString(c.Example, with)
	for _, sub := range c.Commands() {
		p.rename(sub)
	}
}
