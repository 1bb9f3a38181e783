/**
 * The table of `docs/approvals-and-policy.md#when-a-change-takes-effect`: what a change that takes something away reaches, and when. Each row makes its
 * own toolset and opens everything that may still use it before the change: a running turn, a pinned session, a pinned agent, MCP clients and a key.
 */
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { connectClient, textOf } from './mcp-clients.ts';
import { sample } from '../selection.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
/** Calls of `wait`, by toolset: each ends when it is released. */
const waiting = new Map<string, { begun: PromiseWithResolvers<void>; release: PromiseWithResolvers<void> }>();
let tools: ToolServer;
beforeAll(async () => {
  tools = await listenToolServer(async ({ name, arguments: args }) => {
    const open = name === 'wait' ? waiting.get(String(args.of)) : undefined;
    open?.begun.resolve();
    await open?.release.promise;
    return { content: [{ type: 'text', text: `ran ${name} ${JSON.stringify(args)}` }] };
  });
});
afterAll(() => tools.close());

const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
  const answer = await service.call(method, path, body, headers);
  expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
  return answer.json;
};

const text = { type: 'string' };
const definition = (name: string, properties: Record<string, unknown>) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties },
});
const listed = () => ({
  kind: 'static',
  url: tools.url,
  trusted: true,
  updates: 'review',
  tools: [definition('wait', { of: text }), definition('act', { how: text })],
});

/** What uses a toolset, opened before the change. */
type Users = {
  /** The names of the toolset, its server and its pinned agent. */
  name: string;
  keyId: string;
  /** The result of the next call: `ran …`, the code of its refusal, `waiting` for an approval, or the status of a refused request. */
  running(): Promise<string>;
  pinned(): Promise<string>;
  agent(): Promise<string>;
  mcp(): Promise<string>;
  mcpPinned(): Promise<string>;
  bound(): Promise<string>;
};

async function openUsers(name: string, say: string): Promise<Users> {
  const wire = say.split(' ')[0] ?? '';
  const args = say.includes(' ') ? { how: say.split('=')[1] } : {};
  await send('PUT', `/v1/servers/${name}`, listed());
  await send('PUT', `/v1/toolsets/${name}`, { tools: [wait(name), act(name)] });
  await send('PUT', `/v1/agents/${name}`, { model: 'rehearsal/default', toolset: `${name}@1`, tools: ['wait', 'act'] });
  const { id: keyId, key } = await send('POST', '/v1/keys', { name, scopes: ['chat', 'tools'], toolsets: [name] });
  const own = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const session = async (body: object, headers?: Record<string, string>) => (await send('POST', '/v1/sessions', body, headers)).id;
  const turn = async (id: string, input: string, headers?: Record<string, string>): Promise<string> => {
    const { status, json } = await service.call('POST', `/v1/sessions/${id}/turns`, { input }, headers);
    if (status !== 200) return String(status);
    if (json.status === 'waiting') return 'waiting';
    const { items } = await send('GET', `/v1/sessions/${id}/events?follow=false&limit=200`);
    const last = items.findLast(({ type, canonical }: Record<string, string>) => type === 'tool-result' && canonical !== `${name}.wait`);
    return last?.code ?? last?.content[0].text ?? 'no call';
  };
  const [ofKey, pinnedTo, withAgent] = await Promise.all([
    session({ model: 'rehearsal/default', toolset: name }, own),
    session({ model: 'rehearsal/default', toolset: `${name}@1` }),
    session({ agent: name }),
  ]);
  const client = await connectClient(`${service.url}/mcp/${name}`, service.key, 'legacy');
  const pinnedClient = await connectClient(`${service.url}/mcp/${name}@1`, service.key, 'legacy');
  const overMcp = async (connected: Client): Promise<string> => {
    try {
      const { _meta, content } = await connected.callTool({ name: wire, arguments: args });
      return String(_meta?.code ?? textOf({ content: content as { type: string }[] }));
    } catch (error) {
      return String(error);
    }
  };
  const open = { begun: Promise.withResolvers<void>(), release: Promise.withResolvers<void>() };
  waiting.set(name, open);
  const running = turn(ofKey, `/wait of=${name}\n\n/${say}`, own);
  await open.begun.promise;
  return {
    name,
    keyId,
    running: async () => {
      open.release.resolve();
      return await running;
    },
    pinned: () => turn(pinnedTo, `/${say}`),
    agent: () => turn(withAgent, `/${say}`),
    mcp: () => overMcp(client),
    mcpPinned: () => overMcp(pinnedClient),
    bound: async () => {
      const { status, json } = await service.call('POST', `/v1/toolsets/${name}/calls`, { name: wire, arguments: args }, own);
      return status === 200 ? (json.code ?? json.content[0].text) : String(status);
    },
  };
}

