package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/supervisor"
)

// free is a bank that always agrees.
func free(context.Context, Order) error { return nil }

func config(pay func(context.Context, Order) error) Config {
	return Config{
		Items: map[string]Item{"tea": {Cents: 450, Left: 10}, "milk": {Cents: 140, Left: 100}},
		Pay:   pay, Timeout: 5 * time.Second, Idle: time.Hour, Queue: 1000, Cart: 10,
	}
}

// client makes requests to a shop of its own.
type client struct {
	t    *testing.T
	n    *node.Node
	shop *Shop
	http.Handler
}

func newClient(t *testing.T, c Config) *client {
	n := nodetest.Start(t, node.Config{})
	s, err := Start(t.Context(), n, c)
	require.NoError(t, err)
	return &client{t, n, s, s.Handler()}
}

// do makes a request and returns the answer.
func (c *client) do(ctx context.Context, request, body string) *httptest.ResponseRecorder {
	method, path, _ := strings.Cut(request, " ")
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body)))
	return w
}

// answers checks the status of an answer.
func (c *client) answers(status int, request, body string) *httptest.ResponseRecorder {
	c.t.Helper()
	w := c.do(c.t.Context(), request, body)
	require.Equal(c.t, status, w.Code, "%s: %s", request, w.Body)
	return w
}

// later makes a request on a goroutine of its own.
func (c *client) later(request, body string) <-chan int {
	status := make(chan int, 1)
	go func() { status <- c.do(c.t.Context(), request, body).Code }()
	return status
}

func (c *client) add(user, item string, pieces string) {
	c.t.Helper()
	c.answers(http.StatusOK, "POST /carts/"+user+"/items", `{"item":"`+item+`","pieces":`+pieces+`}`)
}

// left checks how many pieces of tea are left.
func (c *client) left(tea int) {
	c.t.Helper()
	w := c.answers(http.StatusOK, "GET /items", "")
	require.Equal(c.t, tea, decoded[map[string]Item](c.t, w)["tea"].Left)
}

// order checks the status of an order.
func (c *client) order(id, status string) {
	c.t.Helper()
	w := c.answers(http.StatusOK, "GET /orders/"+id, "")
	require.Equal(c.t, status, decoded[Order](c.t, w).Status)
}

func decoded[T any](t *testing.T, w *httptest.ResponseRecorder) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
	return v
}

func TestBuy(t *testing.T) {
	c := newClient(t, config(free))
	c.add("ann", "tea", "2")
	c.add("ann", "milk", "1")
	c.add("ann", "tea", "1")
	w := c.answers(http.StatusOK, "GET /carts/ann", "")
	require.JSONEq(t, `{"tea":3,"milk":1}`, w.Body.String())

	got := decoded[Order](t, c.answers(http.StatusOK, "POST /carts/ann/checkout", ""))
	want := Order{ID: got.ID, User: "ann", Lines: Lines{"tea": 3, "milk": 1}, Cents: 3*450 + 140, Status: paid}
	require.Equal(t, want, got)
	require.Equal(t, want, decoded[Order](t, c.answers(http.StatusOK, "GET /orders/"+got.ID, "")))
	c.left(7)
	c.answers(http.StatusConflict, "POST /carts/ann/checkout", "") // it is empty now
}

func TestRefusals(t *testing.T) {
	var last string
	c := newClient(t, config(func(_ context.Context, o Order) error {
		last = o.ID
		return errNotPaid
	}))
	c.add("ann", "tea", "11")
	c.answers(http.StatusConflict, "POST /carts/ann/checkout", "")
	c.add("bob", "coffee", "1")
	c.answers(http.StatusConflict, "POST /carts/bob/checkout", "")
	c.add("eve", "tea", "2")
	c.answers(http.StatusPaymentRequired, "POST /carts/eve/checkout", "")
	c.order(last, cancelled)
	c.left(10)
	w := c.answers(http.StatusOK, "GET /carts/eve", "")
	require.JSONEq(t, `{"tea":2}`, w.Body.String(), "what is not paid stays in the cart")

	c.answers(http.StatusNotFound, "GET /orders/none", "")
	c.answers(http.StatusBadRequest, "POST /carts/ann/items", `{"item":`)
	c.answers(http.StatusBadRequest, "POST /carts/ann/items", `{"item":"tea","pieces":-1}`)
	c.answers(http.StatusBadRequest, "POST /carts/ann/items", `{"item":"`+strings.Repeat("x", 1<<17)+`"}`)
	c.answers(http.StatusBadRequest, "GET /carts/"+strings.Repeat("x", keyed.MaxKey+1), "")
	c.answers(http.StatusMethodNotAllowed, "GET /carts/ann/checkout", "")
}

