// Right uses compile, and each wrong use is an error of the compiler. This file is checked and never run.
import * as auditor from "./auditor.ts";
import * as awkward from "./awkward.ts";
import * as kiosk from "./kiosk.ts";
import { createClient, type Change, type ChangeEvent, type Collection, type Customer, type Line, type Order, type OrderShape, type Report, type Step, type Ticket, type TicketPatch, type PageResult, type ApiProblem, type WatchEvent } from "./shop.ts";

/** Fails to compile unless the two types are the same. */
function same<A, B>(..._: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : [never]): void {}

const api = createClient({ baseURL: new URL("http://localhost"), key: async () => "secret", fetch, retries: 2, timeout: 0, maxWait: 1 });
const id = "01936f2e-7d3c-7a4b-9c5d-0123456789ab";

// @ts-expect-error: a server is needed
createClient({});
// @ts-expect-error: an option that does not exist
createClient({ baseURL: "http://localhost", auth: "secret" });
// @ts-expect-error: a collection that does not exist
api.clients;

export async function reads(): Promise<void> {
  const { data, etag } = await api.customers.get(id, { signal: AbortSignal.timeout(5) });
  same<typeof data, Customer>();
  same<typeof etag, string | undefined>();
  same<typeof data.level, "bronze" | "silver" | "gold">();
  same<typeof data.born, string | null>();
  same<typeof data.address, { street?: string; country: "de" | "fr" } | null>();
  same<typeof data.notes, { [member: string]: unknown } | null>();
  same<typeof data.tags, string[] | null>();
  same<typeof data.type, "customers">();
  const page: PageResult<Customer> = await api.customers.list({ offset: 39, limit: -25, count: "exact" });
  same<typeof page.total, number | undefined>();
  await api.customers.list({ sort: "-created_at", ...page.next });
  for await (const customer of api.customers.all({ limit: -10, cursor: id, pageSize: 5 })) customer.name.length;
  for await (const operation of api.operations.backward()) {
    same<typeof operation.status, "pending" | "running" | "succeeded" | "failed">();
    same<typeof operation.errors, readonly ApiProblem[] | null>();
    same<typeof operation.resource, { id: string; type: string }>();
  }
  // @ts-expect-error: an attribute that does not exist
  data.nickname;
  // @ts-expect-error: may be null
  data.born.length;
  // @ts-expect-error: an id is not changed
  data.id = id;
  // @ts-expect-error: reports have no timestamps
  (await api.reports.get(id)).data.created_at;
  // @ts-expect-error: no such parameter
  api.customers.list({ page: 2 });
  // @ts-expect-error: a limit is a number
  api.customers.list({ limit: "10" });
  // @ts-expect-error: only exactly
  api.customers.list({ count: "planned" });
  // @ts-expect-error: operations are only read
  api.operations.create({});
}

export async function watches(): Promise<void> {
  for await (const event of api.customers.watch({ filter: { level: "gold" }, since: "p", signal: AbortSignal.timeout(5) })) {
    same<typeof event, WatchEvent<Customer>>();
    if (event.kind === "updated") {
      same<typeof event.data, Customer>();
      same<typeof event.previous, Partial<Customer>>();
      same<typeof event.change.revision, number>();
    }
    if (event.kind === "left") same<keyof typeof event.data, "id" | "type">();
    if (event.kind === "synced") same<typeof event.position, string>();
    // @ts-expect-error: a snapshot has no position
    if (event.kind === "listed") event.position;
    // @ts-expect-error: no kind of event
    if (event.kind === "changed") break;
  }
  api.customers.of(id).orders.watch({ fromNow: true });
  // @ts-expect-error: a watch has no order
  api.customers.watch({ sort: "name" });
  // @ts-expect-error: nor a range
  api.customers.watch({ limit: 5 });
  // @ts-expect-error: one resource has no filter
  api.customers.watchOne(id, { filter: { level: "gold" } });
  // @ts-expect-error: operations are not watched
  api.operations.watch();
}

