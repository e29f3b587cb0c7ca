package storm

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
)

var (
	sequences = flag.Int("storm.sequences", 16, "how many sequences the storm has")
	seed      = flag.Uint64("storm.seed", 0, "seed of the first sequence, whose successors are those of the next ones; 0 picks one")
	ours      = flag.Int("storm.ours", -1, "how many nodes of a sequence are ours; -1: one to three")
	parallel  = flag.Int("storm.parallel", 8, "how many sequences run at a time: most of each is waiting")
)

func TestMain(m *testing.M) {
	if env := os.Getenv(childEnv); env != "" {
		if err := child(env); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Random sequences of events in a cluster of OTP nodes and ours: at the end all nodes agree with each other, and with
// the model.
func TestStorm(t *testing.T) {
	testkit.From(t, testkit.Night, "sequences over OTP nodes")
	erltest.Need(t)
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	hung, differed, untold, settled := 0, 0, 0, 0
	free := make(chan bool, *parallel)
	for i := range *sequences {
		free <- true
		all.Go(func() { // ended by the end of the sequence, waited for below
			defer func() { <-free }()
			p := newPlan(first+uint64(i), *ours)
			t.Run(fmt.Sprintf("seed-%d", p.seed), func(t *testing.T) {
				s := run(t, p)
				mu.Lock()
				defer mu.Unlock()
				hung, differed, untold = hung+s.hung, differed+s.differed, untold+s.untold
				if p.settled {
					settled++
				}
			})
		})
	}
	all.Wait()
	t.Logf("%d sequences from seed %d, of which %d were settled; of what OTP nodes alone do, too: %d pairs of them hung, nodes "+
		"differed about %d names, %d processes lost a name untold", *sequences, first, settled, hung, differed, untold)
}
