/** What a history that the client supplied has seen: as stock clients of each dialect resend it, and with every kind of change. */
import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { hashAsked, namesOfAnswer } from '../../../src/core/policy/answer-name.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import { joinTaint, type Taint, untainted } from '../../../src/core/policy/taint.ts';
import { dialectOf } from '../../../src/dialects/dialects.ts';
import { judgeHistory } from '../../../src/engine/policy/judge-history.ts';
import { toolDefinitions } from '../../../src/tools/registry.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { keptLog } from '../../fakes/runtime.ts';

const served = (server: string, name: string, trusted: boolean) =>
  toolOf(server, name, { kind: 'mcp', annotations: { readOnlyHint: true }, source: { state: 'ready', trusted, pin: '' } });
const known = knownTools([
  ...toolDefinitions(),
  ...[served('wiki', 'search', false), served('tracker', 'issue', false), served('crm', 'find', true), served('plain', 'look', true)],
]);
const entries = ['read_file', 'http_request', 'bash', 'run_code', 'list_directory'].map((name) => ({
  tool: `builtin.${name}`,
  aliases: [],
}));
const others = ['wiki.search', 'tracker.issue', 'crm.find', 'plain.look', 'local.calculate'].map((tool) => ({ tool, aliases: [] }));
const { edition } = await compile({ tools: [...entries, ...others] }, known);
const names = buildAliasMap(edition, { aliases: true });
const servers: Record<string, Partial<ServerAccess>> = {
  wiki: {},
  tracker: { headers: { authorization: { secret: 'TRACKER' } } },
  crm: { trusted: true, headers: { authorization: { secret: 'CRM' } } },
  plain: { trusted: true },
};
const deps = {
  log: keptLog(),
  names: async () => names,
  server: async (name: string): Promise<ServerAccess> => {
    const access = { name, kind: 'mcp', url: 'https://x.example', ready: ['search', 'issue', 'find', 'look'], held: [], trusted: false };
    return { ...access, ...servers[name] } as unknown as ServerAccess;
  },
};

/** The stored answers of a workspace. */
function createAnswers() {
  const stored = new Map<string, Taint>();
  return {
    async add(input: string, text: string, taint: Taint, keyId = 'k1', reasoning = ''): Promise<void> {
      const asked = await hashAsked([{ type: 'text', text: input }]);
      for (const name of await namesOfAnswer(keyId, { asked, text, reasoning }))
        stored.set(name, joinTaint(stored.get(name) ?? untainted, taint));
    },
    recall: async (wanted: readonly string[]) => wanted.map((name) => stored.get(name) ?? null),
  };
}

const both: Taint = { private: 'a file', untrusted: 'a page' };
const onlyPrivate: Taint = { private: 'a file', untrusted: null };
const answers = createAnswers();
await answers.add('read both', 'I have read both.', both);
await answers.add('hello', 'Hello!\n\nHow can I help?', untainted);
await answers.add('thanks', 'You are welcome.', untainted);
await answers.add('thanks', 'You are welcome.', onlyPrivate);
await answers.add('think', 'Done.', untainted, 'k1', 'Let me see.');
await answers.add('secret of another key', 'Fine.', untainted, 'k2');

/** `private`, `untrusted`, `both` or `none`. */
function labelsOf({ private: seen, untrusted }: Taint): string {
  return seen === null ? (untrusted === null ? 'none' : 'untrusted') : untrusted === null ? 'private' : 'both';
}

const judged = async (dialect: 'openai-chat' | 'openai-responses' | 'anthropic-messages', body: object, keyId = 'k1'): Promise<string> => {
  const request = dialectOf(dialect).readRequest({ model: 'rehearsal/default', ...body });
  const { history } = request.conversation({ inSession: false });
  return labelsOf(await judgeHistory({ ...deps, storedMarks: answers.recall }, keyId, history));
};
const chat = async (messages: object[], keyId?: string): Promise<string> =>
  await judged('openai-chat', { messages: [...messages, { role: 'user', content: 'send it' }] }, keyId);

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown, ...calls: [id: string, name: string, args?: object][]) => ({
  role: 'assistant',
  content,
  ...(calls.length > 0 && {
    tool_calls: calls.map(([id, name, args = {}]) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } })),
  }),
});
const result = (id: string, content: unknown = 'something') => ({ role: 'tool', tool_call_id: id, content });
/** A call and its result, without text. */
const called = (name: string) => [user('go'), assistant(null, ['c1', name]), result('c1')];

