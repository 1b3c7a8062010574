import type { DataProvider, GetListParams, Identifier } from "ra-core";

/** Where the server is, and who is calling. */
export interface PluralOptions {
  /** The URL of the server, with the path that it is mounted under: `https://example.com/api`. */
  baseURL: string | URL;
  /** An API key or a token, or a function that gives one, which is called before every request. */
  key?: string | (() => string | undefined | Promise<string | undefined>);
  /** The version of the interface that the pages were written for. Default: the one that the key is pinned to, or else the newest. */
  apiVersion?: number;
  /** Used instead of the global fetch. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** How many ids are sent in one request. Default: 1000, the most that a server accepts by default. */
  maxIds?: number;
}

/** An error of the server, as react-admin expects it: `body.errors` has a message for each field of a form. */
export class PluralHttpError extends Error {
  readonly status: number;
  readonly body: { readonly errors: Readonly<Record<string, unknown>>; readonly problems: readonly Problem[] };

  constructor(status: number, problems: readonly Problem[]) {
    super(problems.map(({ detail, title }) => detail ?? title).join(" ") || `The server has answered with the status ${status}.`);
    this.name = "PluralHttpError";
    this.status = status;
    const fields = problems.filter(({ source }) => source?.pointer !== undefined);
    const errors = Object.fromEntries(fields.map(({ source, detail, title }) => [fieldAt(source?.pointer ?? ""), detail ?? title]));
    this.body = { errors: fields.length > 0 ? errors : { root: { serverError: this.message } }, problems };
  }
}

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail?: string;
  readonly source?: { readonly pointer?: string; readonly parameter?: string; readonly header?: string };
}

/** The name of a field of a form: `/address/city` is `address.city`. */
const fieldAt = (pointer: string) => pointer.slice(1).split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");

interface Answer {
  readonly data: any; // whatever the collection has
  readonly headers: Headers;
}

/** What must be known of an attribute: `GET /` describes it. */
interface Attribute {
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Attribute>>;
  readonly items?: Attribute;
}

const operators = new Set(["eq", "ne", "lt", "lte", "gt", "gte", "in", "not_in", "contains", "starts_with", "search", "null", "exists", "has", "has_all"]);
const serverSets = new Set(["id", "type", "created_at", "updated_at"]);

