/** Chats with a toolset or an agent on an edge handler: the tool loop runs in memory within the request, in every API, streamed and plain. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditRow } from '../../src/core/records/audit.ts';
import { createEdgeHandler, type EdgeHandler, type EdgeOptions } from '../../src/edge.ts';
import { type FakeMcpServer, listenMcpServer } from '../fakes/mcp-server.ts';
import { takeErrors } from '../service-errors.ts';
import { otherTasks, waitFor } from '../wait-for.ts';
import { chatClients, scriptedModel } from './turn-clients.ts';

const rootKey = 'root-key-of-at-least-thirty-two-characters';
const env = { MONIKER_ROOT_KEY: rootKey, MONIKER_LOG: 'error', MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' };
const skill = '---\nname: greet\ndescription: How to greet.\n---\nSay "Ahoy". See names.txt.';

let server: FakeMcpServer;
/** Lets the tool `docs.wait` return. */
let open = (): void => undefined;
const model = scriptedModel();

beforeAll(async () => {
  const tool = { description: 'A tool.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
  server = await listenMcpServer({
    tools: [
      { ...tool, name: 'search' },
      { ...tool, name: 'post', annotations: { destructiveHint: false } },
      { ...tool, name: 'long', answer: () => ({ content: [{ type: 'text', text: `${'a line\n'.repeat(20_000)}the end` }] }) },
      { ...tool, name: 'fail', answer: () => ({ isError: true, content: [{ type: 'text', text: 'the index is gone' }] }) },
      {
        ...{ ...tool, name: 'wait' },
        answer: () => new Promise((resolve) => (open = () => resolve({ content: [{ type: 'text', text: 'done' }] }))),
      },
    ],
  });
});
afterAll(() => server.close());

function projectOf() {
  return {
    providers: { up: { kind: 'openai-compatible', baseUrl: 'https://up.example.com/v1', apiKey: 'a-key-of-the-provider' } },
    modelAliases: { fast: { model: 'up/m' } },
    servers: { docs: { kind: 'mcp', url: server.url, trusted: true } },
    toolsets: {
      work: {
        tools: [
          { tool: 'docs.search', aliases: ['find'] },
          { tool: 'docs.post' },
          { tool: 'docs.fail' },
          { tool: 'docs.long' },
          { tool: 'docs.wait' },
          { tool: 'local.calculate', aliases: ['sum'] },
          { tool: 'builtin.bash', name: 'bash' },
          { tool: 'local.current_time', approval: 'always' },
        ],
      },
    },
    tools: {
      'made.double': {
        description: 'Doubles a number.',
        parameters: [{ name: 'n', type: 'number' }],
        implementation: 'return await tools.calculate({ expression: args.n + " * 2" });',
      },
    },
    skills: { greet: { content: skill, resources: { 'names.txt': 'Ada' } } },
    agents: {
      helper: { model: 'fast', instructions: 'Be kind.', toolset: 'work', tools: ['sum', 'bash'], skills: ['greet'] },
      brief: { model: 'fast', toolset: 'work', limits: { maxSteps: 2 } },
      hasty: { model: 'fast', toolset: 'work', limits: { turnTimeoutMs: 20 } },
      coder: { model: 'fast', toolset: 'work', codeMode: true },
      plain: { model: 'fast', instructions: 'Be plain.' },
      maker: { model: 'fast', toolset: 'work', made: true },
    },
  };
}

/** Without options: the same one in all tests. */
async function edge(options?: Partial<EdgeOptions>): Promise<EdgeHandler> {
  if (options !== undefined) return await make(options);
  usual ??= make({});
  return await usual;
}
let usual: Promise<EdgeHandler> | null = null;

async function make(options: Partial<EdgeOptions>): Promise<EdgeHandler> {
  const send = async (request: Request): Promise<Response> =>
    new URL(request.url).host === 'up.example.com' ? await model.answer(request) : await fetch(request);
  return await createEdgeHandler({ project: projectOf(), env, fetch: send, ...options });
}

const inWork = { toolset: 'work' };
const post = (path: string, body: object, headers: Record<string, string> = {}, signal?: AbortSignal): Request =>
  new Request(`https://edge.example${path}`, {
    ...{ method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) },
    headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json', ...headers },
  });
