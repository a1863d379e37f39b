import assert from "node:assert/strict";
import {test} from "node:test";
import type {CallError} from "./source";

// A server that takes no ticket, and one token.
function serve(good: string): void {
  Object.assign(globalThis, {
    location: {pathname: "/"},
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
