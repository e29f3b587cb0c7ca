package contest

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// The dimensions of the chart, in pixels.
const (
	chartWidth = 900.0
	plotLeft   = 190.0 // the names of the cases are left of it
	plotRight  = 820.0 // the figures are right of it
	plotTop    = 96.0  // title and legend are above it
	legendStep = 18.0  // between its rows, two at most
	barHeight  = 11.0
	barStep    = 14.0
	groupGap   = 14.0
	plotFoot   = 44.0 // for the scale
)

// palette has colours that remain distinguishable with colour blindness, on white and on black.
var palette = []string{"#3b8fd4", "#e08e0b", "#12997a", "#c26fa0", "#8a76d6", "#c8553d",
	"#7d8590", "#bfae1e", "#4fb8d8"}

// chartStyle supports light mode, and dark mode if the viewer prefers it; the chart has its own background in both.
const chartStyle = `
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: bold }
.quiet { font-size: 11px; fill: #59636e }
.end { text-anchor: end }
.middle { text-anchor: middle }
.back { fill: #ffffff; stroke: #d1d9e0 }
.grid { stroke: #d1d9e0 }
.one, .floor { stroke: #1f2328; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.quiet { fill: #9198a1 }
.back { fill: #0d1117; stroke: #3d444d }
.grid { stroke: #3d444d }
.one, .floor { stroke: #f0f6fc }
}
`

// bar is one ratio of a group.
type bar struct {
	colour string
	ratio  float64
	floor  float64 // 0 if none
}

// group is the bars of one case.
type group struct {
	name string
	bars []bar
}

