package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/actornode/actornode/internal/strict"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
)

// Value is a field that can be set from a text: in the file, the environment, or a flag. It is also a pflag.Value.
type Value interface {
	Set(text string) error // on error it leaves the field unchanged; the error says what is allowed
	String() string        // in the syntax of Set
	Type() string          // one word, for the help
}

// compound is a Value that is a list or map in the file.
type compound interface {
	read(r *strict.Reader, v strict.Value)
	// yaml is the value as in the file. It shows cookies if secret is set.
	yaml(secret bool) any
}

// describe returns a longer description than Type of what v may be.
func describe(v Value) string {
	switch v.(type) {
	case flag:
		return "true or false"
	case duration:
		return "a time with its unit, such as 500ms, 5s or 1m30s"
	case size, memory:
		return "a size, such as 512KiB, 64MiB or 1000000"
	case path:
		return "the name of a file"
	case count:
		return "a number, " + v.Type()
	}
	return v.Type()
}

const (
	maxCount     = math.MaxInt32
	maxProcesses = 1<<27 - 1
	maxStages    = 1<<16 - 2 // of node.Config.Stages
	minTick      = 4 * time.Millisecond
)

// show shortens and quotes a word of the user.
func show(text string) string {
	if text == "" || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) }) {
		return strconv.Quote(strict.Cut(text))
	}
	return strict.Cut(text)
}

func want(text, what string) error { return fmt.Errorf("%s: want %s", show(text), what) }

// text is any text that passes check.
type text struct {
	p     *string
	want  string
	check func(string) error // its error is that of Set
}

func (v text) Set(s string) error {
	if v.check != nil {
		if err := v.check(s); err != nil {
			return err
		}
	}
	*v.p = s
	return nil
}
func (v text) String() string { return *v.p }
func (v text) Type() string   { return v.want }

func checkName(s string) error {
	if links.CheckName(s) != nil {
		return want(s, fmt.Sprintf("name@host, %d characters at most, without spaces and what does not print", wire.MaxAtomRunes))
	}
	return nil
}

// errCookie does not show the cookie.
var errCookie = errors.New("want 1 to 255 printable ASCII characters")

// CheckCookie returns an error if s is not a valid cookie. OTP accepts no others.
func CheckCookie(s string) error {
	if s == "" || len(s) > 255 || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' }) {
		return errCookie
	}
	return nil
}

// checkAddress checks host:port; least is the smallest port allowed.
func checkAddress(s, what string, least uint64) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%w: %w", want(s, what), err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n < least {
		return fmt.Errorf("%s: %q is not a port; want %s", show(s), port, what)
	}
	return nil
}

func checkListen(s string) error {
	if s == "-" {
		return nil
	}
	return checkAddress(s, "HOST:PORT, :PORT or -", 0)
}

func checkHTTP(s string) error {
	if s == "off" {
		return nil
	}
	if _, err := strconv.ParseUint(s, 10, 16); err == nil {
		return nil
	}
	const what = "PORT, HOST:PORT, :PORT or off"
	if !strings.Contains(s, ":") {
		return want(s, what)
	}
	return checkAddress(s, what, 0)
}

// path is the name of a file. In the configuration file it is relative to that file.
type path struct{ p *string }

func (v path) Set(s string) error {
	if s == "" || strings.ContainsRune(s, 0) {
		return want(s, "the name of a file")
	}
	*v.p = s
	return nil
}
func (v path) String() string { return *v.p }
func (v path) Type() string   { return "FILE" }

type flag struct{ p *bool }

func (v flag) Set(s string) error {
	switch s {
	case "true", "false":
		*v.p = s == "true"
		return nil
	}
	return want(s, "true or false")
}
func (v flag) String() string { return strconv.FormatBool(*v.p) }
func (v flag) Type() string   { return "bool" }

// IsBoolFlag allows the flag without a value.
func (flag) IsBoolFlag() bool { return true }

type word struct {
	p     *string
	words []string
}

func (v word) Set(s string) error {
	if !slices.Contains(v.words, s) {
		return fmt.Errorf("unknown value %s; %s", show(s), strict.Allowed(s, v.words))
	}
	*v.p = s
	return nil
}
func (v word) String() string { return *v.p }
func (v word) Type() string   { return strings.Join(v.words, ", ") }

type policy struct{ p *mailbox.Policy }

func (v policy) Set(s string) error {
	var w string
	if err := (word{&w, policies}).Set(s); err != nil {
		return err
	}
	*v.p = mailbox.Policy(slices.Index(policies, w))
	return nil
}
func (v policy) String() string { return policies[*v.p] }
func (v policy) Type() string   { return strings.Join(policies, ", ") }

type level struct{ p *slog.Level }

func (v level) Set(s string) error {
	var l slog.Level
	if err := l.UnmarshalText([]byte(s)); err != nil {
		return want(s, v.Type())
	}
	*v.p = l
	return nil
}
func (v level) String() string { return strings.ToLower(v.p.String()) }
func (v level) Type() string   { return "debug, info, warn or error" }

