import { describe, expect, it, vi } from 'vitest';
import { Problem } from '../../../../src/core/problem.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { createCatalogClient } from '../../../../src/objects/catalog/client/catalog-client.ts';
import { closedAfterDeleteReason } from '../../../../src/objects/shared/object-client.ts';

/** A client whose Catalog responds to each method like this, and what its isolate invalidated. */
function make(answer: () => Promise<unknown>) {
  const dropped: string[] = [];
  const stub = { run: answer };
  // The client needs no more of the bindings than this.
  const bindings = { CATALOG: { idFromName: (name: string) => name, get: () => stub } } as unknown as Bindings;
  const directory = { invalidate: (kind: string, _workspace: string, name: string) => void dropped.push(`${kind} ${name}`) };
  return { dropped, client: createCatalogClient(bindings, 'default', directory) };
}

const lost = async (): Promise<never> => {
  throw new Error('Network connection lost.');
};
const refused = async () => ({ ok: false, problem: new Problem('precondition_failed', 'It is at version 2.').toBody() });
const done = async () => ({ ok: true, value: null });

describe('what the isolate invalidates after a write', () => {
  it('is what was written', async () => {
    const { client, dropped } = make(done);
    await client.put('toolset', 'a', {});
    await client.remove('agent', 'b');
    await client.revokeKey('c');
    await client.addRule({ decision: 'allow', kind: 'network', host: 'a.example' });
    expect(dropped).toEqual(['toolset a', 'agent b', 'key c', 'policy workspace']);
  });

  it('is also what may have been written, when the Catalog failed, but nothing that it refused', async () => {
    const failed = make(async () => ({ ok: false, problem: new Problem('internal', 'The disk is full.').toBody() }));
    await expect(failed.client.put('toolset', 'a', {})).rejects.toMatchObject({ code: 'internal' });
    expect(failed.dropped).toEqual(['toolset a']);
    const rejected = make(refused);
    await expect(rejected.client.put('toolset', 'a', {})).rejects.toMatchObject({ code: 'precondition_failed' });
    expect(rejected.dropped).toEqual([]);
  });

  it('is also what may have been written, when the response was lost', async () => {
    const { client, dropped } = make(lost);
    await expect(client.put('toolset', 'a', {})).rejects.toThrow('lost');
    await expect(client.remove('agent', 'b')).rejects.toThrow('lost');
    await expect(client.revokeKey('c')).rejects.toThrow('lost');
    expect(dropped).toEqual(['toolset a', 'agent b', 'key c']);
  });

  it('is nothing after a refusal or a dry run', async () => {
    const { client, dropped } = make(refused);
    await expect(client.put('toolset', 'a', {})).rejects.toThrow('version 2');
    const trial = make(done);
    await trial.client.put('toolset', 'a', {}, { dryRun: true });
    await trial.client.remove('toolset', 'a', { dryRun: true });
    expect([...dropped, ...trial.dropped]).toEqual([]);
  });
});

describe('a Catalog that ended itself to close its database', () => {
  it('is called again, by every request, only when its connection is gone', async () => {
    const times: number[] = [];
    const { client } = make(async () => {
      times.push(performance.now());
      if (times.length === 1) throw new Error(closedAfterDeleteReason);
      return await done();
    });
    const first = client.put('toolset', 'a', {});
    await vi.waitFor(() => expect(times).toHaveLength(1), { interval: 1 });
    await Promise.all([first, client.put('toolset', 'b', {})]);
    const [ended = 0, ...later] = times;
    expect(later).toHaveLength(2);
    // Timers count whole milliseconds.
    for (const time of later) expect(time - ended).toBeGreaterThan(45);
  });
});