// groups returns the ratios of the board; a case without any is left out.
func (b *Board) groups() []group {
	var all []group
	for i, c := range b.Cases {
		g := group{name: b.shortName(c)}
		for j, colour := range b.colours() {
			if s, _ := b.score(i, j); colour != "" && s.ratio > 0 {
				target, _ := b.Entrants[j].target(c)
				g.bars = append(g.bars, bar{colour, s.ratio, target.Ratio})
			}
		}
		if len(g.bars) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// shortName returns the bench's name, with parameters only if they distinguish the case from another.
func (b *Board) shortName(c Case) string {
	for _, other := range b.Cases {
		if other.Bench == c.Bench && other.name() != c.name() {
			return c.name()
		}
	}
	return c.Bench
}

// colours assigns a colour to each competing entrant, but not to the reference.
func (b *Board) colours() []string {
	colours, used := make([]string, len(b.Entrants)), 0
	for j, e := range b.Entrants {
		if e.Name != reference && e.err == nil && len(e.benches) > 0 {
			colours[j] = palette[used%len(palette)]
			used++
		}
	}
	return colours
}

// scale is logarithmic between two powers of two.
type scale struct{ low, high int }

// newScale covers all bars and floors, and 1 with a margin on both sides.
func newScale(groups []group) scale {
	s := scale{-1, 2}
	for _, g := range groups {
		for _, b := range g.bars {
			s.low = min(s.low, int(math.Floor(math.Log2(b.ratio))))
			s.high = max(s.high, int(math.Ceil(math.Log2(max(b.ratio, b.floor)))))
		}
	}
	return s
}

func (s scale) x(ratio float64) float64 {
	part := (math.Log2(ratio) - float64(s.low)) / float64(s.high-s.low)
	return plotLeft + part*(plotRight-plotLeft)
}

// chart returns the chart as SVG.
func (r report) chart() string {
	groups := r.board.groups()
	s := newScale(groups)
	bottom := plotTop
	for _, g := range groups {
		bottom += float64(len(g.bars))*barStep + groupGap
	}
	height := bottom + plotFoot
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %[1]g %[2]g" role="img">`+"\n",
		chartWidth, height)
	fmt.Fprintf(&out, "<title>Speed against Erlang</title>\n<style>%s</style>\n", chartStyle)
	fmt.Fprintf(&out, `<rect class="back" x="0.5" y="0.5" width="%g" height="%g" rx="8"/>`+"\n", chartWidth-1, height-1)
	r.drawHead(&out)
	drawScale(&out, s, bottom)
	y := plotTop + groupGap/2
	for _, g := range groups {
		drawGroup(&out, g, s, y)
		y += float64(len(g.bars))*barStep + groupGap
	}
	out.WriteString("</svg>\n")
	return out.String()
}

func (r report) drawHead(out *strings.Builder) {
	drawText(out, 20, 28, "title", "Speed against Erlang")
	drawText(out, 20, 47, "quiet", fmt.Sprintf("%s; %s; median of %d rounds, %s",
		r.board.version(reference), r.machine, r.board.Rounds, r.date.Format(time.DateOnly)))
	x, y := 20.0, 63.0
	// place returns where the next item of the legend is, in the second row if the first has no room for it.
	place := func(name string) (left, top float64) {
		width := 42 + 7*float64(len(name))
		if x+width > chartWidth {
			x, y = 20, y+legendStep
		}
		left, x = x, x+width
		return left, y
	}
	for j, colour := range r.board.colours() {
		if colour == "" {
			continue
		}
		name := r.board.Entrants[j].Name
		x, y := place(name)
		fmt.Fprintf(out, `<rect x="%g" y="%g" width="12" height="12" rx="2" fill="%s"/>`+"\n", x, y, colour)
		drawText(out, x+18, y+10, "", name)
	}
	x, y = place("target")
	fmt.Fprintf(out, `<line class="floor" x1="%g" x2="%[1]g" y1="%g" y2="%g"/>`+"\n", x+2, y-1, y+13)
	drawText(out, x+10, y+10, "", "target")
}

// drawScale draws a line for each power of two; the one for 1, which is Erlang, is bold.
func drawScale(out *strings.Builder, s scale, bottom float64) {
	for power := s.low; power <= s.high; power++ {
		ratio := math.Exp2(float64(power))
		class, label := "grid", fmt.Sprintf("%g×", ratio)
		if power == 0 {
			class, label = "one", "Erlang 1×"
		}
		fmt.Fprintf(out, `<line class="%s" x1="%.1f" x2="%.1[2]f" y1="%g" y2="%g"/>`+"\n", class, s.x(ratio), plotTop, bottom)
		drawText(out, s.x(ratio), bottom+17, "quiet middle", label)
	}
	drawText(out, (plotLeft+plotRight)/2, bottom+34, "quiet middle",
		"times as fast as Erlang, logarithmic; right of the line is faster")
}

// drawGroup draws a case: its bars start at 1 and extend to the right if the entrant is faster, to the left if it is
// slower.
func drawGroup(out *strings.Builder, g group, s scale, y float64) {
	middle := y + (float64(len(g.bars))*barStep-(barStep-barHeight))/2
	drawText(out, plotLeft-12, middle+4, "end", g.name)
	for _, b := range g.bars {
		from, to := s.x(min(1, b.ratio)), s.x(max(1, b.ratio))
		fmt.Fprintf(out, `<rect x="%.1f" y="%g" width="%.1f" height="%g" rx="1" fill="%s"/>`+"\n", from, y, to-from, barHeight,
			b.colour)
		if b.floor > 0 {
			fmt.Fprintf(out, `<line class="floor" x1="%.1f" x2="%.1[1]f" y1="%g" y2="%g"/>`+"\n", s.x(b.floor), y-1, y+barHeight+1)
		}
		drawText(out, chartWidth-20, y+barHeight-1, "end", times(b.ratio)+"×")
		y += barStep
	}
}

func drawText(out *strings.Builder, x, y float64, class, text string) {
	fmt.Fprintf(out, `<text x="%.1f" y="%.1f" class="%s">%s</text>`+"\n", x, y, class, html.EscapeString(text))
}
