import assert from "node:assert/strict";
import { test } from "node:test";
import * as awkward from "./awkward.ts";
import { collect, setting, shop, somebody, unique } from "./helpers.ts";
import { BadRequestError, ForbiddenError, NotFoundError, PreconditionFailedError, type Change, type ChangeRange, type Step } from "./shop.ts";

/** A change of a step in one line. */
const told = ({ kind, previous, data }: Change<Step>) => `${kind} ${previous?.number ?? "-"} ${data?.number ?? "-"}`;

test("the changes of a live server: list, all, get and their filters", async () => {
  const api = shop();
  const before = (await api.changes.list({ limit: 0 })).position;
  assert.ok(before);
  const { data: step } = await api.steps.create({ group: unique("g"), number: 1 });
  const { data: customer } = await api.customers.create(somebody());
  await api.steps.update(step.id, { number: 2 });
  await api.steps.delete(step.id);
  const filter = { "resource.id": step.id };
  const history = ["created - 1", "updated 1 2", "deleted 2 -"];
  const steps = async (query: Parameters<typeof api.changes.all>[0]) => (await collect(api.changes.all(query))).map((change) => told(change as Change<Step>));

  const page = await api.changes.list({ filter, count: "exact" });
  assert.deepEqual(page.data.map((change) => told(change as Change<Step>)), history);
  assert.equal(page.total, 3);
  const [created, updated, deleted] = page.data as [Change<Step>, Change<Step>, Change<Step>];
  assert.deepEqual(updated, {
    id: updated.id, type: "changes", kind: "updated", resource: { id: step.id, type: "steps" }, revision: updated.revision, by: updated.by,
    previous: { number: 1 }, data: { ...step, number: 2, updated_at: updated.data?.updated_at }, created_at: updated.created_at,
  });
  assert.ok(updated.by?.startsWith("key:"));
  assert.ok(updated.revision > created.revision);
  assert.equal(deleted.previous?.group, step.group);
  const one = await api.changes.get(updated.id);
  assert.deepEqual(one.data, updated);
  assert.ok(one.etag);

  assert.deepEqual(await steps({ filter: { ...filter, kind: ["created", "deleted"] } }), ["created - 1", "deleted 2 -"]);
  assert.deepEqual(await steps({ filter: { ...filter, collection: "customers" } }), []);
  assert.deepEqual(await steps({ filter: { ...filter, by: updated.by!, created_at: { lte: new Date(deleted.created_at) } } }), history);
  assert.deepEqual(await steps({ filter: { ...filter, by: { null: true } } }), []);
  assert.deepEqual(await steps({ filter, since: created.id, pageSize: 1 }), history.slice(1));
  assert.deepEqual(await steps({ filter, since: before, pageSize: 2 }), history);
  assert.deepEqual(await steps({ filter, cursor: updated.id }), history.slice(1));
  assert.deepEqual(await steps({ filter, limit: -2, pageSize: 1 }), ["deleted 2 -", "updated 1 2"]);
  assert.deepEqual((await collect(api.changes.backward({ filter }))).map(({ id }) => id), [deleted.id, updated.id, created.id]);
  assert.deepEqual((await collect(api.changes.all({ since: before, filter: { collection: "customers", "resource.id": customer.id } }))).map(({ data }) => data), [customer]);

  const query = { filter, since: before, limit: 2 };
  const pages: string[][] = [];
  for (let range: ChangeRange | undefined = {}; range !== undefined; ) {
    const each = await api.changes.list({ ...query, ...range });
    pages.push(each.data.map(({ kind }) => kind));
    range = each.next;
  }
  assert.deepEqual(pages, [["created", "updated"], ["deleted"]]);
  assert.deepEqual((await api.changes.list({ filter, since: page.position! })).data, []);

  await assert.rejects(api.changes.list({ cursor: updated.id, since: created.id }), TypeError);
  await assert.rejects(api.changes.get("1"), TypeError);
  await assert.rejects(api.changes.get(step.id), NotFoundError);
  await assert.rejects(api.changes.list({ since: step.id }), BadRequestError);
  await assert.rejects(shop({ key: setting("GUEST") }).changes.list(), ForbiddenError);
});

test("a list and then its changes, and the changes as they come", async () => {
  const api = shop();
  const group = unique("g");
  const { data: step } = await api.steps.create({ group, number: 1 });
  const { position } = await api.steps.list({ filter: { group } });
  await api.steps.update(step.id, { number: 2 });
  for await (const event of api.steps.watch({ filter: { group }, since: position! })) {
    assert.deepEqual([event.kind, event.kind === "updated" && event.data.number], ["updated", 2]);
    break;
  }
  const filter = { "resource.id": step.id };
  const seen: string[] = [];
  for await (const event of api.changes.watch({ filter })) {
    seen.push(event.kind);
    if (event.kind === "synced") await api.steps.delete(step.id);
    if (event.kind !== "created") continue;
    assert.deepEqual([event.data.kind, event.data.data, event.data.previous?.id], ["deleted", null, step.id]);
    break;
  }
  assert.deepEqual(seen, ["listed", "listed", "synced", "created"]);
  for await (const event of api.changes.watch({ filter, fromNow: true })) {
    assert.equal(event.kind, "synced");
    break;
  }
});

test("the history of a resource, also after it and its parent were deleted", async () => {
  const api = shop();
  const { data: customer, etag } = await api.customers.create(somebody());
  const orders = api.customers.of(customer.id).orders;
  const { data: order, etag: first } = await orders.create({ number: 1 });
  await orders.update(order.id, { number: 2 }, { ifMatch: first! });
  const kinds = async (all: AsyncIterable<Change<typeof order>>) => (await collect(all)).map(({ kind, data }) => `${kind} ${data?.number ?? "-"}`);
  assert.deepEqual(await kinds(orders.history(order.id).all()), ["created 1", "updated 2"]);
  const { data: [latest] } = await orders.history(order.id).list({ limit: -1 });
  assert.deepEqual((await orders.history(order.id).get(latest!.id)).data, latest);
  await assert.rejects(api.customers.delete(customer.id, { ifMatch: '"0.0"' }), PreconditionFailedError);
  await api.customers.delete(customer.id, { ifMatch: etag! });
  await assert.rejects(orders.history(order.id).list(), NotFoundError);
  assert.deepEqual(await kinds(api.orders.history(order.id).all()), ["created 1", "updated 2", "deleted -"]);
  assert.throws(() => api.orders.history("1"), TypeError);
});

test("integers beyond 2^53 in changes", async () => {
  const odd = awkward.createClient({ baseURL: setting("AWKWARD") });
  const { data } = await odd.dates.create({ class: unique("c"), default: 2n ** 62n, in: 1e21 });
  await odd.dates.update(data.id, { default: 1n });
  const want = [[2n ** 62n, undefined], [1n, 2n ** 62n]];
  const bigs = async (changes: AsyncIterable<Change<awkward.DateResource>>) => (await collect(changes)).map(({ data, previous }) => [data?.default, previous?.default]);
  assert.deepEqual(await bigs(odd.dates.history(data.id).all()), want);
  assert.deepEqual(await bigs(odd.changes.all({ filter: { "resource.id": data.id } }) as AsyncIterable<Change<awkward.DateResource>>), want);
  for await (const event of odd.changes.watch({ filter: { "resource.id": data.id } })) {
    if (event.kind === "listed" && event.data.data?.type === "dates") assert.equal(event.data.data.default, 2n ** 62n);
    break;
  }
});