type duration struct {
	p     *time.Duration
	least time.Duration
}

func (v duration) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < v.least {
		return want(s, fmt.Sprintf("a time with its unit, such as 500ms, 5s or 1m30s, at least %v", v.least))
	}
	*v.p = d
	return nil
}
func (v duration) String() string { return v.p.String() }
func (v duration) Type() string   { return "duration" }

type count struct {
	p           *int
	least, most int
}

func (v count) Set(s string) error {
	n, err := strconv.ParseInt(strings.ReplaceAll(s, "_", ""), 10, 64)
	if err != nil || n < int64(v.least) || n > int64(v.most) {
		return want(s, fmt.Sprintf("a number from %d to %d", v.least, v.most))
	}
	*v.p = int(n)
	return nil
}
func (v count) String() string { return strconv.Itoa(*v.p) }
func (v count) Type() string   { return fmt.Sprintf("%d to %d", v.least, v.most) }

// units of a size, the largest first.
var units = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

type size struct {
	p     *int
	least int
}

func (v size) Set(s string) error {
	n, ok := sizeOf(s)
	if !ok || n > maxCount || n < int64(v.least) {
		return want(s, fmt.Sprintf("a size such as 512KiB, 64MiB or 1000000, from %s to 2147483647", size{&v.least, 0}))
	}
	*v.p = int(n)
	return nil
}

// sizeOf reads a size in bytes.
func sizeOf(s string) (n int64, ok bool) {
	digits, unit := strings.TrimSpace(s), int64(1)
	for _, u := range units {
		if d, ok := strings.CutSuffix(digits, u.name); ok {
			digits, unit = strings.TrimSpace(d), u.bytes
			break
		}
	}
	count, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || int64(count) > math.MaxInt64/unit {
		return 0, false
	}
	return int64(count) * unit, true
}

func (v size) String() string {
	for _, u := range units[:3] {
		if *v.p > 0 && int64(*v.p)%u.bytes == 0 {
			return strconv.FormatInt(int64(*v.p)/u.bytes, 10) + u.name
		}
	}
	return strconv.Itoa(*v.p)
}
func (v size) Type() string { return "size" }

// memory is a memory limit: 0, or leastMemory to mostMemory.
type memory struct{ p *int }

const (
	leastMemory = 32 << 20
	mostMemory  = min(1<<50, math.MaxInt)
)

func (v memory) Set(s string) error {
	n, ok := sizeOf(s)
	if !ok || n > mostMemory || n != 0 && n < leastMemory {
		return want(s, "0, or a size such as 512MiB or 4GiB, at least 32MiB")
	}
	*v.p = int(n)
	return nil
}

func (v memory) String() string { return size{v.p, 0}.String() }
func (v memory) Type() string   { return "size" }

// split splits a list of a flag or variable: a,b,c.
func split(s string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	l := strings.Split(s, ",")
	for i := range l {
		l[i] = strings.TrimSpace(l[i])
	}
	return l
}

// words is an ordered list of distinct words from a given set.
type words struct {
	p     *[]string
	words []string
}

func (v words) add(to []string, s string) ([]string, error) {
	var w string
	if err := (word{&w, v.words}).Set(s); err != nil {
		return to, err
	}
	if slices.Contains(to, s) {
		return to, fmt.Errorf("%s: given twice", s)
	}
	return append(to, s), nil
}

var errNoWord = errors.New("want at least one")

func (v words) Set(s string) (err error) {
	var l []string
	for _, w := range split(s) {
		if l, err = v.add(l, w); err != nil {
			return err
		}
	}
	if len(l) == 0 {
		return errNoWord
	}
	*v.p = l
	return nil
}
func (v words) String() string { return strings.Join(*v.p, ",") }
func (v words) Type() string   { return "list of " + strings.Join(v.words, ", ") }
func (v words) yaml(bool) any  { return *v.p }
func (v words) read(r *strict.Reader, at strict.Value) {
	var l []string
	before := r.Failures()
	r.List(at, func(_ int, at strict.Value) {
		var err error
		if s, ok := r.Text(at, "a word of "+strings.Join(v.words, ", ")); !ok {
			return
		} else if l, err = v.add(l, s); err != nil {
			r.Fail(at, "%v", err)
		}
	})
	if len(l) == 0 && r.Failures() == before {
		r.Fail(at, "%v", errNoWord)
	}
	if r.Failures() == before {
		*v.p = l
	}
}

// list is a list of texts that pass check.
type list struct {
	p          *[]string
	form, each string // of one item: a word, and a description
	check      func(string) error
	secret     bool
}

func (v list) Set(s string) error {
	l := split(s)
	for _, x := range l {
		if err := v.check(x); err != nil {
			return err
		}
	}
	*v.p = l
	return nil
}

