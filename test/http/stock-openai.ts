/** OpenAI's stock client with the harness, and errors in its format: the same for both of its dialects. */
import OpenAI from 'openai';
import { expect } from 'vitest';
import { bodyOf, rootKey, type Harness } from './harness.ts';

export function stockClient({ app }: Harness): OpenAI {
  return new OpenAI({
    apiKey: rootKey,
    baseURL: 'http://moniker.test/v1',
    maxRetries: 0,
    fetch: async (url, init) => await app.request(url as string, init as RequestInit),
  });
}

/** Checks that the request had no effect: no session, and no request to a provider. */
export async function expectFault({ sessions, proxied }: Harness, answer: Response, status: number, param: string | null): Promise<void> {
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json']);
  const { error } = await bodyOf(answer);
  expect(Object.keys(error).toSorted()).toEqual(['code', 'message', 'param', 'type']);
  expect(error.param).toBe(param);
  expect(sessions.all.size + proxied.length).toBe(0);
}
