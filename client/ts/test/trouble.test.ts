import assert from "node:assert/strict";
import { test } from "node:test";
import { setting, shop, somebody, troubled, unique } from "./helpers.ts";
import {
  AcceptedWrite, ApiError, ConnectionError, InvalidError, NotFoundError, PreconditionFailedError, ProtocolError, TooManyRequestsError, UnavailableError,
} from "./shop.ts";

const api = shop();

/** Answers made up, one after another. */
function answers(...all: (() => Response)[]): { fetch: () => Promise<Response>; count: () => number } {
  let count = 0;
  return { fetch: async () => all[Math.min(count++, all.length - 1)]!(), count: () => count };
}

const id = "01936f2e-7d3c-7a4b-9c5d-0123456789ab";

const json = (status: number, body: unknown, headers: Record<string, string> = {}) => () =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json;charset=utf-8", ...headers } });

for (const trouble of ["cut-before", "cut-after"]) {
  test(`every write is done once: ${trouble}`, async () => {
    const { api: broken, attempts } = troubled(trouble);
    const group = unique("g");
    const made = await Promise.all(Array.from({ length: 10 }, (_, number) => broken.steps.create({ group, number })));
    const { data: all } = await broken.steps.createMany([{ group }, { group }]);
    assert.equal(await api.steps.total({ filter: { group } }), 12);
    const [first, second] = made;
    assert.equal((await broken.steps.update(first!.data.id, { number: 99 }, { ifMatch: first!.etag! })).data.number, 99);
    assert.equal((await broken.steps.replace(second!.data.id, { group, number: 98 }, { ifMatch: second!.etag! })).data.number, 98);
    assert.deepEqual((await broken.steps.delete(all[0]!.id)).data, all[0]);
    assert.equal(await api.steps.total({ filter: { group } }), 11);
    const accepted = await broken.steps.createAsync({ group, number: 1000 });
    assert.equal((await accepted.wait()).data.number, 1000);
    assert.equal(await api.steps.total({ filter: { group } }), 12);
    assert.ok(attempts() >= 30, `${attempts()} attempts`);
  });
}

// A second creation would make a key that nobody knows.
for (const [trouble, attempts, created] of [["cut-after", 1, 1], ["503", 1, 0], ["429", 2, 1]] as const) {
  test(`a key is created once: ${trouble}`, async () => {
    const { api: broken, attempts: sent } = troubled(trouble);
    const name = unique("key");
    const outcome = await broken.$keys.create({ name, role: "guest" }).then(({ data }) => data.name, (error: Error) => error.constructor.name);
    assert.deepEqual([outcome, sent()], [{ "cut-after": "ConnectionError", "503": "UnavailableError", "429": name }[trouble], attempts]);
    assert.equal((await api.$keys.list()).data.filter((each) => each.name === name).length, created);
  });
}

test("many are created in as many arrays as it takes, each once", async () => {
  const { api: broken } = troubled("cut-after");
  const group = unique("g");
  const { data } = await broken.steps.createMany(Array.from({ length: 2300 }, (_, number) => ({ group, number })), { idempotencyKey: unique("many") });
  assert.deepEqual(data.map(({ number }) => number), Array.from({ length: 2300 }, (_, number) => number));
  assert.equal(await api.steps.total({ filter: { group } }), 2300);
  assert.deepEqual(await api.steps.createMany([]), { data: [] });

  // A megabyte is the most that a body may have.
  const large = "é".repeat(100_000);
  const { data: customers } = await api.customers.createMany(Array.from({ length: 12 }, () => ({ ...somebody(), notes: { large } })));
  assert.deepEqual(customers.map(({ notes }) => notes?.["large"] === large), Array.from({ length: 12 }, () => true));
});

test("many of which one is refused", async () => {
  const group = unique("g");
  const bodies = Array.from({ length: 1300 }, (_, number) => ({ group, number: number === 1207 ? ("x" as never) : number }));
  await assert.rejects(api.steps.createMany(bodies), (error: InvalidError) => {
    assert.ok(error instanceof InvalidError);
    assert.deepEqual([error.code, error.source, error.message], ["type", { pointer: "/1207/number" }, "422 /1207/number: Must be an integer, but is a string."]);
    assert.deepEqual(error.created.length, 1000);
    return true;
  });
  assert.equal(await api.steps.total({ filter: { group } }), 1000);
});

test("a server that takes smaller arrays gets them", async () => {
  const sizes: number[] = [];
  const strict = async (url: string, init: RequestInit) => {
    const size = (JSON.parse(init.body as string) as unknown[]).length;
    sizes.push(size);
    return size > 3 ? json(413, { errors: [{ status: 413, code: "too_many_items", title: "t", detail: "d" }] })() : fetch(url, init);
  };
  const group = unique("g");
  const { data } = await shop({ fetch: strict }).steps.createMany(Array.from({ length: 10 }, (_, number) => ({ group, number })));
  assert.deepEqual([data.map(({ number }) => number), sizes], [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10, 5, 3, 3, 3, 1]]);
});

