import assert from "node:assert/strict";
import {test} from "node:test";
import golden from "../../tests/golden/stragglers.json";
import {findStraggler, stragglerWords} from "./straggler";

for (const {name, ranks, straggler} of golden.cases) {
  test(`the straggler is whom the analysis names: ${name}`,
    () => assert.deepEqual(findStraggler(golden.rule, ranks), straggler));
}

test("the sentence names the rank and what it costs", () => {
  const rule = {...golden.rule, found: "{waited} for rank {rank}, {share}", none: "nobody"};
  const ranks = [{waited: 300, step: 1000}, {waited: 0, step: 1000}];
  assert.equal(stragglerWords(rule, ranks, [7, 8]), "300 ns for rank 8, 30.0 %");
  assert.equal(stragglerWords(rule, [ranks[0], ranks[0]], [7, 8]), "nobody");
  assert.equal(stragglerWords(rule, [ranks[1]], [7]), "");
});
