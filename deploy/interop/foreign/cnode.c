// A C node, by ei of OTP's erl_interface, as a part of the interop suite:
//
//	cnode NODE COOKIE judge    checks NODE, which runs the demo; a line for each check: ok | FAILED, ei, its name
//	cnode NODE COOKIE serve    connects as c@127.0.0.1, says "up", and answers calls of box until the connection ends:
//	                           hello with hello, a ping with yes, silence with nothing
//
// It is one thread with one connection: whatever NODE sends unasked takes the place of an answer.
#include <ei.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE 30000 // ms
#define NAME "c@127.0.0.1"

static ei_cnode node;
static int fd, failed;
static const char *target, *cookie;

static void tell(int ok, const char *name, const char *why) {
	if (!ok) failed++;
	printf("%-6s  ei          %s%s%s\n", ok ? "ok" : "FAILED", name, ok ? "" : " | ", ok ? "" : why);
	fflush(stdout);
}

// text is a term as ei prints it; the caller frees it.
static char *text(const char *buf) {
	int i = 0, version;
	char *s = NULL;
	if (ei_decode_version(buf, &i, &version) < 0) i = 0;
	if (ei_s_print_term(&s, buf, &i) < 0) return strdup("no term");
	return s;
}

// connected makes the node of that name, NULL: it asks for one, and connects it.
static int connected(const char *name) {
	struct in_addr here;
	here.s_addr = htonl(INADDR_LOOPBACK);
	int err = ei_connect_xinit(&node, "127.0.0.1", name ? "c" : NULL, name, &here, cookie, 1);
	return err < 0 ? -1 : (fd = ei_connect(&node, (char *)target));
}

// next takes the next message; a tick is none.
static int next(ei_x_buff *x) {
	erlang_msg m;
	for (;;) {
		x->index = 0;
		int r = ei_xreceive_msg_tmo(fd, &m, x, PATIENCE);
		if (r != ERL_TICK) return r == ERL_MSG ? 0 : -1;
	}
}

// serve answers {'$gen_call', {Pid, Tag}, Request}, if it is one. silent: its request wants no answer.
static int serve(ei_x_buff *x, int *silent) {
	int i = 0, version, arity;
	char atom[MAXATOMLEN_UTF8];
	erlang_pid from;
	*silent = 0;
	if (ei_decode_version(x->buff, &i, &version) || ei_decode_tuple_header(x->buff, &i, &arity) || arity != 3 ||
	    ei_decode_atom(x->buff, &i, atom) || strcmp(atom, "$gen_call") || ei_decode_tuple_header(x->buff, &i, &arity) ||
	    ei_decode_pid(x->buff, &i, &from))
		return 0;
	int tag = i;
	ei_skip_term(x->buff, &i);
	int request = i;
	ei_x_buff reply;
	ei_x_new_with_version(&reply);
	ei_x_encode_tuple_header(&reply, 2);
	ei_x_append_buf(&reply, x->buff + tag, request - tag);
	if (ei_decode_atom(x->buff, &i, atom)) { // {is_auth, Node}
		ei_x_encode_atom(&reply, "yes");
	} else {
		*silent = !strcmp(atom, "silence");
		ei_x_encode_atom(&reply, atom);
	}
	int err = *silent ? 0 : ei_send(fd, &from, reply.buff, reply.index);
	ei_x_free(&reply);
	return err < 0 ? -1 : 1;
}

// rpc asks rex and returns what comes next that is no call of this node, which it answers; NULL: nothing.
static char *rpc(const char *module, const char *function, const char *format, ...) {
	ei_x_buff args, in;
	ei_x_new(&args);
	ei_x_new(&in);
	char all[1000];
	va_list more;
	va_start(more, format);
	vsnprintf(all, sizeof all, format, more);
	va_end(more);
	char *answer = NULL;
	int silent;
	if (ei_x_format_wo_ver(&args, all) == 0 && ei_rpc_to(&node, fd, (char *)module, (char *)function, args.buff, args.index) == 0) {
		while (next(&in) == 0) {
			if (serve(&in, &silent) == 1) continue;
			answer = text(in.buff);
			break;
		}
	}
	ei_x_free(&args);
	ei_x_free(&in);
	return answer;
}

static void expect(const char *name, const char *want, char *got) {
	tell(got && !strcmp(want, got), name, got ? got : "no answer");
	free(got);
}