const wait = (name: string) => ({ tool: `${name}.wait`, approval: 'never' });
const act = (name: string, more: object = {}) => ({ tool: `${name}.act`, aliases: ['do_it'], approval: 'never', ...more });
const put = (name: string, body: object) => send('PUT', `/v1/toolsets/${name}`, body);

const runs = expect.stringContaining('ran act');
const unknown = expect.stringMatching(/unknown_tool|There is no tool|not found/i);
const refused = expect.stringMatching(/403|401|404|not found|retired|There is no|Unauthorized|HTTP/i);

type Row = {
  change: string;
  /** Also part of the sample that `npm test` runs. */
  isInSample?: true;
  /** The call; `act` by default. */
  say?: string;
  apply(users: Users): Promise<unknown>;
  expected: Record<'running' | 'pinned' | 'agent' | 'mcp' | 'mcpPinned' | 'bound', unknown>;
};
const all = (value: unknown): Row['expected'] => ({
  running: value,
  pinned: value,
  agent: value,
  mcp: value,
  mcpPinned: value,
  bound: value,
});

const rows: Row[] = [
  {
    change: 'a tool is removed: the next turn, and pins keep it',
    apply: ({ name }) => put(name, { tools: [wait(name)] }),
    expected: { ...all(runs), mcp: unknown, bound: 'unknown_tool' },
  },
  {
    change: 'a tool is removed with `revoke`: the next call, of every version',
    isInSample: true,
    apply: ({ name }) => put(name, { tools: [wait(name)], revoke: true }),
    expected: { ...all('not_allowed'), mcp: unknown, bound: 'unknown_tool' },
  },
  {
    change: 'a tool that was removed before is revoked: the next call, of every version',
    apply: async ({ name }) => {
      await put(name, { tools: [wait(name)] });
      await send('PATCH', `/v1/toolsets/${name}`, { revoked: [`${name}.act`] });
    },
    expected: { ...all('not_allowed'), mcp: unknown, bound: 'unknown_tool' },
  },
  {
    change: 'an alias is removed: the next turn, and pins keep it',
    say: 'do_it',
    apply: ({ name }) => put(name, { tools: [wait(name), act(name, { aliases: [] })] }),
    expected: { ...all(runs), mcp: unknown, bound: 'unknown_tool' },
  },
  {
    change: 'calls of a tool require approval: the next call, of every version',
    isInSample: true,
    apply: ({ name }) => put(name, { tools: [wait(name), act(name, { approval: 'always' })] }),
    expected: {
      running: 'waiting',
      pinned: 'waiting',
      agent: 'waiting',
      mcp: 'approval_required',
      mcpPinned: 'approval_required',
      bound: 'approval_required',
    },
  },
  {
    change: 'presets are tightened: the next turn, and pins keep theirs until their version is retired',
    say: 'act how=hard',
    apply: ({ name }) => put(name, { tools: [wait(name), act(name, { arguments: { preset: { how: 'softly' } } })] }),
    expected: { ...all(expect.stringContaining('hard')), mcp: expect.stringContaining('softly'), bound: expect.stringContaining('softly') },
  },
  {
    change: 'the version is retired: the next call',
    isInSample: true,
    apply: async ({ name }) => {
      await put(name, { tools: [act(name), wait(name)] });
      await send('POST', `/v1/toolsets/${name}/versions/1/retire`);
    },
    expected: { running: 'not_allowed', pinned: '404', agent: '404', mcp: runs, mcpPinned: refused, bound: runs },
  },
  {
    change: 'the toolset is deleted: the next call',
    isInSample: true,
    apply: ({ name }) => send('DELETE', `/v1/toolsets/${name}`),
    expected: { running: 'not_allowed', pinned: '404', agent: '404', mcp: refused, mcpPinned: refused, bound: '404' },
  },
  {
    change: 'the definition changes at its server, and is held: the next call',
    apply: ({ name }) =>
      send('PUT', `/v1/servers/${name}`, {
        ...listed(),
        tools: [definition('wait', { of: text }), definition('act', { how: { type: 'integer' } })],
      }),
    expected: all('tool_held'),
  },
  {
    change: 'the definition is rejected: the next call',
    isInSample: true,
    apply: ({ name }) => send('POST', `/v1/servers/${name}/tools/act/reject`),
    expected: all('tool_held'),
  },
  {
    change: 'the acceptance of a definition is undone: the next call',
    apply: async ({ name }) => {
      const other = { ...listed(), tools: [definition('wait', { of: text }), definition('act', { how: text, why: text })] };
      await send('PUT', `/v1/servers/${name}`, other);
      await send('POST', `/v1/servers/${name}/tools/act/accept`);
      await send('POST', `/v1/servers/${name}/tools/act/undo`);
    },
    expected: all('tool_held'),
  },
  {
    change: 'the server is deleted: the next call',
    apply: ({ name }) => send('DELETE', `/v1/servers/${name}`),
    expected: all('tool_error'),
  },
  {
    change: 'a rule denies it: the next call',
    apply: ({ name }) => send('PUT', '/v1/policy', { rules: [{ decision: 'deny', tool: `${name}.act` }] }),
    expected: all('not_allowed'),
  },
  {
    change: 'the tools of an agent are narrowed: its next turn',
    apply: ({ name }) => send('PUT', `/v1/agents/${name}`, { model: 'rehearsal/default', toolset: `${name}@1`, tools: ['wait'] }),
    expected: { ...all(runs), agent: 'unknown_tool' },
  },
  {
    change: 'an agent is deleted: its next turn',
    apply: ({ name }) => send('DELETE', `/v1/agents/${name}`),
    expected: { ...all(runs), agent: '404' },
  },
  {
    change: 'the toolsets of a key are narrowed: its next request',
    apply: ({ keyId }) => send('PATCH', `/v1/keys/${keyId}`, { toolsets: [] }),
    expected: { ...all(runs), bound: '403' },
  },
  {
    change: 'the scopes of a key are narrowed: its next request',
    apply: ({ keyId }) => send('PATCH', `/v1/keys/${keyId}`, { scopes: ['chat'] }),
    expected: { ...all(runs), bound: '403' },
  },
  {
    change: 'a key is revoked: its next request',
    apply: ({ keyId }) => send('DELETE', `/v1/keys/${keyId}`),
    expected: { ...all(runs), bound: '401' },
  },
];

