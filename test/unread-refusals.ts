/**
 * A refused request that no test reads is a mistake: what it should have prepared is missing, and later assertions hold for nothing. The
 * senders of tests (`http/harness.ts`, `catalog/real-service.ts`, …) pass their responses through `watched`; as a setup file, this one fails
 * each test that leaves a 4xx or 5xx unread. A test that expects a refusal reads its status or body.
 */
import { afterEach, expect } from 'vitest';

const readers = ['status', 'ok', 'headers', 'body', 'json', 'text', 'arrayBuffer', 'clone'] as const;

/** Of the running tests, in each copy of this module. */
const shared = globalThis as { unreadRefusals?: Map<Response, string> };
shared.unreadRefusals ??= new Map();
const unread = shared.unreadRefusals;

/** Returns the response, which counts as read once the test looks into it. */
export function watched(response: Response, method: string, path: string): Response {
  if (response.status < 400) return response;
  unread.set(response, `${method} ${path}: ${response.status}`);
  for (const name of readers) {
    const get = (): unknown => {
      unread.delete(response);
      const value: unknown = Reflect.get(Object.getPrototypeOf(response), name, response);
      return typeof value === 'function' ? value.bind(response) : value;
    };
    Object.defineProperty(response, name, { get, configurable: true });
  }
  return response;
}

/** For a request that may be refused or not, such as one that clears up. */
export async function mayBeRefused(request: Promise<Response>): Promise<void> {
  unread.delete(await request);
}

afterEach(() => {
  const left = [...unread.values()];
  unread.clear();
  expect(left, 'refused requests that the test does not read').toEqual([]);
});