test("a header that cannot be sent is refused at once, and not shown", async () => {
  const sent = answers(json(200, { data: [] }));
  const message = (name: string) => ({ name: "TypeError", message: `The header ${name} has a character that no header can have, such as a line break.` });
  await assert.rejects(shop({ fetch: sent.fetch, key: "sec\nret" }).customers.list(), message("Authorization"));
  await assert.rejects(shop({ fetch: sent.fetch, headers: { "X-Secret": "\u20ac" } }).customers.list(), message("X-Secret"));
  assert.equal(sent.count(), 0);
  await shop({ key: `${setting("CLERK")}\n` }).customers.list({ limit: 0 }); // as a file has it
});

test("429, 503 and a proxy's 502 are waited for", async () => {
  for (const trouble of ["429", "503", "502"]) {
    const { api: broken, attempts } = troubled(trouble);
    const customer = await broken.customers.create(somebody());
    assert.equal(attempts(), 2);
    assert.deepEqual(await broken.customers.get(customer.data.id), customer);
    assert.equal(attempts(), 4);
  }
});

test("retries are bounded", async () => {
  const busy = answers(json(503, { errors: [{ status: 503, code: "unavailable", title: "t", detail: "d" }] }));
  await assert.rejects(shop({ fetch: busy.fetch, retries: 2 }).customers.list(), (error: UnavailableError) => error instanceof UnavailableError && error.temporary);
  assert.equal(busy.count(), 3);
  const late = answers(json(429, { errors: [] }, { "Retry-After": "60" }));
  await assert.rejects(shop({ fetch: late.fetch, maxWait: 1000 }).customers.list(), (error: TooManyRequestsError) => {
    assert.ok(error instanceof TooManyRequestsError);
    assert.deepEqual([error.retryAfter, error.code], [60, "unknown"]);
    return true;
  });
  assert.equal(late.count(), 1);
  const wrong = answers(json(404, { errors: [] }));
  await assert.rejects(shop({ fetch: wrong.fetch }).customers.list(), NotFoundError);
  assert.equal(wrong.count(), 1);
  await assert.rejects(shop({ baseURL: setting("NOBODY"), retries: 1 }).customers.list(), (error: ConnectionError) => {
    assert.ok(error instanceof ConnectionError && error.temporary);
    assert.equal(error.message, `GET customers: fetch failed: connect ECONNREFUSED ${new URL(setting("NOBODY")).host}`);
    return true;
  });
});

test("Retry-After is heeded, in seconds and as a date", async () => {
  for (const written of [() => "1", () => new Date(Date.now() + 1500).toUTCString()]) {
    const before = Date.now();
    const header = written();
    const busy = answers(json(503, { errors: [] }, { "Retry-After": header }), json(200, { data: [] }));
    assert.deepEqual((await shop({ fetch: busy.fetch }).customers.list()).data, []);
    // A date has whole seconds, so that of 1.5 s from now may be half a second away.
    assert.ok(Date.now() - before >= 450, `${Date.now() - before} ms for ${header}`);
  }
});

test("an answer that is not a server's own", async () => {
  const html = () => new Response("<html>", { headers: { "Content-Type": "text/html" } });
  await assert.rejects(shop({ fetch: answers(html).fetch }).customers.list(), ProtocolError);
  await assert.rejects(shop({ fetch: answers(json(200, { data: {} })).fetch }).customers.list(), ProtocolError);
  await assert.rejects(shop({ fetch: answers(json(200, { data: [] })).fetch }).customers.get(id), ProtocolError);
  await assert.rejects(shop({ fetch: answers(json(200, { data: { name: "Ada" } })).fetch }).customers.get(id), ProtocolError);
  await assert.rejects(shop({ fetch: answers(json(201, { data: [] })).fetch }).steps.createMany([{}]), ProtocolError);
  await assert.rejects(shop({ fetch: answers(json(418, "teapot")).fetch }).customers.list(), (error: ApiError) => error.status === 418 && error.message === "418 without a reason");
  assert.throws(() => shop({ baseURL: "http://localhost/?x=1" }), TypeError);
});

