/** What a user finds afterwards: turns without calls in the list of sessions and in the log, and how to allow what required approval. */
import { beforeAll, describe, expect, it } from 'vitest';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_LOG: 'info' });
const shell = { name: 'shell', arguments: { command: 'rm /etc/notes' } };
const chat = (content: string, headers = {}) =>
  service.call(
    'POST',
    '/v1/chat/completions',
    { model: 'rehearsal/default', toolset: 'traced', messages: [{ role: 'user', content }] },
    headers,
  );

beforeAll(async () => {
  const tools = [
    { tool: 'builtin.bash', name: 'shell', aliases: [] },
    { tool: 'local.current_time', name: 'clock', aliases: [], approval: 'always' },
  ];
  expect((await service.call('PUT', '/v1/toolsets/traced', { tools })).status).toBe(201);
});

describe('a chat request without calls, tools and session', () => {
  it('is in the list of sessions and in the log', async () => {
    const { status, headers } = await chat('hello');
    const id = headers.get('x-moniker-session');
    expect([status, id]).toEqual([200, expect.any(String)]);
    await expect
      .poll(async () => (await service.call('GET', '/v1/sessions')).json.items)
      .toContainEqual(expect.objectContaining({ id, model: 'rehearsal/default', toolset: 'traced' }));
    const line = service
      .printed()
      .split('\n')
      .find((text) => text.includes('turn ended') && text.includes(String(id)));
    for (const field of ['rehearsal/default', 'completed', 'stop', 'turn_', 'outputTokens']) expect(line).toContain(field);
  });
});

describe('a call that requires approval', () => {
  const never = '"approval": "never" on the toolset\'s entry shell';

  it('names the session, the rule and the entry when it is made without a session', async () => {
    const { json } = await service.call('POST', '/v1/toolsets/traced/calls', { ...shell, arguments: { command: 'echo x > /etc/notes' } });
    expect(json).toMatchObject({ isError: true, code: 'approval_required' });
    const [{ text }] = json.content;
    for (const way of ['POST /v1/sessions', '/approvals/{callId}', '"kind": "write-outside" to the policy', never])
      expect(text).toContain(way);
  });

  it('names where it is decided, the rule and the entry when it is made in a session', async () => {
    const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default' });
    const call = { name: 'clock', arguments: {}, session: session.id };
    const { json } = await service.call('POST', '/v1/toolsets/traced/calls', call);
    const [{ text }] = json.content;
    expect(text).toContain(`POST /v1/sessions/${session.id}/approvals/${json.callId} with {"decision": "approve"}`);
    expect(text).toContain('"approval": "policy" on the toolset\'s entry clock');
  });

  it('names the same in a chat, and continues with the next message that resends the note', async () => {
    const first = await chat('/shell echo x > /etc/notes', { 'x-moniker-session': 'new' });
    const note = first.json.choices[0].message.content;
    const id = first.headers.get('x-moniker-session') ?? '';
    expect(note).toContain(never);
    const [path] = /\/v1\/sessions\/\S+\/approvals\/\S+/.exec(note) ?? [];
    expect((await service.call('POST', String(path), { decision: 'approve' })).status).toBe(200);
    const messages = [
      { role: 'user', content: '/shell echo x > /etc/notes' },
      { role: 'assistant', content: note },
      { role: 'user', content: 'and now?' },
    ];
    const body = { model: 'rehearsal/default', toolset: 'traced', messages };
    const next = await service.call('POST', '/v1/chat/completions', body, { 'x-moniker-session': id });
    expect([next.status, next.headers.get('x-moniker-session')]).toEqual([200, id]);
  });
});
