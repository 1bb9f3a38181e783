/** Tools of the Responses API that the client runs, as functions for models of other APIs, and their calls as the items that the client expects. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { openAiResponses } from '../../../src/dialects/openai-responses/dialect.ts';
import { createReplyEncoder, toReplyDocument } from '../../../src/dialects/reply-encoder.ts';

const read = (body: object) => openAiResponses.readRequest({ model: 'a/b', input: 'x', ...body });
const user = { type: 'message', role: 'user', content: 'x' };
const namesOf = (body: object) =>
  read(body)
    .clientTools()
    ?.map(({ name }) => name) ?? null;

const called = (name: string, text: string, state: 'ok' | 'truncated' = 'ok'): ChatEvent[] => [
  { type: 'call-start', call: 0, name, nativeId: 'call_1' },
  { type: 'call-delta', call: 0, text },
  { type: 'call-end', call: 0, state, arguments: state === 'ok' ? JSON.parse(text) : null, raw: text },
  { type: 'finish', reason: state === 'ok' ? 'tool-calls' : 'length', raw: null },
];
const all = [{ type: 'local_shell' }, { type: 'shell' }, { type: 'apply_patch' }, { type: 'tool_search', execution: 'client' }];
const identity = { id: 'resp_1', model: 'a/b', created: 0, echo: read({ tools: all }).echo };
const itemOf = (name: string, args: unknown) =>
  (toReplyDocument(openAiResponses, called(name, JSON.stringify(args)), identity).output as unknown[])[0];

/** [the model's arguments, the fields of the item, and how its result is sent back]. */
const cases: [name: string, args: Record<string, unknown>, item: Record<string, unknown>, result: Record<string, unknown>, text: string][] =
  [
    [
      'local_shell',
      { command: ['ls'], timeout_ms: 5 },
      { type: 'local_shell_call', action: { type: 'exec', command: ['ls'], timeout_ms: 5, env: {} } },
      { type: 'local_shell_call_output', id: 'call_1', output: '{"output":"a"}' },
      '{"output":"a"}',
    ],
    [
      'shell',
      { commands: ['ls'] },
      { type: 'shell_call', action: { commands: ['ls'], timeout_ms: null, max_output_length: null } },
      { type: 'shell_call_output', call_id: 'call_1', output: [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }] },
      '[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]',
    ],
    [
      'apply_patch',
      { type: 'update_file', path: 'a', diff: '@@\n-a\n+b' },
      { type: 'apply_patch_call', operation: { type: 'update_file', path: 'a', diff: '@@\n-a\n+b' } },
      { type: 'apply_patch_call_output', call_id: 'call_1', status: 'failed', output: 'No such line.' },
      'No such line.',
    ],
    [
      'tool_search',
      { query: 'jira' },
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'jira' } },
      {
        ...{ type: 'tool_search_output', call_id: 'call_1', execution: 'client', status: 'completed' },
        tools: [{ type: 'namespace', name: 'jira', tools: [{ type: 'function', name: 'find', description: 'Finds.' }] }],
      },
      '{"tools":[{"name":"jira__find","description":"Finds."}]}',
    ],
  ];

describe.each(cases)('a call of %s', (name, args, item, result, text) => {
  it('is the item that the client expects', () => {
    expect(itemOf(name, args)).toMatchObject({ ...item, call_id: 'call_1', status: 'completed' });
  });

  it('is read back as the model’s call, with its result', () => {
    const { history, results } = read({ input: [user, { id: 'item_1', ...item, call_id: 'call_1' }, result] }).conversation({
      inSession: false,
    });
    expect(history[1]).toMatchObject({
      role: 'assistant',
      parts: [{ type: 'tool-call', callId: 'call_1', requested: name, arguments: args }],
    });
    expect(results).toMatchObject([{ callId: 'call_1', content: [{ type: 'text', text }], isError: result.status === 'failed' }]);
  });

  it('with arguments that do not fit, or that are cut, is a call of an unknown function, with its text', () => {
    const odd = name === 'tool_search' ? '[1]' : '{"odd":true}';
    const events = called(name, odd).map((event) => (event.type === 'call-end' ? { ...event, arguments: null } : event));
    const [unfit] = toReplyDocument(openAiResponses, events, identity).output as unknown[];
    expect(unfit).toMatchObject({ type: 'function_call', name, arguments: odd, call_id: 'call_1' });
    const [cut] = toReplyDocument(openAiResponses, called(name, '{"pa', 'truncated'), identity).output as unknown[];
    expect(cut).toMatchObject({ type: 'function_call', name, arguments: '{"pa', status: 'incomplete' });
  });
});

describe('tools with items of their own', () => {
  it('are streamed as a whole, in the order in which they end', () => {
    const encoder = createReplyEncoder(openAiResponses, identity);
    const text = called('local_shell', '{"command":"ls -l"}')
      .map((event) => encoder.encode(event))
      .join('');
    expect([...text.matchAll(/^event: (\S+)/gm)].map(([, type]) => type)).toEqual([
      ...['response.created', 'response.in_progress', 'response.output_item.added', 'response.output_item.done', 'response.completed'],
    ]);
    expect(text).toContain('"command":["bash","-lc","ls -l"]');
  });

  it('have the client’s own description and schema', () => {
    const parameters = { type: 'object', properties: { goal: { type: 'string' } } };
    const [tool] = read({ tools: [{ type: 'tool_search', execution: 'client', description: 'Finds.', parameters }] }).clientTools() ?? [];
    expect(tool).toMatchObject({ name: 'tool_search', description: 'Finds.', inputSchema: parameters });
  });

  it('can be chosen', () => {
    expect(read({ tools: all, tool_choice: { type: 'apply_patch' } }).settings().toolChoice).toEqual({ tool: 'apply_patch' });
    const choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'shell' }] };
    expect(namesOf({ tools: all, tool_choice: choice })).toEqual(['shell']);
  });

  it('are offered with the tools that items have loaded, each name once', () => {
    const find = { type: 'function', name: 'find', parameters: { type: 'object' } };
    const loads = (execution: string) => ({
      type: 'tool_search_output',
      call_id: 'c',
      execution,
      tools: [{ type: 'namespace', name: 'jira', tools: [find] }],
    });
    const calls = { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: {} };
    expect(namesOf({ input: [user, calls, loads('client'), loads('client')], tools: [find] })).toEqual(['find', 'jira__find']);
    expect(namesOf({ input: [{ type: 'additional_tools', role: 'developer', tools: [find, { type: 'shell' }] }, user] })).toEqual([
      'find',
      'shell',
    ]);
    expect(namesOf({ input: [loads('server'), user] })).toBeNull();
  });

  it('are named if a provider has run them', () => {
    const request = read({ input: [{ type: 'tool_search_call', execution: 'server', call_id: null, arguments: {} }, user] });
    request.conversation({ inSession: false });
    expect(request.dropped.items().map(({ name }) => name)).toEqual(['input[].tool_search_call']);
  });
});
