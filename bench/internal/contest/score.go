package contest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/actornode/actornode/bench/internal/contract"
)

// score is the result of all rounds of a case on an entrant.
type score struct {
	nsPerOp float64
	ratio   float64 // 0 if the reference has no figure
	before  float64 // the ratio to the earlier commit; 0 if there is none
	rssMiB  float64
	extra   contract.Fields
	checks  []check
}

// check is one target of this node.
type check struct {
	asked string
	met   bool
}

// score returns the score of case i on entrant j, and false if there is none. A failed run misses its targets.
func (b *Board) score(i, j int) (score, bool) {
	at := b.cells[i][j]
	target, asked := b.Entrants[j].target(b.Cases[i])
	if len(at.runs) == 0 {
		var s score
		if at.err != nil && asked {
			s.checks = checks(b.Cases[i], target, s, s)
		}
		return s, false
	}
	s := summary(at.runs)
	if k := b.earlier(j); k >= 0 && len(b.cells[i][k].runs) > 0 {
		s.before = ratio(b.cells[i][k].runs, at.runs)
	}
	ref, ok := b.reference(i)
	if !ok {
		return s, true
	}
	s.ratio = ratio(ref, at.runs)
	if asked {
		s.checks = checks(b.Cases[i], target, s, summary(ref))
	}
	return s, true
}

// earlier returns the index of entrant j at the earlier commit, or -1.
func (b *Board) earlier(j int) int {
	return slices.IndexFunc(b.Entrants, func(e Entrant) bool {
		return e.earlier && !b.Entrants[j].earlier && e.style == b.Entrants[j].style
	})
}

// leastOfBefore is the minimum speed of a row relative to the earlier commit.
const leastOfBefore = 0.97

// slower names the rows slower than leastOfBefore of the earlier commit, or returns "" if that was not run.
func (b *Board) slower() string {
	rows, all := []string(nil), 0
	for i, c := range b.Cases {
		for j, e := range b.Entrants {
			s, _ := b.score(i, j)
			if s.before == 0 {
				continue
			}
			if all++; s.before < leastOfBefore {
				rows = append(rows, fmt.Sprintf("  %s  %s  %s", times(s.before), c.name(), e.Name))
			}
		}
	}
	if all == 0 {
		return ""
	}
	return strings.Join(append([]string{fmt.Sprintf("%d of %d rows are slower than %v of before.", len(rows), all, leastOfBefore)},
		rows...), "\n")
}

// reference returns the runs of the reference on case i.
func (b *Board) reference(i int) ([]contract.Result, bool) {
	for j, e := range b.Entrants {
		if e.Name == reference {
			runs := b.cells[i][j].runs
			return runs, len(runs) > 0
		}
	}
	return nil, false
}

// summary returns the medians. It leaves out an extra that not every run has.
func summary(runs []contract.Result) score {
	s := score{
		nsPerOp: medianOf(runs, func(r contract.Result) float64 { return r.NsPerOp }),
		rssMiB:  medianOf(runs, func(r contract.Result) float64 { return r.PeakRSSMiB }),
	}
	for _, field := range runs[0].Extra {
		var values []float64
		for _, r := range runs {
			if v, ok := r.Extra.Number(field.Key); ok {
				values = append(values, v)
			}
		}
		if len(values) == len(runs) {
			s.extra = append(s.extra, contract.Field{Key: field.Key, Value: median(values)})
		}
	}
	return s
}

// checks compares s, a score of this node, with the targets of c.
func checks(c Case, t Target, s, ref score) []check {
	var all []check
	if t.Ratio > 0 {
		all = append(all, check{fmt.Sprintf("≥ %v×", t.Ratio), s.ratio >= t.Ratio})
	}
	if t.Bytes > 0 {
		bytes, ok := s.extra.Number("bytes_per_actor")
		all = append(all, check{fmt.Sprintf("≤ %v B", t.Bytes), ok && bytes <= t.Bytes})
	}
	if c.Even {
		own, ok1 := s.extra.Number("stddev")
		other, ok2 := ref.extra.Number("stddev")
		all = append(all, check{"stddev", ok1 && ok2 && own <= other})
	}
	if s.rssMiB > 0 && ref.rssMiB > 0 {
		all = append(all, check{"RSS", s.rssMiB < ref.rssMiB})
	}
	return all
}

// ratio returns the speed of runs relative to ref: the median of the rounds' ratios.
func ratio(ref, runs []contract.Result) float64 {
	var ratios []float64
	for i := range min(len(ref), len(runs)) {
		ratios = append(ratios, ref[i].NsPerOp/runs[i].NsPerOp)
	}
	return median(ratios)
}

func medianOf(runs []contract.Result, value func(contract.Result) float64) float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = value(r)
	}
	return median(values)
}

// median returns the middle of values, or the mean of the middle two. There must be at least one.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}
