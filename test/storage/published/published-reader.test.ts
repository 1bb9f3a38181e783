import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bindings } from '../../../src/storage/bindings.ts';
import { createPublishedReader } from '../../../src/storage/published/published-reader.ts';
import { kvReadTimeoutMs } from '../../../src/storage/published/published-reader.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pointer = { toolset: 'support', version: 2, revision: 1, hash: 'aa' };
const agent = { model: 'rehearsal/default', instructions: '' };

/** A reader over this KV, and whether the Catalog received that KV lost something. */
function make(get: () => Promise<string | null>) {
  const republished: boolean[] = [];
  const run = async (_caller: string, method: string, args: unknown[]) => {
    republished.push(args.at(-1) as boolean);
    return { ok: true, value: method === 'pointer' ? pointer : agent };
  };
  // The reader needs no more of the bindings than this.
  const env = { KV: { get }, CATALOG: { idFromName: (name: string) => name, get: () => ({ run }) } } as unknown as Bindings;
  return {
    republished,
    reader: createPublishedReader({ env, clock: { now: () => Date.now(), after: () => () => undefined, sleep: async () => undefined } }),
  };
}

describe('the Catalog is called as a fallback', () => {
  it('after a timeout of KV, which has lost nothing', async () => {
    const { reader, republished } = make(() => new Promise(() => undefined));
    const answers = Promise.all([reader.pointer('default', 'support', undefined), reader.value('agent', 'default', 'helper')]);
    await vi.advanceTimersByTimeAsync(kvReadTimeoutMs);
    expect((await answers).map(({ value }) => value)).toEqual([pointer, agent]);
    expect(republished).toEqual([false, false]);
  });

  it('at once when KV fails, which has lost nothing', async () => {
    const { reader, republished } = make(() => Promise.reject(new Error('KV is down')));
    expect((await reader.pointer('default', 'support', undefined)).value).toEqual(pointer);
    expect(republished).toEqual([false]);
  });

  it('with a request to publish again, when KV has nothing or something else', async () => {
    for (const text of [null, 'no JSON', '{"format": 0}']) {
      const { reader, republished } = make(async () => text);
      expect((await reader.pointer('default', 'support', undefined)).value).toEqual(pointer);
      expect((await reader.value('agent', 'default', 'helper')).value).toEqual(agent);
      expect(republished).toEqual([true, true]);
    }
  });
});