func TestIdleCart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, config(free))
		c.add("ann", "tea", "1")
		time.Sleep(2 * time.Hour)
		w := c.answers(http.StatusOK, "GET /carts/ann", "")
		require.JSONEq(t, `{}`, w.Body.String())
	})
}

// The deadline of the request is that of the payment, three servers later. What is not paid then goes back.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan time.Duration, 1)
		c := newClient(t, config(func(ctx context.Context, _ Order) error {
			at, _ := ctx.Deadline()
			left <- time.Until(at)
			<-ctx.Done()
			return ctx.Err()
		}))
		c.add("ann", "tea", "2")
		began := time.Now()
		c.answers(http.StatusGatewayTimeout, "POST /carts/ann/checkout", "")
		require.Equal(t, 5*time.Second, <-left)
		require.Equal(t, 5*time.Second, time.Since(began))
		synctest.Wait()
		c.left(10)
	})
}

// A client that goes away ends the payment, too.
func TestClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := make(chan string, 1)
		c := newClient(t, config(func(ctx context.Context, o Order) error {
			started <- o.ID
			<-ctx.Done()
			return ctx.Err()
		}))
		c.add("ann", "tea", "2")
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan bool)
		go func() {
			c.do(ctx, "POST /carts/ann/checkout", "")
			close(gone)
		}()
		id := <-started
		c.left(8)
		c.order(id, open)
		cancel()
		<-gone
		synctest.Wait()
		c.order(id, cancelled)
		c.left(10)
	})
}

// A crash while an order is paid makes it unclear: only the bank knows.
func TestCrashWhilePaying(t *testing.T) {
	var last string
	c := newClient(t, config(func(_ context.Context, o Order) error {
		last = o.ID
		panic("the bank has sent something odd")
	}))
	c.add("ann", "tea", "2")
	c.answers(http.StatusInternalServerError, "POST /carts/ann/checkout", "")
	nodetest.Settle(t, c.n) // the orders are told of the crash
	c.order(last, unclear)
	c.left(8)
	c.add("ann", "milk", "1") // a new cart
}

// A server that crashes while an order is paid is started again, and the order is closed.
func TestCrashOfServers(t *testing.T) {
	for _, name := range []node.Atom{"orders", "stock"} {
		for _, outcome := range []error{nil, errNotPaid} {
			var c *client
			var last string
			c = newClient(t, config(func(_ context.Context, o Order) error {
				last = o.ID
				c.n.Exit(name, node.Kill)
				return outcome
			}))
			c.add("ann", "tea", "2")
			w := c.do(t.Context(), "POST /carts/ann/checkout", "")
			if outcome == nil {
				require.Equal(t, http.StatusOK, w.Code, w.Body)
				c.order(last, paid)
				c.left(8)
			} else {
				require.Equal(t, http.StatusPaymentRequired, w.Code, w.Body)
				c.order(last, cancelled)
				c.left(10)
			}
		}
	}
}

// Requests go on while servers crash: those that a crash hits get an error, the others wait for the restart.
func TestRestartUnderRequests(t *testing.T) {
	c := newClient(t, config(free))
	front := httptest.NewServer(c)
	defer front.Close()
	var ok, failed atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for ctx.Err() == nil {
				r, err := front.Client().Get(front.URL + "/items")
				if !assertNoError(t, err) {
					return
				}
				r.Body.Close()
				switch r.StatusCode {
				case http.StatusOK:
					ok.Add(1)
				case http.StatusInternalServerError:
					failed.Add(1)
				default:
					t.Errorf("status %d", r.StatusCode)
				}
			}
		})
	}
	for range 5 {
		seen := ok.Load()
		require.Eventually(t, func() bool { return ok.Load() > seen+20 }, nodetest.Timeout, time.Millisecond)
		c.n.Exit(node.Atom("stock"), node.Kill)
	}
	seen := ok.Load()
	require.Eventually(t, func() bool { return ok.Load() > seen+20 }, nodetest.Timeout, time.Millisecond)
	cancel()
	all.Wait()
	t.Logf("%d requests were answered, %d hit by a crash", ok.Load(), failed.Load())
	c.left(10)
}

func assertNoError(t *testing.T, err error) bool {
	if err != nil {
		t.Error(err)
	}
	return err == nil
}