func (v list) String() string {
	if v.secret && len(*v.p) > 0 {
		return masked
	}
	return strings.Join(*v.p, ",")
}
func (v list) Type() string { return "list of " + v.form }
func (v list) yaml(secret bool) any {
	if !v.secret || secret {
		return *v.p
	}
	l := make([]string, len(*v.p))
	for i := range l {
		l[i] = masked
	}
	return l
}
func (v list) read(r *strict.Reader, at strict.Value) {
	var l []string
	before := r.Failures()
	r.List(at, func(_ int, at strict.Value) {
		s, ok := r.Text(at, v.each)
		if err := v.check(s); ok && err != nil {
			r.Fail(at, "%v", err)
		}
		l = append(l, s)
	})
	if r.Failures() == before {
		*v.p = l
	}
}

// peers is the Value of Discovery.Peers.
type peers struct {
	m map[string][]discovery.Endpoint
}

const peerForm = "NAME@HOST=HOST:PORT, NAME@HOST=:PORT or NAME@HOST=PROTOCOL://HOST:PORT"

// endpoint parses an endpoint of package discovery, with errors worded like those of the other values.
func endpoint(s string) (discovery.Endpoint, error) {
	e, err := discovery.ParseEndpoint(s)
	if err != nil {
		return e, errors.New(strings.TrimPrefix(err.Error(), "discovery: "))
	}
	if e.Protocol != "" && !slices.Contains(protocols, e.Protocol) {
		return e, fmt.Errorf("%s is no protocol; %s", show(e.Protocol), strict.Allowed(e.Protocol, protocols))
	}
	return e, nil
}

func (v peers) Set(s string) error {
	m := make(map[string][]discovery.Endpoint)
	for _, p := range split(s) {
		name, addr, ok := strings.Cut(p, "=")
		if !ok || checkName(name) != nil {
			return want(p, peerForm)
		}
		e, err := endpoint(addr)
		if err != nil {
			return fmt.Errorf("%s: %w", show(p), err)
		}
		m[name] = append(m[name], e)
	}
	clear(v.m)
	maps.Copy(v.m, m)
	return nil
}

func (v peers) String() string {
	var l []string
	for _, name := range slices.Sorted(maps.Keys(v.m)) {
		for _, e := range v.m[name] {
			l = append(l, name+"="+e.String())
		}
	}
	return strings.Join(l, ",")
}
func (v peers) Type() string { return "NAME@HOST to HOST:PORT" }
func (v peers) yaml(bool) any {
	m := make(map[string][]string)
	for name, all := range v.m {
		for _, e := range all {
			m[name] = append(m[name], e.String())
		}
	}
	return m
}

func (v peers) read(r *strict.Reader, at strict.Value) {
	clear(v.m)
	r.Map(at, func(name string, at strict.Value) {
		if err := checkName(name); err != nil {
			r.Fail(at, "the key %v", err)
		}
		one := func(_ int, at strict.Value) {
			s, ok := r.Text(at, "HOST:PORT, :PORT or PROTOCOL://HOST:PORT")
			if !ok {
				return
			}
			e, err := endpoint(s)
			if err != nil {
				r.Fail(at, "%v", err)
			}
			v.m[name] = append(v.m[name], e)
		}
		if strict.IsList(at) {
			r.List(at, one)
		} else {
			one(0, at)
		}
	})
}

// cookies is the Value of Config.Cookies.
type cookies struct{ m map[string]Cookie }

func (v cookies) Set(s string) error {
	m := make(map[string]Cookie)
	for _, p := range split(s) {
		name, c, ok := strings.Cut(p, "=")
		if !ok || checkName(name) != nil || CheckCookie(c) != nil {
			return errors.New("want NAME@HOST=COOKIE, or several separated by commas")
		}
		m[name] = Cookie{c, c}
	}
	clear(v.m)
	maps.Copy(v.m, m)
	return nil
}
func (v cookies) String() string { return strings.Join(slices.Sorted(maps.Keys(v.m)), ",") }
func (v cookies) Type() string   { return "NAME@HOST to cookie" }

func (v cookies) yaml(secret bool) any {
	m := make(map[string]any)
	for name, c := range v.m {
		switch {
		case !secret:
			m[name] = masked
		case c.In == c.Out:
			m[name] = c.In
		default:
			m[name] = map[string]string{"in": c.In, "out": c.Out}
		}
	}
	return m
}

func (v cookies) read(r *strict.Reader, at strict.Value) {
	clear(v.m)
	word := func(at strict.Value) string {
		s, ok := r.Text(at, errCookie.Error()[len("want "):])
		if err := CheckCookie(s); ok && err != nil {
			r.Fail(at, "%v", err)
		}
		return s
	}
	r.Map(at, func(name string, at strict.Value) {
		if err := checkName(name); err != nil {
			r.Fail(at, "the key %v", err)
		}
		var c Cookie
		if strict.IsMap(at) {
			r.Object(at,
				strict.Field{Name: "in", Required: true, Read: func(at strict.Value) { c.In = word(at) }},
				strict.Field{Name: "out", Required: true, Read: func(at strict.Value) { c.Out = word(at) }})
		} else {
			c.In = word(at)
			c.Out = c.In
		}
		v.m[name] = c
	})
}
