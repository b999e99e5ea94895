// The official JavaScript client 8: index, bulk helper, search, scroll helper, errors, cat, health.
import { Client } from "@elastic/elasticsearch";
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

const [url, password, ca] = process.argv.slice(2);
const client = new Client({ node: url, auth: { username: "elastic", password }, tls: { ca: readFileSync(ca) } });

const info = await client.info();
assert.match(info.version.number, /^8\./);
await client.indices.create({ index: "js", mappings: { properties: { word: { type: "keyword" } } } });
const documents = Array.from({ length: 500 }, (_, n) => ({ n, word: n % 2 ? "odd" : "even", text: `number ${n}` }));
const bulk = await client.helpers.bulk({
  datasource: documents,
  onDocument: (document) => ({ index: { _index: "js", _id: String(document.n) } }),
  refreshOnCompletion: true,
});
assert.equal(bulk.successful, 500);
assert.equal(bulk.failed, 0);
assert.equal((await client.count({ index: "js" })).count, 500);
const found = await client.search({ index: "js", query: { term: { word: "odd" } }, size: 3, sort: [{ n: "desc" }] });
assert.equal(found.hits.total.value, 250);
assert.deepEqual(found.hits.hits.map((hit) => hit._source.n), [499, 497, 495]);
let seen = 0;
for await (const page of client.helpers.scrollSearch({ index: "js", size: 200, query: { match_all: {} } })) {
  seen += page.documents.length;
}
assert.equal(seen, 500);
await client.update({ index: "js", id: "1", doc: { word: "changed" } });
assert.equal((await client.get({ index: "js", id: "1" }))._source.word, "changed");
await assert.rejects(client.get({ index: "js", id: "none" }), (error) => error.statusCode === 404);
await assert.rejects(client.indices.create({ index: "js" }), (error) => error.message.includes("resource_already_exists_exception"));
const rows = await client.cat.indices({ index: "js", format: "json" });
assert.equal(rows[0]["docs.count"], "500");
assert.ok(["green", "yellow"].includes((await client.cluster.health()).status));
assert.ok(Object.keys((await client.nodes.stats()).nodes).length === 1);
await client.indices.delete({ index: "js" });
console.log("ok");
