import { beforeAll, describe, expect, it } from 'vitest';
import { type AgUiMessage, interruptsOf, runAgent, toolCallsOf } from './ag-ui-client.ts';
import { placeOf } from './approval-surfaces.ts';
import { shareService } from './shared-service.ts';

describe('an agent over AG-UI', () => {
  const service = shareService();
  beforeAll(async () => {
    const tools = [
      { tool: 'builtin.bash', name: 'shell', approval: 'always' },
      { tool: 'builtin.list_directory', name: 'ls' },
    ];
    await service.call('PUT', '/v1/toolsets/guarded', { tools });
    await service.call('PUT', '/v1/agents/guarded', { model: 'rehearsal/default', toolset: 'guarded', instructions: '' });
  });

  const run = (messages: AgUiMessage[], more: object = {}) => runAgent(service, 'guarded', { messages, ...more });
  let messages = 0;
  const user = (content: string): AgUiMessage => {
    messages += 1;
    return { id: `m${messages}`, role: 'user', content };
  };
  const sessionIn = (list: AgUiMessage[]) => list.findLast(({ role }) => role === 'assistant')?.id.slice(-43);

  it('shows the calls of server tools with their results, and continues in the session of its messages', async () => {
    const first = await run([user('/ls path=.')]);
    expect(first.outcome).toEqual({ type: 'success', pendingToolCallIds: [] });
    expect(first.events.at(-1)).toMatchObject({ usage: [{ totalTokens: expect.any(Number) }] });
    const [call] = toolCallsOf(first.messages);
    expect(call?.function).toEqual({ name: 'builtin.list_directory', arguments: '{"path":"."}' });
    expect(first.messages.find(({ role }) => role === 'tool')).toMatchObject({ toolCallId: call?.id });

    const second = await run([...first.messages, user('Thanks')]);
    expect(sessionIn(second.messages)).toBe(sessionIn(first.messages));
  });

  it('waits on when the user writes instead of deciding, and gets the result of the call that it has', async () => {
    const first = await run([user('/shell echo it ran')]);
    expect(interruptsOf(first)).toMatchObject([{ reason: 'tool_call', expiresAt: expect.any(String) }]);
    const second = await run([...first.messages, user('Well?')]);
    expect(interruptsOf(second).map(({ id }) => id)).toEqual(interruptsOf(first).map(({ id }) => id));
    const { session, callId } = placeOf({ id: interruptsOf(first)[0]?.id ?? '' });
    await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' });
    const third = await run([...second.messages, user('And now?')]);
    expect(third.messages.find(({ role }) => role === 'tool')?.content).toContain('it ran');
    expect(third.outcome).toMatchObject({ type: 'success' });
  });

  it('runs a tool of the client, and sends its result as a message', async () => {
    const tools = [{ name: 'pick', description: 'Picks a colour', parameters: { type: 'object', properties: { of: { type: 'string' } } } }];
    const first = await run([user('/pick of=three')], { tools });
    const [id = ''] = first.outcome?.type === 'success' ? first.outcome.pendingToolCallIds : [];
    expect(toolCallsOf(first.messages)).toMatchObject([{ id, function: { name: 'pick' } }]);
    const second = await run([...first.messages, { id: 'r1', role: 'tool', toolCallId: id, content: 'teal' }], { tools });
    expect(second.messages.at(-1)?.content).toContain('teal');
    expect(sessionIn(second.messages)).toBe(sessionIn(first.messages));
  });

  it('reports answers that it cannot take as errors of the run, and names what models are not sent', async () => {
    const first = await run([user('/shell echo it ran')]);
    const interruptId = interruptsOf(first)[0]?.id ?? '';
    const answer = async (entry: object) => (await run(first.messages, { resume: [{ interruptId, status: 'resolved', ...entry }] })).error;
    expect(await answer({ payload: { approved: false, reason: 'x'.repeat(1_001) } })).toContain('resume[0].payload.reason');
    expect(await answer({ payload: { approved: false, reason: 7 } })).toContain('resume[0].payload.reason');
    expect(await answer({ payload: { approved: true, editedArgs: { command: 'ls' } } })).toContain('resume[0].payload.editedArgs');
    expect(await answer({ payload: 'yes' })).toContain('resume[0].payload.approved');
    expect(await answer({ interruptId: 'theirs', payload: { approved: true } })).toContain('resume[0].interruptId');
    const cancelled = await run(first.messages, { resume: [{ interruptId, status: 'cancelled' }] });
    expect(cancelled.messages.find(({ role }) => role === 'tool')?.content).toContain('denied');

    const kept = await run([user('Hi')], { state: { page: 1 } });
    expect(kept.state).toEqual({ page: 1 });
    const body = { threadId: 't', runId: 'r', messages: [user('Hi')], state: { page: 1 } };
    expect((await service.call('POST', '/agui/guarded', body)).headers.get('x-moniker-dropped')).toBe('state');
    expect((await service.call('POST', '/agui/nobody', body)).status).toBe(404);
    expect((await service.call('POST', '/agui/guarded', { ...body, messages: [] })).status).toBe(422);
  });
});
