import assert from "node:assert/strict";
import { test } from "node:test";
import * as awkward from "./awkward.ts";
import { setting, shop, unique } from "./helpers.ts";
import {
  ApiError, ConnectionError, ForbiddenError, NotFoundError, ProtocolError, UnauthenticatedError,
  type Client, type ClientOptions, type Step, type WatchEvent,
} from "./shop.ts";

const id = "01936f2e-7d3c-7a4b-9c5d-0123456789ab";
const change = { id: "c1", by: null, at: "2026-11-16T09:30:00.123Z", revision: 7 };

/** An event as a server sends it. */
const event = (kind: string, position: string | undefined, data: unknown) =>
  `event: ${kind}\n${position === undefined ? "" : `id: ${position}\n`}data: ${JSON.stringify(data)}\n\n`;

const step = (group: string) => ({ id, type: "steps", number: null, group });

type Answer = (signal: AbortSignal) => Response;

/** A stream of texts, which then ends, breaks, or stays open until it is given up. */
function stream(end: "ends" | "breaks" | "stays", ...texts: string[]): Answer {
  return (signal) => {
    const left = texts.map((text) => new TextEncoder().encode(text));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => signal.addEventListener("abort", () => controller.error(signal.reason)),
      pull: (controller) => {
        const next = left.shift();
        if (next !== undefined) controller.enqueue(next);
        else if (end === "ends") controller.close();
        else if (end === "breaks") controller.error(new Error("reset by peer"));
        else return new Promise<void>(() => {});
        return undefined;
      },
    }, { highWaterMark: 0 });
    return new Response(body, { headers: { "Content-Type": "text/event-stream;charset=utf-8" } });
  };
}

const refusal = (status: number, headers: Record<string, string> = {}): Answer => () =>
  new Response(JSON.stringify({ errors: [{ status, code: "unknown", title: "t", detail: "d" }] }), { status, headers: { "Content-Type": "application/json;charset=utf-8", ...headers } });

const unreachable: Answer = () => {
  throw new TypeError("fetch failed");
};

/** A client of a server whose answers are made up, one after another, of which the last is repeated. */
function scripted(answers: Answer[], options: Partial<ClientOptions> = {}): { api: Client; requests: string[] } {
  const requests: string[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    const { pathname, search } = new URL(url);
    const headers = init.headers as Record<string, string>;
    assert.equal(headers["Accept"], search.includes("limit=0") ? "application/json" : "text/event-stream");
    requests.push(decodeURIComponent(pathname + search));
    return answers[Math.min(requests.length, answers.length) - 1]!(init.signal as AbortSignal);
  };
  return { api: shop({ baseURL: "http://script", fetch, maxWait: 50, ...options }), requests };
}

/** The first events of a watch. */
async function taken<R extends { id: string; type: string }>(events: AsyncIterable<WatchEvent<R>>, most: number): Promise<WatchEvent<R>[]> {
  const all: WatchEvent<R>[] = [];
  for await (const event of events) if (all.push(event) === most) break;
  return all;
}

test("every kind of event, and everything that a stream may hold", async () => {
  const text =
    ": welcome\nretry: 1\n\n" +
    event("listed", undefined, { data: step("a") }) + event("synced", "p1", {}) +
    event("created", "p2", { data: step("b"), change }) +
    event("novel", "p3", { is: "new" }) + "event: novel\ndata: no JSON\n\n" +
    `event:updated\r\nid:p4\r\ndata:{"data":${JSON.stringify(step("é😀"))},\r\ndata: "previous":{"group":"b"},"change":${JSON.stringify(change)}}\r\n\r\n` +
    "id: p5\nunknown: field\nretry: soon\n\n" +
    event("left", "p6", { data: { id, type: "steps" } }) + event("entered", "p7", { data: step("d"), change }) +
    event("deleted", "p8", { data: step("d"), change }) + ": still here\n\n" + event("bookmark", "p9", {}) + event("reset", undefined, {});
  const want = [
    { kind: "listed", data: step("a") },
    { kind: "synced", position: "p1" },
    { kind: "created", data: step("b"), change, position: "p2" },
    { kind: "updated", data: step("é😀"), previous: { group: "b" }, change, position: "p4" },
    { kind: "left", data: { id, type: "steps" }, position: "p6" },
    { kind: "entered", data: step("d"), change, position: "p7" },
    { kind: "deleted", data: step("d"), change, position: "p8" },
    { kind: "bookmark", position: "p9" },
    { kind: "reset" },
  ];
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 7, bytes.length]) { // however it is cut into pieces, also within a character
    const { api, requests } = scripted([(signal) => {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.slice(at * size, (at + 1) * size));
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const piece of pieces) controller.enqueue(piece);
          signal.addEventListener("abort", () => controller.error(signal.reason));
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    }]);
    assert.deepEqual(await taken(api.steps.watch({ filter: { group: { ne: "x y" } } }), want.length), want);
    assert.deepEqual(requests, ["/steps?filter[group][ne]=x+y"]);
  }
});

