/** The configuration tools of bound keys over the real service: at /mcp, and as tools of a toolset. */
import { beforeAll, describe, expect, it } from 'vitest';
import { send } from '../objects/catalog/real-service.ts';

const model = 'rehearsal/default';
const file = { tool: 'builtin.read_file' };
const bash = { tool: 'builtin.bash' };
const configuring = ['build-toolset', 'update-toolset', 'rename-toolset', 'delete-toolset', 'equip-toolset', 'list-available-tools'];
const every = ['chat', 'tools', 'toolsets', 'approve'];

type Headers = Record<string, string>;
type Told = { isError?: boolean; code?: string; structuredContent?: { success?: boolean; error?: string } & Record<string, unknown> };

async function keyOf(rights: object): Promise<Headers> {
  const made = await send('POST', '/v1/keys', { name: 'bound', scopes: every, ...rights });
  return { authorization: `Bearer ${((await made.json()) as { key: string }).key}` };
}

async function mcp(headers: Headers, method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const own = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
  };
  const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope } };
  const text = await (await send('POST', '/mcp', body, { ...headers, ...own })).text();
  const data = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}');
  return JSON.parse(data) as Record<string, unknown>;
}

const call = async (headers: Headers, name: string, args: object): Promise<Told> =>
  (await mcp(headers, 'tools/call', { name, arguments: args })).result as Told;
const direct = async (headers: Headers, name: string, args: object): Promise<Told> =>
  (await (await send('POST', '/v1/toolsets/desk/calls', { name, arguments: args }, headers)).json()) as Told;
const stored = async (): Promise<string> =>
  (await Promise.all(['mine', 'other', 'desk'].map(async (name) => (await send('GET', `/v1/toolsets/${name}`)).text()))).join('\n');

beforeAll(async () => {
  await send('PUT', '/v1/toolsets/mine', { tools: [file] });
  await send('PUT', '/v1/toolsets/other', { tools: [bash] });
  await send('PUT', '/v1/toolsets/desk', { tools: configuring.map((name) => ({ tool: `builtin.${name}` })) });
  await send('PUT', '/v1/agents/desk', { model, toolset: 'desk' });
});

/** Attempts of an attacker with the key. */
const attempts: readonly (readonly [tool: string, args: object])[] = [
  ['build-toolset', { name: 'new', tools: [{ namespacedName: 'builtin.read_file' }] }],
  ['build-toolset', { name: 'other', tools: [{ namespacedName: 'builtin.read_file' }] }],
  ['update-toolset', { name: 'mine', add: [{ namespacedName: 'builtin.bash' }] }],
  ['update-toolset', { name: 'mine', tools: [{ namespacedName: 'builtin.bash' }] }],
  ['update-toolset', { name: 'mine', add: [{ namespacedName: 'no.where' }] }],
  ['update-toolset', { name: 'other', remove: [{ namespacedName: 'builtin.bash' }] }],
  ['update-toolset', { name: 'desk', add: [{ namespacedName: 'builtin.bash' }] }],
  ['update-toolset', { name: 'nowhere', description: 'x' }],
  ['rename-toolset', { name: 'mine', newName: 'stolen' }],
  ['rename-toolset', { name: 'other', newName: 'mine' }],
  ['delete-toolset', { name: 'other', confirm: true }],
  ['equip-toolset', { name: 'other' }],
];

describe('a key bound to a toolset', () => {
  let headers: Headers;
  beforeAll(async () => {
    headers = await keyOf({ toolsets: ['mine'] });
  });

  it.each(attempts)('is refused %s %j at /mcp', async (tool, args) => {
    const before = await stored();
    const told = await call(headers, tool, args);
    expect([told.isError, told.structuredContent?.success ?? false], JSON.stringify(told)).toEqual([true, false]);
    expect(await stored()).toBe(before);
    expect((await send('GET', '/v1/toolsets/new')).status).toBe(404);
  });

  it('lists the tools of its toolset, and gets the same error for a foreign and an unknown tool', async () => {
    const { structuredContent } = await call(headers, 'list-available-tools', {});
    expect(JSON.stringify(structuredContent)).toContain('builtin.read_file');
    expect(JSON.stringify(structuredContent)).not.toContain('builtin.bash');
    const errorOf = async (tool: string) =>
      (await call(headers, 'update-toolset', { name: 'mine', add: [{ namespacedName: tool }] })).structuredContent?.error?.replaceAll(
        tool,
        'X',
      );
    expect(await errorOf('builtin.bash')).toBe(await errorOf('builtin.nope'));
  });

  it('changes and equips its own', async () => {
    const changed = await call(headers, 'update-toolset', {
      name: 'mine',
      change: [{ namespacedName: 'builtin.read_file', alias: 'peek' }],
    });
    expect(changed.structuredContent).toMatchObject({ success: true });
    expect((await call(headers, 'equip-toolset', { name: 'mine' })).structuredContent).toMatchObject({ success: true });
  });
});

describe.each([
  ['with the scopes chat, tools, toolsets and approve', every],
  ['with the scope admin', ['admin']],
])('a key bound to an agent, %s', (_what, scopes) => {
  let headers: Headers;
  beforeAll(async () => {
    headers = await keyOf({ agents: ['desk'], scopes });
  });

  it('has no tools at /mcp', async () => {
    expect((await mcp(headers, 'tools/list')).result).toMatchObject({ tools: [] });
    expect(JSON.stringify(await mcp(headers, 'tools/call', { name: 'build-toolset', arguments: {} }))).not.toContain('"success":true');
  });

  it.each([...attempts, ['list-available-tools', {}] as const, ['delete-toolset', { name: 'desk', confirm: true }] as const])(
    'is refused %s %j as a tool of its agent',
    async (tool, args) => {
      const before = await stored();
      const told = await direct(headers, tool, args);
      expect(told).toMatchObject({ isError: true, code: 'not_allowed' });
      expect(JSON.stringify(told)).toContain('is bound to agents');
      expect(await stored()).toBe(before);
    },
  );
});