const results = (at: number) => model.heard[at]?.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));

describe.each([
  { way: 'streamed', streamed: true },
  { way: 'plain', streamed: false },
])('a chat with tools, $way', ({ streamed }) => {
  describe.each([0, 1, 2])('in API %i', (api) => {
    const client = async (options?: Partial<EdgeOptions>) => {
      const found = chatClients(await edge(options), rootKey, streamed)[api];
      if (found === undefined) throw new Error('there is no such API');
      return found;
    };

    it('calls a tool in code by an alias and answers with the texts and the usage of all steps', async () => {
      model.say({ text: 'Let me see.', calls: [{ name: 'sum', arguments: { expression: '6 * 7' } }] }, 'It is 42.');
      const answered = await (await client()).ask({ input: 'What is 6 * 7?', more: inWork });
      expect(answered).toMatchObject({ text: 'Let me see.\n\nIt is 42.', calls: [], outputTokens: 4 });
      expect(results(1)).toEqual([expect.stringContaining('42')]);
      expect(['stop', 'completed', 'end_turn']).toContain(answered.finish);
    });

    it('calls a tool of an MCP server, and tools in parallel', async () => {
      model.say(
        {
          calls: [
            { name: 'find', arguments: { query: 'bees' } },
            { name: 'calculate', arguments: { expression: '1 + 1' } },
          ],
        },
        'Found.',
      );
      const { text } = await (await client()).ask({ input: 'Look for bees.', more: inWork });
      expect(text).toBe('Found.');
      expect(server.calls().at(-1)).toEqual({ name: 'search', arguments: { query: 'bees' } });
      expect(results(1)).toEqual([expect.stringContaining('bees'), expect.stringContaining('2')]);
    });

    it('shows the model why a tool failed, and unknown names', async () => {
      model.say({ calls: [{ name: 'fail' }, { name: 'serch' }] }, 'Sorry.');
      expect((await (await client()).ask({ input: 'Try.', more: inWork })).text).toBe('Sorry.');
      expect(results(1)).toEqual([expect.stringContaining('the index is gone'), expect.stringContaining('Did you mean find?')]);
    });

    it('refuses a call that requires approval with the reason, and continues', async () => {
      model.say({ calls: [{ name: 'current_time' }] }, 'I may not.');
      expect((await (await client()).ask({ input: 'What time is it?', more: inWork })).text).toBe('I may not.');
      expect(results(1)).toEqual([expect.stringContaining('cannot be approved in an edge handler')]);
      expect(results(1)?.[0]).not.toContain('/v1/sessions');
    });

    it('returns calls of the client’s tools after those of its own, and continues from the history', async () => {
      model.say({ calls: [{ name: 'calculate', arguments: { expression: '1 + 1' } }, { name: 'pick' }] }, 'Red it is.');
      const own = await client();
      const asked = { input: 'Pick a colour.', tools: ['pick'], more: inWork };
      const waiting = await own.ask(asked);
      expect(waiting).toMatchObject({ text: '', calls: [{ name: 'pick', arguments: {} }] });
      expect(waiting.calls[0]?.id).toMatch(/^call_[a-z0-9]+$/);
      expect(['tool_calls', 'completed', 'tool_use']).toContain(waiting.finish);
      expect(model.heard).toHaveLength(1);
      const { text } = await own.ask({ before: own.history(asked, waiting, 'red'), tools: ['pick'], more: inWork });
      expect(text).toBe('Red it is.');
      expect(results(1)).toEqual(['red']);
      expect(model.heard[1]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
    });

    it('ends at the limit of steps, in which calls are not run', async () => {
      model.say({ calls: [{ name: 'sum', arguments: { expression: '1' } }] });
      const { text, calls } = await (await client()).ask({ model: 'agent/brief', input: 'Go on.' });
      expect([text, calls]).toEqual(['', []]);
      expect(model.heard).toHaveLength(3);
    });

    it('runs an agent with its instructions, its list of tools, a skill and the shell on files that its steps share', async () => {
      model.say(
        { calls: [{ name: 'bash', arguments: { command: 'cat /skills/greet/names.txt > /workspace/n.txt' } }] },
        { calls: [{ name: 'bash', arguments: { command: 'cat /workspace/n.txt' } }, { name: 'search' }] },
        'Ahoy, Ada.',
      );
      const own = await client();
      expect((await own.ask({ model: 'agent/helper', input: 'Greet.' })).text).toBe('Ahoy, Ada.');
      expect(results(2)?.slice(1)).toEqual([expect.stringContaining('Ada'), expect.stringContaining('search')]);
      expect(JSON.stringify(model.heard[0]?.messages[0])).toContain('Be kind.');
      const offered = model.heard[0]?.tools?.map(({ function: { name } }) => name);
      expect(offered).toContain('bash');
      expect(offered).not.toContain('search');
      model.say({ calls: [{ name: 'bash', arguments: { command: 'ls /workspace' } }] }, 'Empty.');
      await own.ask({ model: 'agent/helper', input: 'And now?' });
      expect(results(1)?.[0]).not.toContain('n.txt');
    });

    it('ends with an error when the model fails or the turn takes too long', async () => {
      const own = await client({ fetch: async () => Response.json({ error: { message: 'no such model' } }, { status: 404 }) });
      await expect(own.ask({ input: 'Hi', more: inWork })).rejects.toThrow(/model/);
      model.say({ calls: [{ name: 'wait' }] }, 'Late.');
      await expect((await client()).ask({ model: 'agent/hasty', input: 'Hi' })).rejects.toThrow(/longer than 0.02 s/);
      takeErrors();
    });

    it('repeats a step whose reply broke off, and fails if the client has a part of it', async () => {
      model.say({ text: 'Hel', cut: true, calls: [] }, 'Hello.');
      const asking = (await client()).ask({ input: 'Hi', more: inWork });
      if (streamed) await expect(asking).rejects.toThrow(/interrupted. Send the request again/);
      else expect((await asking).text).toBe('Hello.');
    });

    it('stops when the client disconnects: no step follows, and the cut call is audited', async () => {
      const rows: AuditRow[] = [];
      model.say({ calls: [{ name: 'wait' }, { name: 'wait', arguments: { second: true } }] }, 'Nobody reads this.');
      const own = await client({ audit: (more) => void rows.push(...more) });
      const gone = new AbortController();
      const calls = server.calls().length;
      const asking = own.ask({ input: 'Wait.', more: inWork, signal: gone.signal });
      await Promise.all([
        expect(asking).rejects.toThrow(),
        waitFor(() => expect(server.calls().length).toBeGreaterThanOrEqual(calls + 2)).then(() => gone.abort()),
      ]);
      await waitFor(() => expect(rows.filter(({ verdict }) => verdict !== 'outcome_unknown')).toHaveLength(2));
      open();
      expect(model.heard).toHaveLength(1);
    });
  });
});

describe('a turn of an edge handler', () => {
  const chat = { model: 'fast', toolset: 'work', messages: [{ role: 'user', content: 'Hi' }] };

  it('names its edition and what the provider was not sent, and no session', async () => {
    model.say('Hello.');
    const { status, headers } = await (await edge())(
      post('/v1/chat/completions', { ...chat, messages: chat.messages, service_tier: 'flex' }),
    );
    expect(status).toBe(200);
    expect(headers.get('x-moniker-edition')).toMatch(/^work@1\.1/);
    expect(headers.get('x-moniker-dropped')).toContain('service_tier');
    expect([headers.get('x-moniker-session'), headers.get('x-moniker-completion')]).toEqual([null, null]);
  });

  it.each<[what: string, body: object, headers: Record<string, string>]>([
    ['a new session', chat, { 'x-moniker-session': 'new' }],
    ['a session', chat, { 'x-moniker-session': 'ab'.repeat(32) }],
    ['a key for repeats', chat, { 'idempotency-key': 'once' }],
  ])('is refused for %s', async (_what, body, headers) => {
    const response = await (await edge())(post('/v1/chat/completions', body, headers));
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('not_configured')]);
    expect(response.headers.get('x-should-retry')).toBe('false');
  });

  it('does not know an earlier response, and says what to send', async () => {
    const handler = await edge();
    model.say('Hello.');
    const [first] = chatClients(handler, rootKey, false).slice(1);
    const id = (await first?.ask({ input: 'Hi', more: inWork }))?.id;
    const response = await handler(post('/v1/responses', { model: 'fast', toolset: 'work', input: 'And?', previous_response_id: id }));
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('Send the earlier items instead')]);
  });

  it('lets a client of Responses refer to the items of its answer', async () => {
    const [client] = chatClients(await edge(), rootKey, true).slice(1);
    model.say('A fact.');
    const answered = await client?.ask({ input: 'Tell me.', more: inWork });
    const [{ id } = { id: '' }] = (answered?.raw ?? []) as { id: string }[];
    model.say('Again.');
    const before = [
      { role: 'user', content: 'Tell me.' },
      { type: 'item_reference', id },
    ];
    expect((await client?.ask({ before, input: 'Again.', more: inWork }))?.text).toBe('Again.');
    expect(JSON.stringify(model.heard[0]?.messages)).toContain('A fact.');
  });

  it('gives the rest of a long result to the model', async () => {
    model.say({ calls: [{ name: 'long' }] }, { calls: [{ name: 'fetch_result', arguments: {} }] }, 'Read.');
    const [client] = chatClients(await edge(), rootKey, false);
    expect((await client?.ask({ input: 'Count.', more: inWork }))?.text).toBe('Read.');
    expect(model.heard[0]?.tools?.map(({ function: { name } }) => name)).not.toContain('fetch_result');
    expect(model.heard[1]?.tools?.map(({ function: { name } }) => name)).toContain('fetch_result');
  });

  it('runs code that calls tools', async () => {
    model.say({ calls: [{ name: 'run_code', arguments: { code: 'return await tools.calculate({ expression: "6 * 7" });' } }] }, 'Ran.');
    const [client] = chatClients(await edge(), rootKey, true);
    expect((await client?.ask({ model: 'agent/coder', input: 'Run it.' }))?.text).toBe('Ran.');
    expect(results(1)).toEqual([expect.stringContaining('42')]);
  });

  it('also runs agents without tools', async () => {
    model.say('Plain.');
    const [client] = chatClients(await edge(), rootKey, true);
    expect((await client?.ask({ model: 'agent/plain', input: 'Hi' }))?.text).toBe('Plain.');
    expect(JSON.stringify(model.heard[0]?.messages)).toContain('Be plain.');
  });

  it('runs in a workspace whose bounds are not counted', async () => {
    model.say({ calls: [{ name: 'sum', arguments: { expression: '1' } }] }, 'Done.');
    const workspace = { settings: { limits: { concurrentRequests: 5, openStreams: 5 } } };
    const [client] = chatClients(await edge({ project: { ...projectOf(), workspace } }), rootKey, true);
    expect((await client?.ask({ input: 'Hi', more: inWork }))?.text).toBe('Done.');
  });

  it('has each call audited before its result goes on, and fails if that fails', async () => {
    const rows: AuditRow[] = [];
    model.say({ calls: [{ name: 'bash', arguments: { command: 'echo hi' } }] }, 'Hi.');
    const [client] = chatClients(await edge({ audit: (more) => void rows.push(...more) }), rootKey, false);
    await client?.ask({ model: 'agent/helper', input: 'Hi' });
    expect(rows.at(-1)).toMatchObject({ canonical: 'builtin.bash', agent: 'helper', verdict: 'ran', keyId: 'root', session: null });
    model.say({ calls: [{ name: 'bash', arguments: { command: 'echo hi' } }] }, 'Hi.');
    const [failing] = chatClients(await edge({ audit: () => Promise.reject(new Error('no disk')) }), rootKey, false);
    await expect(failing?.ask({ input: 'Hi', more: inWork })).rejects.toThrow(/audit/);
    expect(model.heard).toHaveLength(1);
    const errors: string[] = [];
    await waitFor(() => {
      errors.push(...takeErrors().map(({ message }) => message));
      expect(errors).toContain('calls were not audited');
    });
  });

  it('ends when the reader of its stream leaves', async () => {
    model.say({ calls: [{ name: 'wait' }] }, 'Nobody reads this.');
    const before = server.calls().length;
    const left = await (await edge())(post('/v1/chat/completions', { ...chat, stream: true }));
    await waitFor(() => expect(server.calls().length).toBeGreaterThan(before));
    await left.body?.cancel();
    open();
    await otherTasks(20);
    expect(model.heard).toHaveLength(1);
  });

  it('ends with an error when its stream is not read', async () => {
    const working: Promise<unknown>[] = [];
    const handler = await edge({ waitUntil: (work) => void working.push(work) });
    // More than the handler holds, in a few steps.
    model.say({ text: 'x'.repeat(3_500_000), calls: [{ name: 'sum', arguments: { expression: '1' } }] });
    const unread = await handler(post('/v1/chat/completions', { ...chat, stream: true }));
    await waitFor(() => expect(model.heard.length).toBeGreaterThan(3));
    await Promise.all(working);
    expect(model.heard.length).toBeLessThan(7);
    expect((await unread.text()).slice(-500)).toContain('The answer is not read as fast as it is written');
  });

  it('asks in vain for approval once its history may have private and untrusted content', async () => {
    const [client] = chatClients(await edge(), rootKey, true);
    const ask = async (before: unknown[]): Promise<string | undefined> => {
      model.say({ calls: [{ name: 'post', arguments: { query: 'bees' } }] }, 'Done.');
      await client?.ask({ before, input: 'Post it.', more: inWork });
      return results(1)?.at(-1);
    };
    const asked = { input: 'Hi', more: inWork };
    model.say('Hello.');
    const answered = await client?.ask(asked);
    if (client === undefined || answered === undefined) throw new Error('no answer');
    expect(await ask(client.history(asked, answered, ''))).toContain('bees');
    const changed = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Something else.' },
    ];
    expect(await ask(changed)).toContain('which this service did not produce');
  });

  it('offers made tools to an agent that has them', async () => {
    model.say({ calls: [{ name: 'double', arguments: { n: 21 } }] }, 'Doubled.');
    const [client] = chatClients(await edge(), rootKey, false);
    await client?.ask({ model: 'agent/maker', input: 'Double 21.' });
    expect(results(1)).toEqual([expect.stringContaining('42')]);
  });

  it('is for keys with the right to it', async () => {
    const key = 'a-key-for-one-agent-only-0123456789-abc';
    const handler = await edge({ keys: [{ key, name: 'app', scopes: ['chat'], agents: ['helper'] }] });
    model.say('Hello.');
    const as = { authorization: `Bearer ${key}` };
    expect((await handler(post('/v1/chat/completions', { ...chat, model: 'agent/helper', toolset: undefined }, as))).status).toBe(200);
    expect((await handler(post('/v1/chat/completions', { ...chat, model: 'agent/brief', toolset: undefined }, as))).status).toBe(403);
    expect((await handler(post('/v1/chat/completions', chat, as))).status).toBe(403);
  });
});

