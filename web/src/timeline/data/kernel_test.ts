import assert from "node:assert/strict";
import {test} from "node:test";
import {Kernel} from "./kernel";

// Jupyter, and a kernel whose messages have this session; null: it says nothing.
class Jupyter {
  static readonly OPEN = 1;
  static session: string|null = "s1";
  static opened: string[] = [];
  static last: Jupyter;
  readyState = 0;
  onopen = (): void => {};
  onclose = (): void => {};
  onmessage = (_: {data: unknown}): void => {};

  constructor(at: URL) {
    Jupyter.opened.push(String(at));
    Jupyter.last = this;
    setTimeout(() => {
      this.readyState = 1;
      this.onopen();
    });
  }

  send(text: string): void {
    const {header, channel} = JSON.parse(text) as {
      header: {msg_id: string};
      channel: string
    };
    const of = (id: string) =>
      JSON.stringify({channel, header: {session: Jupyter.session}, parent_header: {msg_id: id}});
    if (Jupyter.session === null) return;
    setTimeout(() => {
      this.onmessage({data: new ArrayBuffer(1)});
      this.onmessage({data: of("another's question")});
      this.onmessage({data: of(header.msg_id)});
    });
  }
}

function kernel(): Kernel {
  const pathname = "/user/ann/proxy/4711/";
  Object.assign(globalThis,
    {WebSocket: Jupyter, location: {pathname, href: `https://hub.example.org${pathname}#x`}});
  Jupyter.session = "s1";
  Jupyter.opened = [];
  return new Kernel("12-ab,s1");
}

test("Jupyter says that the process lives, over one connection", async () => {
  const asks = kernel();
  assert.deepEqual(await Promise.all([asks.alive(), asks.alive()]), [true, true]);
  assert.equal(await asks.alive(), true);
  assert.deepEqual(Jupyter.opened, ["wss://hub.example.org/user/ann/api/kernels/12-ab/channels"]);
});

test("one that was started anew is another, and stays so", async () => {
  const asks = kernel();
  Jupyter.session = "s2";
  assert.equal(await asks.alive(), false);
  assert.ok(asks.isDead);
  Jupyter.session = "s1";
  assert.equal(await asks.alive(), false);
});

test("where Jupyter does not answer nobody knows, and it is asked again", async () => {
  const asks = kernel();
  Jupyter.session = null;
  const alive = asks.alive();
  setTimeout(() => Jupyter.last.onclose(), 5);
  assert.equal(await alive, false);
  assert.ok(!asks.isDead);
  Jupyter.session = "s1";
  assert.equal(await asks.alive(), true);
  assert.equal(Jupyter.opened.length, 2);
});