export async function changes(): Promise<void> {
  const page = await api.changes.list({ filter: { collection: ["customers", "orders"], kind: "updated", "resource.id": id, by: { starts_with: "key:" }, created_at: { gte: new Date() } }, since: "p", limit: -5, count: "exact" });
  same<(typeof page.data)[number], Change<Customer | Order | Line | Report | Step | Ticket>>();
  await api.changes.list({ since: "p", ...page.next });
  const change = page.data[0]!;
  same<typeof change.kind, "created" | "updated" | "deleted">();
  same<typeof change.resource.type, "customers" | "orders" | "lines" | "reports" | "steps" | "tickets">();
  same<typeof change.by, string | null>();
  const { data } = change;
  if (data?.type === "orders") same<typeof data, Order>();
  for await (const event of api.changes.watch({ filter: { kind: { in: ["deleted"] } }, fromNow: true })) {
    same<typeof event, ChangeEvent<Customer | Order | Line | Report | Step | Ticket>>();
    // @ts-expect-error: the log only grows
    if (event.kind === "deleted") break;
  }
  for await (const { data: after, previous } of api.customers.history(id).all({ cursor: id, pageSize: 5 })) {
    same<typeof after, Customer | null>();
    same<typeof previous, Partial<Customer> | null>();
  }
  api.customers.of(id).orders.history(id).backward({ limit: 3 });
  const { position } = await api.customers.list();
  same<typeof position, string | undefined>();
  // @ts-expect-error: no such collection
  void api.changes.list({ filter: { collection: "clients" } });
  // @ts-expect-error: no such kind
  void api.changes.list({ filter: { kind: "changed" } });
  // @ts-expect-error: no such filter
  void api.changes.list({ filter: { revision: 1 } });
  // @ts-expect-error: changes have no other order
  void api.changes.list({ sort: "kind" });
  // @ts-expect-error: nor positions that count from the first
  void api.changes.list({ offset: 1 });
  // @ts-expect-error: only the server writes them
  api.changes.create;
  // @ts-expect-error: operations have no history
  api.operations.history(id);
}

export function filters(): void {
  const when = new Date();
  void api.customers.list({ filter: { name: "Ada", level: ["gold", "silver"], member: true, visits: { gte: 1, lt: 10 } } });
  void api.customers.list({ filter: { name: { starts_with: "A", ne: "Ada" }, email: { contains: "@" }, address: { null: false } } });
  void api.customers.list({ filter: { last_seen: { lt: when }, born: { gt: "2000-01-01" }, created_at: when, id: { in: [id] } } });
  void api.customers.total({ filter: { credit: 1.5, tags: { null: true }, level: { not_in: ["gold"] } } });
  void api.customers.list({ sort: ["level", "-last_seen"] });
  // @ts-expect-error: an attribute that does not exist
  void api.customers.list({ filter: { nickname: "A" } });
  // @ts-expect-error: visits is a number
  void api.customers.list({ filter: { visits: "1" } });
  // @ts-expect-error: no value of the enum
  void api.customers.list({ filter: { level: "platinum" } });
  // @ts-expect-error: no value of the enum, in an operator
  void api.customers.list({ filter: { level: { in: ["gold", "platinum"] } } });
  // @ts-expect-error: an operator that does not exist
  void api.customers.list({ filter: { name: { like: "A%" } } });
  // @ts-expect-error: numbers contain nothing
  void api.customers.list({ filter: { visits: { contains: "1" } } });
  // @ts-expect-error: nor do dates
  void api.customers.list({ filter: { born: { starts_with: "2000" } } });
  // @ts-expect-error: booleans have no order
  void api.customers.list({ filter: { member: { lt: true } } });
  // @ts-expect-error: objects can only be null or not
  void api.customers.list({ filter: { address: { eq: "x" } } });
  // @ts-expect-error: null is an operator
  void api.customers.list({ filter: { born: null } });
  // @ts-expect-error: an attribute that does not exist
  void api.customers.list({ sort: "nickname" });
  // @ts-expect-error: arrays have no order
  void api.customers.list({ sort: "-tags" });
  // @ts-expect-error: downwards is a minus
  void api.customers.list({ sort: "name desc" });
  // @ts-expect-error: a walk is filtered likewise
  api.customers.all({ filter: { nickname: "A" } });
  // @ts-expect-error: a count has no range
  void api.customers.total({ limit: 5 });
}

