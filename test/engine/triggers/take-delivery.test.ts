import { createHmac } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { compileHook } from '../../../src/core/triggers/compiled-hook.ts';
import { Webhook } from '../../../src/core/triggers/webhook.ts';
import { receiveDelivery } from '../../../src/engine/triggers/receive-delivery.ts';
import type { NewDelivery } from '../../../src/ports/triggers.ts';
import { Agent } from '../../../src/core/turn/agent.ts';
import type { LimitedHolder } from '../../../src/core/usage-limits.ts';
import { WorkspaceSettings } from '../../../src/core/people/workspace.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';

const secret = 'what the sender was given, long enough';
const document = Webhook.parse({ agent: 'demo', scheme: 'github', input: 'Happened: {{title}}', filter: 'payload.title != ""' });
const body = new TextEncoder().encode('{"title":"It broke"}');

/** `clock`: stands still by default. */
function make(clock = fakeClock()) {
  const spent: [holders: string, seconds: number][] = [];
  const hook = compileHook({ webhook: document, version: 1 }, [secret]);
  const templates = vi.fn(hook.templates);
  const taken: NewDelivery[] = [];
  const refused: [workspace: string, webhook: string][] = [];
  const send = async (key: string, name = 'triage') => {
    const deps = {
      directory: {
        hook: async (_workspace: string, asked: string) => (asked === 'triage' ? { ...hook, templates } : null),
        agent: async () => Agent.parse({ model: 'rehearsal/default', limits: { sandboxSecondsPerMinute: 5 } }),
        workspaceSettings: async () => WorkspaceSettings.parse({ limits: { sandboxSecondsPerMinute: 50 } }),
      },
      limiter: {
        spendSandboxSeconds: (_workspace: string, holders: readonly LimitedHolder[], seconds: number) =>
          void spent.push([holders.map(({ of, name }) => `${of} ${name}`).join(', '), seconds]),
      },
      triggers: () => ({
        acceptDelivery: async (delivery: NewDelivery) => {
          taken.push(delivery);
          return { id: delivery.id, status: 'pending', reason: null, session: null, turn: null, run: 1, isRepeat: false } as const;
        },
      }),
      sessions: { idOf: async () => 's' },
      clock,
      ids: countedIds(),
      log: keptLog(),
      refusals: { count: (...counted: [workspace: string, webhook: string]) => void refused.push(counted), reportDue: () => undefined },
    };
    const headers = new Headers({ 'x-hub-signature-256': `sha256=${createHmac('sha256', key).update(body).digest('hex')}` });
    return await receiveDelivery(deps, { workspace: 'default', name, headers, body, requestId: 'r' });
  };
  return { templates, taken, refused, spent, send };
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

it('counts what filter and templates compute for the agent and the workspace', async () => {
  let at = Date.UTC(2026, 0, 1);
  const { send, spent, taken } = make({ ...fakeClock(), now: () => (at += 20) });
  await send(secret);
  expect(spent).toEqual([['agent demo, workspace default', 0.02]]);
  expect(taken).toHaveLength(1);
});

it('counts refused signatures of webhooks that exist', async () => {
  const { send, refused } = make();
  await send(secret);
  await expect(send('another')).rejects.toMatchObject({ code: 'not_found' });
  await expect(send('another', 'unknown')).rejects.toMatchObject({ code: 'not_found' });
  expect(refused).toEqual([['default', 'triage']]);
});
