// As much of Node as the tests use, so that they need no other package than the compiler.

declare module "node:test" {
  export function test(name: string, body: () => void | Promise<void>): Promise<void>;
}

declare module "node:assert/strict" {
  type Check = (error: never) => boolean | void;
  const assert: {
    ok(value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    throws(body: () => unknown, error: object | Check): void;
    rejects(promise: Promise<unknown> | (() => Promise<unknown>), error: object | Check): Promise<void>;
  };
  export default assert;
}

declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