export async function related(): Promise<void> {
  const { data: order } = await api.orders.get(id, { include: ["customer", "agent", "lines"] });
  same<typeof order.customer, Customer | null>();
  same<typeof order.agent, Customer | null>();
  same<typeof order.lines, Line[]>();
  same<typeof order.number, number>();
  const nested = (await api.customers.list({ include: ["orders.lines", "orders.agent", "handled"], limit: 5 })).data[0]!;
  same<(typeof nested.orders)[number]["lines"], Line[]>();
  same<(typeof nested.orders)[number]["agent"], Customer | null>();
  same<typeof nested.handled, Order[]>();
  for await (const line of api.lines.all({ include: ["order.customer.orders"] })) same<NonNullable<NonNullable<typeof line.order>["customer"]>["orders"], Order[]>();
  const { data: few } = await api.customers.get(id, { fields: ["name"], include: { orders: { limit: -3, sort: ["-number"], filter: { state: "open" }, total: true, fields: ["state"], include: { agent: { fields: ["email", "level"] } } }, handled: true } });
  same<keyof typeof few, "id" | "type" | "name" | "orders" | "orders_total" | "handled">();
  same<keyof (typeof few.orders)[number], "id" | "type" | "state" | "agent">();
  same<keyof NonNullable<(typeof few.orders)[number]["agent"]>, "id" | "type" | "email" | "level">();
  same<typeof few.orders_total, number>();
  same<typeof few.handled, Order[]>();
  const { data: [below] } = await api.customers.of(id).orders.list({ include: ["agent"], fields: ["number"] });
  same<NonNullable<typeof below>["agent"], Customer | null>();
  // @ts-expect-error: it was not included
  order.reports;
  // @ts-expect-error: may be null
  order.customer.name;
  // @ts-expect-error: not among the fields
  few.email;
  // @ts-expect-error: a relation that does not exist
  void api.orders.list({ include: ["customers"] });
  // @ts-expect-error: nor does this one, of the customer
  void api.orders.list({ include: ["lines", "customer.nobody"] });
  // @ts-expect-error: nor with options
  void api.orders.list({ include: { lines: true, nobody: true } });
  // @ts-expect-error: one resource has no limit
  void api.orders.list({ include: { customer: { fields: ["name"], limit: 3 } } });
  // @ts-expect-error: an option that does not exist
  void api.orders.list({ include: { lines: { limit: 3, offset: 3 } } });
  // @ts-expect-error: an attribute that lines do not have
  void api.orders.list({ include: { lines: { fields: ["name"] } } });
  // @ts-expect-error: nor can they be filtered by it
  void api.orders.list({ include: { lines: { filter: { name: "x" } } } });
  // @ts-expect-error: a field that does not exist
  void api.customers.list({ fields: ["nickname"] });
  // @ts-expect-error: reports are related to nothing
  void api.reports.list({ include: ["customer"] });
  // @ts-expect-error: what changes is not embedded
  api.orders.watch({ include: ["customer"] });
}

export async function moreFilters(): Promise<void> {
  void api.orders.list({ filter: { "customer.level": "gold", "lines.amount": { gte: 3 }, "agent.address.country": ["de", "fr"], "customer.tags": { has: "x" } } });
  void api.lines.total({ filter: { "order.customer.name": { contains: "A" }, "order.state": "open" }, signal: AbortSignal.timeout(5) });
  void api.customers.list({ filter: { "address.country": "de", tags: { has: ["a", "b"], has_all: ["c"] }, any: [{ name: "Ada" }, { visits: { gt: 3 }, "orders.state": "sent" }] }, search: "ada" });
  api.customers.watch({ filter: { any: [{ name: "Ada" }, { level: "gold" }], "address.street": "Rue" }, search: "ada", fields: ["name"] });
  void api.lines.groups({ by: ["product"], sum: ["price"], filter: { "order.customer.level": "gold" } });
  // @ts-expect-error: no attribute of customers
  void api.orders.list({ filter: { "customer.nickname": "A" } });
  // @ts-expect-error: no value of the enum
  void api.orders.list({ filter: { "customer.level": "platinum" } });
  // @ts-expect-error: a number
  void api.lines.list({ filter: { "order.number": "1" } });
  // @ts-expect-error: no relation
  void api.orders.list({ filter: { "nobody.name": "A" } });
  // @ts-expect-error: two steps at most
  void api.lines.list({ filter: { "order.customer.orders.number": 1 } });
  // @ts-expect-error: no property
  void api.customers.list({ filter: { "address.city": "Bonn" } });
  // @ts-expect-error: the items are strings
  void api.customers.list({ filter: { tags: { has: 1 } } });
  // @ts-expect-error: an alternative has the same fields
  void api.customers.list({ filter: { any: [{ nickname: "A" }] } });
  // @ts-expect-error: and no alternatives of its own
  void api.customers.list({ filter: { any: [{ name: "A", any: [{ name: "B" }] }] } });
  // @ts-expect-error: orders are not searched
  void api.orders.list({ search: "ada" });
  // @ts-expect-error: a stream has no filters through relations
  api.orders.watch({ filter: { "customer.name": "A" } });
}

