import assert from "node:assert/strict";
import { createClient, type Client, type ClientOptions } from "./shop.ts";

/** What the harness (cmd/plural/client_test.go) says: where the servers are, and the keys for them. */
export function setting(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: run go test ./cmd/plural -run TypeScript`);
  return value;
}

/** A client of the clerk, who may do everything, for the shop itself. */
export function shop(options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseURL: setting("SHOP"), key: setting("CLERK"), ...options });
}

/** The same through a proxy that makes trouble the first time that a request comes, and counts how often it comes. */
export function troubled(trouble: string, options: Partial<ClientOptions> = {}): { api: Client; attempts: () => number } {
  let attempts = 0;
  const counted = (url: string, init: RequestInit) => {
    attempts++;
    return fetch(url, init);
  };
  const api = shop({ baseURL: setting("PROXY"), headers: { "X-Trouble": trouble }, fetch: counted, ...options });
  return { api, attempts: () => attempts };
}

let last = 0;

/** A name that no other test uses. */
export function unique(prefix: string): string {
  return `${prefix}-${++last}-${Math.random().toString(36).slice(2, 10)}`;
}

/** A customer that is valid. */
export function somebody(): { name: string; email: string } {
  const name = unique("c");
  return { name, email: `${name}@example.com` };
}

export async function collect<T>(all: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of all) items.push(item);
  return items;
}
