package command

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/printable"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
)

// completeTime bounds requests for completion: a user waits at the prompt.
const completeTime = time.Second

type completion = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// completeNodes offers the nodes of this host known to the port mapper.
func (c *client) completeNodes(env environment) completion {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
		defer cancel()
		mapper, err := epmd.ConfigFromEnv(env.lookup)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		mapper.Logger = quiet
		names, err := mappedNames(ctx, mapper)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return typeable(names), cobra.ShellCompDirectiveNoFileComp
	}
}

// typeable returns the names that can be typed in a shell without quoting.
func typeable(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !printable.Is(name) })
}

// completeProcess offers the registered names of the node as the first arguments, at
// most upTo+1 of them.
func (c *client) completeProcess(env environment, upTo int) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > upTo {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.offer(cmd, env, func(ctx context.Context, s *session) []string {
			if l, err := admin.Processes(ctx, s.n, s.at, admin.Query{Registered: true, Sort: "name"}); err == nil {
				names := make([]string, len(l.Processes))
				for i, p := range l.Processes {
					names[i] = string(p.Name)
				}
				return names
			}
			v, _ := rpc.Call[any](ctx, s.n, s.at, "erlang", "registered")
			names, _ := wire.AsList(v)
			return atomsOf(names)
		})
	}
}

// offer runs f on the node if it answers within completeTime.
func (c *client) offer(cmd *cobra.Command, env environment,
	f func(context.Context, *session) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	c.timeout = completeTime
	s, err := c.open(ctx, env)
	if err != nil {
		return cobra.AppendActiveHelp(nil, err.Error()), cobra.ShellCompDirectiveNoFileComp
	}
	defer s.n.Stop()
	return typeable(f(ctx, s)), cobra.ShellCompDirectiveNoFileComp
}

func atomsOf(terms []any) []string {
	var all []string
	for _, t := range terms {
		if a, ok := t.(wire.Atom); ok {
			all = append(all, string(a))
		}
	}
	slices.Sort(all)
	return all
}

// completeOneOf offers words for the first argument, or a flag.
func completeOneOf(words ...string) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
