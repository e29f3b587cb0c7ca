package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/actornode/actornode/internal/strict"
	grants "github.com/actornode/actornode/node/rights"
)

// HasRights reports whether the configuration has rights. Without them, every node that knows the cookie may do everything.
func (c *Config) HasRights() bool { return c.Rights.Rules != nil || len(c.Rights.Cookies) > 0 }

// checkRights makes sure that the cookies named by the rules exist and differ.
func (c *Config) checkRights(fail func(string, ...any)) {
	if _, err := grants.New(grants.Config{Cookies: c.Rights.Cookies}); err != nil {
		fail("%s: %s", c.Origin("rights.cookies").Where, strings.TrimPrefix(err.Error(), "rights: "))
	}
	for i, r := range c.Rights.Rules {
		if r.Cookie != "" && c.Rights.Cookies[r.Cookie] == "" {
			fail("%s: rule %d: there is no cookie %s in rights.cookies; allowed: %s", c.Origin("rights.rules").Where, i+1,
				show(r.Cookie), strings.Join(slices.Sorted(maps.Keys(c.Rights.Cookies)), ", "))
		}
	}
}

// checkRule checks a rule, except that its cookie exists.
func checkRule(r grants.Rule) error {
	c := grants.Config{Rules: []grants.Rule{r}}
	if r.Cookie != "" {
		c.Cookies = map[string]string{r.Cookie: "some"}
	}
	_, err := grants.New(c)
	return errors.Unwrap(err) // without the number of the rule
}

// rules is the Value of Config.Rights.Rules: all, or a list.
type rules struct{ p *[]grants.Rule }

const rulesForm = "all, or a list of rules with peer, tls, cookie and may"

// Set is part of Value. The text holds rules such as "peer=*@host cookie=ops may connect, call counter", separated by
// semicolons.
func (v rules) Set(s string) error {
	if s = strings.TrimSpace(s); s == "all" {
		*v.p = nil
		return nil
	}
	all := []grants.Rule{}
	for text := range strings.SplitSeq(s, ";") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		r, err := readRights(text)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	*v.p = all
	return nil
}

// readRights parses one rule.
func readRights(text string) (r grants.Rule, err error) {
	const form = "all, or rules with semicolons such as: peer=NAME@HOST tls=dns:NAME cookie=NAME may connect, call NAME"
	words := strings.Fields(text)
	at := slices.Index(words, "may")
	if at < 0 {
		return r, want(text, form)
	}
	for _, w := range words[:at] {
		key, value, _ := strings.Cut(w, "=")
		to := map[string]*string{"peer": &r.Peer, "tls": &r.TLS, "cookie": &r.Cookie}[key]
		if to == nil || value == "" || *to != "" {
			return r, want(text, form)
		}
		*to = value
	}
	r.May = split(strings.Join(words[at+1:], " "))
	if err := checkRule(r); err != nil {
		return r, fmt.Errorf("%s: %w", show(text), err)
	}
	return r, nil
}

func (v rules) String() string {
	if *v.p == nil {
		return "all"
	}
	var all []string
	for _, r := range *v.p {
		var words []string
		for _, c := range [][2]string{{"peer=", r.Peer}, {"tls=", r.TLS}, {"cookie=", r.Cookie}} {
			if c[1] != "" {
				words = append(words, c[0]+c[1])
			}
		}
		all = append(all, strings.TrimSpace(strings.Join(append(words, "may "+strings.Join(r.May, ", ")), " ")))
	}
	return strings.Join(all, "; ")
}
func (v rules) Type() string { return "all, or list of rules" }

func (v rules) yaml(bool) any {
	if *v.p == nil {
		return "all"
	}
	all := []any{}
	for _, r := range *v.p {
		m := map[string]any{"may": append([]string{}, r.May...)}
		for key, text := range map[string]string{"peer": r.Peer, "tls": r.TLS, "cookie": r.Cookie} {
			if text != "" {
				m[key] = text
			}
		}
		all = append(all, m)
	}
	return all
}

func (v rules) read(r *strict.Reader, at strict.Value) {
	if !strict.IsList(at) {
		if s, ok := r.Text(at, rulesForm); ok && s == "all" {
			*v.p = nil
		} else if ok {
			r.Fail(at, "%v", want(s, rulesForm))
		}
		return
	}
	all := []grants.Rule{}
	before := r.Failures()
	r.List(at, func(_ int, at strict.Value) {
		var x grants.Rule
		text := func(to *string) func(strict.Value) {
			return func(at strict.Value) {
				if s, ok := r.Text(at, "a text"); ok && s == "" {
					r.Fail(at, "want a text that is not empty; a condition that is left out holds for all")
				} else {
					*to = s
				}
			}
		}
		failed := r.Failures()
		r.Object(at,
			strict.Field{Name: "peer", Read: text(&x.Peer)}, strict.Field{Name: "tls", Read: text(&x.TLS)},
			strict.Field{Name: "cookie", Read: text(&x.Cookie)},
			strict.Field{Name: "may", Required: true, Read: func(at strict.Value) {
				r.List(at, func(_ int, at strict.Value) {
					if s, ok := r.Text(at, "a right"); ok {
						x.May = append(x.May, s)
					}
				})
			}})
		if r.Failures() == failed {
			if err := checkRule(x); err != nil {
				r.Fail(at, "%v", err)
			}
		}
		all = append(all, x)
	})
	if r.Failures() == before {
		*v.p = all
	}
}

// namedCookies is the Value of Config.Rights.Cookies.
type namedCookies struct{ m map[string]string }

// Set is part of Value.
func (v namedCookies) Set(s string) error {
	m := make(map[string]string)
	for _, p := range split(s) {
		name, c, ok := strings.Cut(p, "=")
		if !ok || name == "" || CheckCookie(c) != nil {
			return errors.New("want NAME=COOKIE, or several separated by commas")
		}
		m[name] = c
	}
	clear(v.m)
	maps.Copy(v.m, m)
	return nil
}
func (v namedCookies) String() string { return strings.Join(slices.Sorted(maps.Keys(v.m)), ",") }
func (v namedCookies) Type() string   { return "NAME to cookie" }

func (v namedCookies) yaml(secret bool) any {
	m := make(map[string]any)
	for name, c := range v.m {
		if m[name] = c; !secret {
			m[name] = masked
		}
	}
	return m
}

func (v namedCookies) read(r *strict.Reader, at strict.Value) {
	clear(v.m)
	r.Map(at, func(name string, at strict.Value) {
		if name == "" || strings.ContainsAny(name, " ;,=") {
			r.Fail(at, "the key %s: want a name without spaces, semicolons, commas and equals signs", show(name))
		}
		s, ok := r.Text(at, errCookie.Error()[len("want "):])
		if err := CheckCookie(s); ok && err != nil {
			r.Fail(at, "%v", err)
		}
		v.m[name] = s
	})
}

// CheckName returns an error if s is not a valid node name.
func CheckName(s string) error { return checkName(s) }
