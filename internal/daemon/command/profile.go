package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/spf13/cobra"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/node"
)

// profileKinds lists the kinds of profiles.
var profileKinds = []string{"cpu", "heap", "goroutine", "trace"}

func profileCommand(env environment, status *exit) *cobra.Command {
	c := &client{}
	q := admin.ProfileQuery{For: 5 * time.Second}
	var file string
	top := 10
	cmd := &cobra.Command{
		Use: "profile " + strings.Join(profileKinds, "|"), Short: "Profile the program of a node", Args: cobra.ExactArgs(1),
		Long: "Profiles the program of a node while it runs: where it spends its CPU time, what is on its heap (as of the last\n" +
			"garbage collection), what its goroutines do; or traces it. Prints which behaviours and functions have the most, with the\n" +
			"registered names of processes with that behaviour. With -o the profile is written to a file for go tool pprof, a trace\n" +
			"for go tool trace. A node makes one cpu profile, and one trace, at a time. It takes some percent of the CPU; the node\n" +
			"logs the request, and only its operators may make it.\n" + jsonHelp + "\n" + targetHelp,
		Example: "  actornode profile cpu --for 10s -o cpu.pprof\n  actornode profile heap\n  actornode profile goroutine --json\n" +
			"  actornode profile trace --for 1s -o trace.out && go tool trace trace.out",
		ValidArgsFunction: completeOneOf(profileKinds...),
	}
	f := cmd.Flags()
	f.DurationVar(&q.For, "for", q.For, "how long a cpu profile or a trace measures; at most 5m")
	f.StringVarP(&file, "output", "o", "", "file for the profile; - is standard output, without a summary")
	f.IntVarP(&top, "limit", "l", top, "most lines of the summary")
	return c.command(env, status, cmd, func(ctx context.Context, s *session, args []string) error {
		if q.Kind = node.Atom(args[0]); !slices.Contains(profileKinds, args[0]) {
			return fail(exitUsage, nil, "profile %s: want %s", args[0], strings.Join(profileKinds, ", "))
		}
		if q.Kind == "trace" && file == "" {
			return fail(exitUsage, nil, "profile trace: want -o FILE; go tool trace FILE shows it")
		}
		var b bytes.Buffer
		if err := admin.Profile(ctx, s.n, s.at, q, s.timeout, &b); err != nil {
			return s.explain(err)
		}
		switch file {
		case "":
		case "-":
			_, err := env.stdout.Write(b.Bytes())
			return err
		default:
			if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
				return fail(exitFailed, err, "cannot write the profile")
			}
		}
		if q.Kind == "trace" {
			return s.say(map[string]any{"kind": q.Kind, "file": file, "bytes": b.Len()}, "%s: %s; go tool trace %s shows it", file,
				bytesText(b.Len()), file)
		}
		p, err := profile.ParseData(b.Bytes())
		if err != nil {
			return fail(exitFailed, err, "cannot read the profile")
		}
		sum := summaryOf(p, string(q.Kind), top)
		sum.File = file
		sum.addNames(ctx, s)
		if s.json {
			return s.writeJSON(sum)
		}
		return s.profile(shownValue(sum))
	})
}

// profileSummary says which code has the most of a profile.
type profileSummary struct {
	Kind  string        `json:"kind"`
	Unit  string        `json:"unit"` // of values: nanoseconds, bytes, count
	Total int64         `json:"total"`
	Took  time.Duration `json:"took,omitzero"` // how long was measured
	Top   []profileRow  `json:"top"`
	Other int64         `json:"other,omitzero"` // of all that are not in Top
	File  string        `json:"file,omitzero"`
}

// profileRow is the share of one behaviour, or of other code.
type profileRow struct {
	Code     string   `json:"code"`              // Go type of a behaviour, name of a function, or what is not the code of a process
	Process  bool     `json:"process"`           // it is the code of processes
	Value    int64    `json:"value"`             //
	Function string   `json:"function,omitzero"` // that has the most of it
	Names    []string `json:"names,omitempty"`   // registered names of processes with that behaviour, at most three
}

// summaryOf adds up the samples of a profile by the code that they belong to: see stackCode.
func summaryOf(p *profile.Profile, kind string, top int) profileSummary {
	value := len(p.SampleType) - 1 // cpu: nanoseconds; heap: inuse_space; goroutine: the only one
	sum := profileSummary{Kind: kind, Unit: p.SampleType[value].Unit, Took: time.Duration(p.DurationNanos), Top: []profileRow{}}
	type share struct {
		row  profileRow
		leaf map[string]int64
	}
	all := make(map[string]*share)
	for _, s := range p.Sample {
		v := s.Value[value]
		if v == 0 {
			continue
		}
		sum.Total += v
		calls := callsOf(s)
		code, process, leaf := stackCode(calls)
		r := all[code]
		if r == nil {
			r = &share{profileRow{Code: code, Process: process}, make(map[string]int64)}
			all[code] = r
		}
		r.row.Value += v
		r.leaf[leaf] += v
	}
	for _, r := range all {
		most := int64(0)
		for f, v := range r.leaf {
			if v > most || v == most && f < r.row.Function {
				r.row.Function, most = f, v
			}
		}
		sum.Top = append(sum.Top, r.row)
	}
	slices.SortFunc(sum.Top, func(a, b profileRow) int {
		if a.Value != b.Value {
			return int(max(-1, min(1, b.Value-a.Value)))
		}
		return strings.Compare(a.Code, b.Code)
	})
	for _, r := range sum.Top[min(max(top, 0), len(sum.Top)):] {
		sum.Other += r.Value
	}
	sum.Top = sum.Top[:min(max(top, 0), len(sum.Top))]
	return sum
}

