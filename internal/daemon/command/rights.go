package command

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/actornode/actornode/internal/daemon/config"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rights"
)

// printRights prints the rights of peer on the node of a configuration.
func printRights(to io.Writer, cfg *config.Config, peer string) error {
	policy, err := rights.New(cfg.Rights)
	if err != nil {
		return err
	}
	id := rights.Identity{Name: node.Atom(peer)}
	plain := policy.Of(id, nil)
	lines := []string{fmt.Sprintf("%s may: %v (%s)", peer, plain, ruleName(plain))}
	certificates := []string{""}
	for _, r := range cfg.Rights.Rules {
		if r.TLS != "" && !slices.Contains(certificates, r.TLS) {
			certificates = append(certificates, r.TLS)
		}
	}
	for _, cert := range certificates {
		if id.TLS = nil; cert != "" {
			id.TLS = []string{cert}
		}
		id.Cookie = ""
		without := policy.Of(id, nil)
		if without.Rule != plain.Rule {
			lines = append(lines, fmt.Sprintf("  with a certificate for %s: %v (%s)", cert, without, ruleName(without)))
		}
		for _, id.Cookie = range slices.Sorted(maps.Keys(cfg.Rights.Cookies)) {
			g := policy.Of(id, nil)
			switch {
			case g.Rule == without.Rule || cert != "" && g.Rule == policy.Of(rights.Identity{Name: id.Name, Cookie: id.Cookie}, nil).Rule:
			case cert == "":
				lines = append(lines, fmt.Sprintf("  with the cookie %s: %v (%s)", id.Cookie, g, ruleName(g)))
			default:
				lines = append(lines, fmt.Sprintf("  with the cookie %s and a certificate for %s: %v (%s)", id.Cookie, cert, g, ruleName(g)))
			}
		}
	}
	lines = append(lines, "operators: "+operatorRights(cfg.Operators, node.Atom(peer)), "allow: "+allowedRuns(cfg.Allow, peer))
	_, err = fmt.Fprintln(to, strings.Join(lines, "\n"))
	return err
}

// ruleName names the rule that granted g.
func ruleName(g *rights.Granted) string {
	switch {
	case g.Rule > 0:
		return fmt.Sprintf("rule %d", g.Rule)
	case g.Connect():
		return "there are no rules"
	}
	return "no rule is for it"
}

// operatorRights describes the rights to use the operator's service that remain after the list of operators.
func operatorRights(o config.Operators, peer node.Atom) string {
	switch {
	case o.Off:
		return "there is no operator service"
	case o.May(peer):
		return "it may act, trace and profile, as far as it has the rights admin_act, trace and profile"
	}
	return "it may only look, as far as it has the right admin_read"
}

// allowedRuns describes the functions that the list allow leaves for the rights spawn and rpc.
func allowedRuns(a config.Rights, peer string) string {
	if a.All {
		return "all that is exported, as far as it has the rights spawn and rpc"
	}
	var all []string
	for _, r := range a.For(node.Atom(peer)) {
		all = append(all, r.String())
	}
	return cmp.Or(strings.Join(all, ", "), "nothing")
}
