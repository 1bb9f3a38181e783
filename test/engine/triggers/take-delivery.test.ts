import { createHmac } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { compileHook } from '../../../src/core/triggers/compiled-hook.ts';
import { Webhook } from '../../../src/core/triggers/webhook.ts';
import { receiveDelivery } from '../../../src/engine/triggers/receive-delivery.ts';
import type { NewDelivery } from '../../../src/ports/triggers.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';

const secret = 'what the sender was given, long enough';
const document = Webhook.parse({ agent: 'demo', scheme: 'github', input: 'Happened: {{title}}', filter: 'payload.title != ""' });
const body = new TextEncoder().encode('{"title":"It broke"}');

function make() {
  const hook = compileHook({ webhook: document, version: 1 }, [secret]);
  const templates = vi.fn(hook.templates);
  const taken: NewDelivery[] = [];
  const refused: [workspace: string, webhook: string][] = [];
  const send = async (key: string, name = 'triage') => {
    const deps = {
      directory: { hook: async (_workspace: string, asked: string) => (asked === 'triage' ? { ...hook, templates } : null) },
      triggers: () => ({
        acceptDelivery: async (delivery: NewDelivery) => {
          taken.push(delivery);
          return { id: delivery.id, status: 'pending', reason: null, session: null, turn: null, run: 1, isRepeat: false } as const;
        },
      }),
      sessions: { idOf: async () => 's' },
      clock: fakeClock(),
      ids: countedIds(),
      log: keptLog(),
      refusals: { count: (...counted: [workspace: string, webhook: string]) => void refused.push(counted), reportDue: () => undefined },
    };
    const headers = new Headers({ 'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}` });
    return await receiveDelivery(deps, { workspace: 'default', name, headers, body, requestId: 'r' });
  };
  return { templates, taken, refused, send };
}

it('compiles templates and filter only for signed requests, so that the timing reveals nothing', async () => {
  const { send, templates, taken } = make();
  await expect(send('another')).rejects.toMatchObject({ code: 'not_found' });
  expect(templates).not.toHaveBeenCalled();
  await send(secret);
  expect(templates).toHaveBeenCalledOnce();
  expect(taken).toMatchObject([{ verdict: { become: 'run', rendered: { input: 'Happened: <data>It broke</data>' } } }]);
});

it('reports invalid templates only in the log, and to unsigned requests not even that the webhook exists', async () => {
  const { send, templates, taken } = make();
  templates.mockRejectedValue(new Error('line 1, column 3: {{ is never closed'));
  await expect(send('another')).rejects.toMatchObject({ code: 'not_found' });
  await expect(send(secret)).rejects.toMatchObject({ code: 'internal', detail: 'This delivery cannot be processed. See the log.' });
  expect(taken).toEqual([]);
});

it('counts refused signatures of webhooks that exist', async () => {
  const { send, refused } = make();
  await send(secret);
  await expect(send('another')).rejects.toMatchObject({ code: 'not_found' });
  await expect(send('another', 'unknown')).rejects.toMatchObject({ code: 'not_found' });
  expect(refused).toEqual([['default', 'triage']]);
});
