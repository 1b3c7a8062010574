import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, shop, unique } from "./helpers.ts";
import { ApiError, BadRequestError, type Client } from "./shop.ts";

/** A client whose requests a function may refuse, with the methods of those that were sent. */
function watched(refuse: (method: string) => Response | undefined = () => undefined): { api: Client; methods: () => string } {
  let methods: string[] = [];
  const api = shop({
    retries: 0,
    fetch: async (url, init) => {
      methods.push(init.method!);
      return refuse(init.method!) ?? fetch(url, init);
    },
  });
  return { api, methods: () => methods.splice(0).join(" ") };
}

/** More numbers than a URL should have, of which some steps have three. */
const many = Array.from({ length: 900 }, (_, at) => 1_000_000_000 + at);

async function steps(): Promise<string> {
  const group = unique("g");
  await shop().steps.createMany([{ group, number: 1 }, { group, number: 2 }, { group, number: 3 }, { group, number: 4 }]);
  return group;
}

test("long reads are sent by QUERY", async () => {
  const group = await steps();
  const { api, methods } = watched();
  const filter = { group, number: { in: [1, 2, 3, ...many] } };
  const first = await api.steps.list({ filter, limit: 2, sort: "-number" });
  assert.deepEqual(first.data.map(({ number }) => number), [3, 2]);
  const next = await api.steps.list({ filter, limit: 2, sort: "-number", ...first.next });
  assert.deepEqual(next.data.map(({ number }) => number), [1]);
  assert.equal(methods(), "QUERY QUERY");
  assert.equal(await api.steps.total({ filter }), 3);
  assert.deepEqual((await collect(api.steps.all({ filter, sort: "number" }))).map(({ number }) => number), [1, 2, 3]);
  assert.equal(methods(), "QUERY QUERY");
  for await (const event of api.steps.watch({ filter })) {
    assert.equal(event.kind, "listed");
    break;
  }
  assert.equal(methods(), "QUERY");
  assert.equal((await api.steps.list({ filter: { group } })).data.length, 4);
  assert.equal(methods(), "GET");
});

const html = (status: number) => () => new Response("<html>", { status, headers: { "Content-Type": "text/html" } });

for (const [name, refusal] of Object.entries({
  "405": html(405),
  "501": html(501),
  "400": html(400),
  "403 of a firewall": () => Response.json({ message: "Forbidden" }, { status: 403 }),
  "404": html(404),
  "405 of a server": () => Response.json({ errors: [{ status: 405, code: "method_not_allowed", title: "Method not allowed" }] }, { status: 405 }),
})) {
  test(`where QUERY is refused, a long read is a GET: ${name}`, async () => {
    const group = await steps();
    const { api, methods } = watched((method) => (method === "QUERY" ? refusal() : undefined));
    for (const expected of ["QUERY GET", "GET"]) {
      assert.equal((await api.steps.list({ filter: { group, number: { in: [1, ...many] } } })).data.length, 1);
      assert.equal(methods(), expected);
    }
  });
}

test("a proxy that refuses everything says nothing about QUERY, and a refusal of the server stands", async () => {
  let open = false;
  const { api, methods } = watched(() => (open ? undefined : html(403)()));
  const filter = { number: { in: many } };
  await assert.rejects(api.steps.list({ filter }), ApiError);
  assert.equal(methods(), "QUERY GET");
  open = true;
  assert.deepEqual((await api.steps.list({ filter })).data, []);
  assert.equal(methods(), "QUERY");
  await assert.rejects(api.steps.list({ filter, sort: "nothing" as never }), BadRequestError);
  assert.equal(methods(), "QUERY");
});