test("a watch continues behind the last event, whatever ends a connection", async () => {
  const first = event("listed", undefined, { data: step("a") }) + event("synced", "p/1", {}) + event("deleted", "p/2", { data: step("b"), change });
  const second = event("deleted", "p/4", { data: step("c"), change });
  const want = [
    { kind: "listed", data: step("a") }, { kind: "synced", position: "p/1" },
    { kind: "deleted", data: step("b"), change, position: "p/2" }, { kind: "deleted", data: step("c"), change, position: "p/4" },
  ];
  const again = "/steps?since=p/2";
  const cases: [string, Answer[], string[]][] = [
    ["ends", [stream("ends", first)], [again]],
    ["breaks", [stream("breaks", first)], [again]],
    ["between lines", [stream("ends", first, "event: deleted\nid: p/3\n")], [again]],
    ["within a line", [stream("breaks", first, 'event: deleted\nid: p/3\ndata: {"da')], [again]],
    ["ahead of the empty line", [stream("ends", first, second.slice(0, -1))], [again]],
    ["an unknown event", [stream("ends", first, event("novel", "p/3", {}))], ["/steps?since=p/3"]],
    ["a hint", [stream("ends", first, "retry: 20\n\n")], [again]],
    ["no events", [stream("ends", first), stream("ends"), stream("breaks", ": hello\n\n")], [again, again, again]],
    ["a restart", [stream("ends", first), unreachable, unreachable, refusal(502), refusal(503), unreachable, unreachable, unreachable, unreachable, unreachable], Array.from({ length: 10 }, () => again)],
    ["Retry-After", [stream("ends", first), refusal(429, { "Retry-After": "1" })], [again, again]], // although it is more than maxWait
  ];
  for (const [name, answers, more] of cases) {
    const { api, requests } = scripted([...answers, stream("stays", second)]);
    assert.deepEqual([name, await taken(api.steps.watch(), want.length)], [name, want]);
    assert.deepEqual([name, requests], [name, ["/steps", ...more]]);
  }
});

test("a snapshot that is not complete, and a position that is not known, begin anew", async () => {
  const listed = (group: string) => event("listed", undefined, { data: step(group) });
  const whole = stream("stays", listed("b") + event("synced", "p1", {}));
  const tail = [{ kind: "listed", data: step("b") }, { kind: "synced", position: "p1" }];
  const cases: [string, Answer[], object, unknown[], string[]][] = [
    ["in the snapshot", [stream("breaks", listed("a")), unreachable, stream("ends", "event: listed\n")], {}, [{ kind: "listed", data: step("a") }, { kind: "reset" }, ...tail], ["/steps", "/steps", "/steps", "/steps"]],
    ["ahead of it", [stream("ends", ": hello\n")], {}, tail, ["/steps", "/steps"]],
    ["behind a reset", [stream("ends", event("reset", undefined, {}), listed("a"))], { since: "p0" }, [{ kind: "reset" }, { kind: "listed", data: step("a") }, { kind: "reset" }, ...tail], ["/steps?since=p0", "/steps"]],
    ["right behind a reset", [stream("ends", event("reset", undefined, {}))], { since: "p0", filter: { number: 1 } }, [{ kind: "reset" }, ...tail], ["/steps?filter[number]=1&since=p0", "/steps?filter[number]=1"]],
    ["gone", [refusal(410)], { since: "p0" }, [{ kind: "reset" }, ...tail], ["/steps?since=p0", "/steps"]],
  ];
  for (const [name, answers, query, want, asked] of cases) {
    const { api, requests } = scripted([...answers, whole]);
    assert.deepEqual([name, await taken(api.steps.watch(query), want.length)], [name, want]);
    assert.deepEqual([name, requests], [name, asked]);
  }
});

