import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, setting, shop, somebody, unique } from "./helpers.ts";
import * as awkward from "./awkward.ts";
import {
  ConflictError, createClient, ForbiddenError, InvalidError, NotFoundError, PrecisionError, PreconditionFailedError, PreconditionRequiredError, UnauthenticatedError,
} from "./shop.ts";

const api = shop();

test("create, get, patch, replace and delete", async () => {
  const body = somebody();
  const seen = new Date("2026-11-15T12:00:00.5Z");
  const created = await api.customers.create({ ...body, last_seen: seen, address: { country: "fr" }, tags: ["a", "b"] });
  const { id, created_at, updated_at } = created.data;
  const expected = {
    id, type: "customers", ...body, level: "bronze", credit: 0, visits: null, member: null, born: null, last_seen: "2026-11-15T12:00:00.500Z",
    address: { country: "fr" }, notes: null, tags: ["a", "b"], created_at, updated_at,
  };
  assert.deepEqual(created.data, expected);
  assert.deepEqual(await api.customers.get(id), created);

  const patched = await api.customers.update(id, { visits: 7, tags: null });
  assert.deepEqual(patched.data, { ...expected, visits: 7, tags: null, updated_at: patched.data.updated_at });
  assert.ok(patched.etag !== created.etag);

  const replaced = await api.customers.replace(id, { ...patched.data, level: "gold", credit: 2.5 });
  assert.deepEqual(replaced.data, { ...patched.data, level: "gold", credit: 2.5, updated_at: replaced.data.updated_at });

  assert.deepEqual(await api.customers.delete(id), { data: replaced.data, etag: undefined });
  await assert.rejects(api.customers.delete(id), (error: NotFoundError) => {
    assert.ok(error instanceof NotFoundError);
    assert.equal(error.code, "not_found");
    assert.equal(error.status, 404);
    assert.ok(error.requestId);
    return true;
  });
});

test("what is no id leads nowhere", async () => {
  for (const id of ["", ".", "..", "7", "../orders", "a b?c#d%"]) {
    const message = `An id is a UUID, but this is ${JSON.stringify(id)}.`;
    await assert.rejects(api.customers.get(id), { name: "TypeError", message });
    await assert.rejects(api.customers.delete(id), { name: "TypeError", message });
    assert.throws(() => api.customers.of(id), { name: "TypeError", message });
  }
});

test("an array creates all or none", async () => {
  const bodies = [somebody(), somebody(), somebody()];
  const { data: created } = await api.customers.createMany(bodies);
  assert.deepEqual(created.map(({ email }) => email), bodies.map(({ email }) => email));
  const fresh = somebody();
  await assert.rejects(api.customers.createMany([fresh, bodies[0]!]), (error: ConflictError) => {
    assert.ok(error instanceof ConflictError);
    assert.deepEqual([error.code, error.source], ["not_unique", { pointer: "/1/email" }]);
    return true;
  });
  assert.equal(await api.customers.total({ filter: { email: fresh.email } }), 0);
});

test("everything that is wrong with a body, with its place", async () => {
  const wrong = { name: 7, email: "nobody", level: "platinum", nickname: "n" } as never;
  await assert.rejects(api.customers.create(wrong), (error: InvalidError) => {
    assert.ok(error instanceof InvalidError);
    assert.deepEqual(
      error.errors.map(({ code, source }) => [code, source?.pointer]),
      [["type", "/name"], ["format", "/email"], ["enum", "/level"], ["unknown_attribute", "/nickname"]],
    );
    assert.deepEqual(error.at("/email").map(({ title }) => title), ["Wrong format"]);
    assert.ok(error.message.startsWith("422 /name: Must be a string, but is a number."), error.message);
    return true;
  });
});

test("what JSON would turn into null is not sent", async () => {
  await assert.rejects(api.customers.create({ ...somebody(), credit: NaN }), { name: "TypeError", message: "credit is NaN, which JSON cannot hold." });
  await assert.rejects(api.customers.create({ ...somebody(), last_seen: new Date(NaN) }), { name: "TypeError", message: "last_seen is an invalid Date." });
});