describe.concurrent('what a change takes away', () => {
  const named = rows.map((row, index) => ({ ...row, name: `row-${index}` }));
  it.each(sample('what a change takes away', named, ({ isInSample }) => isInSample === true))(
    'takes effect as documented: $change',
    async ({ name, say = 'act', apply, expected }) => {
      const users = await openUsers(name, say);
      await apply(users);
      const { running, pinned, agent, mcp, mcpPinned, bound } = users;
      // First the turn that ran during the change.
      const after = {
        running: await running(),
        pinned: await pinned(),
        agent: await agent(),
        mcp: await mcp(),
        mcpPinned: await mcpPinned(),
        bound: await bound(),
      };
      expect(after).toEqual(expected);
    },
  );
});

describe('a revoked tool is refused to calls that other tools make', () => {
  const name = 'nested';
  beforeAll(async () => {
    await send('PUT', `/v1/servers/${name}`, listed());
    await send('PUT', '/v1/tools/made.twice', {
      description: 'Acts twice.',
      implementation: `const first = await tools.${name}.act({}); const second = await tools.${name}.act({}); return [first, second];`,
    });
    const others = [{ tool: 'made.twice' }, { tool: 'builtin.bash' }];
    await put(name, { tools: [act(name), ...others] });
    await send('PUT', `/v1/agents/${name}`, { model: 'rehearsal/default', toolset: `${name}@1`, codeMode: true });
  });

  const innerResults = async (body: object, input: string): Promise<string[]> => {
    const { id } = await send('POST', '/v1/sessions', body);
    await send('POST', `/v1/sessions/${id}/turns`, { input });
    const { items } = await send('GET', `/v1/sessions/${id}/events?follow=false&limit=500`);
    const results = items.filter(({ type, canonical }: Record<string, string>) => type === 'inner-result' && canonical === `${name}.act`);
    return results.map(({ code, content }: { code?: string; content: { text: string }[] }) => code ?? content[0]?.text);
  };
  const code = JSON.stringify({ code: 'return await tools.act({});' });
  const script = JSON.stringify({ command: "tool act --json '{}'" });
  const ways: [way: string, body: object, input: string, calls: number][] = [
    ['a made tool of a pinned version', { model: 'rehearsal/default', toolset: `${name}@1` }, '/twice {}', 2],
    ['a made tool of the current version', { model: 'rehearsal/default', toolset: name }, '/twice {}', 2],
    ['a script', { model: 'rehearsal/default', toolset: `${name}@1` }, `/bash ${script}`, 1],
    ['code mode', { agent: name }, `/run_code ${code}`, 1],
  ];

  it('ends calls by made tools, scripts and code, whatever version they use', async () => {
    for (const [way, body, input, calls] of ways)
      expect(await innerResults(body, input), way).toEqual(Array.from({ length: calls }, () => expect.stringContaining('ran act')));
    const { warnings } = await put(name, { tools: [{ tool: 'made.twice' }, { tool: 'builtin.bash' }], revoke: true });
    expect(warnings).toContainEqual({ path: 'revoked', message: expect.stringContaining('made.twice uses a tool that was revoked') });
    const before = tools.calls.length;
    for (const [way, body, input, calls] of ways)
      expect(await innerResults(body, input), way).toEqual(Array.from({ length: calls }, () => 'not_allowed'));
    expect(tools.calls).toHaveLength(before);
    await send('PATCH', `/v1/toolsets/${name}`, { revoked: [] });
    for (const [way, body, input, calls] of ways)
      expect(await innerResults(body, input), way).toEqual(Array.from({ length: calls }, () => expect.stringContaining('ran act')));
  });
});