test("a refusal that another attempt cannot change ends a watch", async () => {
  const synced = stream("ends", event("synced", "p1", {}));
  const html: Answer = () => new Response("<html>", { headers: { "Content-Type": "text/html" } });
  const json: Answer = () => new Response('{"data":[]}', { headers: { "Content-Type": "application/json;charset=utf-8" } });
  const cases: [Answer, object][] = [
    [refusal(400), { name: "BadRequestError" }], [refusal(401), UnauthenticatedError], [refusal(403), ForbiddenError], [refusal(404), NotFoundError], [refusal(406), ApiError],
    [html, ProtocolError], [json, { message: "The answer is not a stream of events: does the server have them?" }],
    [stream("stays", event("deleted", "p2", { data: { id } })), { message: "The event deleted has no resource as its data." }],
    [stream("stays", event("synced", undefined, {})), { message: "The event synced has no position." }],
    [stream("stays", "event: deleted\nid: p2\ndata: {\n\n"), { message: "The event deleted is not JSON." }],
    [stream("stays", "data: ", ...Array.from({ length: 65 }, () => "x".repeat(1 << 20))), { message: "An event is too long." }],
  ];
  for (const [answer, error] of cases) {
    for (const before of [[], [synced]]) {
      const { api, requests } = scripted([...before, answer]);
      const events: unknown[] = [];
      await assert.rejects(async () => {
        for await (const event of api.steps.watch()) events.push(event);
      }, error);
      assert.deepEqual([events.length, requests.length], [before.length, before.length + 1]);
    }
  }
});

test("a server that was never there is not waited for forever", async () => {
  const { api, requests } = scripted([unreachable], { retries: 2 });
  await assert.rejects(taken(api.steps.watch(), 1), ConnectionError);
  assert.equal(requests.length, 3);
  const late = scripted([refusal(503, { "Retry-After": "60" })]);
  await assert.rejects(taken(late.api.steps.watch(), 1), { name: "UnavailableError" });
  assert.equal(late.requests.length, 1);
});

test("every connection asks for the token", async () => {
  const bearers: unknown[] = [];
  const answers = [stream("ends", event("synced", "p1", {})), stream("ends", event("bookmark", "p2", {})), refusal(401)];
  const fetch = async (_: string, init: RequestInit) => {
    bearers.push((init.headers as Record<string, string>)["Authorization"]);
    return answers[bearers.length - 1]!(init.signal as AbortSignal);
  };
  let tokens = 0;
  await assert.rejects(taken(shop({ fetch, key: () => `token${++tokens}` }).steps.watch(), 9), UnauthenticatedError);
  assert.deepEqual(bearers, ["Bearer token1", "Bearer token2", "Bearer token3"]);
});

test("without a snapshot", async () => {
  const gone = event("deleted", "p2", { data: step("b"), change });
  const whole = stream("stays", event("listed", undefined, { data: step("a") }) + event("synced", "p1", {}) + gone);
  const want = [{ kind: "synced", position: "p1" }, { kind: "deleted", data: step("b"), change, position: "p2" }];
  const list = (link: string): Answer => () => new Response('{"data":[]}', { headers: { "Content-Type": "application/json;charset=utf-8", Link: link } });

  const { api, requests } = scripted([list('</steps?filter%5Bnumber%5D=1&since=p1>; rel="changes"'), stream("stays", gone)]);
  assert.deepEqual(await taken(api.steps.watch({ filter: { number: 1 }, fromNow: true }), 2), want);
  assert.deepEqual(requests, ["/steps?filter[number]=1&limit=0", "/steps?filter[number]=1&since=p1"]);

  const long = scripted([list('</steps?limit=1>; rel="next"'), stream("ends", event("listed", undefined, { data: step("a") })), whole]);
  assert.deepEqual(await taken(long.api.steps.watch({ fromNow: true }), 2), want);
  assert.deepEqual(long.requests, ["/steps?limit=0", "/steps", "/steps"]);

  const one = scripted([whole]);
  assert.deepEqual(await taken(one.api.steps.watchOne(id, { fromNow: true }), 9), want);
  assert.deepEqual(one.requests, [`/steps/${id}`]);
  await assert.rejects(taken(api.steps.watch({ fromNow: true, since: "p" }), 1), TypeError);
  await assert.rejects(taken(api.steps.watchOne(id, { since: "" }), 1), TypeError);
  await assert.rejects(taken(api.steps.watchOne("1"), 1), TypeError);
});

