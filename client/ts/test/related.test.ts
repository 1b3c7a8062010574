import assert from "node:assert/strict";
import { test } from "node:test";
import * as awkward from "./awkward.ts";
import { collect, setting, shop, somebody, unique } from "./helpers.ts";
import { BadRequestError } from "./shop.ts";

const api = shop();

/** A customer with two orders, of two lines and of none, and an agent of the first. */
async function bought() {
  const product = unique("p");
  const [customer, agent] = (await api.customers.createMany([{ ...somebody(), level: "gold" }, { ...somebody(), tags: ["quick", "kind"], address: { country: "fr", street: "Rue" } }])).data;
  const orders = api.customers.of(customer!.id).orders;
  const [first, second] = (await orders.createMany([{ number: 1, agent_id: agent!.id }, { number: 2, state: "paid" }])).data;
  const lines = (await api.lines.createMany([{ order_id: first!.id, product, amount: 1, weight: 2 ** 70 }, { order_id: first!.id, product: `${product}b`, amount: 5, price: "2.50" }])).data;
  return { product, customer: customer!, agent: agent!, first: first!, second: second!, lines };
}

test("related resources are members of a resource", async () => {
  const { customer, agent, first, second, lines } = await bought();
  const filter = { customer_id: customer.id };
  const { data } = await api.orders.list({ filter, include: ["customer", "agent", "lines"] });
  assert.deepEqual(data, [
    { ...first, customer, agent, lines },
    { ...second, customer, agent: null, lines: [] },
  ]);
  assert.deepEqual(data[0]!.lines.map(({ product }) => product), lines.map(({ product }) => product));

  const one = await api.customers.get(customer.id, { include: ["orders.lines", "orders.agent"] });
  assert.deepEqual(one, { data: { ...customer, orders: [{ ...first, lines, agent }, { ...second, lines: [], agent: null }] }, etag: undefined });
  assert.equal(one.data.orders[0]!.agent?.name, agent.name);
  assert.deepEqual((await api.customers.get(agent.id, { include: ["handled"] })).data, { ...agent, handled: [first] });
  assert.deepEqual((await api.orders.get(first.id, { include: [] })).data, first);
});

test("options of related resources", async () => {
  const { customer, first, second, lines } = await bought();
  const { data } = await api.customers.get(customer.id, {
    fields: ["name"],
    include: {
      orders: { limit: 1, sort: "-number", filter: { state: ["paid", "sent"] }, total: true, fields: ["state"], include: { lines: true } },
    },
  });
  assert.deepEqual(data, { id: customer.id, type: "customers", name: customer.name, orders: [{ id: second.id, type: "orders", state: "paid", lines: [] }], orders_total: 1 });
  const total: number = data.orders_total;
  assert.equal(total, 1);

  const { data: orders } = await api.customers.of(customer.id).orders.list({
    fields: ["number"],
    include: { lines: { filter: { any: [{ amount: { gt: 4 } }, { "order.state": "sent" }] }, include: ["order.customer"] }, agent: { fields: ["id"] } },
    limit: 1,
  });
  assert.deepEqual(orders, [{ id: first.id, type: "orders", number: 1, lines: [{ ...lines[1], order: { ...first, customer } }], agent: { id: first.agent_id, type: "customers" } }]);
});

test("pages and loops have what is included", async () => {
  const { customer, first, second } = await bought();
  const query = { filter: { customer_id: customer.id }, include: ["customer"], fields: ["number"], limit: 1 } as const;
  const page = await api.orders.list(query);
  const next = await api.orders.list({ ...query, ...page.next });
  const expected = [first, second].map(({ id, type, number }) => ({ id, type, number, customer }));
  assert.deepEqual([...page.data, ...next.data], expected);
  const { limit: _, ...all } = query;
  assert.deepEqual(await collect(api.orders.all({ ...all, pageSize: 1 })), expected);
  assert.deepEqual(await collect(api.orders.backward(all)), [...expected].reverse());
});

test("what cannot be included or shown is an error", async () => {
  await assert.rejects(api.orders.list({ fields: [] }), { name: "TypeError", message: 'fields needs at least one name: ["id"] gives only id and type.' });
  await assert.rejects(api.orders.list({ include: { lines: { fields: [] } } }), { message: 'fields[lines] needs at least one name: ["id"] gives only id and type.' });
  await assert.rejects(api.orders.list({ include: ["nobody" as "customer"] }), (error: BadRequestError) => {
    assert.deepEqual([error.status, error.code, error.source], [400, "invalid_parameter", { parameter: "include" }]);
    return true;
  });
});

