package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manual returns the pages of the commands of root, by the names of their files, in the macros of man(7).
//
// The library cobra/doc treats the texts of commands as Markdown. They are plain text with literal *, _, < and {, so this
// package writes the pages itself.
func manual(root *cobra.Command, version string, date time.Time) map[string][]byte {
	all := make(map[string][]byte)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if !c.IsAvailableCommand() && c.HasParent() {
			return
		}
		all[pageName(c)+".1"] = page(c, version, date)
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	return all
}

// pageName is the name of a page for man: actornode, actornode-start, actornode-log-level.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// page is the manual of one command.
func page(c *cobra.Command, version string, date time.Time) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 %s %s %s\n", quote(strings.ToUpper(pageName(c))), date.Format("2006-01-02"),
		quote(c.Root().Name()+" "+version), quote("User Commands"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(pageName(c)), escape(lowerFirst(c.Short)))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", escape(useLine(c)))
	b.WriteString(".SH DESCRIPTION\n")
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	blocks(&b, text)
	subcommands(&b, c)
	options(&b, c)
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", escape(strings.TrimRight(c.Example, "\n")))
	}
	b.WriteString(".SH SEE ALSO\n")
	if c.HasParent() {
		reference(&b, c.Parent())
	} else {
		b.WriteString("https://github.com/actornode/actornode/tree/main/docs\n")
	}
	return b.Bytes()
}

// useLine returns the usage of the command.
func useLine(c *cobra.Command) string {
	if c.HasAvailableSubCommands() {
		return c.CommandPath() + " COMMAND"
	}
	return c.UseLine()
}

// subcommands lists them in their groups.
func subcommands(b *bytes.Buffer, c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	b.WriteString(".SH COMMANDS\n")
	list := func(group string) {
		for _, sub := range c.Commands() {
			if sub.GroupID == group && sub.IsAvailableCommand() {
				b.WriteString(".TP\n")
				reference(b, sub)
				b.WriteString(escape(sub.Short) + "\n")
			}
		}
	}
	for _, g := range c.Groups() {
		fmt.Fprintf(b, ".SS %s\n", quote(strings.TrimSuffix(g.Title, ":")))
		list(g.ID)
	}
	list("")
}

// reference writes a reference to the page of a command.
func reference(b *bytes.Buffer, c *cobra.Command) {
	fmt.Fprintf(b, ".BR %s (1)\n", escape(pageName(c)))
}

// options lists the flags of a command, including those of its parents.
func options(b *bytes.Buffer, c *cobra.Command) {
	c.InitDefaultHelpFlag()
	first := true
	add := func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		if first {
			b.WriteString(".SH OPTIONS\n")
			first = false
		}
		b.WriteString(".TP\n")
		kind, usage := pflag.UnquoteUsage(f)
		name := `\fB` + escape("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			name = `\fB` + escape("-"+f.Shorthand) + `\fR, ` + name
		}
		if kind != "" {
			name += ` \fI` + escape(kind) + `\fR`
		}
		if !plainDefault(f) {
			usage += " (default " + f.DefValue + ")"
		}
		b.WriteString(name + "\n" + escape(usage) + "\n")
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
}

// plainDefault reports whether the default of a flag is the zero value of its type, which the page omits.
func plainDefault(f *pflag.Flag) bool {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
		return true
	}
	return false
}

// blocks writes paragraphs, which are filled, and indented lines, which are kept.
func blocks(b *bytes.Buffer, text string) {
	for i, block := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(block, " ") || strings.Contains(block, "\n ") || strings.Contains(block, "\n\t") {
			fmt.Fprintf(b, ".nf\n%s\n.fi\n", escape(block))
			continue
		}
		b.WriteString(escape(block) + "\n")
	}
}

// escape escapes a text for roff.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "\t", "    ").Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

// quote quotes an argument of a macro.
func quote(text string) string { return `"` + strings.ReplaceAll(escape(text), `"`, `\(dq`) + `"` }

func lowerFirst(s string) string {
	if s == "" || strings.HasPrefix(s, "A node of") {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
