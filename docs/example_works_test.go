package docs_test

import (
	"bufio"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/match"
	"github.com/actornode/actornode/node/stage"
)

// Programs of papers on actors: examples.md lists them.

// The wide finder: workers count the lines of a file that contain a pattern, each in a part of it. A part begins after
// the first end of a line after its offset, so that each line is in one part.
func Example_wideFinder() {
	dir, _ := os.MkdirTemp("", "widefinder")
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "access.log")
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "GET /%s/%d\n", []string{"news", "about", "news"}[i%3], i)
	}
	os.WriteFile(log, []byte(text.String()), 0o600)

	n, _ := node.Start(node.Config{})
	defer n.Stop()
	h, _ := n.Open()
	const workers = 4
	size := int64(text.Len())
	for i := range int64(workers) {
		h.Spawn(node.ProcessFunc(func(p *node.Process) error {
			count, err := countLines(log, "/news/", i*size/workers, (i+1)*size/workers)
			if err != nil {
				return err
			}
			return p.Send(h.Self(), count)
		}))
	}
	found := 0
	for range workers {
		found += node.ReceiveOf[int](h)
	}
	fmt.Println(found)
	// Output: 6667
}

// countLines counts the lines with a pattern that begin in a part of a file.
func countLines(name, pattern string, from, to int64) (count int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	before := max(from-1, 0) // the last byte before the part may end a line
	if _, err := f.Seek(before, io.SeekStart); err != nil {
		return 0, err
	}
	lines, at := bufio.NewReader(f), from
	if from > 0 {
		rest, err := lines.ReadString('\n')
		if err != nil {
			return 0, nil // the last line began before the part
		}
		at = before + int64(len(rest))
	}
	for at < to {
		line, err := lines.ReadString('\n')
		if strings.Contains(line, pattern) {
			count++
		}
		if at += int64(len(line)); err != nil {
			break
		}
	}
	return count, nil
}

// colour is that of a creature; complement is the new colour of each of two that meet.
type colour int

func (c colour) complement(d colour) colour {
	if c == d {
		return c
	}
	return 3 - c - d
}

// meet asks for a meeting. met is the answer.
type (
	meet struct{ who colour }
	met  struct{ with colour }
)

// Chameneos: two creatures meet at a place, which introduces them to each other, and change their colours. A creature
// ends when the place has closed.
func Example_chameneos() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	h, _ := n.Open()
	meetings := 1000
	var waiting *node.Request[meet]
	place, _ := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		m := msg.(node.Request[meet])
		switch {
		case meetings == 0:
			return m.Fail(errors.New("closed"))
		case waiting == nil:
			waiting = &m
			return nil
		}
		other := *waiting
		waiting = nil
		meetings--
		other.Reply(met{m.Body.who})
		return m.Reply(met{other.Body.who})
	}))
	for c := range colour(2) {
		h.Spawn(node.ProcessFunc(func(p *node.Process) error {
			own, times := c, 0
			for {
				m, err := node.Call[met](p.Context(), p, place, meet{own})
				if err != nil {
					return p.Send(h.Self(), times)
				}
				own, times = own.complement(m.with), times+1
			}
		}))
	}
	fmt.Println(node.ReceiveOf[int](h) + node.ReceiveOf[int](h))
	// Output: 2000
}

// Actors and threads combine: a goroutine of any library gets a handle, and is a process like the others. In Scala:
// receive { … } in a Thread.
func Example_threadsAndActors() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	upper, _ := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		m := msg.(node.Request[string])
		return m.Reply(strings.ToUpper(m.Body))
	}))
	done := make(chan string)
	go func() { // a plain goroutine
		h, _ := n.Open()
		defer h.Close(nil)
		s, _ := node.Call[string](context.Background(), h, upper, "threads")
		done <- s
	}()
	fmt.Println(<-done)
	// Output: THREADS
}

// fibonacci is the object of a number; on the upper levels of the tree, as many as stages says, each subtree has a
// stage.
type fibonacci struct{ number, stages int }

func (o *fibonacci) Compute(c *active.Context) (int, error) {
	if o.number < 2 {
		return o.number, nil
	}
	var both [2]*node.Future[int]
	for i := range both {
		var at node.Place // of this object
		if o.stages > 0 {
			s, err := stage.New(c.Node(), stage.Options{})
			if err != nil {
				return 0, err
			}
			defer s.Close(c.Context(), c)
			at = s.Place()
		}
		of, err := active.Start(c, &fibonacci{o.number - 1 - i, o.stages - 1}, node.Options{Place: at})
		if err != nil {
			return 0, err
		}
		both[i] = active.Do(c, of, (*fibonacci).Compute)
	}
	x, y, err := active.Await2(c, both[0], both[1])
	return x + y, err
}

// The Fibonacci tree by stages: the objects of a subtree share a stage. In SALSA Lite:
//
//	token x = new Fibonacci(n-1) on (StageService.getNewStage())<-compute();
func Example_fibonacciByStages() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	root, _ := active.Start(n, &fibonacci{number: 10, stages: 2}, node.Options{})
	fmt.Println(node.Await(context.Background(), n, active.Do(n, root, (*fibonacci).Compute)))
	// Output: 55 <nil>
}

// Parallel parsing of XML: one process reads the elements of a document, and workers decode them. The values come in
// the order of the document.
func Example_parallelXML() {
	const document = `<books><book><title>Ada</title><year>1995</year></book>` +
		`<book><title>Erlang</title><year>2007</year></book></books>`
	type book struct {
		Title string `xml:"title"`
		Year  int    `xml:"year"`
	}
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	var workers []node.PID
	for range 2 {
		pid, _ := n.Spawn(match.New(match.Reply(func(_ *node.Context, element []byte) (any, error) {
			var b book
			err := xml.Unmarshal(element, &b)
			return b, err
		})))
		workers = append(workers, pid)
	}
	var books []*node.Future[book]
	d := xml.NewDecoder(strings.NewReader(document))
	d.Token() // <books>
	for {
		before := d.InputOffset()
		token, err := d.Token()
		if _, ok := token.(xml.StartElement); !ok || err != nil {
			break
		}
		if err := d.Skip(); err != nil {
			break
		}
		element := []byte(document[before:d.InputOffset()])
		books = append(books, node.Async[book](n, workers[len(books)%len(workers)], element))
	}
	fmt.Println(node.Await(context.Background(), n, futures.All(n, books...)))
	// Output: [{Ada 1995} {Erlang 2007}] <nil>
}

// The ring of producers and consumers: each takes tokens from the one before and passes them on.
func Example_ring() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	h, _ := n.Open()
	var passed atomic.Int64
	next := h.Self()
	for range 100 {
		to := next
		next, _ = n.Spawn(node.ActorFunc(func(c *node.Context, token any) error {
			passed.Add(1)
			return c.Send(to, token)
		}))
	}
	for token := range 10 {
		h.Send(next, token)
	}
	for range 10 {
		h.Receive()
	}
	fmt.Println(passed.Load())
	// Output: 1000
}

// Messages with priority: urgent ones are taken first. In Scala: receiveWithin(0) { case Urgent … }.
func Example_priority() {
	n, _ := node.Start(node.Config{})
	defer n.Stop()
	h, _ := n.Open()
	for _, m := range []any{"first", "second", 911, "third"} {
		h.Send(h.Self(), m)
	}
	for range 4 {
		if m, err := node.ReceiveOfWithin[int](h, 0); err == nil {
			fmt.Println("urgent:", m)
			continue
		}
		fmt.Println(h.Receive())
	}
	// Output:
	// urgent: 911
	// first
	// second
	// third
}
