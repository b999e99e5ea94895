// The official JavaScript client 8: index, bulk helper, search, scroll helper, errors, cat, health; then a shop that
// changes its mapping without a pause: a new index, reindex, an alias that moves at once, and a reader with a key of its own.
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

// The shop: orders behind an alias, in an index that a template shapes.
await client.indices.putIndexTemplate({
  name: "orders",
  index_patterns: ["orders-*"],
  template: {
    settings: { number_of_replicas: 0 },
    mappings: { properties: { customer: { type: "keyword" }, at: { type: "date" }, total: { type: "double" }, lines: { type: "nested", properties: { sku: { type: "keyword" }, count: { type: "integer" } } } } },
  },
});
await client.indices.create({ index: "orders-1", aliases: { orders: { is_write_index: true } } });
const orders = Array.from({ length: 240 }, (_, n) => ({
  customer: `c${n % 8}`, at: new Date(Date.UTC(2026, n % 12, 1 + (n % 28))).toISOString(), total: n / 4,
  lines: [{ sku: `s${n % 5}`, count: 1 + (n % 3) }, { sku: "s-all", count: 1 }],
}));
const dropped = [];
const loaded = await client.helpers.bulk({
  datasource: [...orders, { customer: "broken", total: "no number" }],
  onDocument: () => ({ create: { _index: "orders" } }),
  onDrop: (one) => dropped.push(one),
  refreshOnCompletion: "orders",
  retries: 0,
});
assert.equal(loaded.successful, 240);
assert.equal(dropped.length, 1);
assert.equal(dropped[0].status, 400);
assert.match(dropped[0].error.reason, /failed to parse field \[total\]/);
const report = await client.search({
  index: "orders", size: 0,
  aggs: {
    months: { date_histogram: { field: "at", calendar_interval: "month" }, aggs: { sum: { sum: { field: "total" } } } },
    best: { terms: { field: "customer", size: 3, order: { spent: "desc" } }, aggs: { spent: { sum: { field: "total" } } } },
    lines: { nested: { path: "lines" }, aggs: { skus: { cardinality: { field: "lines.sku" } } } },
  },
});
assert.equal(report.aggregations.months.buckets.length, 12);
assert.equal(report.aggregations.months.buckets.reduce((sum, month) => sum + month.sum.value, 0), 240 * 239 / 8);
assert.deepEqual(report.aggregations.best.buckets.map((bucket) => bucket.key), ["c7", "c6", "c5"]);
assert.equal(report.aggregations.lines.doc_count, 480);
assert.equal(report.aggregations.lines.skus.value, 6);

// The new index counts cents; nobody reads between the two.
await client.indices.create({ index: "orders-2", mappings: { properties: { total: { type: "long" } } } });
const moved = await client.reindex({ source: { index: "orders-1" }, dest: { index: "orders-2", op_type: "create" }, refresh: true });
assert.equal(moved.created, 240);
await client.indices.updateAliases({ actions: [
  { add: { index: "orders-2", alias: "orders", is_write_index: true } }, { remove: { index: "orders-1", alias: "orders", must_exist: true } },
] });
assert.deepEqual(Object.keys(await client.indices.getAlias({ name: "orders" })), ["orders-2"]);
await client.indices.delete({ index: "orders-1" });

// A page after the other over one moment, while somebody deletes.
const pit = await client.openPointInTime({ index: "orders", keep_alive: "1m" });
const gone = await client.deleteByQuery({ index: "orders", query: { term: { customer: "c0" } }, refresh: true });
assert.equal(gone.deleted, 30);
let after, paged = 0;
for (;;) {
  const page = await client.search({ size: 70, pit: { id: pit.id }, sort: [{ at: "asc" }, { _shard_doc: "asc" }], search_after: after });
  if (page.hits.hits.length === 0) break;
  paged += page.hits.hits.length;
  after = page.hits.hits.at(-1).sort;
}
assert.equal(paged, 240);
await client.closePointInTime({ id: pit.id });
const many = client.helpers.msearch();
const [mine, all] = await Promise.all([
  many.search({ index: "orders" }, { query: { term: { customer: "c1" } }, track_total_hits: true }),
  many.search({ index: "orders" }, { query: { match_all: {} }, track_total_hits: true }),
]);
many.stop();
assert.equal(mine.body.hits.total.value, 30);
assert.equal(all.body.hits.total.value, 210);

// Two clerks change one order; the second is told.
const first = (await client.search({ index: "orders", size: 1, seq_no_primary_term: true })).hits.hits[0];
const version = { if_seq_no: first._seq_no, if_primary_term: first._primary_term };
await client.update({ index: "orders", id: first._id, ...version, doc: { total: 1 } });
await assert.rejects(client.update({ index: "orders", id: first._id, ...version, doc: { total: 2 } }), (error) => error.statusCode === 409);

// A key that reads orders and nothing else.
const key = await client.security.createApiKey({
  name: "reader", role_descriptors: { reader: { indices: [{ names: ["orders*"], privileges: ["read"] }] } },
});
const reader = new Client({ node: url, auth: { apiKey: key.encoded }, tls: { ca: readFileSync(ca) } });
assert.equal((await reader.count({ index: "orders" })).count, 210);
await assert.rejects(reader.index({ index: "orders", document: {} }), (error) => error.statusCode === 403);
await client.security.invalidateApiKey({ ids: [key.id] });
await assert.rejects(reader.count({ index: "orders" }), (error) => error.statusCode === 401);
await client.indices.delete({ index: "orders-2" });
await client.indices.deleteIndexTemplate({ name: "orders" });
console.log("ok");
