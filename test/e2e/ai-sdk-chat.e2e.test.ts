import type { UIMessage } from 'ai';
import { beforeAll, describe, expect, it } from 'vitest';
import { createUiChat, placeOf } from './approval-surfaces.ts';
import { shareService } from './shared-service.ts';

describe('the chat of the AI SDK', () => {
  const service = shareService();
  beforeAll(async () => {
    const tools = [
      { tool: 'builtin.bash', name: 'shell', approval: 'always' },
      { tool: 'builtin.list_directory', name: 'ls' },
    ];
    await service.call('PUT', '/v1/toolsets/guarded', { tools });
    await service.call('PUT', '/v1/agents/guarded', { model: 'rehearsal/default', toolset: 'guarded', instructions: '' });
  });

  const send = async (before: UIMessage[], text: string, body?: object): Promise<UIMessage[]> => {
    const { chat, ended } = createUiChat(service, structuredClone(before), body);
    await Promise.all([chat.sendMessage({ text }), ended]);
    return chat.messages;
  };
  const kindsOf = (messages: UIMessage[]) =>
    messages.at(-1)?.parts.map((part) => ('state' in part ? `${part.type} ${part.state}` : part.type));
  const textOf = (messages: UIMessage[]) => (messages.at(-1)?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
  const sessionsOf = async () => (await service.call('GET', '/v1/sessions')).json.items.length as number;
  const post = (body: object) => service.call('POST', '/v1/ai-sdk/chat', body);
  const user = (text: string) => ({ id: 'u', role: 'user', parts: [{ type: 'text', text }] });

  it('shows the calls of server tools with their results, and continues in the session of its messages', async () => {
    const first = await send([], '/ls path=.', { model: 'agent/guarded' });
    expect(kindsOf(first)).toEqual(expect.arrayContaining(['step-start', 'dynamic-tool output-available', 'text done']));
    const call = first.at(-1)?.parts.find((part) => part.type === 'dynamic-tool');
    expect(call).toMatchObject({ toolName: 'builtin.list_directory', input: { path: '.' }, output: { content: [{ type: 'text' }] } });

    const second = await send(first, 'Thanks', { model: 'agent/guarded' });
    const ids = second.flatMap(({ id, role }) => (role === 'assistant' ? [id.slice(-43)] : []));
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });

  it('gets the stream of version 1 with one start and one end', async () => {
    const { headers, text } = await post({ model: 'rehearsal/default', messages: [user('Hello')] });
    expect([headers.get('x-vercel-ai-ui-message-stream'), headers.get('content-type')]).toEqual(['v1', 'text/event-stream; charset=utf-8']);
    const types = [...text.matchAll(/^data: \{"type":"([^"]+)"/gm)].map(([, type]) => type);
    expect(types).toEqual([
      'start',
      'start-step',
      'text-start',
      ...types.filter((type) => type === 'text-delta'),
      'text-end',
      'finish-step',
      'finish',
    ]);
    expect(text.trimEnd()).toMatch(/data: \[DONE\]$/);
  });

  it('asks again in the next message when the user writes instead of deciding, and shows what ran there', async () => {
    const first = await send([], '/shell echo it ran', { model: 'agent/guarded' });
    const second = await send(first, 'Well?', { model: 'agent/guarded' });
    expect(kindsOf(second)).toEqual(['step-start', 'dynamic-tool approval-requested']);
    const part = second.at(-1)?.parts.find((one) => one.type === 'dynamic-tool');
    const id = part?.type === 'dynamic-tool' ? (part.approval?.id ?? '') : '';
    const { session, callId } = placeOf({ id });
    await service.call('POST', `/v1/sessions/${session}/approvals/${callId}`, { decision: 'approve' });

    const third = await send(second, 'And now?', { model: 'agent/guarded' });
    expect(kindsOf(third)?.slice(0, 2)).toEqual(['step-start', 'dynamic-tool output-available']);
    expect(textOf(third)).toContain('it ran');
  });

  it('runs a tool of the client, and sends its result with the message', async () => {
    const tools = [
      { name: 'pick', description: 'Picks a colour', inputSchema: { type: 'object', properties: { of: { type: 'string' } } } },
    ];
    const body = { model: 'agent/guarded', tools };
    const first = await send([], '/pick of=three', body);
    const call = first.at(-1)?.parts.find((part) => part.type === 'tool-pick');
    expect(call).toMatchObject({ state: 'input-available', input: { of: 'three' } });
    Object.assign(call ?? {}, { state: 'output-available', output: 'teal' });
    const { chat, ended } = createUiChat(service, first, body);
    await Promise.all([chat.sendMessage(), ended]);
    expect(textOf(chat.messages)).toContain('teal');
    expect(chat.messages.length).toBe(first.length);
  });

  it('answers a message again in a session of its own, from where it was', async () => {
    const first = await send([], 'One', { model: 'agent/guarded' });
    const second = await send(first, 'Two', { model: 'agent/guarded' });
    const before = await sessionsOf();
    const { chat, ended } = createUiChat(service, second, { model: 'agent/guarded' });
    await Promise.all([chat.regenerate(), ended]);
    expect([chat.messages.length, textOf(chat.messages)]).toEqual([4, textOf(second)]);
    expect(chat.messages.at(-1)?.id.slice(-43)).not.toBe(first.at(-1)?.id.slice(-43));
    expect(await sessionsOf()).toBeGreaterThanOrEqual(before);
  });

  it('refuses what it cannot read with its path, and names what models are not sent', async () => {
    const refused = async (message: object) => (await post({ model: 'agent/guarded', messages: [message] })).json.issues;
    expect(await refused({ role: 'user', parts: [{ type: 'source-url' }] })).toMatchObject([{ path: 'messages[0].parts[0].type' }]);
    expect(await refused({ role: 'tool', parts: [] })).toMatchObject([{ path: 'messages[0].role' }]);
    const approval = { type: 'dynamic-tool', toolCallId: 'c', providerExecuted: true, state: 'approval-responded' };
    const foreign = { role: 'assistant', parts: [{ ...approval, approval: { id: 'theirs', approved: true } }] };
    expect(await refused(foreign)).toMatchObject([{ path: 'messages[0].parts[0].approval.id' }]);

    const parts = [
      { type: 'text', text: 'Hi' },
      { type: 'data-page', data: 1 },
    ];
    const { headers } = await post({ model: 'agent/guarded', messages: [{ role: 'user', parts }], page: 2 });
    expect(headers.get('x-moniker-dropped')).toBe('page, messages[].parts[].data-page');
  });
});