export async function askingMore(): Promise<void> {
  void api.lines.list({ sort: ["order.customer.name", "-order.number", "order.customer.address.country"] });
  void api.customers.list({ sort: ["-count.orders", "address.country"], filter: { "count.handled": { gte: 2 }, "count.orders": 3, orders: { exists: false }, "orders.lines": { exists: true } }, include: { orders: { sort: "agent.name", filter: { "count.lines": 0 } } } });
  void api.customers.list({ filter: { name: { search: "ada lov" }, any: [{ email: { search: "ada" } }, { handled: { exists: true } }], some: { orders: { state: "open", "lines.product": "tea" }, handled: [{ number: 1 }, { number: { gt: 2 }, agent: { exists: true } }] }, none: { orders: { state: "sent" } } } });
  void api.orders.list({ filter: { "customer.name": { search: "ada" } } });
  void api.customers.updateMany({ filter: { some: { orders: { state: "open" } } }, sort: "-count.orders", limit: 3 }, { visits: 0 });
  api.customers.watch({ filter: { name: { search: "ada" } } });
  const { data: [group] } = await api.orders.groups({
    by: ["customer_id", "customer.born:year", "agent.level", "created_at:week"], sum: ["number"], distinct: ["agent_id"], include: { customer: { fields: ["name"] } },
    having: { count: { gte: 2 }, "sum.number": { gt: 1000 }, "distinct.agent_id": 1 }, sort: ["-sum.number", "distinct.agent_id", "agent.level"],
  });
  same<NonNullable<typeof group>["by"], { customer_id: string | null; "customer.born:year": string | null; "agent.level": "bronze" | "silver" | "gold" | null; "created_at:week": string }>();
  same<NonNullable<typeof group>["distinct"], { agent_id: number }>();
  const customer = group!.customer;
  same<typeof customer, Pick<Customer, "id" | "type" | "name"> | null>();
  same<NonNullable<Awaited<ReturnType<typeof ofAgents>>["data"][number]["agent"]>["handled"], Order[]>();
  // @ts-expect-error: nothing is included
  group?.agent;
  // @ts-expect-error: a relation to many has no order
  void api.customers.list({ sort: "orders.number" });
  // @ts-expect-error: a count of related resources has one step
  void api.orders.list({ sort: "count.customer" });
  // @ts-expect-error: an object has no order
  void api.customers.list({ sort: "address" });
  // @ts-expect-error: a count is never null
  void api.customers.list({ filter: { "count.orders": { null: true } } });
  // @ts-expect-error: whether there is an attribute is another question
  void api.customers.list({ filter: { visits: { exists: true } } });
  // @ts-expect-error: the levels are not searched
  void api.customers.list({ filter: { level: { search: "gold" } } });
  // @ts-expect-error: some is of a relation to many
  void api.orders.list({ filter: { some: { customer: { name: "Ada" } } } });
  // @ts-expect-error: lines are related to none
  void api.lines.list({ filter: { some: { order: { number: 1 } } } });
  // @ts-expect-error: an attribute that orders do not have
  void api.customers.list({ filter: { none: { orders: { name: "x" } } } });
  // @ts-expect-error: conditions of alternatives are not grouped
  void api.customers.list({ filter: { any: [{ some: { orders: { number: 1 } } }] } });
  // @ts-expect-error: streams have no conditions on related resources
  api.customers.watch({ filter: { some: { orders: { number: 1 } } } });
  // @ts-expect-error: nor counts
  api.customers.watch({ filter: { "count.orders": 1 } });
  // @ts-expect-error: what groups are sorted by is asked for
  void api.orders.groups({ by: ["state"], sort: "-sum.number" });
  // @ts-expect-error: so is what they are kept by
  void api.orders.groups({ by: ["state"], sum: ["number"], having: { "avg.number": 1 } });
  // @ts-expect-error: a sum of numbers
  void api.orders.groups({ sum: ["number"], having: { "sum.number": "1" } });
  // @ts-expect-error: the customer is not among what they are grouped by
  void api.orders.groups({ by: ["state"], include: ["customer"] });
  // @ts-expect-error: nor with options
  void api.orders.groups({ by: ["agent_id"], include: { customer: { fields: ["name"] } } });
  // @ts-expect-error: groups are made through references
  void api.customers.groups({ by: ["orders.state"] });
  // @ts-expect-error: dates have no quarter-hours
  void api.orders.groups({ by: ["created_at:minute"] });
}

