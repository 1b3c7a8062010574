import assert from "node:assert/strict";
import { test } from "node:test";
import * as awkward from "./awkward.ts";
import { collect, setting, shop, troubled, unique } from "./helpers.ts";
import { BadRequestError, type StepFilter } from "./shop.ts";

const api = shop();

/** Some steps of a group of their own, numbered from 0. */
async function steps(count: number): Promise<{ group: string; ids: string[] }> {
  const group = unique("g");
  const { data } = await api.steps.createMany(Array.from({ length: count }, (_, number) => ({ group, number })));
  return { group, ids: data.map(({ id }) => id) };
}

const numbers = (from: number, to: number) => Array.from({ length: Math.abs(to - from) }, (_, at) => (from < to ? from + at : from - 1 - at));

test("filters and sorting", async () => {
  const { group } = await steps(10);
  await api.steps.createMany([{ group }, { group: `${group},a` }, { group: `${group}\\` }]);
  const found = async (filter: StepFilter, sort: "number" | "-number" = "number") =>
    (await api.steps.list({ filter: { group, ...filter }, sort })).data.map(({ number }) => number);
  assert.deepEqual(await found({ number: 3 }), [3]);
  assert.deepEqual(await found({ number: [3, 5] }), [3, 5]);
  assert.deepEqual(await found({ number: { gte: 3, lt: 6, ne: 4 } }, "-number"), [5, 3]);
  assert.deepEqual(await found({ number: { in: [1, 2, 77] } }), [1, 2]);
  assert.deepEqual(await found({ number: { not_in: [0, 1, 2, 3, 4, 5, 6, 7] } }), [null, 8, 9]);
  assert.deepEqual(await found({ number: { null: true } }), [null]);
  assert.deepEqual(await found({ number: { gt: 7 }, created_at: { lte: new Date(Date.now() + 60_000) } }), [8, 9]);
  const groups = async (filter: StepFilter["group"]) => (await api.steps.list({ filter: { group: filter!, number: { null: true } }, sort: "group" })).data.map((s) => s.group);
  assert.deepEqual(await groups({ starts_with: group, ne: group }), [`${group},a`, `${group}\\`]);
  assert.deepEqual(await groups({ in: [`${group}\\`, `${group},a`] }), [`${group},a`, `${group}\\`]);
  assert.deepEqual(await groups([`${group}\\`, group]), [group, `${group}\\`]);
  assert.equal(await api.steps.total({ filter: { group } }), 11);
});

test("what cannot be said in a query is an error and no other query", async () => {
  await assert.rejects(api.steps.list({ filter: { group: [] } }), { message: "filter[group] needs at least one value." });
  await assert.rejects(api.steps.list({ filter: { number: { in: [] } } }), { message: "filter[number][in] needs at least one value." });
  await assert.rejects(api.steps.list({ filter: { group: { not_in: ["a\\", "b\\"] } } }), { message: "filter[group][not_in] can have one value that ends with a backslash." });
  await assert.rejects(api.steps.list({ filter: { group: null as never } }), { message: "filter[group] cannot be null: use { null: true }." });
  await assert.rejects(api.steps.list({ offset: 1, cursor: "x" }), { name: "TypeError" });
  await assert.rejects(api.steps.list({ limit: 1.5 }), (error: BadRequestError) => {
    assert.ok(error instanceof BadRequestError);
    assert.deepEqual([error.code, error.source], ["invalid_parameter", { parameter: "limit" }]);
    return true;
  });
  await assert.rejects(collect(api.steps.all({ pageSize: 0 })), { name: "RangeError" });
});

test("pages, and those beside them", async () => {
  const { group } = await steps(7);
  const query = { filter: { group }, limit: 3 };
  const first = await api.steps.list(query);
  assert.deepEqual([first.data.map((s) => s.number), first.prev, first.total], [[0, 1, 2], undefined, undefined]);
  const second = await api.steps.list({ ...query, ...first.next, count: "exact" });
  assert.deepEqual([second.data.map((s) => s.number), second.total], [[3, 4, 5], 7]);
  const third = await api.steps.list({ ...query, ...second.next });
  assert.deepEqual([third.data.map((s) => s.number), third.next], [[6], undefined]);
  const back = await api.steps.list({ ...query, ...second.prev });
  assert.deepEqual(back.data, first.data);
  const byOffset = await api.steps.list({ ...query, offset: 5, limit: -2 });
  assert.deepEqual([byOffset.data.map((s) => s.number), byOffset.next], [[3, 4], { offset: 5, limit: 2 }]);
});