describe('agents and skills of a project', () => {
  it('are listed and read', async () => {
    const handler = await edge();
    const read = async (path: string) =>
      await (await handler(new Request(`https://edge.example${path}`, { headers: { authorization: `Bearer ${rootKey}` } }))).text();
    expect(await read('/v1/models')).toContain('"agent/helper"');
    expect(await read('/v1/agents/helper')).toContain('Be kind.');
    expect(await read('/v1/skills/greet')).toContain('Ahoy');
  });

  it.each([
    ['an unknown toolset', { agents: { a: { model: 'fast', toolset: 'nothing' } } }, 'agents.a.toolset'],
    ['another version of a toolset', { agents: { a: { model: 'fast', toolset: 'work@2' } } }, 'agents.a.toolset'],
    ['an unknown skill', { agents: { a: { model: 'fast', skills: ['greet', 'none'] } } }, 'agents.a.skills[1]'],
    ['limits that are counted', { agents: { a: { model: 'fast', limits: { dailyCost: 1 } } } }, 'agents.a.limits.dailyCost'],
    [
      'counted limits of the workspace',
      { workspace: { settings: { limits: { requestsPerMinute: 1 } } } },
      'workspace.settings.limits.requestsPerMinute',
    ],
    ['a skill in a folder', { skills: { greet: { path: 'skills/greet' } } }, 'skills.greet.path'],
    ['a skill without a description', { skills: { greet: { content: '---\nname: greet\n---\n' } } }, 'skills.greet.'],
  ])('with %s are rejected at the start', async (_what, more, place) => {
    await expect(edge({ project: { ...projectOf(), ...more } })).rejects.toThrow(place);
  });
});