test("a lost update is refused, and an order takes no blind change", async () => {
  const customer = await api.customers.create(somebody());
  const orders = api.customers.of(customer.data.id).orders;
  const first = await orders.create({ number: 1 });
  const ifMatch = first.etag!;
  const second = await orders.update(first.data.id, { state: "paid" }, { ifMatch });
  await assert.rejects(api.orders.update(first.data.id, { state: "sent" }, { ifMatch }), (error: PreconditionFailedError) => {
    assert.ok(error instanceof PreconditionFailedError);
    assert.deepEqual([error.status, error.code, error.source], [412, "precondition_failed", { header: "If-Match" }]);
    return true;
  });
  await assert.rejects(api.orders.delete(first.data.id, {} as never), PreconditionRequiredError);
  assert.deepEqual((await api.orders.get(first.data.id)).data.state, "paid");
  await api.orders.delete(first.data.id, { ifMatch: second.etag! });
});

test("a collection below a parent", async () => {
  const [one, other] = (await api.customers.createMany([somebody(), somebody()])).data;
  const orders = api.customers.of(one!.id).orders;
  const { data } = await orders.create({ number: 3 });
  assert.equal(data.customer_id, one!.id);
  await api.orders.create({ number: 4, customer_id: other!.id });
  assert.deepEqual((await orders.list()).data, [data]);
  assert.deepEqual(await collect(orders.all()), [data]);
  await assert.rejects(api.customers.of(other!.id).orders.get(data.id), NotFoundError);
});

test("an own id, and an own key for a repeated request", async () => {
  const id = crypto.randomUUID();
  const body = { id, ...somebody() };
  const idempotencyKey = unique("key");
  const first = await api.customers.create(body, { idempotencyKey });
  assert.equal(first.data.id, id);
  assert.deepEqual(await api.customers.create(body, { idempotencyKey }), first);
  await assert.rejects(api.customers.create(body), (error: ConflictError) => error.code === "id_exists");
});

test("who is calling", async () => {
  const baseURL = setting("SHOP");
  let asked = 0;
  const key = async () => [setting("GUEST"), setting("CLERK")][asked++];
  const changing = createClient({ baseURL, key });
  await assert.rejects(changing.customers.create(somebody()), ForbiddenError);
  await changing.customers.create(somebody());
  assert.equal(asked, 2);
  await assert.rejects(createClient({ baseURL }).customers.list(), (error: UnauthenticatedError) => error.code === "unauthenticated");
  await assert.rejects(createClient({ baseURL, key: "nonsense" }).customers.list(), (error: UnauthenticatedError) => error.code === "invalid_credentials");
  assert.deepEqual((await createClient({ baseURL: `${baseURL}/` }).reports.list({ limit: 0 })).data, []);
});

test("integers are exact, or an error", async () => {
  const odd = awkward.createClient({ baseURL: setting("AWKWARD") });
  const large = 2n ** 63n - 1n;
  const body = { default: large, in: 12345678901234567000, nested: { "quote\"": -large, amounts: [1n, large], "1st": 2 ** 70 } };
  const { data } = await odd.dates.create(body);
  assert.deepEqual([data.default, data.in, data.nested], [large, body.in, body.nested]);
  assert.deepEqual((await odd.dates.list({ filter: { default: { in: [large, 5] } } })).data, [data]);
  assert.deepEqual((await odd.dates.update(data.id, { default: 5, nested: null })).data.default, 5n);

  const { data: customer } = await api.customers.create({ ...somebody(), visits: 2 ** 53 - 1, credit: 2 ** 70, notes: { text: "12345678901234567890" } });
  assert.deepEqual([customer.visits, customer.credit, customer.notes], [2 ** 53 - 1, 2 ** 70, { text: "12345678901234567890" }]);
  const raw = { method: "PATCH", headers: { Authorization: `Bearer ${setting("CLERK")}`, "Content-Type": "application/json" } };
  await fetch(`${setting("SHOP")}/customers/${customer.id}`, { ...raw, body: '{"visits":9007199254740993}' });
  await assert.rejects(api.customers.get(customer.id), (error: PrecisionError) => {
    assert.ok(error instanceof PrecisionError);
    assert.equal(error.message, "visits is 9007199254740993, which a number cannot hold.");
    return true;
  });
});

