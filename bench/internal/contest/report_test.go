package contest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/bench/internal/contract"
)

var update = flag.Bool("update", false, "rewrite testdata")

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	assert.NotContains(t, got, "%!", "a wrong verb")
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "see what changed, then go test -update")
}

// sampleReport has each kind of cell: met, missed, slower than the reference,
// failed, lacking, not installed, not built, and a case without reference.
func sampleReport() report {
	all := []string{"threadring", "chameneos", "spawn", "ring", "coop"}
	b := newBoard([]Case{
		{Bench: "threadring", Actor: Target{Ratio: 4.5}, Process: Target{Ratio: 1.6}},
		{Bench: "ring", Params: []string{"n=100000"}, Actor: Target{Ratio: 7}, Process: Target{Ratio: 3}},
		{Bench: "chameneos", Actor: Target{Ratio: 3.5}, Process: Target{Ratio: 1.6}, Even: true},
		{Bench: "spawn", Actor: Target{Ratio: 8, Bytes: 350}, Process: Target{Ratio: 1, Bytes: 3200}},
		{Bench: "coop"},
	}, []Entrant{
		{Name: "erlang", benches: all},
		{Name: "actornode actor", style: contract.Actor, benches: all},
		{Name: "actornode process", style: contract.Process, benches: all},
		{Name: "channels", benches: all[:4]},
		{Name: "absent", absent: true, err: errors.New("build: exit status 3: no tool")},
		{Name: "broken", err: errors.New("build: exit status 1: syntax | error")},
	}, 3)
	runs := func(version, params string, rss float64, extra contract.Fields, ns ...float64) cell {
		all := timed(ns...)
		for i := range all {
			all[i].Version, all[i].PeakRSSMiB, all[i].Extra = version, rss, extra
			for _, p := range strings.Fields(params) {
				key, value, _ := strings.Cut(p, "=")
				all[i].Params = append(all[i].Params, contract.Field{Key: key, Value: value})
			}
		}
		return cell{runs: all}
	}
	one := func(key string, value float64) contract.Fields { return contract.Fields{{Key: key, Value: value}} }
	const ring, otp = "n=503 hops=5000000", "OTP 25 erts 13.1.5"
	for i, row := range [][]cell{
		{
			runs(otp, ring, 45.25, nil, 250, 260, 240),
			runs("dev", ring+" style=actor", 10.5, nil, 50, 52, 60),
			runs("dev", ring+" style=process", 46, nil, 180, 175, 170),
			runs("go1.26", ring, 4, nil, 200, 190, 230),
		},
		{
			runs(otp, "n=100000", 300, one("startup_s", 0.125), 400, 400, 400),
			runs("dev", "n=100000", 80, one("startup_s", 0.03), 40, 40, 40),
			{err: errors.New("not done after 2m0s")},
			runs("go1.26", "n=100000", 400, one("startup_s", 0.05), 1600, 1600, 1600),
		},
		{
			runs(otp, "creatures=10", 45, one("stddev", 20.5), 900, 900, 900),
			runs("dev", "creatures=10", 10, one("stddev", 700), 225, 225, 225),
			runs("dev", "creatures=10", 11, one("stddev", 0.5), 450, 450, 450),
			runs("go1.26", "creatures=10", 4, one("stddev", 44), 700, 700, 700),
		},
		{
			runs(otp, "n=1000000", 900, contract.Fields{{Key: "bytes_per_actor", Value: 940.0}, {Key: "spawn_s", Value: 0.9}}, 1100, 1100,
				1100),
			runs("dev", "n=1000000", 350, one("bytes_per_actor", 330), 100, 100, 100),
			runs("dev", "n=1000000", 3100, one("bytes_per_actor", 3050), 1300, 1300, 1300),
			runs("go1.26", "n=1000000", 2700, one("bytes_per_actor", 2700), 1000, 1000, 1000),
		},
		{
			{err: errors.New("exit status 1: `coop` | failed")},
			runs("dev", "calls=2500", 12, nil, 70_000, 70_000, 70_000),
			runs("dev", "calls=2500", 12, nil, 90_000, 90_000, 90_000),
			{},
		},
	} {
		copy(b.cells[i], row)
	}
	return report{
		board:   b,
		machine: machine{cpu: "Sample CPU <3.0GHz>", cores: 2, memory: "16.0 GiB", kernel: "linux 6.1", golang: "go1.26 amd64"},
		date:    time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC),
	}
}

