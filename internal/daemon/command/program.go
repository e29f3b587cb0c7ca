package command

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// Program describes what a main adds to the daemon and its command line. It has the fields of actornode.Program, which is a
// separate type because no public name is an alias of an internal one.
type Program struct {
	Name         string
	About        string
	Version      string
	Export       func(n *node.Node) error
	Sections     map[string]any
	Applications []application.Spec
	Started      func(ctx context.Context, n *node.Node) error
}

// ownName is the default name of the program.
const ownName = "actornode"

func (p Program) name() string { return cmp.Or(p.Name, ownName) }

// offers returns the exports of everything that trees can name.
func (p Program) offers() []func(*node.Node) error {
	if p.Export == nil {
		return offered
	}
	return append(offered[:len(offered):len(offered)], p.Export)
}

// applications returns the names of the applications on which those of the file may depend.
func (p Program) applications() (names []wire.Atom) {
	for _, a := range p.Applications {
		names = append(names, a.Name)
	}
	return names
}

// rename puts the name of the program into the texts of a command and its subcommands. words are the commands.
func (p Program) rename(c *cobra.Command, words []string) {
	called := regexp.MustCompile(`\bactornode (help|completion|` + strings.Join(words, "|") + `)\b`)
	text := func(s string) string {
		return called.ReplaceAllStringFunc(s, func(s string) string { return p.name() + strings.TrimPrefix(s, ownName) })
	}
	c.Long, c.Example = text(c.Long), text(c.Example)
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { f.Usage = text(f.Usage) })
	}
	for _, sub := range c.Commands() {
		p.rename(sub, words)
	}
}
