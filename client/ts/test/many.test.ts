import assert from "node:assert/strict";
import { test } from "node:test";
import * as awkward from "./awkward.ts";
import { setting, shop, somebody, troubled, unique } from "./helpers.ts";
import { BadRequestError, ConflictError, InvalidError, PreconditionFailedError } from "./shop.ts";

const api = shop();

/** Some steps of a group of their own, numbered from 0. */
async function steps(count: number) {
  const group = unique("g");
  const { data } = await api.steps.createMany(Array.from({ length: count }, (_, number) => ({ group, number })));
  return { group, data };
}

test("ranges are changed and deleted at once, or only shown", async () => {
  const { group, data } = await steps(4);
  const query = { filter: { group, number: { gte: 1 } }, sort: "-number", limit: 2 } as const;
  const shown = await api.steps.updateMany(query, { number: 9 }, { dryRun: true });
  assert.deepEqual([shown.data.map(({ id }) => id), shown.affected], [[data[3]!.id, data[2]!.id], { steps: 2 }]);
  assert.deepEqual((await api.steps.list({ filter: { group } })).data, data);

  const updated = await api.steps.updateMany(query, { number: 9 });
  assert.deepEqual([updated.data.map(({ id, number }) => [id, number]), updated.affected], [[[data[3]!.id, 9], [data[2]!.id, 9]], undefined]);
  assert.deepEqual((await api.steps.deleteMany({ filter: { group, number: 9 } }, { dryRun: true })).affected, { steps: 2 });
  assert.deepEqual((await api.steps.deleteMany({ filter: { group, number: 9 } })).data, [...updated.data].reverse());
  assert.equal(await api.steps.total({ filter: { group } }), 2);
  await assert.rejects(api.steps.deleteMany({}), (error: BadRequestError) => error.code === "filter_required");
});

test("a dry run of any write tells what it would affect", async () => {
  const { data: customer, etag } = await api.customers.create(somebody());
  await api.customers.of(customer.id).orders.createMany([{ number: 1 }, { number: 2 }]);
  const body = somebody();
  const shown = await api.customers.create(body, { dryRun: true });
  assert.deepEqual([shown.data.name, shown.etag, shown.affected], [body.name, undefined, { customers: 1 }]);
  assert.deepEqual((await api.customers.update(customer.id, { visits: 3 }, { ifMatch: etag!, dryRun: true })).affected, { customers: 1 });
  assert.deepEqual((await api.customers.delete(customer.id, { dryRun: true })).affected, { customers: 1, orders: 2 });
  assert.deepEqual((await api.customers.createMany([body, somebody()], { dryRun: true })).affected, { customers: 2 });
  assert.deepEqual((await api.reports.create({ title: "A report that is not made" }, { dryRun: true })).affected, { reports: 1 });
  assert.equal(await api.customers.total({ filter: { email: body.email } }), 0);
  assert.deepEqual((await api.customers.get(customer.id)).data, customer);
  await assert.rejects(api.customers.create(body, { dryRun: true, idempotencyKey: "k" }), { name: "TypeError", message: "A dry run has no idempotencyKey: it changes nothing." });
  const many = Array.from({ length: 1001 }, (_, number) => ({ number }));
  await assert.rejects(api.steps.createMany(many, { dryRun: true }), { name: "TypeError", message: "A dry run is one request, and these resources are too many for one." });
});