test("pages of long queries, for which the server gives no links", async () => {
  const { ids } = await steps(7);
  const shown = (data: readonly { number: number | null }[]) => data.map((s) => s.number).join("");
  for (const count of [30, 210, 1000]) {
    const others = Array.from({ length: count - ids.length }, (_, at) => `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`);
    const filter = { id: { in: [...ids, ...others] } };
    for (const range of [{ limit: 1 }, { limit: 3 }, { limit: 7 }, { limit: 8 }, {}, { offset: 0, limit: 3 }, { offset: 0, limit: 7 }]) {
      let query: object = { filter, ...range };
      let forth = "";
      for (let pages = 0; pages < 20; pages++) {
        const page = await api.steps.list(query);
        forth += shown(page.data);
        if (page.next === undefined) break;
        query = { ...query, ...page.next };
      }
      assert.equal(forth, "0123456", `${count} ids, ${JSON.stringify(range)}`);
    }
    for (const range of [{ limit: -1 }, { limit: -3 }, { limit: -7 }, { offset: 7, limit: -3 }]) {
      let query: object = { filter, ...range };
      let back = "";
      for (let pages = 0; pages < 20; pages++) {
        const page = await api.steps.list(query);
        back = shown(page.data) + back;
        if (page.prev === undefined) break;
        query = { ...query, ...page.prev };
      }
      assert.equal(back, "0123456", `${count} ids, ${JSON.stringify(range)}`);
    }
    assert.equal(shown(await collect(api.steps.all({ filter, pageSize: 3 }))), "0123456");
  }
});

test("a walk over thousands, in both directions", async () => {
  const { group, ids } = await steps(2500);
  const filter = { group };
  const walked = async (query: object, backwards = false) => {
    const all = backwards ? api.steps.backward({ filter, ...query }) : api.steps.all({ filter, ...query });
    return (await collect(all)).map(({ number }) => number);
  };
  assert.deepEqual(await walked({}), numbers(0, 2500));
  assert.deepEqual(await walked({}, true), numbers(2500, 0));
  assert.deepEqual(await walked({ limit: 1200 }), numbers(0, 1200));
  assert.deepEqual(await walked({ limit: -1200 }), numbers(2500, 1300));
  assert.deepEqual(await walked({ limit: 0 }), []);
  assert.deepEqual(await walked({ offset: 2000, pageSize: 100 }), numbers(2000, 2500));
  assert.deepEqual(await walked({ offset: 700, limit: -600, pageSize: 97 }), numbers(700, 100));
  assert.deepEqual(await walked({ offset: 5, limit: -20 }), numbers(5, 0));
  // Behind the end, where nothing is, positions count nevertheless.
  assert.deepEqual(await walked({ offset: 2600 }, true), numbers(2500, 0));
  assert.deepEqual(await walked({ offset: 1_000_000 }, true), numbers(2500, 0));
  assert.deepEqual(await walked({ offset: 2600, limit: -1200 }), numbers(2500, 1400));
  assert.deepEqual(await walked({ offset: 5000, limit: -1200 }), []);
  assert.deepEqual(await walked({ cursor: ids[1000], limit: 501 }), numbers(1000, 1501));
  assert.deepEqual(await walked({ cursor: ids[1000], limit: 501 }, true), numbers(1000, 499));
  assert.deepEqual(await walked({ sort: "-number", limit: 1001 }), numbers(2500, 1499));
  assert.deepEqual(await walked({ limit: 5, pageSize: 1 }), numbers(0, 5));
  // The links of long ranges in another order are by offset.
  for (const range of [{}, { cursor: ids[2400] }, { offset: 100 }]) {
    const all: (number | null)[] = [];
    let query: object | undefined = { filter, sort: "-number", limit: 1001, ...range };
    for (let pages = 0; pages < 9 && query !== undefined; pages++) {
      const page: Awaited<ReturnType<typeof api.steps.list>> = await api.steps.list(query);
      all.push(...page.data.map(({ number }) => number));
      query = page.next && { ...query, ...page.next };
    }
    assert.deepEqual(all, numbers("cursor" in range ? 2401 : "offset" in range ? 2400 : 2500, 0));
  }
});

test("a walk keeps its place while others are deleted, also in another order", async () => {
  for (const sort of ["id", "number", "-number"] as const) {
    for (const backwards of [false, true]) {
      const { group } = await steps(30);
      const query = { filter: { group }, sort, pageSize: 10 };
      const seen: (number | null)[] = [];
      let previous: string[] = [];
      for await (const step of backwards ? api.steps.backward(query) : api.steps.all(query)) {
        seen.push(step.number);
        previous = [...previous, step.id].slice(-3);
        // The last three of each page are gone when the next one is asked for.
        if (seen.length % 10 === 0) for (const id of previous) await api.steps.delete(id);
      }
      const up = (sort === "-number") === backwards;
      assert.deepEqual(seen, up ? numbers(0, 30) : numbers(30, 0), `${sort}, backwards: ${backwards}`);
    }
  }
});