/** A data provider for the collections of a Plural server. */
export function pluralDataProvider(options: PluralOptions): DataProvider {
  const { key, apiVersion, fetch = (url: string, init: RequestInit) => globalThis.fetch(url, init), maxIds = 1000 } = options;
  const base = new URL(options.baseURL).href.replace(/\/$/, "");

  async function send(method: string, path: string, query: URLSearchParams, { body, headers, signal }: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal | undefined } = {}): Promise<Answer> {
    const secret = typeof key === "function" ? await key() : key;
    const sent: Record<string, string> = { Accept: "application/json", ...headers };
    if (secret !== undefined) sent["Authorization"] = `Bearer ${secret}`;
    if (apiVersion !== undefined) sent["API-Version"] = String(apiVersion);
    if (body !== undefined) sent["Content-Type"] = "application/json";
    const text = query.toString();
    const response = await fetch(`${base}/${path}${text === "" ? "" : `?${text}`}`, { method, headers: sent, ...(body !== undefined && { body: JSON.stringify(body) }), ...(signal && { signal }) });
    const answer = await response.json().catch(() => ({})) as { data?: unknown; errors?: Problem[] };
    if (!response.ok || answer.data === undefined) throw new PluralHttpError(response.status, answer.errors ?? []);
    return { data: answer.data, headers: response.headers };
  }

  /** The path of a collection, or of one of its resources. */
  const pathOf = (resource: string, id?: Identifier) => encodeURIComponent(resource) + (id === undefined ? "" : `/${encodeURIComponent(id)}`);

  let described: Promise<ReadonlyMap<string, Attribute>> | undefined;

  /** The attributes of a collection, which are asked for once. */
  async function attributesOf(resource: string): Promise<Attribute> {
    described ??= send("GET", "", new URLSearchParams()).then(({ data }) => new Map(data.map(({ name, attributes }: any) => [name, { properties: Object.fromEntries(attributes.map((each: any) => [each.name, each])) }])));
    try {
      return (await described).get(resource) ?? {};
    } catch (error) {
      described = undefined;
      throw error;
    }
  }

  /** The body of a write. A number input gives a number for a decimal, and the server takes decimals as text. */
  async function bodyFor(resource: string, data: Readonly<Record<string, unknown>>): Promise<object> {
    return hasNumber(data) ? (withDecimals(data, await attributesOf(resource), "") as object) : data;
  }

  async function list(resource: string, params: GetListParams, more: Record<string, unknown> = {}) {
    const { pagination, sort, filter, meta, signal } = params;
    const query = shownBy(meta);
    const { q, ...fields } = (filter ?? {}) as Record<string, unknown>;
    if (q !== undefined && q !== "") query.append("search", String(q));
    addFilter(query, "filter", { ...fields, ...more });
    if (sort !== undefined) query.append("sort", (sort.order === "DESC" ? "-" : "") + sort.field);
    if (pagination !== undefined) {
      query.append("offset", String((pagination.page - 1) * pagination.perPage));
      query.append("limit", String(pagination.perPage));
    }
    const { data, headers } = await send("GET", pathOf(resource), query, { headers: { Prefer: "count=exact" }, signal });
    return { data, total: Number(headers.get("X-Total-Count")) };
  }

  /** Sends ids, each once, in requests of at most `maxIds`, one after the other. */
  async function byIds(ids: readonly Identifier[], call: (query: URLSearchParams) => Promise<Answer>): Promise<any[]> {
    const different = [...new Set(ids)];
    const found: unknown[] = [];
    for (let from = 0; from < different.length; from += maxIds) {
      found.push(...(await call(new URLSearchParams({ "filter[id][in]": different.slice(from, from + maxIds).join(",") }))).data);
    }
    return found;
  }

  return {
    supportAbortSignal: true,
    getList: (resource, params) => list(resource, params),
    getManyReference: (resource, { target, id, ...params }) => list(resource, params, { [target]: id }),
    getOne: async (resource, { id, meta, signal }) => ({ data: (await send("GET", pathOf(resource, id), shownBy(meta), { signal })).data }),
    getMany: async (resource, { ids, meta, signal }) => ({
      data: await byIds(ids, (query) => {
        query.append("limit", String(maxIds)); // the default may be less
        shownBy(meta).forEach((value, name) => query.append(name, value));
        return send("GET", pathOf(resource), query, { signal });
      }),
    }),
    create: async (resource, { data }) => ({ data: (await send("POST", pathOf(resource), new URLSearchParams(), { body: await bodyFor(resource, data) })).data }),
    update: async (resource, { id, data, previousData, meta }) => ({
      data: (await send("PATCH", pathOf(resource, id), new URLSearchParams(), { body: await bodyFor(resource, changed(data, previousData)), headers: conditionOf(meta) })).data,
    }),
    updateMany: async (resource, { ids, data }) => {
      const body = await bodyFor(resource, changed(data));
      return { data: idsOf(await byIds(ids, (query) => send("PATCH", pathOf(resource), query, { body }))) };
    },
    delete: async (resource, { id, meta }) => ({ data: (await send("DELETE", pathOf(resource, id), new URLSearchParams(), { headers: conditionOf(meta) })).data }),
    deleteMany: async (resource, { ids }) => ({ data: idsOf(await byIds(ids, (query) => send("DELETE", pathOf(resource), query))) }),
  };
}

const idsOf = (resources: readonly { readonly id: Identifier }[]) => resources.map(({ id }) => id);

/** `meta: { include: ["author"], fields: ["title"] }` of a read. */
function shownBy(meta: { include?: string | readonly string[]; fields?: string | readonly string[] } = {}): URLSearchParams {
  const query = new URLSearchParams();
  if (meta.include !== undefined) query.append("include", meta.include.toString());
  if (meta.fields !== undefined) query.append("fields", meta.fields.toString());
  return query;
}

