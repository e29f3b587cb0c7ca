// A Java node, by OTP's JInterface, as a part of the interop suite:
//
//	Foreign NODE COOKIE judge    checks NODE, which runs the demo; a line for each check: ok | FAILED, jinterface, its name
//	Foreign NODE COOKIE serve    is j@127.0.0.1, says "up" when it has pinged NODE, and answers calls of box: hello with hello,
//	                             silence with nothing, pid with its own; an exit signal that reaches box goes to NODE, to
//	                             the process test, as {exit, Reason}

import com.ericsson.otp.erlang.*;
import java.math.BigInteger;

public class Foreign {
  static final long PATIENCE = 30000; // ms
  static String target, cookie;
  static int failed;
  static OtpMbox box;

  interface Check { Object run() throws Exception; }

  // check runs one; it is right if it returns what is wanted, by equals or as text.
  static void check(String name, Object want, Check c) {
    Object got;
    try { got = c.run(); } catch (Throwable e) { got = e; }
    boolean ok = want.equals(got) || want.equals(String.valueOf(got));
    if (!ok) failed++;
    System.out.printf("%-6s  jinterface  %s%s%n", ok ? "ok" : "FAILED", name, ok ? "" : " | " + got + " in place of " + want);
    System.out.flush();
  }

  static OtpErlangAtom atom(String s) { return new OtpErlangAtom(s); }
  static OtpErlangTuple tuple(OtpErlangObject... l) { return new OtpErlangTuple(l); }
  static OtpErlangList list(OtpErlangObject... l) { return new OtpErlangList(l); }
  static OtpErlangLong number(long n) { return new OtpErlangLong(n); }

  // next takes the next message of the mailbox and answers calls meanwhile, but for silence.
  static OtpErlangObject next() throws Exception {
    while (true) {
      OtpErlangObject m = box.receive(PATIENCE);
      if (m == null || !serve(m)) return m;
    }
  }

  static boolean serve(OtpErlangObject m) {
    if (!(m instanceof OtpErlangTuple) || !((OtpErlangTuple) m).elementAt(0).equals(atom("$gen_call"))) return false;
    OtpErlangTuple from = (OtpErlangTuple) ((OtpErlangTuple) m).elementAt(1);
    OtpErlangObject request = ((OtpErlangTuple) m).elementAt(2);
    if (request.equals(atom("pid"))) request = box.self();
    if (!request.equals(atom("silence"))) box.send((OtpErlangPid) from.elementAt(0), tuple(from.elementAt(1), request));
    return true;
  }

  static OtpErlangObject rpc(String module, String function, OtpErlangObject... args) throws Exception {
    box.send("rex", target, tuple(box.self(), tuple(atom("call"), atom(module), atom(function), list(args), atom("user"))));
    OtpErlangTuple answer = (OtpErlangTuple) next();
    return answer.elementAt(0).equals(atom("rex")) ? answer.elementAt(1) : answer;
  }

  static OtpErlangObject echo(OtpErlangObject term) throws Exception {
    box.send("echo", target, tuple(box.self(), term));
    return ((OtpErlangTuple) next()).elementAt(1);
  }

  static OtpErlangObject call(String name, OtpErlangObject request) throws Exception {
    OtpErlangRef ref = node.createRef();
    box.send(name, target, tuple(atom("$gen_call"), tuple(box.self(), ref), request));
    OtpErlangTuple answer = (OtpErlangTuple) next();
    return answer.elementAt(0).equals(ref) ? answer.elementAt(1) : answer;
  }

  static OtpNode node;

  static OtpErlangPid counter() throws Exception {
    while (true) { // it may be between two lives
      OtpErlangObject p = rpc("erlang", "whereis", atom("counter"));
      if (p instanceof OtpErlangPid) return (OtpErlangPid) p;
    }
  }

  static boolean replaced(OtpErlangPid before) throws Exception {
    while (counter().equals(before)) Thread.onSpinWait();
    return true;
  }