// A cart with too many requests refuses its own client only; a server with too many refuses everybody for a while.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(free)
		cfg.Queue, cfg.Cart = 2, 3
		c := newClient(t, cfg)
		for _, user := range []string{"ann", "bob", "eve"} {
			c.add(user, "tea", "1")
		}
		require.NoError(t, sys.Suspend(t.Context(), c.n, node.Atom("stock"))) // the orders wait for it
		ann := c.later("POST /carts/ann/checkout", "")
		bob := c.later("POST /carts/bob/checkout", "")
		synctest.Wait()
		w := c.answers(http.StatusServiceUnavailable, "POST /carts/eve/checkout", "")
		require.Equal(t, "1", w.Header().Get("Retry-After"))

		one, two := c.later("GET /carts/ann", ""), c.later("GET /carts/ann", "")
		synctest.Wait()
		w = c.answers(http.StatusTooManyRequests, "GET /carts/ann", "")
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		c.answers(http.StatusOK, "GET /carts/eve", "")

		require.NoError(t, sys.Resume(t.Context(), c.n, node.Atom("stock")))
		for _, status := range []<-chan int{ann, bob, one, two} {
			require.Equal(t, http.StatusOK, <-status)
		}
		c.answers(http.StatusOK, "POST /carts/eve/checkout", "")
		c.left(7)
	})
}

func TestMetrics(t *testing.T) {
	c := newClient(t, config(free))
	c.add("ann", "tea", "1")
	c.answers(http.StatusConflict, "POST /carts/bob/checkout", "")
	text := c.answers(http.StatusOK, "GET /metrics", "").Body.String()
	require.Contains(t, text, `shop_request_seconds_count{route="POST /carts/{user}/items",status="200"} 1`)
	require.Contains(t, text, `shop_request_seconds_count{route="POST /carts/{user}/checkout",status="409"} 1`)
	require.Contains(t, text, "\nshop_carts 2\n")
	require.Contains(t, text, `actornode_name_mailbox_messages{name="stock"} 0`)
}

// The end: first not ready, then no requests, then no servers.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, config(free))
		c.answers(http.StatusOK, "GET /readyz", "")
		ctx, end := context.WithCancel(t.Context())
		service := c.shop.service(&http.Server{}, nil, time.Minute)
		service.Serve = nil // the requests come without a network
		drained := make(chan error)
		go func() { drained <- supervisor.Run(ctx, c.n, c.shop.top, service) }()
		synctest.Wait()
		c.answers(http.StatusOK, "GET /readyz", "")
		end()
		synctest.Wait()
		c.answers(http.StatusServiceUnavailable, "GET /readyz", "")
		c.answers(http.StatusOK, "GET /healthz", "")
		c.answers(http.StatusOK, "GET /items", "")
		require.NoError(t, <-drained)
		_, there := c.n.Whereis("stock")
		require.False(t, there)
	})
}

func TestReady(t *testing.T) {
	c := newClient(t, config(free))
	require.NoError(t, c.n.Unregister("orders"))
	c.answers(http.StatusServiceUnavailable, "GET /readyz", "")
}

// started is the whole program with a request under way.
type started struct {
	addr   string
	stop   context.CancelFunc
	status chan int
	ran    chan error
}

func start(t *testing.T, pay func(context.Context, Order) error) *started {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	s := &started{l.Addr().String(), stop, make(chan int, 1), make(chan error, 1)}
	go func() { s.ran <- run(ctx, l, 0, config(pay)) }()
	post := func(path, body string) int {
		r, err := http.Post("http://"+s.addr+path, "application/json", strings.NewReader(body))
		if err != nil {
			return 0
		}
		defer r.Body.Close()
		return r.StatusCode
	}
	require.Equal(t, http.StatusOK, post("/carts/ann/items", `{"item":"tea","pieces":2}`))
	go func() { s.status <- post("/carts/ann/checkout", "") }()
	return s
}

// A request that is under way at the signal is answered.
func TestDrainWithRequest(t *testing.T) {
	paying, release := make(chan bool), make(chan bool)
	s := start(t, func(context.Context, Order) error {
		close(paying)
		<-release
		return nil
	})
	<-paying
	s.stop()
	require.Eventually(t, func() bool { // no new requests
		c, err := net.Dial("tcp", s.addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	}, nodetest.Timeout, time.Millisecond)
	require.Empty(t, s.ran)
	close(release)
	require.Equal(t, http.StatusOK, <-s.status)
	require.NoError(t, <-s.ran)
}

// The program ends when its supervisor does.
func TestSupervisorEnds(t *testing.T) {
	s := start(t, func(ctx context.Context, _ Order) error {
		n, _, ok := node.Calling(ctx)
		if !ok {
			return errors.New("no process pays")
		}
		n.Exit(node.Atom("shop"), node.Kill)
		return nil
	})
	defer s.stop()
	err := <-s.ran
	require.ErrorContains(t, err, "the supervision tree has ended")
}

func TestPay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, pay(t.Context(), Order{Cents: 1}))
		require.ErrorIs(t, pay(t.Context(), Order{Cents: 100_01}), errNotPaid)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, pay(ctx, Order{}), context.DeadlineExceeded)
	})
}
