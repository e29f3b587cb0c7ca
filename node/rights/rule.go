package rights

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/actornode/actornode/wire"
)

// rule is a Rule that has been read.
type rule struct {
	peer   pattern
	tls    pattern
	cookie string
	grants *Granted
}

// pattern is a text in which a * stands for any characters.
type pattern string

// matches compares in a time that grows with the lengths alone: whoever connects chooses the text.
func (p pattern) matches(text string) bool {
	parts := strings.Split(string(p), "*")
	last := len(parts) - 1
	if last == 0 {
		return text == string(p)
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[last])
}

// matchesNode is matches for NAME@HOST, each of the two for itself.
func (p pattern) matchesNode(node string) bool {
	name, host, _ := strings.Cut(string(p), "@")
	itsName, itsHost, _ := strings.Cut(node, "@")
	return pattern(name).matches(itsName) && pattern(host).matches(itsHost)
}

// read reads r. The error says what is wrong, and what is allowed.
func (r Rule) read() (rule, error) {
	x := rule{peer: pattern(r.Peer), tls: pattern(r.TLS), cookie: r.Cookie, grants: new(Granted)}
	name, host, ok := strings.Cut(r.Peer, "@")
	switch form, _, _ := strings.Cut(r.TLS, ":"); {
	case r.Peer != "" && (!ok || name == "" || host == "" || strings.Contains(host, "@")):
		return x, fmt.Errorf("peer %q: want NAME@HOST, in which a * stands for any characters", r.Peer)
	case r.TLS != "" && (!slices.Contains(forms, form) || len(r.TLS) == len(form)+1):
		return x, fmt.Errorf("tls %q: want dns:NAME, uri:URI or cn:NAME, in which a * stands for any characters", r.TLS)
	}
	for _, text := range r.May {
		if err := x.grants.add(text); err != nil {
			return x, err
		}
	}
	if len(r.May) > 0 && !x.grants.Connect() {
		return x, fmt.Errorf("may %s: a node that may not connect can do nothing; want connect, too", x.grants)
	}
	return x, nil
}

// forms are what an Identity may have been certified as.
var forms = []string{"dns", "uri", "cn"}

// add adds a right.
func (g *Granted) add(text string) error {
	word, what, has := strings.Cut(strings.TrimSpace(text), " ")
	what = strings.TrimSpace(what)
	if word == "all" && !has {
		g.words = everything(0).words
		return nil
	}
	k := kind(slices.Index(words[:], word))
	switch {
	case int8(k) < 0:
		return fmt.Errorf("may %q: unknown right; want one of all, %s", text, strings.Join(words[:], ", "))
	case !has:
		g.words[k] = true
	case k == send || k == call:
		if strings.ContainsAny(what, "* ") || len(what) > wire.MaxAtomRunes {
			return fmt.Errorf("may %q: want %s, or %s and one registered name", text, word, word)
		}
		if what == "rex" || what == "actornode" {
			return fmt.Errorf("may %q: want rpc for rex; admin_read, admin_act, trace or profile for actornode", text)
		}
		g.names[k] = append(g.names[k], wire.Atom(what))
	case k == spawn || k == rpc:
		r, ok := readRun(what)
		if !ok {
			return fmt.Errorf("may %q: want %s, or %s and one MODULE:FUNCTION/ARITY or MODULE:*", text, word, word)
		}
		g.runs[k] = append(g.runs[k], r)
	default:
		return fmt.Errorf("may %q: want %s, without more", text, word)
	}
	return nil
}

// readRun reads MODULE:FUNCTION/ARITY or MODULE:*.
func readRun(text string) (r run, ok bool) {
	module, function, ok := strings.Cut(text, ":")
	if !ok || module == "" || module == "*" || strings.Contains(text, " ") {
		return r, false
	}
	r.Module = wire.Atom(module)
	if r.all = function == "*"; r.all {
		return r, true
	}
	slash := strings.LastIndexByte(function, '/')
	if slash < 1 {
		return r, false
	}
	n, err := strconv.ParseUint(function[slash+1:], 10, 8)
	r.Function, r.Arity = wire.Atom(function[:slash]), int(n)
	return r, err == nil
}