test("a signal ends a watch wherever it is, and leaving the loop ends its request", async () => {
  const reason = new Error("enough");
  const synced = event("synced", "p1", {});
  for (const answers of [[stream("stays", synced)], [stream("ends", synced), refusal(503, { "Retry-After": "3600" })], [stream("ends", synced), unreachable]]) {
    const controller = new AbortController();
    const { api } = scripted(answers);
    await assert.rejects(async () => {
      for await (const _ of api.steps.watch({ signal: controller.signal })) setTimeout(() => controller.abort(reason), 30);
    }, (error: Error) => error === reason);
  }
  let given: AbortSignal | undefined;
  const { api } = scripted([(signal) => stream("stays", synced)((given = signal))]);
  await taken(api.steps.watch(), 1);
  assert.equal(given?.aborted, true);
});

test("a live collection", async () => {
  const api = shop();
  const group = unique("g");
  const { data: before } = await api.steps.create({ group, number: 1 });
  const states = new Map<string, Step>();
  const kinds: string[] = [];
  let created: Step | undefined;
  for await (const event of api.steps.watch({ filter: { group, number: { lt: 10 } } })) {
    if (event.kind === "bookmark") continue;
    kinds.push(event.kind);
    switch (event.kind) {
      case "listed":
        states.set(event.data.id, event.data);
        break;
      case "synced":
        assert.deepEqual([...states.values()], [before]);
        created = (await api.steps.create({ group, number: 2 })).data;
        break;
      case "created":
        assert.deepEqual(event.data, created);
        assert.equal(event.change.at, created?.created_at);
        await api.steps.update(before.id, { number: 3 });
        break;
      case "updated":
        assert.deepEqual([event.data.number, event.previous.number], [3, 1]);
        await api.steps.update(before.id, { number: 11 });
        break;
      case "left":
        assert.deepEqual(event.data, { id: before.id, type: "steps" });
        await api.steps.update(before.id, { number: 4 });
        break;
      case "entered":
        assert.deepEqual([event.data.id, event.data.number], [before.id, 4]);
        await api.steps.delete(before.id);
        break;
    }
    if (event.kind === "deleted") {
      assert.deepEqual([event.data.id, event.data.number], [before.id, 4]);
      break;
    }
  }
  assert.deepEqual(kinds, ["listed", "synced", "created", "updated", "left", "entered", "deleted"]);
});

test("a live watch that continues from a position, and one of a single resource", async () => {
  const api = shop();
  const group = unique("g");
  const [synced] = await taken(api.steps.watch({ filter: { group }, fromNow: true }), 1);
  assert.ok(synced?.kind === "synced");
  const { data: one } = await api.steps.create({ group, number: 1 });
  const { data: two } = await api.steps.create({ group, number: 2 });
  const seen = (await taken(api.steps.watch({ filter: { group }, since: synced.position }), 2)).map((event) => (event.kind === "created" ? event.data : event.kind));
  assert.deepEqual(seen, [one, two]);

  const kinds: string[] = [];
  for await (const event of api.steps.watchOne(one.id)) {
    kinds.push(event.kind);
    if (event.kind === "synced") await api.steps.delete(one.id);
  }
  assert.deepEqual(kinds, ["listed", "synced", "deleted"]);
  await assert.rejects(taken(api.steps.watchOne(one.id), 1), NotFoundError);
  await assert.rejects(taken(shop({ key: setting("GUEST") }).steps.watch(), 1), ForbiddenError);
});

test("large integers of a live watch, below a parent", async () => {
  const odd = awkward.createClient({ baseURL: setting("AWKWARD") });
  const { data: parent } = await odd.dates.create({ class: unique("c"), default: 1n, in: 1.5 });
  for await (const event of odd.dates.watchOne(parent.id)) {
    if (event.kind === "listed") assert.equal(event.data.default, 1n);
    if (event.kind === "synced") await odd.dates.update(parent.id, { default: 2n ** 62n });
    if (event.kind !== "updated") continue;
    assert.deepEqual([event.data.default, event.previous.default], [2n ** 62n, 1n]);
    break;
  }
  const posts = odd.dates.of(parent.id)["blog-posts"];
  for await (const event of posts.watch()) {
    if (event.kind === "synced") await posts.create({ title: "x" });
    if (event.kind !== "created") continue;
    assert.equal(event.data.title, "x");
    break;
  }
});