test("a walk goes on where the connection broke", async () => {
  const { group } = await steps(1200);
  const { api: broken, attempts } = troubled("cut-body");
  const found = await collect(broken.steps.all({ filter: { group }, pageSize: 300 }));
  assert.deepEqual(found.map(({ number }) => number), numbers(0, 1200));
  assert.ok(attempts() >= 8, `${attempts()} attempts`);
});

test("a server with a smaller max_limit is asked for less at once", async () => {
  const requests: string[] = [];
  const odd = awkward.createClient({ baseURL: setting("AWKWARD"), fetch: (url, init) => (requests.push(new URL(url).searchParams.get("limit")!), fetch(url, init)) });
  const { data } = await odd.class.createMany(Array.from({ length: 1000 }, () => ({ get: "walked" })));
  const ids = data.map(({ id }) => id);
  requests.length = 0;
  const filter = { get: "walked" };
  assert.deepEqual((await collect(odd.class.all({ filter }))).map(({ id }) => id), ids);
  assert.deepEqual(requests.slice(0, 3), ["500", "250", "250"]);
  assert.deepEqual((await collect(odd.class.backward({ filter, limit: 600 }))).map(({ id }) => id), ids.slice(-600).reverse());
  assert.deepEqual(requests.slice(-3), ["-250", "-250", "-100"]);
});

test("a walk that is given up gives nothing more", async () => {
  const { group } = await steps(20);
  const controller = new AbortController();
  const seen: (number | null)[] = [];
  const walked = async () => {
    for await (const { number } of api.steps.all({ filter: { group }, signal: controller.signal })) {
      seen.push(number);
      if (number === 3) controller.abort(new Error("enough"));
    }
  };
  await assert.rejects(walked(), { message: "enough" });
  assert.deepEqual(seen, [0, 1, 2, 3]);
});

test("breaking off a walk asks for nothing more", async () => {
  const { group } = await steps(50);
  let requests = 0;
  const counting = shop({ fetch: (url, init) => (requests++, fetch(url, init)) });
  for await (const step of counting.steps.all({ filter: { group }, pageSize: 10 })) {
    if (step.number === 4) break;
  }
  assert.equal(requests, 1);
});

test("groups", async () => {
  const { group } = await steps(10);
  await api.steps.createMany([{ group }, { group: `${group}b`, number: 5 }]);
  const filter: StepFilter = { group: { starts_with: group } };
  const query = { by: ["group", "created_at:year"], sum: ["number"], avg: ["number"], max: ["number", "group"], filter, sort: "-count" } as const;
  const page = await api.steps.groups({ ...query, count: "exact" });
  const year = `${new Date().getUTCFullYear()}-01-01T00:00:00.000Z`;
  assert.deepEqual(page.data.map(({ id, ...rest }) => rest), [
    { type: "groups", by: { group, "created_at:year": year }, count: 11, sum: { number: 45 }, avg: { number: 4.5 }, max: { number: 9, group } },
    { type: "groups", by: { group: `${group}b`, "created_at:year": year }, count: 1, sum: { number: 5 }, avg: { number: 5 }, max: { number: 5, group: `${group}b` } },
  ]);
  assert.equal(page.total, 2);
  assert.equal(page.next, undefined);
  const sum: number = page.data[0]!.sum.number;
  assert.equal(sum, 45);
  const first = await api.steps.groups({ ...query, limit: 1 });
  assert.deepEqual(first.next, { offset: 1, limit: 1 });
  const second = await api.steps.groups({ ...query, ...first.next! });
  assert.deepEqual([...first.data, ...second.data], page.data);
  assert.deepEqual(second.prev, { offset: 1, limit: -1 });
  // A query that is too long for links.
  const long = { ...query, filter: { group: { starts_with: group, ne: "x".repeat(2500) } }, limit: 1 };
  const begin = await api.steps.groups(long);
  assert.deepEqual(begin.next, { offset: 1, limit: 1 });
  assert.deepEqual((await api.steps.groups({ ...long, ...begin.next! })).prev, { offset: 1, limit: -1 });
  const all = await api.steps.groups({ filter: { group } });
  assert.deepEqual(all.data.map(({ by, count }) => ({ by, count })), [{ by: {}, count: 11 }]);
  await assert.rejects(api.steps.groups({ sum: ["group" as never] }), BadRequestError);
});