test("operations are waited for", async () => {
  const accepted = await api.customers.createAsync(somebody());
  assert.ok(accepted instanceof AcceptedWrite);
  assert.equal(accepted.resource.type, "customers");
  const { data, etag } = await accepted.wait();
  assert.deepEqual(await api.customers.get(accepted.resource.id), { data, etag });
  assert.equal((await api.operations.get(accepted.operation)).data.status, "succeeded");

  // The second is refused at once, or when its turn comes; a caller who waits sees no difference.
  const change = async (visits: number) => (await api.customers.updateAsync(data.id, { visits }, { ifMatch: etag! })).wait();
  assert.equal((await change(1)).data.visits, 1);
  await assert.rejects(change(2), PreconditionFailedError);

  const gone = await api.customers.deleteAsync(data.id);
  assert.deepEqual(await gone.wait(), { data: { id: data.id, type: "customers" }, etag: undefined });
  await assert.rejects(api.customers.get(data.id), NotFoundError);
});

test("an operation that fails later has the error of a request that waits", async () => {
  const errors = [{ status: 412, code: "precondition_failed", title: "t", detail: "d", source: { header: "If-Match" } }];
  const failing = answers(
    json(202, { data: { id, type: "customers" } }, { Location: "/operations/o" }),
    json(200, { data: { id, type: "operations", status: "running" } }),
    json(200, { data: { id, type: "operations", status: "failed", errors } }),
  );
  await assert.rejects((await shop({ fetch: failing.fetch }).customers.updateAsync(id, {})).wait(), (error: PreconditionFailedError) => {
    assert.ok(error instanceof PreconditionFailedError);
    assert.deepEqual([error.operation, error.errors], ["o", errors]);
    return true;
  });
});

test("a collection that is declared asynchronous is used like any other", async () => {
  const { data } = await api.reports.create({ title: "Sales" });
  assert.deepEqual(data, { id: data.id, type: "reports", title: "Sales" });
  assert.equal((await api.reports.update(data.id, { title: "Returns" })).data.title, "Returns");
  assert.equal((await api.reports.delete(data.id)).data.id, data.id);
  await assert.rejects(api.reports.get(data.id), NotFoundError);
});

test("a write that is done later although nobody asked for that is waited for", async () => {
  const made = { id, type: "steps", number: 1 };
  const later = answers(
    json(202, { data: { id, type: "steps" } }, { Location: "/operations/o" }),
    json(200, { data: { id, type: "operations", status: "succeeded" } }),
    json(200, { data: made }, { ETag: '"1.1"' }),
  );
  assert.deepEqual(await shop({ fetch: later.fetch }).steps.create({ number: 1 }), { data: made, etag: '"1.1"' });
  assert.equal(later.count(), 3);
});

test("a request can be given up, wherever it is", async () => {
  const reason = new Error("enough");
  const hanging = (_: string, init: RequestInit) => new Promise<Response>((_, reject) => init.signal!.addEventListener("abort", () => reject(init.signal!.reason as Error)));
  const within = async (call: (signal: AbortSignal) => Promise<unknown>) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 20);
    await assert.rejects(call(controller.signal), (error: Error) => error === reason);
  };
  const before = Date.now();
  await within((signal) => shop({ fetch: hanging }).customers.list({ signal }));
  await within((signal) => shop({ fetch: answers(json(503, {}, { "Retry-After": "50" })).fetch, maxWait: 60_000 }).customers.create(somebody(), { signal }));
  await within(async (signal) => {
    const pending = answers(json(202, { data: { id, type: "customers" } }, { Location: "/operations/o" }), json(200, { data: { id, type: "operations", status: "pending" } }));
    await (await shop({ fetch: pending.fetch }).customers.deleteAsync(id)).wait({ signal });
  });
  await within(async (signal) => {
    for await (const _ of shop({ fetch: hanging }).customers.all({ signal })) void _;
  });
  await assert.rejects(api.customers.list({ signal: AbortSignal.abort(reason) }), (error: Error) => error === reason);
  assert.ok(Date.now() - before < 45_000); // of the 50 seconds that Retry-After asks for
});

test("an answer that does not come in time is asked for again", async () => {
  let attempts = 0;
  const slow = async (_: string, init: RequestInit) =>
    attempts++ === 0 ? new Promise<Response>((_, reject) => init.signal!.addEventListener("abort", () => reject(new Error("aborted")))) : json(200, { data: [] })();
  await shop({ fetch: slow, timeout: 200 }).customers.list({ limit: 0 });
  assert.equal(attempts, 2);
});

test("every write has a key of its own, also without crypto.randomUUID", async () => {
  const keys: string[] = [];
  const noting = (url: string, init: RequestInit) => {
    keys.push((init.headers as Record<string, string>)["Idempotency-Key"]!);
    return fetch(url, init);
  };
  const noted = shop({ fetch: noting });
  await noted.steps.create({});
  const original = Object.getOwnPropertyDescriptor(globalThis, "crypto")!;
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    await noted.steps.create({});
  } finally {
    Object.defineProperty(globalThis, "crypto", original);
  }
  assert.equal(new Set(keys).size, 2);
  for (const key of keys) assert.ok(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(key), key);
});
