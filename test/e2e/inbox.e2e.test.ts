/** The lists of the workspace over the running service: questions and sessions appear, change, survive a kill, and leave with their session. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

const dataDir = makeDataDir();
let service: RunningService;

beforeAll(async () => {
  service = await startService(dataDir, {});
  await service.call('PUT', '/v1/toolsets/asking', { tools: [{ tool: 'builtin.write_file', name: 'save', approval: 'always' }] });
  await service.call('PUT', '/v1/agents/clerk', { model: 'rehearsal/default', toolset: 'asking' });
});
afterAll(async () => {
  await service?.stop();
  removeDataDir(dataDir);
});

const items = async (path: string) => (await service.call('GET', path)).json.items as Record<string, unknown>[];
const find = async (path: string, wanted: (item: Record<string, unknown>) => boolean) =>
  await eventually(`${path} shows it`, async () => (await items(path)).find(wanted));

it('shows a question until it is decided, and by whom, also when the process dies right after it was asked', async () => {
  const { json: session } = await service.call('POST', '/v1/sessions', { agent: 'clerk' });
  const input = '/save {"path": "a.txt", "content": "canary text"}';
  const asked = (await service.call('POST', `/v1/sessions/${session.id}/turns`, { input })).json;
  await service.stop('SIGKILL');
  service = await startService(dataDir, {});
  const [{ callId }] = asked.pending;
  const shown = await find('/v1/approvals', (item) => item.callId === callId);
  expect(shown).toMatchObject({
    session: session.id,
    turn: asked.turn,
    kind: 'approval',
    state: 'pending',
    agent: 'clerk',
    decidedBy: null,
  });
  await find('/v1/sessions?status=waiting&agent=clerk', ({ id }) => id === session.id);

  const { json: approver } = await service.call('POST', '/v1/keys', { name: 'approver', scopes: ['approve', 'admin'] });
  const path = `/v1/sessions/${session.id}/approvals/${callId}`;
  await service.call('POST', path, { decision: 'approve' }, { authorization: `Bearer ${approver.key}` });
  const decided = await find('/v1/approvals?state=decided', (item) => item.callId === callId);
  expect(decided).toMatchObject({ state: 'approved', decidedBy: approver.id, decidedAt: expect.any(String) });
  await eventually('it is not pending', async () => ((await items('/v1/approvals')).length === 0 ? true : undefined));
  const row = await find('/v1/sessions?status=completed', ({ id }) => id === session.id);
  expect(row).toMatchObject({ title: input, agent: 'clerk', usage: { inputTokens: expect.any(Number) } });
  const { json: view } = await service.call('GET', `/v1/sessions/${session.id}`);
  expect(view).toMatchObject({ title: input, lastEvent: expect.any(Number), usage: row.usage, lastActivityAt: row.lastActivityAt });

  expect((await service.call('DELETE', `/v1/sessions/${session.id}`)).status).toBe(204);
  expect((await items('/v1/approvals?state=decided')).filter((item) => item.session === session.id)).toEqual([]);
  expect((await items('/v1/sessions')).filter(({ id }) => id === session.id)).toEqual([]);
});

it('shows the session of a chat request without calls, with its usage', async () => {
  const body = { model: 'agent/clerk', messages: [{ role: 'user', content: 'Good morning, clerk.' }] };
  expect((await service.call('POST', '/v1/chat/completions', body)).status).toBe(200);
  const row = await find('/v1/sessions?agent=clerk&status=completed', ({ title }) => title === 'Good morning, clerk.');
  expect(row).toMatchObject({ status: 'completed', usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) } });
});