const ofAgents = () => api.orders.groups({ by: ["agent_id"], include: ["agent.handled"] });

export async function many(): Promise<void> {
  const updated = await api.customers.updateMany({ filter: { "orders.state": "sent" }, search: "ada", limit: 5 }, { visits: 0 }, { dryRun: true });
  same<typeof updated.data, Customer[]>();
  same<typeof updated.affected, Readonly<Record<string, number>> | undefined>();
  same<Awaited<ReturnType<typeof api.reports.deleteMany>>["data"], Report[]>();
  const { created, data } = await api.customers.upsert("email", { email: "ada@example.com" });
  same<typeof created, boolean>();
  same<typeof data, Customer>();
  await api.lines.upsertMany(["order_id", "product"], [{ order_id: id, product: "tea", amount: 1 }]);
  const { data: [customer, order, line] } = await api.$transaction([
    api.customers.step.create({ name: "Ada", email: "ada@example.com" }), api.orders.step.update(id, { number: 1 }, { ifMatch: '"1.1"' }), api.lines.step.delete(id),
  ], { idempotencyKey: "k" });
  same<typeof customer, Customer>();
  same<typeof order, Order>();
  same<typeof line, Line>();
  // @ts-expect-error: name is not unique
  await api.customers.upsert("name", { name: "Ada" });
  // @ts-expect-error: nor are the two of a group, each by itself
  await api.lines.upsertMany("product", []);
  // @ts-expect-error: an attribute that does not exist
  await api.customers.updateMany({ filter: { name: "Ada" } }, { nickname: "A" });
  // @ts-expect-error: a step is not a request
  await api.$transaction([{ method: "GET", path: "/customers" }]);
  // @ts-expect-error: email is required
  api.customers.step.create({ name: "Ada" });
  // @ts-expect-error: orders take no blind change
  api.orders.step.update(id, { number: 1 });
  // @ts-expect-error: three steps have no fourth resource
  (await api.$transaction([api.lines.step.delete(id)])).data[1];
  // @ts-expect-error: what is done later is no dry run
  await api.customers.createAsync({ name: "Ada", email: "ada@example.com" }, { dryRun: true });
  // @ts-expect-error: operations are only read
  api.operations.step;
}

export async function writes(): Promise<void> {
  const { data, etag } = await api.customers.create({ name: "Ada", email: "ada@example.com", last_seen: new Date(), address: { country: "fr" } });
  await api.customers.createMany([{ id, name: "Ada", email: "ada@example.com", notes: { anything: [1, { at: "all" }] } }], { idempotencyKey: "k" });
  await api.customers.update(id, { born: null, tags: ["a"] }, etag === undefined ? {} : { ifMatch: etag });
  await api.customers.replace(id, data, { ifMatch: '"1.1"' });
  same<Awaited<ReturnType<typeof api.customers.delete>>["data"], Customer>();
  same<Awaited<ReturnType<typeof api.reports.delete>>["data"]["type"], string>();
  const accepted = await api.customers.updateAsync(id, { visits: 1 });
  same<Awaited<ReturnType<typeof accepted.wait>>["data"], Customer>();
  // @ts-expect-error: email is required
  await api.customers.create({ name: "Ada" });
  // @ts-expect-error: an attribute that does not exist
  await api.customers.create({ name: "Ada", email: "ada@example.com", nickname: "A" });
  // @ts-expect-error: required is not null
  await api.customers.update(id, { name: null });
  // @ts-expect-error: nothing is made a number
  await api.customers.update(id, { visits: "1" });
  // @ts-expect-error: no value of the enum
  await api.customers.update(id, { level: "platinum" });
  // @ts-expect-error: the address is closed
  await api.customers.update(id, { address: { country: "de", city: "Bonn" } });
  // @ts-expect-error: a country is required in it
  await api.customers.update(id, { address: { street: "Rue" } });
  // @ts-expect-error: the server sets it
  await api.customers.create({ name: "Ada", email: "ada@example.com", created_at: "2026-11-15T00:00:00.000Z" });
  // @ts-expect-error: undefined is no value
  await api.customers.update(id, { visits: undefined });
  // @ts-expect-error: email is required
  await api.customers.replace(id, { name: "Ada" });
  // @ts-expect-error: there is no state before a creation
  await api.customers.create({ name: "Ada", email: "ada@example.com" }, { ifMatch: '"1.1"' });
  // @ts-expect-error: several are created by createMany
  await api.customers.create([{ name: "Ada", email: "ada@example.com" }]);
}

