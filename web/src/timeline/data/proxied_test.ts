// The page behind a proxy: what it sends carries the login to that proxy's other pages.
import assert from "node:assert/strict";
import {test} from "node:test";
import {Connection} from "./connection";
import {CallError} from "./source";

test("behind a proxy nothing is asked after the first question that nobody of ours answers",
  async () => {
    let asked = 0;
    Object.assign(globalThis, {
      location: {pathname: "/proxy/4711/", host: "127.0.0.1:8888", hostname: "127.0.0.1"},
      fetch: () => {
        ++asked;
        return Promise.resolve(new Response("<html>", {status: 500}));
      },
    });
    const {HttpSource} = await import("./http_source");
    const connection = new Connection();
    const source = new HttpSource(0, connection, () => false);
    for (let i = 0; i < 3; ++i) {
      const {code, message} =
        await source.call("status").then(() => new CallError("", ""), (error) => error);
      assert.equal(code, "gone");
      assert.match(message, /has ended.*Nothing is asked there any more/);
    }
    assert.ok(connection.over);
    assert.equal(asked, 1);
  });
