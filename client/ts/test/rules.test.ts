import assert from "node:assert/strict";
import { test } from "node:test";
import { shop, unique } from "./helpers.ts";
import { ConflictError, InvalidError, type TicketCreate, type TicketPatch } from "./shop.ts";

const api = shop();

test("a lifecycle: what can follow is known, and the rest refused", async () => {
  assert.deepEqual(api.tickets.transitions, { state: { draft: ["open"], open: ["draft", "closed"], closed: [] } });
  assert.deepEqual(api.orders.transitions, {});
  const { data: ticket } = await api.tickets.create({ subject: unique("t"), hours: 1 });
  assert.equal(ticket.state, "draft");
  const [next] = api.tickets.transitions.state.draft;
  assert.equal((await api.tickets.update(ticket.id, { state: next })).data.state, "open");
  assert.equal((await api.tickets.update(ticket.id, { state: "closed" } satisfies TicketPatch<"open">)).data.state, "closed");
  await assert.rejects(api.tickets.update(ticket.id, { state: "draft" }), (error: ConflictError) => {
    assert.ok(error instanceof ConflictError);
    assert.deepEqual([error.code, error.source], ["transition", { pointer: "/state" }]);
    return true;
  });
  await assert.rejects(api.tickets.create({ subject: unique("t"), state: "open" } as unknown as TicketCreate), { code: "transition" });
});

test("a check has its message", async () => {
  const { data: ticket } = await api.tickets.create({ subject: unique("t") });
  await api.tickets.update(ticket.id, { state: "open" });
  await assert.rejects(api.tickets.update(ticket.id, { state: "closed" }), (error: InvalidError) => {
    assert.ok(error instanceof InvalidError);
    assert.deepEqual(error.errors.map(({ code, detail, source }) => [code, detail, source]), [["check", "A closed ticket has hours.", { pointer: "/hours" }]]);
    return true;
  });
});

test("what the server computes, and what only a create sets, can be sent back", async () => {
  const { data: ticket } = await api.tickets.create({ subject: unique("t"), reporter: "Ada", hours: 2 });
  assert.deepEqual([ticket.minutes, ticket.slug], [120, `${ticket.subject}!`]);
  const { data: longer } = await api.tickets.replace(ticket.id, { ...ticket, hours: 3 });
  assert.deepEqual(longer, { ...ticket, hours: 3, minutes: 180, updated_at: longer.updated_at });
  await assert.rejects(api.tickets.replace(ticket.id, { ...ticket, reporter: "Bob" }), { code: "read_only", source: { pointer: "/reporter" } });
  await assert.rejects(api.tickets.create({ subject: "x", minutes: 60 } as TicketCreate), { code: "read_only", source: { pointer: "/minutes" } });
  assert.deepEqual((await api.tickets.list({ filter: { slug: ticket.slug!, minutes: { gte: 180 } } })).data, [longer]);
});