static void expect_in(const char *name, const char *want, char *got) {
	tell(got && strstr(got, want), name, got ? got : "no answer");
	free(got);
}

// echo sends {Self, Term} to echo and compares what comes back with {Pid, Term}.
static void echo(const char *name, ei_x_buff *term) {
	ei_x_buff out, in;
	ei_x_new_with_version(&out);
	ei_x_new(&in);
	ei_x_encode_tuple_header(&out, 2);
	ei_x_encode_pid(&out, ei_self(&node));
	ei_x_append(&out, term);
	int i = 0, j = 0, version, arity, ok = 0;
	char *sent = NULL, *got = NULL;
	if (ei_reg_send(&node, fd, "echo", out.buff, out.index) == 0 && next(&in) == 0 && !ei_decode_version(in.buff, &i, &version) &&
	    !ei_decode_tuple_header(in.buff, &i, &arity) && arity == 2 && !ei_skip_term(in.buff, &i)) {
		ok = ei_s_print_term(&got, in.buff, &i) >= 0 && ei_s_print_term(&sent, term->buff, &j) >= 0 && !strcmp(got, sent);
	}
	tell(ok, name, got ? got : "nothing comes back");
	free(sent);
	free(got);
	ei_x_free(&out);
	ei_x_free(&in);
}

static void judge(void) {
	char want[300], name[MAXNODELEN + 1];
	tell(connected(NAME) >= 0, "connect", "refused");
	snprintf(want, sizeof want, "{rex, '%s'}", target);
	expect("rpc: the first message is its answer", want, rpc("erlang", "node", "[]"));
	expect("rpc: arguments and value", "{rex, 7}", rpc("demo", "add", "[3,4]"));
	expect_in("rpc: undef", "{rex, {badrpc, {'EXIT', {undef,", rpc("nowhere", "nothing", "[]"));
	ei_x_buff t;
	ei_x_new(&t);
	ei_x_format_wo_ver(&t, "{atom,[1,-2,70000,5.5],\"string\",[{a,b}|[]]}");
	echo("send: a term comes back", &t);
	t.index = 0;
	ei_x_encode_map_header(&t, 1);
	ei_x_encode_atom(&t, "key");
	ei_x_encode_longlong(&t, 1LL << 62);
	echo("send: a map with a large integer", &t);
	t.index = 0;
	char *big = calloc(3, 1 << 20); // never freed: the program is at its end soon
	ei_x_encode_binary(&t, big, 3 << 20);
	echo("send: a binary of 3 MiB", &t);
	expect("gen_server:call by pid to this node", "{rex, hello}",
	       rpc("gen_server", "call", "[{box,'c@127.0.0.1'},hello]"));
	expect_in("gen_server:call: no answer is a timeout", "timeout", rpc("gen_server", "call", "[{box,'c@127.0.0.1'},silence,200]"));
	expect("rpc: nothing has come unasked", want, rpc("erlang", "node", "[]"));
	close(fd);
	tell(connected(NULL) >= 0, "dynamic name: connect", "refused");
	snprintf(name, sizeof name, "%s", ei_thisnodename(&node));
	tell(strchr(name, '@') != NULL && strlen(name) > 3, "dynamic name: one is assigned", name);
	expect("dynamic name: rpc", want, rpc("erlang", "node", "[]"));
	expect_in("dynamic name: the node is known by it", name, rpc("erlang", "nodes", "[hidden]"));
	snprintf(want, sizeof want, "[{box,'%s'},hello]", name);
	expect("dynamic name: gen_server:call to this node", "{rex, hello}", rpc("gen_server", "call", want));
	close(fd);
	cookie = "wrong";
	tell(connected(NAME) < 0, "a wrong cookie is refused", "connected");
	printf("done: %d failed\n", failed);
}

int main(int argc, char **argv) {
	if (argc != 4) return 2;
	target = argv[1];
	cookie = argv[2];
	ei_init();
	if (!strcmp(argv[3], "judge")) {
		judge();
		return failed != 0;
	}
	if (connected(NAME) < 0) return 1;
	puts("up");
	fflush(stdout);
	ei_x_buff x;
	int silent;
	for (ei_x_new(&x); next(&x) == 0;)
		if (serve(&x, &silent) < 0) return 1;
	return 0;
}