test("an integer that is rounded already is not sent", async () => {
  const visits = 2 ** 53;
  const rejected = async (place: string, call: () => Promise<unknown>) =>
    assert.rejects(call, { name: "PrecisionError", message: `${place} is 9007199254740992, which a number cannot hold.` });
  await rejected("visits", () => api.customers.create({ ...somebody(), visits }));
  await rejected("visits", () => api.customers.createMany([somebody(), { ...somebody(), visits }]));
  await rejected("notes/deep/+", () => api.customers.create({ ...somebody(), notes: { deep: [1, visits] } }));
  await rejected("filter[visits]", () => api.customers.list({ filter: { visits } }));
  await rejected("filter[visits][in]", () => api.customers.list({ filter: { visits: { in: [1, visits] } } }));
  await rejected("filter[visits][lt]", () => api.customers.total({ filter: { visits: { lt: visits } } }));
  assert.equal(await api.customers.total({ filter: { credit: 2 ** 69 } }), 0); // a double
});

test("names that are awkward in TypeScript", async () => {
  const odd = awkward.createClient({ baseURL: setting("AWKWARD") });
  const { data } = await odd.dates.create({ class: "c", constructor: "k", choice: ["e\\f"], nested: { "two words": "x" } });
  assert.deepEqual([data.class, data.constructor, data.choice, data.nested], ["c", "k", ["e\\f"], { "two words": "x" }]);
  const { data: post } = await odd.dates.of(data.id)["blog-posts"].create({ title: "t" });
  assert.deepEqual((await odd["blog-posts"].get(post.id)).data, post);
  const { data: top } = await odd.class.create({ get: "g" });
  const { data: below } = await odd.class.of(top.id).class.create({});
  assert.equal(below.parent_id, top.id);
  assert.equal((await odd.constructor.create({ new: "n" })).data.new, "n");
});

test("callers learn who they are, and manage API keys", async () => {
  const { data: me } = await api.$me();
  assert.deepEqual([me.type, me.role, me.key_name, me.expires_at, me.metrics, me.keys], ["callers", "clerk", "clerk", null, false, ["guest"]]);
  const all = { list: "yes", read: "yes", create: "yes", update: "yes", delete: "yes", changes: "yes" };
  assert.deepEqual(me.collections.find(({ name }) => name === "steps"), { name: "steps", may: all, visible: ["number", "group"], writable: ["number", "group"] });

  const name = unique("key");
  const { data: { key, ...shown } } = await api.$keys.create({ name, role: "guest", sub: "ada", expires_at: new Date("2099-01-01T00:00:00Z") });
  const { id, prefix, created_at } = shown;
  assert.deepEqual(shown, { id, type: "keys", prefix, name, role: "guest", sub: "ada", created_at, expires_at: "2099-01-01T00:00:00.000Z", revoked_at: null });
  assert.ok(key.startsWith(`plural_${prefix}_`));
  assert.deepEqual((await api.$keys.get(prefix)).data, shown);
  assert.deepEqual((await api.$keys.list()).data.filter((each) => each.name === name), [shown]);

  const guest = shop({ key });
  assert.equal((await guest.$me()).data.sub, "ada");
  await assert.rejects(guest.$keys.list(), ForbiddenError);
  await assert.rejects(guest.$can({ role: "guest" }), ForbiddenError);
  const { data: decisions } = await api.$can({ role: "guest", sub: "ada", collection: "customers", verb: "delete" });
  const reasons = ["guest is not granted delete in customers"];
  assert.deepEqual(decisions, [{ id: decisions[0]!.id, type: "decisions", role: "guest", sub: "ada", collection: "customers", resource_id: null, verb: "delete", decision: "no", reasons }]);

  const { data: revoked } = await api.$keys.revoke(prefix);
  assert.deepEqual(revoked, { ...shown, revoked_at: revoked.revoked_at });
  assert.deepEqual((await api.$keys.revoke(prefix)).data, revoked);
  await assert.rejects(guest.$me(), UnauthenticatedError);
  await assert.rejects(api.$keys.revoke(key), { name: "TypeError", message: "An API key is named by its prefix, the ten characters after plural_." });
});