// callsOf returns the functions on the stack of a sample, the outermost first.
func callsOf(s *profile.Sample) (calls []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil {
				calls = append(calls, line.Function.Name)
			}
		}
	}
	slices.Reverse(calls)
	return calls
}

// modulePath is the path of this module: what is below it is the runtime of processes.
const modulePath = "github.com/actornode/actornode/"

// ownCode are the packages of the module whose functions are the code of processes.
var ownCode = []string{modulePath + "internal/daemon/demo.", modulePath + "examples/"}

// entries are the functions in which the runtime calls the code of processes.
var entries = []string{
	modulePath + "node.(*actor).Turn", modulePath + "node.(*external).turn", modulePath + "node.function.Run",
}

// isRuntime reports whether a function belongs to Go or to the runtime of processes.
func isRuntime(function string) bool {
	if slices.ContainsFunc(ownCode, func(path string) bool { return strings.HasPrefix(function, path) }) {
		return false
	}
	path, _, _ := strings.Cut(function, "(") // the path of a package may contain dots
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return strings.HasPrefix(function, modulePath)
	}
	first, _, _ := strings.Cut(path, ".")
	return first == "runtime" || first == "syscall"
}

// stackCode returns what a stack is counted as. If the runtime of processes has called it, that is the type of the first method,
// or the first function, outside of the runtime: of a gen_server its own type, not that of the package that runs it. Other
// stacks are those of goroutines, named after their functions, of Go's runtime and of the node. leaf is the innermost function
// outside of Go's own runtime.
func stackCode(calls []string) (code string, process bool, leaf string) {
	inside := calls
	if k := slices.IndexFunc(calls, func(f string) bool { return slices.Contains(entries, f) }); k >= 0 {
		inside, process = calls[k+1:], true
	}
	for _, f := range slices.Backward(calls) {
		if !isRuntime(f) {
			leaf = f
			break
		}
	}
	if k := slices.IndexFunc(inside, func(f string) bool { return !isRuntime(f) }); k >= 0 {
		return ownerOf(inside[k]), process, leaf
	}
	switch {
	case process && len(inside) > 0:
		return ownerOf(inside[0]), true, leaf
	case slices.ContainsFunc(calls, func(f string) bool { return strings.HasPrefix(f, modulePath) }):
		return "(the node)", false, leaf
	}
	return "(Go's runtime)", false, leaf
}

// ownerOf returns the type of a method, as ps shows it, or the name of a function: *shop.till of a/shop.(*till).Receive.func1.
func ownerOf(function string) string {
	short := function[strings.LastIndexByte(function, '/')+1:]
	if before, method, ok := strings.Cut(short, ".(*"); ok {
		name, _, _ := strings.Cut(method, ").")
		return "*" + before + "." + name
	}
	parts := strings.Split(short, ".")
	for len(parts) > 2 && isClosure(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 3 { // a method of a value
		parts = parts[:2]
	}
	return strings.Join(parts, ".")
}

// isClosure reports whether an element of the name of a function is one that Go has made up: func1, 2, gowrap1.
func isClosure(name string) bool {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "func"), "gowrap")
	return strings.Trim(name, "0123456789-") == ""
}

// addNames adds the registered names of processes, as far as the node tells them.
func (sum *profileSummary) addNames(ctx context.Context, s *session) {
	l, err := ask(ctx, s, func(ctx context.Context) (admin.Listing, error) {
		return admin.Processes(ctx, s.n, s.at, admin.Query{Registered: true, Sort: "name"})
	})
	if err != nil {
		return // a peer that may profile, but not look
	}
	for k := range sum.Top {
		r := &sum.Top[k]
		for _, p := range l.Processes {
			if r.Process && p.Behaviour == r.Code && len(r.Names) < 3 {
				r.Names = append(r.Names, string(p.Name))
			}
		}
	}
}

// profile prints a summary.
func (s *session) profile(sum profileSummary) error {
	head := fmt.Sprintf("%s profile of %s: %s", sum.Kind, s.at, valueText(sum.Total, sum.Unit))
	if sum.Took > 0 {
		head += " in " + spanText(sum.Took)
	}
	if sum.File != "" {
		head += "; go tool pprof " + sum.File + " shows all of it"
	}
	if _, err := fmt.Fprintln(s.screen(), headStyle.Render(head)); err != nil {
		return err
	}
	columns := []column{{title: strings.ToUpper(sum.Kind), right: true}, {title: "SHARE", right: true}, {title: "CODE", gives: true},
		{title: "NAMES", gives: true}, {title: "MOST IN", gives: true}}
	var rows [][]string
	for _, r := range sum.Top {
		code := r.Code
		if r.Process {
			code = nameStyle.Render(code)
		}
		rows = append(rows, []string{valueText(r.Value, sum.Unit), shareText(r.Value, sum.Total), code, strings.Join(r.Names, " "),
			r.Function})
	}
	if sum.Other > 0 {
		rows = append(rows, []string{valueText(sum.Other, sum.Unit), shareText(sum.Other, sum.Total), "other", "", ""})
	}
	return s.table(columns, rows)
}

// valueText formats a value of a profile.
func valueText(v int64, unit string) string {
	switch unit {
	case "nanoseconds":
		return fmt.Sprintf("%.2fs", time.Duration(v).Seconds())
	case "bytes":
		return bytesText(int(v))
	}
	return countText(int(v))
}

func shareText(v, total int64) string { return fmt.Sprintf("%d%%", 100*v/max(total, 1)) }