test("upserts create, or change what has the same unique values", async () => {
  const body = somebody();
  const first = await api.customers.upsert("email", { ...body, visits: 1 });
  const second = await api.customers.upsert("email", { email: body.email, visits: 2 });
  assert.deepEqual([first.created, second.created, second.data.id, second.data.name, second.data.visits], [true, false, first.data.id, body.name, 2]);
  const other = somebody();
  const { data } = await api.customers.upsertMany("email", [{ email: body.email, visits: 3 }, { ...other, visits: 4 }]);
  assert.deepEqual(data.map(({ email, visits }) => [email, visits]), [[body.email, 3], [other.email, 4]]);
  assert.deepEqual((await api.customers.upsertMany("email", [{ email: body.email, visits: 5 }], { dryRun: true })).affected, { customers: 1 });
  assert.equal((await api.customers.get(first.data.id)).data.visits, 3);

  const { data: order } = await api.orders.create({ number: 1, customer_id: first.data.id });
  const line = { order_id: order.id, product: "tea", amount: 1 };
  await api.lines.upsert(["order_id", "product"], line);
  const { data: lines } = await api.lines.upsertMany(["order_id", "product"], [{ ...line, amount: 7 }]);
  assert.deepEqual((await api.lines.list({ filter: { order_id: order.id } })).data, lines);
});

test("a long upsert goes in several arrays, each with a key of its own", async () => {
  const { data } = await steps(1200);
  const { data: changed } = await api.steps.upsertMany("id", data.map(({ id, number }) => ({ id, number: number! + 1 })), { idempotencyKey: unique("k") });
  assert.deepEqual(changed.map(({ number }) => number), data.map(({ number }) => number! + 1));
});

test("a transaction does all of its steps, or none", async () => {
  const [id, body] = [crypto.randomUUID(), somebody()];
  const known = await api.customers.create(somebody());
  const { data: [customer, order, changed, gone, upserted] } = await api.$transaction([
    api.customers.step.create({ id, ...body }),
    api.customers.of(id).orders.step.create({ number: 7 }),
    api.customers.step.update(known.data.id, { visits: 5 }, { ifMatch: known.etag! }),
    api.customers.step.delete(known.data.id),
    api.customers.step.upsert("email", { email: body.email, visits: 6 }),
  ]);
  assert.deepEqual([customer.id, order.customer_id, changed.visits, gone, upserted.id, upserted.visits], [id, id, 5, changed, id, 6]);
  assert.equal((await api.orders.get(order.id)).data.number, 7);

  const failing = [
    api.customers.step.replace(id, { ...somebody(), visits: 9 }),
    api.customers.step.create({ ...somebody(), email: "nobody" }),
  ];
  await assert.rejects(api.$transaction(failing), (error: InvalidError) => {
    assert.ok(error instanceof InvalidError);
    assert.deepEqual([error.code, error.source], ["format", { pointer: "/1/body/email" }]);
    return true;
  });
  await assert.rejects(api.$transaction([api.customers.step.update(id, {}, { ifMatch: known.etag! })]), (error: PreconditionFailedError) => error.source?.pointer === "/0/if_match");
  assert.equal((await api.customers.get(id)).data.visits, 6);
  assert.deepEqual((await api.$transaction([])).data, []);
});

test("a dry run of a transaction", async () => {
  const { data, affected } = await api.$transaction([api.customers.step.create(somebody()), api.steps.step.create({ number: 1 })], { dryRun: true });
  assert.deepEqual(affected, { customers: 1, steps: 1 });
  await assert.rejects(api.customers.get(data[0].id), { status: 404 });
});

test("a transaction that is sent again is done once", async () => {
  const { api: shaky, attempts } = troubled("cut-after");
  const body = somebody();
  const { data: [created] } = await shaky.$transaction([shaky.customers.step.create(body)]);
  assert.equal(attempts(), 2);
  assert.deepEqual((await api.customers.list({ filter: { email: body.email } })).data, [created]);
  await assert.rejects(api.$transaction([api.customers.step.create(body)]), (error: ConflictError) => error.source?.pointer === "/0/body/email");
});

test("integers of a transaction are exact", async () => {
  const odd = awkward.createClient({ baseURL: setting("AWKWARD") });
  const large = 2n ** 62n + 1n;
  const { data: [date, top] } = await odd.$transaction([odd.dates.step.create({ default: large }), odd.class.step.create({ get: "g" })]);
  assert.deepEqual([date.default, top.get], [large, "g"]);
});