test("filters through relations, inside objects and arrays, and by alternatives", async () => {
  const { product, customer, agent, first, second } = await bought();
  const orders = async (filter: NonNullable<Parameters<typeof api.orders.list>[0]>["filter"]) => (await api.orders.list({ filter: filter! })).data.map(({ id }) => id);
  assert.deepEqual(await orders({ "customer.email": customer.email }), [first.id, second.id]);
  assert.deepEqual(await orders({ "customer.email": customer.email, "lines.product": { starts_with: product } }), [first.id]);
  assert.deepEqual(await orders({ "agent.address.country": "fr", "agent.tags": { has: ["slow", "quick"] }, "agent.id": agent.id }), [first.id]);
  assert.deepEqual(await orders({ customer_id: customer.id, "agent.tags": { has_all: ["kind", "slow"] } }), []);
  assert.deepEqual(await orders({ customer_id: customer.id, any: [{ state: "paid", number: 2 }, { "agent.name": agent.name }] }), [first.id, second.id]);
  assert.deepEqual(await orders({ customer_id: customer.id, any: [{ state: "sent" }, { number: { gt: 1 } }] }), [second.id]);
  assert.deepEqual((await api.lines.list({ filter: { "order.customer.email": customer.email, weight: 2 ** 70 } })).data.map(({ amount }) => amount), [1]);
  assert.deepEqual((await api.orders.list({ filter: { "lines.weight": { gte: 2 ** 70 }, customer_id: customer.id } })).data.map(({ id }) => id), [first.id]);
  assert.equal(await api.customers.total({ filter: { "orders.lines.product": product } }), 1);
  assert.deepEqual((await api.customers.list({ filter: { tags: { has: "kind", has_all: ["kind", "quick"] }, email: agent.email } })).data, [agent]);
  await assert.rejects(api.orders.list({ filter: { any: [{ state: "paid" }, {}] } }), { name: "TypeError", message: "filter[any][1] needs at least one condition." });
  await assert.rejects(api.orders.list({ filter: { "lines.amount": 2 ** 53 } }), { name: "PrecisionError" });
});

test("search", async () => {
  const word = unique("w").replaceAll("-", "");
  const { data: created } = await api.customers.createMany([{ ...somebody(), name: `Ærø ${word}` }, { ...somebody(), name: `Ana ${word}x` }]);
  assert.deepEqual((await api.customers.list({ search: word })).data, created);
  assert.deepEqual((await api.customers.list({ search: `${word.toUpperCase()} an` })).data, created.slice(1));
  assert.equal(await api.customers.total({ search: word, filter: { name: { starts_with: "Ana" } } }), 1);
  assert.deepEqual(await collect(api.customers.all({ search: word, fields: ["name"], pageSize: 1 })), created.map(({ id, type, name }) => ({ id, type, name })));
  assert.deepEqual((await api.customers.groups({ search: word })).data.map(({ count }) => count), [2]);
});

test("groups of what is filtered through relations", async () => {
  const { customer } = await bought();
  const { data } = await api.lines.groups({ by: ["order_id"], sum: ["amount", "price"], filter: { "order.customer_id": customer.id } });
  assert.deepEqual(data.map(({ count, sum }) => ({ count, sum })), [{ count: 2, sum: { amount: 6, price: "2.50" } }]);
});

test("a watch shows the fields that are asked for, of what is searched", async () => {
  const word = unique("w").replaceAll("-", "");
  const { data } = await api.customers.create({ ...somebody(), name: word });
  const seen: unknown[] = [];
  for await (const event of api.customers.watch({ search: word, fields: ["name"], signal: AbortSignal.timeout(60_000) })) {
    seen.push(event.kind === "listed" ? event.data : event.kind);
    if (event.kind === "synced") break;
  }
  assert.deepEqual(seen, [{ id: data.id, type: "customers", name: word }, "synced"]);
});

test("integers of related resources are exact", async () => {
  const odd = awkward.createClient({ baseURL: setting("AWKWARD") });
  const large = 2n ** 62n + 1n;
  const text = unique("any");
  const { data } = await odd.dates.create({ default: large, any: text });
  const posts = odd.dates.of(data.id)["blog-posts"];
  const { data: post } = await posts.create({ views: large, rating: 2 ** 70 });
  assert.deepEqual((await odd.dates.get(data.id, { include: ["blog-posts.date"] })).data, { ...data, "blog-posts": [{ ...post, date: data }] });
  assert.deepEqual((await odd["blog-posts"].list({ filter: { "date.default": large, "date.any": text }, include: { date: { fields: ["default"] } } })).data, [{ ...post, date: { id: data.id, type: "dates", default: large } }]);
  // An attribute that is named as the alternatives are.
  assert.deepEqual((await odd.dates.list({ filter: { any: text } })).data, [data]);
  assert.deepEqual((await odd.dates.list({ filter: { any: [text, "other"] } })).data, [data]);
  assert.deepEqual((await odd.dates.list({ filter: { any: { starts_with: text } } })).data, [data]);
  assert.deepEqual((await odd.dates.list({ filter: { default: large, any: [{ levels: 1 }, { id: data.id }] } })).data, [data]);
});
