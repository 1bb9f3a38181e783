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

it('forks a session after an earlier turn, with its calls and files', async () => {
  await service.call('PUT', '/v1/toolsets/saving', { tools: [{ tool: 'builtin.write_file', name: 'save' }] });
  const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'saving' });
  const say = async (id: string, input: string) => (await service.call('POST', `/v1/sessions/${id}/turns`, { input })).json;
  const first = await say(session.id, '/save {"path": "note.txt", "content": "kept"}');
  await say(session.id, 'a turn that the fork does not have');
  const from = { session: session.id, turn: first.turn };
  const { status, json: fork } = await service.call('POST', '/v1/sessions', { from });
  expect([status, fork.from, fork.toolset]).toEqual([201, from, 'saving']);
  await service.stop('SIGKILL');
  service = await startService(dataDir, {});
  expect(await say(fork.id, 'go on')).toMatchObject({ status: 'completed' });
  const messages = await items(`/v1/sessions/${fork.id}/messages`);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user', 'assistant']);
  expect(messages[1]?.parts).toMatchObject([{ type: 'tool-call', requested: 'save', canonical: 'builtin.write_file' }]);
  expect((await service.call('GET', `/v1/sessions/${fork.id}/files`)).json.entries).toMatchObject([{ name: 'note.txt' }]);
  await find('/v1/sessions', ({ id, title }) => id === fork.id && title === '/save {"path": "note.txt", "content": "kept"}');
});

it('pages events and messages from the end', async () => {
  const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' });
  for (const input of ['first', 'second']) await service.call('POST', `/v1/sessions/${session.id}/turns`, { input });
  const path = `/v1/sessions/${session.id}`;
  const { json: view } = await service.call('GET', path);
  const collected: unknown[] = [];
  for (let before = view.lastEvent + 1; before > 1; ) {
    const { json: page } = await service.call('GET', `${path}/events?follow=false&limit=3&before=${before}`);
    expect(page.lastEvent).toBe(view.lastEvent);
    collected.unshift(...page.items);
    before = page.items[0].id;
  }
  const { json: forward } = await service.call('GET', `${path}/events?follow=false&limit=500&after=0`);
  expect(collected).toEqual(forward.items);
  expect(collected.map((event) => (event as { id: number }).id)).toEqual(Array.from({ length: view.lastEvent }, (_, index) => index + 1));

  const oldest = (await items(`${path}/messages`)).map(({ parts }) => parts);
  expect((await items(`${path}/messages?order=desc`)).map(({ parts }) => parts)).toEqual(oldest.toReversed());
  const { json: newest } = await service.call('GET', `${path}/messages?order=desc&limit=1`);
  expect(newest.items).toMatchObject([{ role: 'assistant', parts: oldest.at(-1) }]);
  const wrong = await service.call('GET', `${path}/messages?cursor=${newest.nextCursor}`);
  expect([wrong.status, wrong.json.code]).toEqual([422, 'invalid_request']);
});

it('shows the session of a chat request without calls, with its usage', async () => {
  const body = { model: 'agent/clerk', messages: [{ role: 'user', content: 'Good morning, clerk.' }] };
  expect((await service.call('POST', '/v1/chat/completions', body)).status).toBe(200);
  const row = await find('/v1/sessions?agent=clerk&status=completed', ({ title }) => title === 'Good morning, clerk.');
  expect(row).toMatchObject({ status: 'completed', usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) } });
});
