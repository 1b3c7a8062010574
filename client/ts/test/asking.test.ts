import assert from "node:assert/strict";
import { test } from "node:test";
import * as awkward from "./awkward.ts";
import { collect, setting, shop, somebody, unique } from "./helpers.ts";
import { BadRequestError, type Customer, type Order } from "./shop.ts";

const api = shop();

/** Three customers, of whom the first has two orders with lines, the second one, and the third none. */
async function traded() {
  const word = unique("w").replaceAll("-", "");
  const [ada, bob, eve] = (await api.customers.createMany([
    { ...somebody(), name: `Ada ${word}`, level: "gold", address: { country: "fr" } }, { ...somebody(), name: `bob ${word}`, level: "silver", address: { country: "de" } }, { ...somebody(), name: `Eve ${word}` },
  ])).data as [Customer, Customer, Customer];
  const [first, second, third] = (await api.orders.createMany([
    { customer_id: ada.id, number: 1, agent_id: bob.id }, { customer_id: ada.id, number: 2, state: "paid" }, { customer_id: bob.id, number: 3, agent_id: eve.id },
  ])).data as [Order, Order, Order];
  const lines = (await api.lines.createMany([
    { order_id: first.id, product: "Tea", amount: 1, price: "2.50" }, { order_id: first.id, product: "Cups", amount: 6 }, { order_id: second.id, product: "Tea", amount: 7, price: "1.25" }, { order_id: third.id, product: "tea", amount: 9 },
  ])).data;
  const filter = { name: { search: word } };
  const names = async (more: NonNullable<Parameters<typeof api.customers.list>[0]>["filter"], sort: Parameters<typeof api.customers.list>[0] = {}) =>
    (await api.customers.list({ filter: { email: [ada, bob, eve].map(({ email }) => email), ...more }, ...sort })).data.map(({ name }) => name.split(" ")[0]).join();
  return { word, ada, bob, eve, first, second, third, lines, filter, names };
}

test("sorts through references, into objects and by counts, in lists, loops and included lists", async () => {
  const { ada, bob, first, second, third, lines, names } = await traded();
  const filter = { customer_id: [ada.id, bob.id] };
  const numbers = async (sort: Parameters<typeof api.orders.list>[0]) => (await collect(api.orders.all({ filter, pageSize: 1, ...sort }))).map(({ number }) => number);
  assert.deepEqual(await numbers({ sort: ["-customer.name", "-number"] }), [3, 2, 1]);
  assert.deepEqual(await numbers({ sort: ["agent.name", "number"] }), [2, 3, 1]);
  assert.deepEqual(await numbers({ sort: ["-customer.address.country", "number"] }), [1, 2, 3]);
  assert.deepEqual((await collect(api.lines.backward({ filter: { order_id: [first.id, second.id, third.id] }, sort: ["order.customer.name", "amount"], pageSize: 3 }))).map(({ amount }) => amount), [9, 7, 6, 1]);
  assert.equal(await names({}, { sort: ["-count.orders"] }), "Ada,bob,Eve");
  assert.equal(await names({}, { sort: ["address.country"] }), "Eve,bob,Ada");
  assert.equal(await names({ "count.orders": { gte: 1 } }), "Ada,bob");
  assert.equal(await names({ "count.handled": 1 }), "bob,Eve");
  assert.equal(await names({ "count.orders": [0, 2], "count.handled": { not_in: [1, 2] } }), "Ada");
  const { data } = await api.customers.get(ada.id, { fields: ["name"], include: { orders: { sort: "-count.lines", filter: { "count.lines": { lt: 2 } }, include: ["lines"] } } });
  assert.deepEqual(data.orders, [{ ...second, lines: [lines[2]] }]);
});

test("conditions that one related resource fulfils together, and whether there are any", async () => {
  const { ada, names } = await traded();
  assert.equal(await names({ orders: { exists: false } }), "Eve");
  assert.equal(await names({ "orders.agent": { exists: true } }), "Ada,bob");
  assert.equal(await names({ "orders.state": "paid", "orders.lines.product": "Cups" }), "Ada");
  assert.equal(await names({ some: { orders: { state: "paid", "lines.product": "Cups" } } }), "");
  assert.equal(await names({ some: { orders: { state: "paid", "lines.product": ["Tea", "Cups"] } } }), "Ada");
  assert.equal(await names({ some: { orders: [{ number: 1 }, { number: 2 }] } }), "Ada");
  assert.equal(await names({ some: { handled: { number: { gt: 1 } } }, none: { orders: { agent: { exists: true } } } }), "Eve");
  assert.equal(await names({ none: { orders: [{ number: 1 }, { "lines.amount": 9 }] } }), "Eve");
  const { data } = await api.customers.get(ada.id, { fields: ["name"], include: { orders: { filter: { some: { lines: { product: "Tea", amount: { gte: 5 } } } } } } });
  assert.deepEqual(data.orders.map(({ number }) => number), [2]);
  await assert.rejects(api.customers.list({ filter: { some: { orders: {} } } }), TypeError);
  await assert.rejects(api.customers.list({ filter: { some: { orders: { number: 2 ** 53 } } } }), { name: "PrecisionError" });
  await assert.rejects(api.customers.list({ filter: { some: { orders: Array.from({ length: 9 }, (_, number) => ({ number })) } } }), BadRequestError);
});

