package inbox_test

import (
	"fmt"
	"sync"

	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"
)

// Senders wake the reader when they are told to, and only then.
func Example() {
	var in inbox.Inbox
	wake := make(chan struct{}, 1)
	send := func(msg any) {
		switch in.Push(&inbox.Node{Msg: msg}) {
		case mailbox.Wake:
			wake <- struct{}{} // never blocks: one wake-up for each time the inbox is armed
		case mailbox.Closed:
			fmt.Println("nobody reads", msg)
		}
	}

	var readers sync.WaitGroup
	readers.Go(func() {
		var q inbox.Queue
		for range wake {
			for !in.Closed() && (in.Take(&q) > 0 || !in.Arm()) {
				for msg, ok := q.Next(); ok; msg, ok = q.Next() {
					q.Drop()
					fmt.Println("got", msg)
					if msg == "stop" {
						in.Close()
						close(wake)
					}
				}
			}
		}
	})
	for _, msg := range []string{"one", "two", "stop"} {
		send(msg)
	}
	readers.Wait()
	send("late")
	// Output:
	// got one
	// got two
	// got stop
	// nobody reads late
}

// A selective reader passes over the messages it does not want yet.
func ExampleQueue() {
	var q inbox.Queue
	for _, msg := range []string{"lock", "add", "unlock", "add"} {
		q.Append(&inbox.Node{Msg: msg})
	}
	take := func(want string) {
		behind := 0
		for msg, ok := q.Next(); ok; msg, ok = q.Next() {
			if msg == want {
				q.Drop()
				fmt.Println("took", msg, "behind", behind)
				return
			}
			q.Skip()
			behind++
		}
	}
	take("lock")
	take("unlock") // leaves the first add
	q.Rewind()
	take("add")
	take("add")
	// Output:
	// took lock behind 0
	// took unlock behind 1
	// took add behind 0
	// took add behind 0
}

// A bounded mailbox counts messages until its reader is done with them.
func ExampleBounded() {
	b := inbox.NewBounded(mailbox.Bounds{Messages: 1})
	fmt.Println(b.Push("a"), b.Push("b"))
	msg, _ := b.Pop()
	fmt.Println(msg, b.Push("b"))
	b.Done()
	fmt.Println(b.Push("b"))
	// Output:
	// queued full
	// a full
	// queued
}
