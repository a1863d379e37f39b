import assert from "node:assert/strict";
import {test} from "node:test";
import type {Reach} from "./connection";
import {Connection} from "./connection";
import {CallError} from "./source";

// A server that takes no ticket, and one token.
function serve(good: string): void {
  Object.assign(globalThis, {
    location: {pathname: "/", host: "127.0.0.1:9", hostname: "127.0.0.1"},
    fetch: (url: string, {headers}: {headers: {Authorization: string}}) => {
      const taken = headers.Authorization === `Bearer ${good}`;
      const code = url.endsWith("token") ? "ticket" : "token";
      return Promise.resolve(
        new Response(JSON.stringify({error: {code, message: ""}}), {status: taken ? 200 : 401}));
    },
  });
}

test("a ticket that is not taken leaves the token that is good, and no other", async () => {
  serve("new");
  const {keepToken, redeem} = await import("./http_source");
  const answer = () => redeem("1").then(() => "", (error: CallError) => error.code);
  assert.equal(await answer(), "ticket");
  keepToken("new");
  assert.equal(await answer(), "");
  serve("newer");
  assert.equal(await answer(), "ticket");
  serve("new");
  assert.equal(await answer(), "ticket");  // it is forgotten
});

// What the page is told of an answer, or of none.
async function told(
  fetch: typeof globalThis.fetch, before = false): Promise<[string, string, Reach]> {
  serve("good");
  const {HttpSource} = await import("./http_source");
  const connection = new Connection();
  let reach: Reach = "there";
  connection.listen((now) => reach = now);
  const source = new HttpSource(0, connection, () => false);
  if (before) {
    Object.assign(globalThis, {fetch: () => Promise.resolve(new Response("{}"))});
    await source.call("run");
  }
  Object.assign(globalThis, {fetch});
  const {code, message} =
    await source.call("run").then(() => new CallError("", ""), (error) => error);
  return [code, message, reach];
}

function answer(status: number, body: string, type: string): () => Promise<Response> {
  return () => Promise.resolve(new Response(body, {status, headers: {"Content-Type": type}}));
}

test("a server that cannot be reached, another one and a proxy are told apart", async () => {
  const cut = await told(() => Promise.reject(new TypeError("Failed to fetch")), true);
  assert.deepEqual([cut[0], cut[2]], ["gone", "cut"]);
  assert.match(
    cut[1], /^The browser cannot reach batchlight view at 127\.0\.0\.1:9: .* screen stays/);
  const refused = JSON.stringify({error: {code: "token", message: "the token is missing"}});
  const other = await told(answer(401, refused, "application/json"), true);
  assert.deepEqual([other[0], other[2]], ["token", "there"]);
  assert.match(other[1], /^Another batchlight view answers at this address/);
  const foreign = JSON.stringify({error: {code: "origin", message: "a page of another site"}});
  assert.deepEqual(await told(answer(403, foreign, "application/json"), true),
    ["origin", "a page of another site", "there"]);
  for (const proxy
         of [answer(502, "<html>Bad Gateway", "text/html"), answer(200, "<form>", "text/html")]) {
    const [code, message, reach] = await told(proxy, true);
    assert.deepEqual([code, reach], ["gone", "other"]);
    assert.match(message, /proxy/);
  }
});

test("a page that is not open yet has nothing on the screen that stays", async () => {
  const [, message] = await told(() => Promise.reject(new TypeError("Failed to fetch")));
  assert.match(message, /opens when it answers/);
  const refused = JSON.stringify({error: {code: "token", message: "the token is missing"}});
  assert.equal((await told(answer(401, refused, "application/json")))[1], "the token is missing");
});

test("a server of this machine gets nothing of what the browser keeps for others", async () => {
  const asked: (RequestCredentials|undefined)[] = [];
  await told((_, init) => {
    asked.push(init?.credentials);
    return Promise.resolve(new Response("{}"));
  });
  assert.deepEqual(asked, ["omit"]);
});