  static void judge() throws Exception {
    OtpSelf self = new OtpSelf("jself@127.0.0.1", cookie);
    OtpConnection c = self.connect(new OtpPeer(target));
    check("connection: the first answer is that of the first rpc", "'" + target + "'", () -> {
      c.sendRPC("erlang", "node", list());
      return c.receiveRPC();
    });
    check("connection: rpc with arguments", "7", () -> {
      c.sendRPC("demo", "add", list(number(3), number(4)));
      return c.receiveRPC();
    });
    check("connection: undef", true, () -> {
      c.sendRPC("nowhere", "nothing", list());
      return c.receiveRPC().toString().contains("undef");
    });
    c.close();

    node = new OtpNode("j@127.0.0.1", cookie);
    box = node.createMbox("box");
    check("ping", true, () -> node.ping(target, PATIENCE));
    check("rpc", "'" + target + "'", () -> rpc("erlang", "node"));
    check("send", atom("hi"), () -> echo(atom("hi")));
    OtpErlangObject[] terms = {
      number(-1), number(Long.MAX_VALUE), new OtpErlangLong(BigInteger.ONE.shiftLeft(500)), new OtpErlangDouble(1e-300),
      atom("жук"), new OtpErlangString("text"), new OtpErlangBinary(new byte[] {0, 1, -1}), new OtpErlangBitstr(new byte[] {1, -128}, 7),
      list(), tuple(), list(number(1), tuple(atom("a"))), node.createPid(), node.createRef(), node.createPort(),
      new OtpErlangMap(new OtpErlangObject[] {atom("k"), number(2)}, new OtpErlangObject[] {atom("v"), new OtpErlangDouble(2)}),
      new OtpErlangExternalFun("lists", "map", 2),
    };
    for (OtpErlangObject t : terms) check("terms: " + t.getClass().getSimpleName() + " " + (t.toString().length() > 30 ? "large" : t), t, () -> echo(t));
    check("terms: a binary of 3 MiB", true, () -> {
      OtpErlangBinary big = new OtpErlangBinary(new byte[3 << 20]);
      return echo(big).equals(big);
    });
    check("order: 500 messages", true, () -> {
      for (int i = 0; i < 500; i++) box.send("echo", target, tuple(box.self(), number(i)));
      for (int i = 0; i < 500; i++) if (!((OtpErlangTuple) next()).elementAt(1).equals(number(i))) return i;
      return true;
    });
    check("call there", number(5), () -> {
      OtpErlangLong before = (OtpErlangLong) call("counter", atom("get"));
      OtpErlangLong after = (OtpErlangLong) call("counter", tuple(atom("add"), number(5)));
      return number(after.longValue() - before.longValue());
    });
    check("called by name", atom("hello"), () -> rpc("gen_server", "call", tuple(atom("box"), atom(node.node())), atom("hello")));
    check("called by pid", atom("hello"), () -> rpc("gen_server", "call", box.self(), atom("hello")));
    check("called: no answer is a timeout", true, () ->
        rpc("gen_server", "call", tuple(atom("box"), atom(node.node())), atom("silence"), number(200)).toString().contains("timeout"));
    check("link: the exit of a process there", "crash", () -> {
      OtpErlangPid p = counter();
      box.link(p);
      box.send("counter", target, tuple(atom("$gen_call"), tuple(box.self(), node.createRef()), atom("crash")));
      try { return next(); } catch (OtpErlangExit e) { replaced(p); return e.reason(); }
    });
    check("link: of one that is gone", "noproc", () -> {
      OtpErlangPid p = counter();
      box.exit(p, atom("kill"));
      replaced(p);
      box.link(p);
      try { return next(); } catch (OtpErlangExit e) { return e.reason(); }
    });
    check("unlink: nothing comes", true, () -> {
      OtpErlangPid p = counter();
      box.link(p);
      box.unlink(p);
      box.exit(p, atom("kill"));
      return replaced(p) && echo(atom("still here")).equals(atom("still here"));
    });
    check("exit: a signal ends a process there", true, () -> {
      OtpErlangPid p = counter();
      box.exit(p, atom("because"));
      return replaced(p);
    });
    check("link: the exit of a mailbox", true, () -> {
      OtpErlangPid p = counter();
      OtpMbox other = node.createMbox();
      other.link(p);
      other.exit("gone");
      return replaced(p);
    });
    check("nothing has come unasked", true, () -> echo(atom("last")).equals(atom("last")) && box.receive(0) == null);
    node.close();
    System.out.println("done: " + failed + " failed");
  }

  static void serve() throws Exception {
    node = new OtpNode("j@127.0.0.1", cookie);
    box = node.createMbox("box");
    if (!node.ping(target, PATIENCE)) System.exit(1);
    System.out.println("up");
    System.out.flush();
    while (true) {
      try {
        serve(box.receive());
      } catch (OtpErlangExit e) {
        box.send("test", target, tuple(atom("exit"), e.reason()));
      }
    }
  }

  public static void main(String[] args) throws Exception {
    target = args[0];
    cookie = args[1];
    if (args[2].equals("serve")) serve();
    judge();
    System.exit(failed == 0 ? 0 : 1);
  }
}
