import { createHmac } from 'node:crypto';
import { runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import { Problem } from '../../src/core/problem.ts';
import { type ReceivedDelivery, receiveDelivery } from '../../src/engine/triggers/receive-delivery.ts';
import type { Directory } from '../../src/ports/directory.ts';
import type { NewDelivery } from '../../src/ports/triggers.ts';
import type { Bindings } from '../../src/storage/bindings.ts';
import { kvKeys } from '../../src/storage/keys.ts';
import { countedIds, keptLog } from '../fakes/runtime.ts';
import { emptyWorkspace, testEnv } from './workspace.ts';
import { waitFor } from '../wait-for.ts';

afterEach(() => vi.restoreAllMocks());

const secret = 'the secret of the sender, long enough';
const webhook = { agent: 'demo', scheme: 'github', secret, session: 'one', input: 'Happened: {{title}}' };
const body = new TextEncoder().encode('{"title":"It broke"}');

const headersFor = (key: string): Headers =>
  new Headers({
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': 'd-1',
    'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
  });

/** A workspace whose every access to KV and the Catalog is counted, with another isolate that wrote nothing. */
async function make() {
  const io: string[] = [];
  let fault: (() => Promise<null>) | null = null;
  const get = async (key: string, options: { type: 'text'; cacheTtl?: number }): Promise<string | null> => {
    io.push('kv');
    return fault === null ? await testEnv.KV.get(key, options) : await fault();
  };
  const CATALOG = {
    idFromName: (name: string) => testEnv.CATALOG.idFromName(name),
    get: (id: DurableObjectId) => {
      io.push('catalog');
      return testEnv.CATALOG.get(id);
    },
  } as unknown as Bindings['CATALOG'];
  const made = await emptyWorkspace({ env: { KV: { get } as unknown as Bindings['KV'], CATALOG } });
  await made.catalog.put('webhook', 'triage', webhook);
  await waitFor(async () => expect(await testEnv.KV.get(kvKeys.published('hook', made.workspace, 'triage'))).not.toBeNull());
  const taken: NewDelivery[] = [];
  const send = async (name: string, key: string, directory: Pick<Directory, 'hook'>): Promise<ReceivedDelivery | Problem> => {
    const unlimited = () => Promise.reject(new Error('no time passes in these tests'));
    const deps = {
      directory: { hook: directory.hook, agent: unlimited, workspaceSettings: unlimited },
      limiter: { spendSandboxSeconds: () => undefined },
      triggers: () => ({
        acceptDelivery: async (delivery: NewDelivery) => {
          taken.push(delivery);
          return { id: delivery.id, status: 'pending', reason: null, session: null, turn: null, run: 1, isRepeat: false } as const;
        },
      }),
      sessions: { idOf: async () => 's' },
      clock: made.clock,
      ids: countedIds(),
      log: keptLog(),
      refusals: { count: () => undefined, reportDue: () => undefined },
    };
    const request = { workspace: made.workspace, name, headers: headersFor(key), body, requestId: 'r' };
    return await receiveDelivery(deps, request).catch((error: Problem) => error);
  };
  /** The cost of one delivery. */
  const costOf = async (name: string, key: string, directory: Pick<Directory, 'hook'>): Promise<string[]> => {
    io.length = 0;
    await send(name, key, directory);
    return [...io];
  };
  const breakKv = (how: () => Promise<null>): void => {
    fault = how;
  };
  return { ...made, io, taken, send, costOf, breakKv };
}

describe('a delivery to a webhook', () => {
  it('is checked with KV, and from memory while that is fresh, without the Catalog', async () => {
    const { isolate, costOf, clock, taken } = await make();
    const reader = isolate();
    expect(await costOf('triage', secret, reader)).toEqual(['kv']);
    expect(await costOf('triage', secret, reader)).toEqual([]);
    await clock.advance(limits.hookTtlMs);
    expect(await costOf('triage', secret, reader)).toEqual(['kv']);
    expect(taken).toHaveLength(3);
  });

  it.each([
    ['one lookup in KV and one in the Catalog', 0, ['kv', 'catalog']],
    ['only KV, once strangers have used up the lookups', 20, ['kv']],
  ])('costs a stranger one round of signatures and %s, whether the webhook exists or not', async (_what, before, lookups) => {
    const { isolate, costOf, send, clock, taken } = await make();
    const signatures = vi.spyOn(crypto.subtle, 'sign');
    const rounds = async (name: string, reader: Pick<Directory, 'hook'>): Promise<[string[], number[]]> => {
      await clock.advance(1);
      signatures.mockClear();
      const cost = await costOf(name, 'another', reader);
      return [cost, signatures.mock.calls.map(([, , data]) => data.byteLength)];
    };
    const [cold, warm] = [isolate(), isolate()];
    await send('triage', secret, warm);
    for (const reader of [cold, warm]) for (let sent = 0; sent <= before; sent += 1) await send('nobody', secret, reader);
    const stranger = [lookups, [body.byteLength]];
    for (const reader of [cold, warm])
      for (let again = 0; again < 3; again += 1)
        for (const name of ['triage', 'nobody']) expect([name, await rounds(name, reader)]).toEqual([name, stranger]);
    expect(taken).toHaveLength(1);
  });

  it('with a replaced secret is accepted as soon as KV has it, not when the cache expires', async () => {
    const { workspace, catalog, isolate, send, clock } = await make();
    const reader = isolate();
    expect(await send('triage', secret, reader)).toHaveProperty('accepted');
    await catalog.put('webhook', 'triage', { ...webhook, secret: 'the new one, long enough as well' });
    await waitFor(async () => expect(await testEnv.KV.get(kvKeys.published('hook', workspace, 'triage'))).toContain('"version":2'));
    await clock.advance(1);
    expect(await send('triage', 'the new one, long enough as well', reader)).toHaveProperty('accepted');
    expect(await send('triage', secret, reader)).toMatchObject({ code: 'not_found' });
  });

  it('uses what this isolate just wrote, with one call to the Catalog', async () => {
    const { catalog, directory, costOf, send, clock } = await make();
    expect(await costOf('triage', secret, directory)).toEqual(['catalog']);
    await clock.advance(limits.hookTtlMs);
    expect(await costOf('triage', secret, directory)).toEqual(['kv']);
    await catalog.remove('webhook', 'triage');
    expect(await send('triage', secret, directory)).toMatchObject({ code: 'not_found' });
  });

  it.each<[string, string | null]>([
    ['nothing', null],
    ['another format', '{"format":0,"version":1}'],
    ['damaged text', 'not JSON'],
    ['members of an earlier build', '{"format":1,"version":1,"webhook":{},"sealed":""}'],
  ])('is accepted when KV has %s, and the webhook is published again', async (_what, lost) => {
    const { workspace, object, isolate, send, costOf } = await make();
    await runInDurableObject(object, (_instance, { storage }) => void storage.sql.exec('UPDATE documents SET updated_at = 0'));
    const key = kvKeys.published('hook', workspace, 'triage');
    await (lost === null ? testEnv.KV.delete(key) : testEnv.KV.put(key, lost));
    expect(await send('triage', secret, isolate())).toHaveProperty('accepted');
    await waitFor(async () => expect(await costOf('triage', secret, isolate())).toEqual(['kv']));
  });

  it('is accepted while KV does not respond, and refused as retryable once strangers have used up the lookups', async () => {
    const broken = await make();
    broken.breakKv(() => Promise.reject(new Error('KV is down')));
    const reader = broken.isolate();
    expect(await broken.send('triage', secret, reader)).toHaveProperty('accepted');
    for (let sent = 0; sent < 20; sent += 1) await broken.send('nobody', secret, reader);
    await broken.clock.advance(limits.hookTtlMs);
    for (let sent = 0; sent < 20; sent += 1) await broken.send('nobody', secret, reader);
    for (const name of ['triage', 'nobody']) {
      const answer = await broken.send(name, secret, reader);
      expect(answer).toMatchObject({ code: 'upstream_timeout', extra: { retryAfterMs: expect.any(Number) } });
    }
  });

  it('of an unknown workspace is looked up without a Catalog of its own', async () => {
    const { isolate, directory, io } = await make();
    io.length = 0;
    expect(await isolate().hook('nowhere', 'triage')).toBeNull();
    expect(io).toContain('catalog');
    expect(await directory.workspaceStatus('nowhere')).toBeNull();
  });

  it('under an invalid name is refused with the same message, without a lookup', async () => {
    const { isolate, io, send } = await make();
    io.length = 0;
    const unknown = await send('nobody', secret, isolate());
    io.length = 0;
    for (const name of ['', 'a:b', '../triage', 'x'.repeat(5_000), '__proto__'])
      expect(await send(name, secret, isolate())).toMatchObject({
        code: 'not_found',
        detail: unknown instanceof Problem ? unknown.detail : '',
      });
    expect(io).toEqual([]);
  });
});
