package contest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/bench/internal/contract"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{1, 2}, 1.5},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 100, 2}, 3},
	} {
		assert.Equal(t, test.want, median(test.values))
	}
	values := []float64{3, 1, 2}
	median(values)
	assert.Equal(t, []float64{3, 1, 2}, values, "the argument stays as it is")
}

// timed returns runs with these ns_per_op.
func timed(ns ...float64) []contract.Result {
	runs := make([]contract.Result, len(ns))
	for i, f := range ns {
		runs[i] = contract.Result{NsPerOp: f}
	}
	return runs
}

func TestRatioIsTheMedianOfTheRoundsOwn(t *testing.T) {
	// The machine is twice as slow in the second round and the medians, 150
	// and 50, would say 3.
	assert.Equal(t, 2.0, ratio(timed(100, 300, 150), timed(50, 150, 30)))
	assert.Equal(t, 0.5, ratio(timed(1), timed(2)))
	assert.Equal(t, 4.0, ratio(timed(4, 8, 1), timed(1)), "rounds that only one has count for nothing")
}

func TestSummaryLeavesOutAnExtraThatARunLacks(t *testing.T) {
	s := summary([]contract.Result{
		{NsPerOp: 1, PeakRSSMiB: 10, Extra: contract.Fields{{Key: "a", Value: 1}, {Key: "b", Value: 1.0}}},
		{NsPerOp: 3, PeakRSSMiB: 30, Extra: contract.Fields{{Key: "a", Value: 4.0}}},
	})
	assert.Equal(t, 2.0, s.nsPerOp)
	assert.Equal(t, 20.0, s.rssMiB)
	assert.Equal(t, "a=2.5", s.extra.String())
}

func TestChecks(t *testing.T) {
	extra := func(key string, value float64) contract.Fields { return contract.Fields{{Key: key, Value: value}} }
	for _, test := range []struct {
		name   string
		c      Case
		target Target
		s, ref score
		want   []check
	}{
		{name: "nothing asked"},
		{name: "ratio met", target: Target{Ratio: 4.5}, s: score{ratio: 4.5}, want: []check{{"≥ 4.5×", true}}},
		{name: "ratio missed", target: Target{Ratio: 4.5}, s: score{ratio: 4.49}, want: []check{{"≥ 4.5×", false}}},
		{name: "bytes met", target: Target{Bytes: 350}, s: score{extra: extra("bytes_per_actor", 350)},
			want: []check{{"≤ 350 B", true}}},
		{name: "bytes missed", target: Target{Bytes: 350}, s: score{extra: extra("bytes_per_actor", 351)},
			want: []check{{"≤ 350 B", false}}},
		{name: "bytes unknown", target: Target{Bytes: 350}, want: []check{{"≤ 350 B", false}}},
		{name: "even", c: Case{Even: true}, s: score{extra: extra("stddev", 2)}, ref: score{extra: extra("stddev", 2)},
			want: []check{{"stddev", true}}},
		{name: "uneven", c: Case{Even: true}, s: score{extra: extra("stddev", 3)}, ref: score{extra: extra("stddev", 2)},
			want: []check{{"stddev", false}}},
		{name: "small", s: score{rssMiB: 9}, ref: score{rssMiB: 10}, want: []check{{"RSS", true}}},
		{name: "as large", s: score{rssMiB: 10}, ref: score{rssMiB: 10}, want: []check{{"RSS", false}}},
		{name: "no /proc", s: score{}, ref: score{rssMiB: 10}},
	} {
		assert.Equal(t, test.want, checks(test.c, test.target, test.s, test.ref), test.name)
	}
}