func TestTextTable(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, sampleReport().board.writeText(&out))
	golden(t, "table.txt", out.String())
}

func TestPage(t *testing.T) { golden(t, "RESULTS.md", sampleReport().page()) }

func TestChart(t *testing.T) {
	chart := sampleReport().chart()
	d := xml.NewDecoder(strings.NewReader(chart))
	for {
		_, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	golden(t, "RESULTS.svg", chart)
}

func TestChartOfNothing(t *testing.T) {
	r := report{board: newBoard(nil, nil, 1)}
	assert.Contains(t, r.chart(), "</svg>")
}

// Every system has a colour of its own, and its name is on the chart.
func TestLegendHasRoom(t *testing.T) {
	var entrants []Entrant
	for _, name := range []string{"erlang", "actornode actor", "actornode process", "actornode coroutine", "actornode active",
		"channels", "grpc", "netrpc", "protoactor", "tcp"} {
		entrants = append(entrants, Entrant{Name: name, benches: []string{"fib"}})
	}
	chart := report{board: newBoard(nil, entrants, 1)}.chart()
	colours := make(map[string]bool)
	for _, m := range regexp.MustCompile(`<rect .*fill="(.*?)"`).FindAllStringSubmatch(chart, -1) {
		colours[m[1]] = true
	}
	assert.Len(t, colours, len(entrants)-1)
	texts := regexp.MustCompile(`<text x="(.*?)" y="(.*?)" class="">(.*?)<`).FindAllStringSubmatch(chart, -1)
	require.Len(t, texts, len(entrants)) // with the target, without the reference
	for _, m := range texts {
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		y, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		assert.Less(t, x+7*float64(len(m[3])), chartWidth, m[3])
		assert.Less(t, y, plotTop, m[3])
	}
}

func TestChartNamesParametersWhereTheyTellCasesApart(t *testing.T) {
	b := newBoard(Cases(), nil, 1)
	var names []string
	for _, c := range b.Cases {
		names = append(names, b.shortName(c))
	}
	assert.Subset(t, names, []string{"ring n=1000", "ring n=100000", "mixed", "flow"})
}

func TestScale(t *testing.T) {
	for _, test := range []struct {
		bars []bar
		want scale
	}{
		{nil, scale{-1, 2}},
		{[]bar{{ratio: 1}}, scale{-1, 2}},
		{[]bar{{ratio: 4}}, scale{-1, 2}},
		{[]bar{{ratio: 4.1}}, scale{-1, 3}},
		{[]bar{{ratio: 2, floor: 8}}, scale{-1, 3}},
		{[]bar{{ratio: 0.1}, {ratio: 30}}, scale{-4, 5}},
	} {
		assert.Equal(t, test.want, newScale([]group{{bars: test.bars}}), test.bars)
	}
	s := scale{-1, 3}
	assert.Equal(t, plotLeft, s.x(0.5))
	assert.Equal(t, plotRight, s.x(8))
	assert.Equal(t, (plotLeft+plotRight)/2, s.x(2))
}

func TestFigure(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 0.000043: "4.3e-05", 0.0517: "0.052", 0.125: "0.12", 9.876: "9.88", 45.25: "45.2", 330: "330.0", 1234.5: "1234",
		70000: "70000",
	} {
		assert.Equal(t, want, figure(f))
	}
}

func TestMachine(t *testing.T) {
	const cpuinfo = "processor\t: 0\nmodel name\t: Sample CPU\nprocessor\t: 1\nmodel name\t: Other\n"
	assert.Equal(t, "Sample CPU", procField(cpuinfo, "model name"))
	assert.Equal(t, "", procField(cpuinfo, "name"))
	assert.Equal(t, "1.5 GiB", gib("1572864 kB"))
	assert.Equal(t, "", gib(""))
	assert.Equal(t, "2 cores, go1.26 amd64", machine{cores: 2, golang: "go1.26 amd64"}.String())
	assert.Contains(t, here().String(), "cores")
}
