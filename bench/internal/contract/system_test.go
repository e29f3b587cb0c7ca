package contract

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test program be a system itself, as its own far end.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == far {
		os.Exit(sampleSystem().Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func sampleSystem() System {
	ops := func(p Params) int { return p.Int("n") }
	params := []Param{Int("n", 10)}
	return System{Name: "sample", Version: "v1", Benches: []Bench{
		{
			Name: "good", About: "does nothing", Params: append(params, Style()), Ops: ops,
			Run: func(p Params, m *Meter) error {
				m.Start()
				m.Stop()
				m.Extra("half", float64(p.Int("n"))/2)
				return nil
			},
			Far: func(args []string) error {
				_, err := fmt.Println("far:", args)
				return err
			},
		},
		{Name: "wrong", Params: params, Ops: ops, Run: func(Params, *Meter) error { return errors.New("2 is not 3") }},
		{Name: "untimed", Params: params, Ops: ops, Run: func(Params, *Meter) error { return nil }},
		{
			Name: "idle", Ops: func(Params) int { return 0 },
			Run: func(_ Params, m *Meter) error {
				m.Start()
				m.Stop()
				return nil
			},
		},
	}}
}

func TestMainPrintsOneLine(t *testing.T) {
	var out, errs bytes.Buffer
	status := sampleSystem().Main([]string{"good", "n=4", "style=process"}, &out, &errs)
	assert.Equal(t, Done, status)
	assert.Empty(t, errs.String())
	assert.True(t, strings.HasSuffix(out.String(), "}\n"))
	r, err := ParseResult(out.Bytes(), "good")
	require.NoError(t, err)
	assert.Equal(t, "sample", r.System)
	assert.Equal(t, "v1", r.Version)
	assert.Equal(t, 4, r.Ops)
	assert.Equal(t, "n=4 style=process", r.Params.String())
	assert.Equal(t, "half=2", r.Extra.String())
}

func TestMainExitStatus(t *testing.T) {
	for _, test := range []struct {
		args   string
		status int
		stderr string
	}{
		{"wrong", Failed, "wrong: check failed: 2 is not 3\n"},
		{"untimed", Failed, "untimed: the bench did not start and stop its meter\n"},
		{"idle", Failed, "idle: 0 ops\n"},
		{"good m=4", Misused, "good: usage: unknown parameter \"m\" (allowed: n=10 style=actor|process|coroutine)\n"},
		{"good 4", Misused, "good: usage: \"4\" is not key=value (allowed: n=10 style=actor|process|coroutine)\n"},
		{"wrong style=actor", Misused, "wrong: usage: unknown parameter \"style\" (allowed: n=10)\n"},
		{"best", Misused, "usage: unknown bench \"best\" (there are: good, wrong, untimed, idle)\n"},
		{"", Misused, "usage: BENCH [key=value ...] | list\n"},
		{"far-end", Misused, "usage: unknown bench \"far-end\" (there are: good, wrong, untimed, idle)\n"},
		{"far-end idle", Misused, "usage: unknown bench \"far-end\" (there are: good, wrong, untimed, idle)\n"},
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, test.status, sampleSystem().Main(strings.Fields(test.args), &out, &errs), test.args)
		assert.Equal(t, test.stderr, errs.String(), test.args)
		assert.Empty(t, out.String(), test.args)
	}
}

func TestList(t *testing.T) {
	var out bytes.Buffer
	assert.Equal(t, Done, sampleSystem().Main([]string{"list"}, &out, os.Stderr))
	assert.Equal(t, ""+
		"good     n=10 style=actor|process|coroutine  does nothing\n"+
		"wrong    n=10                                \n"+
		"untimed  n=10                                \n"+
		"idle     no parameters                       \n", out.String())
}

func TestHas(t *testing.T) {
	s := sampleSystem()
	s.Benches = append(s.Benches, Bench{Name: "blocking", Params: []Param{Word("style", Process)}})
	for _, test := range []struct {
		bench, style string
		want         bool
	}{
		{"good", Actor, true}, {"good", Process, true},
		{"wrong", Actor, true}, {"wrong", Process, false},
		{"blocking", Actor, false}, {"blocking", Process, true},
		{"best", Actor, false},
	} {
		assert.Equal(t, test.want, s.Has(test.bench, test.style), test)
	}
}

func TestFarRunsInAnotherProcess(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise it takes a second more under -race
	c, err := Far("good", "a", "b")
	require.NoError(t, err)
	output, err := c.Output()
	require.NoError(t, err)
	assert.Equal(t, "far: [a b]\n", string(output))
}

func TestValidate(t *testing.T) {
	require.NoError(t, sampleSystem().Validate())
	good := sampleSystem().Benches[0]
	for name, spoil := range map[string]func(*Bench){
		"no name":     func(b *Bench) { b.Name = "" },
		"same name":   func(b *Bench) { b.Name = "good" },
		"taken name":  func(b *Bench) { b.Name = "compare" },
		"no ops":      func(b *Bench) { b.Ops = nil },
		"no run":      func(b *Bench) { b.Run = nil },
		"same key":    func(b *Bench) { b.Params = []Param{Int("n", 1), Int("n", 2)} },
		"bad default": func(b *Bench) { b.Params = []Param{Int("n", 0)} },
	} {
		b := good
		b.Name = "other"
		spoil(&b)
		assert.Error(t, System{Benches: []Bench{good, b}}.Validate(), name)
	}
}