export async function rules(): Promise<void> {
  const { data } = await api.tickets.create({ subject: "Tea", reporter: "Ada", state: "draft" });
  same<typeof data.state, "draft" | "open" | "closed">();
  same<typeof data.minutes, number | null>();
  await api.tickets.replace(data.id, { ...data, subject: "Cups" });
  await api.tickets.update(data.id, { state: "closed" });
  await api.tickets.update(data.id, { state: "open" } satisfies TicketPatch<"draft">);
  await api.tickets.update(data.id, { state: "draft", subject: "x" } satisfies TicketPatch<"draft">);
  same<TicketPatch<"open">["state"] & string, "open" | "draft" | "closed">();
  same<TicketPatch<"closed">["state"] & string, "closed">();
  for (const state of api.tickets.transitions.state[data.state]) await api.tickets.update(data.id, { state });
  same<typeof api.tickets.transitions.state.open, readonly ["draft", "closed"]>();
  same<typeof api.orders.transitions, {}>();
  await api.customers.of(id).orders.transitions;
  // @ts-expect-error: closed does not follow draft
  await api.tickets.update(data.id, { state: "closed" } satisfies TicketPatch<"draft">);
  // @ts-expect-error: nothing follows closed
  await api.tickets.update(data.id, { state: "open" } satisfies TicketPatch<"closed">);
  // @ts-expect-error: no state
  ({}) satisfies TicketPatch<"lost">;
  // @ts-expect-error: a ticket begins as a draft
  await api.tickets.create({ subject: "Tea", state: "open" });
  // @ts-expect-error: a ticket is always in a state
  await api.tickets.update(data.id, { state: null });
  // @ts-expect-error: the server computes it
  await api.tickets.create({ subject: "Tea", minutes: 60 });
  // @ts-expect-error: the server computes it
  await api.tickets.update(data.id, { minutes: 60 });
  // @ts-expect-error: the server computes it
  data.minutes = 60;
  // @ts-expect-error: only a create sets it
  await api.tickets.update(data.id, { reporter: "Bob" });
  // @ts-expect-error: only a create sets it
  data.reporter = "Bob";
  // @ts-expect-error: the server computes it, so that no resource can be sent to conflict with it
  await api.tickets.upsert("slug", { subject: "Tea" });
  // @ts-expect-error: orders have no lifecycle
  api.orders.transitions.state;
}

export async function children(): Promise<void> {
  const orders = api.customers.of(id).orders;
  const { data } = await orders.create({ number: 1 });
  same<typeof data, Order>();
  await orders.create({ number: 1, customer_id: id, agent_id: null });
  await api.orders.create({ number: 1, customer_id: id });
  const all: Collection<OrderShape> = api.orders;
  await all.update(id, { customer_id: id }, { ifMatch: '"1.1"' });
  // @ts-expect-error: orders take no blind change
  await all.update(id, { number: 2 });
  // @ts-expect-error: nor a blind deletion, below a parent either
  await orders.deleteAsync(id, { idempotencyKey: "k" });
  // @ts-expect-error: reports are not below customers
  api.customers.of(id).reports;
  // @ts-expect-error: there is one level
  orders.of(id).customers;
  // @ts-expect-error: a number is required here too
  await orders.create({});
}

