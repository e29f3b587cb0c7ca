package tree_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/supervisor/tree"
	"github.com/actornode/actornode/wire"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// known is what the files of testdata may refer to.
var known = tree.Known{
	Behaviours: []wire.Export{
		{Module: "Odd.Module", Function: "start it"},
		{Module: "demo", Function: "counter"}, {Module: "demo", Function: "echo"}, {Module: "demo", Function: "exit", Arity: 1},
		{Module: "shop", Function: "front", Arity: 1}, {Module: "shop", Function: "session", Arity: 2},
		{Module: "shop", Function: "store"}, {Module: "shop", Function: "terms", Arity: 1},
		{Module: "shop", Function: "terms", Arity: 25},
	},
	Applications: []wire.Atom{"kernel", "stdlib"}, Published: true,
}

// TestGolden checks every file of testdata: Check must report what is in the file beside it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			f, err := tree.CheckFile(file, known)
			var got string
			var wrong *tree.Error
			if strings.HasPrefix(file, "testdata/bad/") {
				require.ErrorAs(t, err, &wrong)
				require.Nil(t, f)
				got = strings.ReplaceAll(err.Error(), "testdata/bad/", "") + "\n"
			} else {
				require.NoError(t, err)
				got = describe(f)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestErrorsAreFound(t *testing.T) {
	_, err := tree.CheckFile("testdata/bad/neither.yaml", known)
	var first *tree.Error
	require.True(t, errors.As(err, &first))
	require.Equal(t, 1, first.Line)
	require.NotErrorIs(t, err, os.ErrNotExist)
	_, err = tree.CheckFile("testdata/no.yaml", known)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// describe writes a file as text.
func describe(f *tree.File) string {
	var b strings.Builder
	if f.Top != nil {
		describeSupervisor(&b, "", f.Top, f.TopOptions)
	}
	for _, a := range f.Applications {
		fmt.Fprintf(&b, "application %s %q vsn %q type %v depends %v optional %v modules %v registered %v stop within %v\n",
			a.Name, a.Description, a.Version, cmp.Or(a.Type, application.Temporary), a.Depends, a.Optional, a.Modules, a.Registered, a.StopTimeout)
		var keys []string
		for k, v := range a.Env {
			keys = append(keys, fmt.Sprintf("  env %s = %s\n", k, wire.Format(v)))
		}
		slices.Sort(keys)
		b.WriteString(strings.Join(keys, ""))
		if a.Top != nil {
			describeSupervisor(&b, "  ", a.Top, a.TopOptions)
		}
	}
	return b.String()
}

func describeSupervisor(b *strings.Builder, indent string, s *supervisor.Spec, o node.Options) {
	fmt.Fprintf(b, "%ssupervisor %q%s %v intensity %d period %v auto_shutdown %v\n", indent, o.Name, via(o), cmp.Or(s.Strategy, supervisor.OneForOne),
		s.Intensity, s.Period, cmp.Or(s.AutoShutdown, supervisor.Never))
	for _, k := range s.Children {
		fmt.Fprintf(b, "%s  child %s name %q%s %v %v shutdown %v significant %v modules %q backoff %+v\n", indent, wire.Format(k.ID),
			k.Options.Name, via(k.Options), cmp.Or(k.Type, supervisor.Worker), cmp.Or(k.Restart, supervisor.Permanent), k.Shutdown, k.Significant, k.Modules, k.Backoff)
		if k.Start == nil {
			fmt.Fprintf(b, "%s    %s:%s\n", indent, wire.Format(k.Named.Module), wire.Format(k.Named.Function))
		}
		for _, a := range k.Named.Args {
			fmt.Fprintf(b, "%s      %s\n", indent, wire.Format(a))
		}
	}
}

func via(o node.Options) string {
	if o.Via == nil {
		return ""
	}
	return " via global"
}
