package command

import (
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/wire"
)

// groups prints a listing of groups, with rates and growth if they were measured.
func (s *session) groups(l admin.Listing, rates, links bool) error {
	columns, rows := groupTable(l, s.at, rates, links)
	return s.table(columns, rows)
}

// groupTable has one row for each group, and one for all others.
func groupTable(l admin.Listing, at wire.Atom, rates, links bool) (columns []column, rows [][]string) {
	columns = []column{{title: "COUNT", right: true}}
	if rates {
		columns = append(columns, column{title: "GROWTH", right: true}, column{title: "STARTED", right: true})
	}
	columns = append(columns, column{title: "MAILBOX", right: true}, column{title: "LONGEST", right: true},
		column{title: "HANDLED", right: true})
	if rates {
		columns = append(columns, column{title: "RATE", right: true})
	}
	if links {
		columns = append(columns, column{title: "LINKS", right: true}, column{title: "MONITORS", right: true})
	}
	columns = append(columns, column{title: "MEMORY", right: true}, column{title: strings.ToUpper(string(l.By)), gives: true})
	row := func(g admin.Group, key string) []string {
		row := []string{countText(g.Count)}
		if rates {
			row = append(row, fmt.Sprintf("%+d", g.Growth), countText(g.Started))
		}
		row = append(row, countText(g.Mailbox), countText(g.Longest), countText(g.Handled))
		if rates {
			row = append(row, rateText(g.Rate))
		}
		if links {
			row = append(row, countText(g.Links), countText(g.Monitors))
		}
		return append(row, bytesText(g.Memory), key)
	}
	for _, g := range l.Groups {
		key := g.Key
		switch {
		case l.By != "parent":
		case g.Parent.IsZero():
			key = "none: from outside"
		case key == "":
			key = shownAt(g.Parent, at) + " (gone)"
		default:
			key = shownAt(g.Parent, at) + " " + nameStyle.Render(key)
		}
		rows = append(rows, row(g, key))
	}
	if l.Others.Count > 0 || l.Others.Growth != 0 {
		rows = append(rows, row(l.Others, fmt.Sprintf("%s others", countText(l.Others.Groups))))
	}
	return columns, rows
}
