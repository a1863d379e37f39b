import assert from "node:assert/strict";
import {test} from "node:test";
import {Connection} from "./connection";

test("tells when a server goes and when it comes back, each once", () => {
  const connection = new Connection();
  const heard: string[] = [];
  connection.listen((reach) => heard.push(reach));
  connection.tell("there");
  connection.tell("cut");
  connection.tell("cut");
  assert.ok(connection.gone);
  connection.tell("hangs");
  assert.ok(connection.gone);
  connection.tell("there");
  assert.deepEqual(heard, ["cut", "hangs", "there"]);
});