test("an attribute can be searched in any case", async () => {
  const { word, ada, bob, names } = await traded();
  assert.equal(await names({ name: { search: `BOB ${word.toUpperCase().slice(0, -1)}` } }), "bob");
  assert.equal(await names({ any: [{ name: { search: "eve" } }, { email: ada.email }] }), "Ada,Eve");
  assert.deepEqual((await api.orders.list({ filter: { "customer.name": { search: `bob ${word}` } }, include: ["customer"] })).data.map(({ customer }) => customer), [bob]);
});

test("attributes that are called as groups of conditions are", async () => {
  const odd = awkward.createClient({ baseURL: setting("AWKWARD") });
  const group = unique("g");
  const { data: [one, two] } = await odd.dates.createMany([{ class: group, some: "a", none: 1, any: "x" }, { class: group, some: "b", none: 2, any: "y" }]);
  const found = async (filter: awkward.DateResourceFilter) => (await odd.dates.list({ filter: { ...filter, class: group } })).data;
  assert.deepEqual(await found({ some: "a" }), [one]);
  assert.deepEqual(await found({ some: ["a", "b"], none: 2 }), [two]);
  assert.deepEqual(await found({ none: { gt: 1 }, some: { starts_with: "b" } }), [two]);
  assert.deepEqual(await found({ some: { null: true } }), []);
  const { data } = await odd.dates.list({ filter: { class: group, some: { "blog-posts": { title: "x" } } } });
  assert.deepEqual(data, []);
});

test("groups: order, having, distinct, references", async () => {
  const { ada, bob, eve, lines, first, second, third } = await traded();
  const orders = { filter: { customer_id: [ada.id, bob.id] } };
  const shown = (page: { data: readonly { id: string }[] }) => page.data.map(({ id, ...rest }) => rest);
  const best = await api.lines.groups({ by: ["order_id"], sum: ["amount"], distinct: ["product"], filter: { order_id: [first.id, second.id, third.id] }, sort: ["-sum.amount", "order_id"], limit: 2 });
  assert.deepEqual(shown(best), [
    { type: "groups", by: { order_id: third.id }, count: 1, sum: { amount: 9 }, distinct: { product: 1 } },
    { type: "groups", by: { order_id: first.id }, count: 2, sum: { amount: 7 }, distinct: { product: 2 } },
  ]);
  const kept = await api.lines.groups({ by: ["product"], max: ["price"], avg: ["amount"], filter: { order_id: lines.map(({ order_id }) => order_id!) }, having: { count: { gte: 1, lt: 3 }, "max.price": { gte: "2.5" }, "avg.amount": 4 } });
  assert.deepEqual(shown(kept), [{ type: "groups", by: { product: "Tea" }, count: 2, avg: { amount: 4 }, max: { price: "2.50" } }]);
  const byCustomer = await api.orders.groups({ ...orders, by: ["customer_id", "customer.level", "created_at:week"], include: { customer: { fields: ["name"], include: ["handled"] } }, sort: "-count" });
  assert.deepEqual(byCustomer.data.map(({ by, count, customer }) => ({ ...by, "created_at:week": new Date(by["created_at:week"]).getUTCDay(), count, customer })), [
    { customer_id: ada.id, "customer.level": "gold", "created_at:week": 1, count: 2, customer: { id: ada.id, type: "customers", name: ada.name, handled: [] } },
    { customer_id: bob.id, "customer.level": "silver", "created_at:week": 1, count: 1, customer: { id: bob.id, type: "customers", name: bob.name, handled: [first] } },
  ]);
  const agents = await api.orders.groups({ ...orders, by: ["agent_id"], include: ["agent"], sort: "agent_id" });
  assert.deepEqual(agents.data.map(({ agent }) => agent), [null, bob, eve]);
  const page = await api.orders.groups({ ...orders, by: ["agent_id"], include: ["agent"], sort: "agent_id", limit: 1 });
  assert.deepEqual((await api.orders.groups({ ...orders, by: ["agent_id"], include: ["agent"], sort: "agent_id", ...page.next! })).data[0]!.agent, bob);
});

test("large integers of groups are exact", async () => {
  const odd = awkward.createClient({ baseURL: setting("AWKWARD") });
  const large = 2n ** 62n + 1n;
  const { data: parent } = await odd.dates.create({ default: large, in: 2 ** 60 });
  await odd["blog-posts"].createMany([{ date_id: parent.id, views: large - 1n }, { date_id: parent.id, views: 1n }]);
  const { data: [group] } = await odd["blog-posts"].groups({ by: ["date_id", "date.default", "date.in"], sum: ["views"], having: { "sum.views": { gte: large } }, filter: { date_id: parent.id }, include: ["date"] });
  assert.deepEqual([group!.by["date.default"], group!.by["date.in"], group!.sum.views, group!.date], [large, 2 ** 60, large, parent]);
});