describe('a history that its client supplied', () => {
  it.each<[string, object[], string]>([
    ['nothing before', [], 'none'],
    ['user messages only', [user('one'), user('two')], 'none'],
    ['a system message with the data', [{ role: 'system', content: 'The plan: attack at dawn.' }, user('hi')], 'none'],
    ['a summary by the client, as a user message', [user('Summary of our conversation: the plan is to attack at dawn.')], 'none'],
    ['a summary by the client, as an assistant message', [user('hi'), assistant('Summary: the plan is to attack at dawn.')], 'both'],
    ['a known answer', [user('hello'), assistant('Hello!\n\nHow can I help?')], 'none'],
    ['a known answer with other blank lines', [user(' hello '), assistant('Hello!\n\n\nHow can I help? ')], 'none'],
    [
      'a known answer in parts',
      [user([{ type: 'text', text: 'hello' }]), assistant([{ type: 'text', text: 'Hello!\n\nHow can I help?' }])],
      'none',
    ],
    ['a known answer that has seen both', [user('read both'), assistant('I have read both.')], 'both'],
    ['an answer that was given twice, once after a private file', [user('thanks'), assistant('You are welcome.')], 'private'],
    ['an answer with a word changed', [user('hello'), assistant('Hello!\n\nHow may I help?')], 'both'],
    ['an answer with more text', [user('hello'), assistant('Hello!\n\nHow can I help? The plan: dawn.')], 'both'],
    ['an answer that is cut', [user('hello'), assistant('Hello!')], 'both'],
    ['a known answer to another question', [user('hi'), assistant('Hello!\n\nHow can I help?')], 'both'],
    ['the question left out', [assistant('Hello!\n\nHow can I help?')], 'both'],
    ['the marked answer left out', [user('hello'), assistant('Hello!\n\nHow can I help?'), user('read both')], 'none'],
    ['another order', [user('thanks'), assistant('You are welcome.'), user('hello'), assistant('Hello!\n\nHow can I help?')], 'private'],
    ['known and unknown', [user('hello'), assistant('Hello!\n\nHow can I help?'), user('x'), assistant('y')], 'both'],
    ['two answers after one question', [user('hello'), assistant('Hello!\n\nHow can I help?'), assistant('More.')], 'both'],
    ['an empty answer', [user('x'), assistant('')], 'none'],
    ['an answer that was refused', [user('x'), { role: 'assistant', content: null, refusal: 'I read the plan.' }], 'both'],
    ['a call of read_file', called('read_file'), 'private'],
    ['a call of http_request', called('http_request'), 'untrusted'],
    ['a call by canonical name', called('builtin.read_file'), 'private'],
    ['a call of an untrusted server', called('wiki_search'), 'untrusted'],
    ['a call of a server with credentials', called('crm_find'), 'private'],
    ['a call of an untrusted server with credentials', called('tracker_issue'), 'both'],
    ['a call of a server that brings no mark', called('plain_look'), 'both'],
    ['a call of a tool that only calculates', called('calculate'), 'both'],
    ['a call of the shell', called('bash'), 'both'],
    ['a call of code', called('run_code'), 'both'],
    ['a call of a tool that is not known', called('my_mail'), 'both'],
    ['a call without a result', [user('go'), assistant(null, ['c1', 'my_mail', { text: 'the plan' }])], 'both'],
    ['a call of a known tool with text beside it', [user('go'), assistant('The plan is dawn.', ['c1', 'read_file']), result('c1')], 'both'],
    ['an id of a call used twice', [...called('read_file'), assistant(null, ['c1', 'my_mail']), result('c1', 'the plan')], 'both'],
    ['calls of both kinds', [...called('read_file'), user('on'), assistant(null, ['c2', 'http_request']), result('c2')], 'both'],
    [
      'an id in the form of this service',
      [user('go'), assistant(null, [`call_1_${'A'.repeat(43)}`, 'my_mail']), result(`call_1_${'A'.repeat(43)}`)],
      'both',
    ],
    ['a result in parts', [user('go'), assistant(null, ['c1', 'my_mail']), result('c1', [{ type: 'text', text: 'the plan' }])], 'both'],
  ])('chat completions: %s', async (_what, messages, expected) => {
    expect(await chat(messages)).toBe(expected);
  });

  it('with an answer of another key is unknown, even if the answer is stored', async () => {
    const messages = [user('hello'), assistant('Hello!\n\nHow can I help?')];
    expect([await chat(messages), await chat(messages, 'k2')]).toEqual(['none', 'both']);
    expect(await chat([user('secret of another key'), assistant('Fine.')])).toBe('both');
  });

  const item = (role: string, text: string) => ({
    type: 'message',
    role,
    content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
  });
  const call = [
    { type: 'function_call', call_id: 'c1', name: 'read_file', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c1', output: 'x' },
  ];
  it.each<[string, object[], string]>([
    ['a known answer', [item('user', 'hello'), item('assistant', 'Hello!\n\nHow can I help?')], 'none'],
    ['an unknown one', [item('user', 'hello'), item('assistant', 'The plan.')], 'both'],
    ['a developer message', [item('developer', 'The plan.')], 'none'],
    ['reasoning that is not known', [item('user', 'go'), { type: 'reasoning', summary: [{ text: 'The plan.' }] }, ...call], 'both'],
    ['a call', [item('user', 'go'), ...call], 'private'],
    [
      'known reasoning',
      [item('user', 'think'), { type: 'reasoning', summary: [{ text: 'Let me see.' }] }, item('assistant', 'Done.')],
      'none',
    ],
    ['reasoning left out', [item('user', 'think'), item('assistant', 'Done.')], 'none'],
    [
      'reasoning changed',
      [item('user', 'think'), { type: 'reasoning', summary: [{ text: 'The plan.' }] }, item('assistant', 'Done.')],
      'both',
    ],
  ])('responses: %s', async (_what, input, expected) => {
    expect(await judged('openai-responses', { input: [...input, item('user', 'send it')] })).toBe(expected);
  });

  const block = (role: string, ...content: object[]) => ({ role, content });
  const text = (words: string) => ({ type: 'text', text: words });
  it.each<[string, object[], string]>([
    ['a known answer', [block('user', text('hello')), block('assistant', text('Hello!\n\nHow can I help?'))], 'none'],
    [
      'a known answer in two blocks',
      [block('user', text('hello')), block('assistant', text('Hello!\n\n'), text('How can I help?'))],
      'none',
    ],
    ['an unknown one', [block('user', text('hello')), block('assistant', text('The plan.'))], 'both'],
    [
      'thoughts that are not known',
      [
        block('user', text('hello')),
        block('assistant', { type: 'thinking', thinking: 'The plan.', signature: '' }, text('Hello!\n\nHow can I help?')),
      ],
      'both',
    ],
    [
      'blocks of a provider',
      [block('user', text('x')), block('assistant', { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, text('Found.'))],
      'both',
    ],
    [
      'a document beside the question',
      [
        block('user', { type: 'document', source: { type: 'text', data: 'The plan.' } }, text('hello')),
        block('assistant', text('Hello!\n\nHow can I help?')),
      ],
      'both',
    ],
    [
      'a call',
      [
        block('user', text('go')),
        block('assistant', { type: 'tool_use', id: 't1', name: 'http_request', input: {} }),
        block('user', { type: 'tool_result', tool_use_id: 't1', content: 'x' }),
      ],
      'untrusted',
    ],
  ])('messages: %s', async (_what, messages, expected) => {
    const body = { max_tokens: 10, messages: [...messages, block('user', text('send it'))] };
    expect(await judged('anthropic-messages', body)).toBe(expected);
  });

  it('counts as both when a lookup fails, or when it is too long', async () => {
    const history = [
      { role: 'user' as const, parts: [{ type: 'text' as const, text: 'hello' }] },
      { role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Hello!\n\nHow can I help?' }] },
    ];
    const broken = () => Promise.reject(new Error('away'));
    expect(labelsOf(await judgeHistory({ ...deps, storedMarks: broken }, 'k1', history))).toBe('both');
    const call = { type: 'tool-call' as const, callId: 'c', requested: 'read_file', canonical: null, via: null, arguments: {} };
    const calls = [{ role: 'assistant' as const, parts: [call] }];
    expect(labelsOf(await judgeHistory({ ...deps, storedMarks: answers.recall, names: broken }, 'k1', calls))).toBe('both');
    expect(labelsOf(await judgeHistory({ ...deps, storedMarks: answers.recall, names: async () => null }, 'k1', calls))).toBe('both');
    const many = Array.from({ length: 2_001 }, (_, n) => ({
      role: 'assistant' as const,
      parts: [{ type: 'text' as const, text: `${n}` }],
    }));
    expect(labelsOf(await judgeHistory({ ...deps, storedMarks: async () => many.map(() => untainted) }, 'k1', many))).toBe('both');
  });
});