export async function awkwardNames(): Promise<void> {
  const odd = awkward.createClient({ baseURL: "http://localhost" });
  const { data } = await odd.dates.create({ class: "c", default: 2n ** 62n, in: 1.5, nested: { "two words": "x", "quote\"": 1n } });
  same<typeof data, awkward.DateResource>();
  same<typeof data.default, bigint | null>();
  same<typeof data.function, number | null>();
  same<typeof data.levels, 1 | 2 | null>();
  same<typeof data.choice, ("a'b" | 'c"d' | "e\\f")[] | null>();
  const { data: post } = await odd.dates.of(data.id)["blog-posts"].create({ title: "x" });
  same<typeof post, awkward.BlogPost>();
  const { data: other } = await odd.blog_posts.get(id);
  same<typeof other, awkward.BlogPostResource>();
  await odd.constructor.update(post.id, { new: "x" });
  await odd.class.of(post.id).class.list({ filter: { get: { contains: "x" } }, sort: "-parent_id" });
  // @ts-expect-error: the quotes are part of it
  odd.blogPosts;
}

export async function ofARole(): Promise<void> {
  const few = kiosk.createClient({ baseURL: "http://localhost" });
  const { data } = await few.customers.get(id);
  same<keyof typeof data, "id" | "type" | "name" | "level" | "address" | "created_at" | "updated_at">();
  await few.customers.update(id, { level: "gold" });
  await few.customers.list({ filter: { name: "Ada" }, sort: "level" });
  await few.orders.create({ number: 1 });
  await few.customers.of(id).orders.list();
  // @ts-expect-error: the customer of an order cannot be set
  await few.customers.of(id).orders.create({ number: 1 });
  const { data: [sold] } = await few.orders.list({ include: ["customer"] });
  same<NonNullable<typeof sold>["customer"], kiosk.Customer | null>();
  await few.orders.list({ filter: { "customer.level": "gold" }, include: { customer: { fields: ["name"] } } });
  await few.customers.updateMany({ search: "ada" }, { level: "gold" });
  // @ts-expect-error: hidden, so that there is no relation
  await few.orders.list({ include: ["agent"] });
  // @ts-expect-error: hidden there too
  await few.orders.list({ filter: { "customer.email": "ada@example.com" } });
  // @ts-expect-error: not granted
  await few.customers.deleteMany({ filter: { name: "Ada" } });
  // @ts-expect-error: without a hidden attribute there is no upsert
  await few.customers.upsert("email", { level: "gold" });
  // @ts-expect-error: hidden
  await few.customers.list({ filter: { email: "ada@example.com" } });
  // @ts-expect-error: hidden, so that there is no order of it
  await few.customers.list({ sort: "email" });
  // @ts-expect-error: seen and not set
  await few.customers.update(id, { name: "Ada" });
  // @ts-expect-error: not granted
  await few.customers.create({ level: "gold" });
  // @ts-expect-error: not granted
  await few.customers.delete(id);
  // @ts-expect-error: not granted, below a parent either
  await few.customers.of(id).orders.update(id, { number: 2 });
  same<kiosk.TicketPatch<"open">["state"] & string, "open" | "draft">();
  same<keyof Awaited<ReturnType<typeof few.steps.create>>["data"], "id" | "type" | "group" | "created_at" | "updated_at">();
  await few.steps.create({ group: "g", number: 1 });
  // @ts-expect-error: only creation is granted
  await few.steps.list();
  // @ts-expect-error: which is no reason to watch
  few.steps.watch();
  few.customers.watchOne(id);
  // @ts-expect-error: nothing is granted there
  few.reports;
  // @ts-expect-error: histories are not granted
  few.customers.history(id);
  // @ts-expect-error: nor any changes
  few.changes;
  // @ts-expect-error: nor API keys
  few.$keys;
  // @ts-expect-error: nor questions about other roles
  few.$can;
  const log = auditor.createClient({ baseURL: "http://localhost" });
  const change = (await log.changes.get(id)).data;
  same<typeof change, auditor.Change<auditor.Step>>();
  same<keyof NonNullable<typeof change.data>, "id" | "type" | "group" | "created_at" | "updated_at">();
  log.steps.history(id);
  const key = (await log.$keys.create({ name: "x", role: "guest", expires_at: new Date() })).data;
  same<typeof key, auditor.ApiKey & { readonly key: string }>();
  // @ts-expect-error: the secret is shown once
  (await log.$keys.get(key.prefix)).data.key;
  // @ts-expect-error: not a verb
  await log.$can({ role: "guest", verb: "write" });
  // @ts-expect-error: nothing can be written, in transactions neither
  log.steps.step;
}
