package contract

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const sampleLine = `{"system":"actornode","version":"dev","bench":"threadring",` +
	`"params":{"n":503,"hops":5000000,"style":"actor"},"seconds":0.3,"ops":5000000,` +
	`"ops_per_sec":16666667,"ns_per_op":60,"peak_rss_mib":12.1,"extra":{"stddev":1.5,"a":2}}`

func sampleResult() Result {
	return Result{
		System: "actornode", Version: "dev", Bench: "threadring",
		Params:     Fields{{"n", 503}, {"hops", 5000000}, {"style", "actor"}},
		PeakRSSMiB: 12.1,
		Extra:      Fields{{"stddev", 1.5}, {"a", 2.0}},
	}.measured(5_000_000, 300*time.Millisecond)
}

func TestResultIsTheLineOfTheContract(t *testing.T) {
	line, err := json.Marshal(sampleResult())
	require.NoError(t, err)
	assert.Equal(t, sampleLine, string(line))
}

func TestResultWithoutParamsOrExtraHasEmptyObjects(t *testing.T) {
	line, err := json.Marshal(Result{})
	require.NoError(t, err)
	assert.Contains(t, string(line), `"params":{}`)
	assert.Contains(t, string(line), `"extra":{}`)
}

func TestMeasuredRounds(t *testing.T) {
	r := Result{}.measured(3, 10)
	assert.Equal(t, 3.333333, r.NsPerOp)
	assert.Equal(t, 300000000, r.OpsPerSec)
	assert.Equal(t, 1.0, Result{}.measured(1, 0).NsPerOp, "work is never free")
}

func TestParseResultReadsTheLine(t *testing.T) {
	r, err := ParseResult([]byte(sampleLine+"\n"), "threadring")
	require.NoError(t, err)
	assert.Equal(t, "n=503 hops=5000000", r.Params.Without("style").String())
	assert.Equal(t, 60.0, r.NsPerOp)
	stddev, ok := r.Extra.Number("stddev")
	assert.True(t, ok)
	assert.Equal(t, 1.5, stddev)
	whole, ok := r.Extra.Number("a")
	assert.True(t, ok)
	assert.Equal(t, 2.0, whole)
	_, ok = r.Params.Number("style")
	assert.False(t, ok, "a word is no number")
	again, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Equal(t, sampleLine, string(again))
}

func TestParseResultRefusesWhatIsNotOneResult(t *testing.T) {
	for output, want := range map[string]string{
		"":                                   "not a result",
		"hello":                              "not a result",
		sampleLine + "\n" + sampleLine:       "more than one line",
		`{"bench":"ring"}`:                   `a result of bench "ring"`,
		`{"bench":"threadring"}`:             "without system",
		`{"bench":"threadring","params":[]}`: "not an object",
		`{"bench":"threadring","extra":{"a":{"b":1}}}`:                                "neither a number nor a string",
		`{"bench":"threadring","extra":{"a":1e999}}`:                                  "out of range",
		`{"system":"x","bench":"threadring","ops":5}`:                                 "ns_per_op",
		`{"system":"x","bench":"threadring","ops":5,"ns_per_op":-1}`:                  "ns_per_op",
		`{"system":"x","bench":"threadring","ops":0,"ns_per_op":1,"params":{"a":""}}`: "ops",
	} {
		_, err := ParseResult([]byte(output), "threadring")
		assert.ErrorContains(t, err, want, output)
	}
}

func FuzzParseResult(f *testing.F) {
	f.Add([]byte(sampleLine))
	f.Add([]byte(`{"bench":"threadring","params":{"a":[1,{"b":2}]},"extra":null}`))
	f.Fuzz(func(t *testing.T, output []byte) {
		r, err := ParseResult(output, "threadring")
		if err != nil {
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	})
}