/** `meta: { ifMatch: etag }` of a write. */
const conditionOf = (meta: { ifMatch?: string } = {}): Record<string, string> => (meta.ifMatch === undefined ? {} : { "If-Match": meta.ifMatch });

/** What a form has changed. The server sets the rest, and included resources are not attributes. */
function changed(data: Readonly<Record<string, unknown>>, previous: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([name, value]) => !serverSets.has(name) && (!(name in previous) || JSON.stringify(value) !== JSON.stringify(previous[name]))));
}

const hasNumber = (value: unknown): boolean => typeof value === "number" || (typeof value === "object" && value !== null && Object.values(value).some(hasNumber));

/** A value with its decimals as text. */
function withDecimals(value: unknown, attribute: Attribute, pointer: string): unknown {
  if (Array.isArray(value)) return value.map((each, at) => (attribute.items ? withDecimals(each, attribute.items, `${pointer}/${at}`) : each));
  if (typeof value === "object" && value !== null && !(value instanceof Date)) {
    const { properties = {} } = attribute;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withDecimals(each, (Object.hasOwn(properties, name) && properties[name]) || {}, `${pointer}/${name}`)]));
  }
  return typeof value === "number" && attribute.format === "decimal" ? decimalText(value, pointer) : value;
}

/** A number as a decimal. With more than 15 digits it is not the number that was typed. */
function decimalText(value: number, pointer: string): string {
  const text = String(value);
  if (text.replace(/e.*/, "").replace(/\D|^[-0.]+/g, "").length > 15) {
    throw new PluralHttpError(422, [{ status: 422, code: "precision", title: "The number cannot be stored exactly", detail: "A number input keeps at most 15 digits. Use a text input for more.", source: { pointer } }]);
  }
  return text.includes("e-") ? value.toFixed(18).replace(/0+$/, "") : text; // decimals have at most 18 digits
}

/** `{ state: "open", price: { gte: 3 }, author: { country: ["DE", "FR"] }, sent_at: null }`, which is how react-admin nests names with dots. */
function addFilter(query: URLSearchParams, prefix: string, filter: object, path = ""): void {
  for (const [name, value] of Object.entries(filter)) {
    if (value === undefined) continue;
    const field = path === "" ? name : `${path}.${name}`;
    if (path !== "" && operators.has(name)) addOperator(query, `${prefix}[${path}][${name}]`, name, value);
    else if (value === null) query.append(`${prefix}[${field}][null]`, "true");
    else if (Array.isArray(value)) value.forEach((each) => query.append(`${prefix}[${field}]`, String(each)));
    else if (!isNested(value)) query.append(`${prefix}[${field}]`, value instanceof Date ? value.toISOString() : String(value));
    else if ((field === "some" || field === "none") && Object.values(value).every(isNested)) addRelated(query, `${prefix}[${field}]`, value);
    else addFilter(query, prefix, value, field);
  }
}

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** `{ lines: { quantity: { gte: 5 }, product: { name: "Chai" } } }`: conditions that one related resource fulfils together have a number. */
function addRelated(query: URLSearchParams, prefix: string, relations: object): void {
  Object.entries(relations).forEach(([relation, conditions], at) => addFilter(query, `${prefix}[${at}]`, conditions, relation));
}

/** Lists are repeated parameters, except for `has_all`, whose values have commas between them. */
function addOperator(query: URLSearchParams, parameter: string, operator: string, value: unknown): void {
  const values = (Array.isArray(value) ? value : [value]).map((each) => (each instanceof Date ? each.toISOString() : String(each)));
  if (operator === "has_all" && values.slice(0, -1).some((text) => text.endsWith("\\"))) throw new TypeError(`${parameter} can have a backslash at the end of its last value only.`);
  const isList = operator === "in" || operator === "not_in" || operator === "has_all";
  const texts = isList ? values.map((text) => text.replaceAll(",", "\\,")) : values;
  for (const text of operator === "has_all" ? [texts.join(",")] : texts) query.append(parameter, text);
}
