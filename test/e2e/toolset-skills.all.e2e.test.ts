/**
 * The skills of a toolset: a version has their texts under the names of its tools, and MCP clients get them as the extension
 * `io.modelcontextprotocol/skills` says (ext-skills, 2026-09), with digests that fit.
 */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { listenMcpServer } from '../fakes/mcp-server.ts';
import { connectClient } from './mcp-clients.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const skill = (text: string) => ({
  content: `---\nname: notes\ndescription: Writes notes.\nallowed-tools: Bash(ls:*) Read\n---\n${text}\n`,
  resources: { 'templates/a.md': 'A', 'templates/deep/größe 1.txt': 'B', 'run.sh': 'ls', 'x.bin': { base64: 'AP8=' } },
});
const document = {
  tools: [
    { tool: 'builtin.bash', name: 'shell', aliases: [] },
    { tool: 'builtin.read_file', name: 'open', aliases: [] },
  ],
  skills: ['notes'],
};

/** One request of 2026-07-28. */
async function rpc(method: string, params: Record<string, unknown> = {}, path = '/mcp/desk', key = service.key) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const named: Record<string, string> = typeof params.uri === 'string' ? { 'mcp-name': params.uri } : {};
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...(method === 'resources/read' ? named : {}) },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  const text = await response.text();
  return JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null'));
}
const contentOf = async (uri: string, path?: string) => (await rpc('resources/read', { uri }, path)).result.contents[0];
const bytesOf = ({ text, blob }: { text?: string; blob?: string }) =>
  Buffer.from(text ?? blob ?? '', text === undefined ? 'base64' : 'utf8');

beforeAll(async () => {
  await service.call('PUT', '/v1/skills/notes', skill('Use `bash` and `Read`.'));
  const { status, json } = await service.call('PUT', '/v1/toolsets/desk', document);
  expect([status, json.warnings]).toEqual([201, []]);
});

describe('an MCP client of a toolset with skills', () => {
  it('learns that there are skills, and gets complete entries whose digests and sizes fit the files', async () => {
    const { result } = await rpc('server/discover');
    expect(result.capabilities).toMatchObject({
      resources: {},
      extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
    });
    const listed = await rpc('skills/list');
    expect(listed.result).toMatchObject({ resultType: 'complete', ttlMs: expect.any(Number), cacheScope: 'private' });
    const [entry, ...others] = listed.result.skills;
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      uri: 'skill://notes/SKILL.md',
      frontmatter: { name: 'notes', description: 'Writes notes.', 'allowed-tools': 'shell(ls:*) open' },
    });
    expect(entry.resources).toHaveLength(5);
    for (const { uri, digest, size } of entry.resources) {
      const bytes = bytesOf(await contentOf(uri));
      expect([uri, bytes.byteLength, `sha256:${createHash('sha256').update(bytes).digest('hex')}`]).toEqual([uri, size, digest]);
    }
    expect((await rpc('skills/get', { uri: entry.uri })).result).toMatchObject({ skill: entry, ttlMs: expect.any(Number) });
    expect((await contentOf(entry.uri)).text).toContain('Use `shell` and `open`.');
  });

  it('reads folders, each child once', async () => {
    const children = async (uri: string) =>
      (await rpc('resources/directory/read', { uri })).result.resources.map(({ uri: at, mimeType }: { uri: string; mimeType: string }) => [
        at,
        mimeType,
      ]);
    expect(await children('skill://notes')).toEqual([
      ['skill://notes/SKILL.md', 'text/markdown'],
      ['skill://notes/run.sh', 'text/x-shellscript'],
      ['skill://notes/templates', 'inode/directory'],
      ['skill://notes/x.bin', 'application/octet-stream'],
    ]);
    expect(await children('skill://notes/templates/deep')).toEqual([
      ['skill://notes/templates/deep/gr%C3%B6%C3%9Fe%201.txt', 'text/plain'],
    ]);
  });

  it.each([
    ['skills/get', 'skill://gone/SKILL.md'],
    ['skills/get', 'skill://notes/run.sh'],
    ['skills/get', 'skill://notes/../notes/SKILL.md'],
    ['resources/directory/read', 'skill://notes/SKILL.md'],
    ['resources/directory/read', 'skill://notes/'],
    ['resources/directory/read', 'skill://'],
    ['resources/read', 'skill://notes/templates/../SKILL.md'],
    ['resources/read', 'skill://notes/%2e%2e/notes/SKILL.md'],
    ['resources/read', 'skill://notes/SKILL.md?x'],
    ['resources/read', `skill://notes/${'a/'.repeat(3000)}`],
  ])('gets an error of invalid parameters for %s of %s', async (method, uri) => {
    expect((await rpc(method, { uri })).error).toMatchObject({ code: -32602 });
  });

  it('of an earlier revision reads the files as resources', async () => {
    const client = await connectClient(`${service.url}/mcp/desk`, service.key, 'legacy');
    expect((await client.listResources()).resources).toMatchObject([
      { uri: 'skill://notes/SKILL.md', name: 'notes', description: 'Writes notes.', mimeType: 'text/markdown' },
    ]);
    expect((await client.readResource({ uri: 'skill://notes/run.sh' })).contents).toMatchObject([{ text: 'ls' }]);
    await client.close();
  });

  it('is in the audit with each file and each skill that it reads, and not with what it lists', async () => {
    const { json: made } = await service.call('POST', '/v1/keys', { name: 'reader', scopes: ['tools'] });
    await rpc('skills/list', {}, '/mcp/desk', made.key);
    await rpc('resources/read', { uri: 'skill://notes/run.sh' }, '/mcp/desk', made.key);
    await rpc('skills/get', { uri: 'skill://notes/SKILL.md' }, '/mcp/desk', made.key);
    const rows = (await service.call('GET', '/v1/audit?kind=call&limit=100')).json.items.filter(
      ({ keyId }: { keyId: string }) => keyId === made.id,
    );
    const common = { verdict: 'ran', code: null, session: null, toolset: 'desk', edition: expect.stringMatching(/^desk@/) };
    expect(
      rows.toSorted((one: { canonical: string }, other: { canonical: string }) => (one.canonical < other.canonical ? -1 : 1)),
    ).toMatchObject([
      { ...common, canonical: 'builtin.resources/read', requested: 'skill://notes/run.sh' },
      { ...common, canonical: 'builtin.skills/get', requested: 'skill://notes/SKILL.md' },
    ]);
  });

  it('gets the skills of the version that it names, also after the skill was changed or deleted', async () => {
    await service.call('PUT', '/v1/skills/plan', { content: '---\nname: plan\ndescription: One.\n---\nFirst `bash`.\n' });
    await service.call('PUT', '/v1/toolsets/planning', { ...document, skills: ['plan'] });
    const second = { tools: [{ tool: 'builtin.bash', name: 'cli', aliases: [] }], skills: ['plan'] };
    expect((await service.call('PUT', '/v1/toolsets/planning', second)).status).toBe(200);
    const { json: diff } = await service.call('GET', '/v1/toolsets/planning/diff?from=1&to=2');
    expect(diff.fields).toMatchObject([{ path: expect.stringMatching(/^\/skills\/plan/) }]);
    await service.call('PUT', '/v1/skills/plan', { content: '---\nname: plan\ndescription: Two.\n---\nSecond `bash`.\n' });
    const text = async (path: string) => (await contentOf('skill://plan/SKILL.md', path)).text as string;
    await expect.poll(() => text('/mcp/planning')).toContain('Second `cli`.');
    expect(await text('/mcp/planning@1')).toContain('First `shell`.');
    // Without the skill, the toolset has no resources.
    await service.call('DELETE', '/v1/skills/plan');
    await expect
      .poll(async () => (await rpc('resources/read', { uri: 'skill://plan/SKILL.md' }, '/mcp/planning')).error?.code)
      .toBe(-32601);
    expect(await text('/mcp/planning@1')).toContain('First `shell`.');
  });

  it('gets a resource of a server that has the URI of a skill under another one', async () => {
    const fake = await listenMcpServer({
      tools: [{ name: 'look', inputSchema: { type: 'object' } }],
      resources: [{ uri: 'skill://notes/SKILL.md', name: 'foreign', text: 'foreign' }],
    } as never);
    await service.call('PUT', '/v1/servers/shelf', { kind: 'mcp', url: fake.url, trusted: true });
    await service.call('PUT', '/v1/toolsets/both', { tools: [...document.tools, { tool: 'shelf.look' }], skills: ['notes'] });
    const uris = (await rpc('resources/list', {}, '/mcp/both')).result.resources.map(({ uri }: { uri: string }) => uri);
    expect(uris).toEqual(['skill://notes/SKILL.md', 'skill://notes/SKILL.md#moniker.shelf']);
    expect((await contentOf('skill://notes/SKILL.md', '/mcp/both')).text).toContain('Use `shell`');
    await fake.close();
  });
});

describe('a turn with a toolset with skills', () => {
  it('offers them without an agent, and loads the text of its version', async () => {
    const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'desk' });
    const { json } = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: '/use_skill name=notes' });
    expect(json.toolCalls).toMatchObject([{ canonical: 'builtin.use_skill', isError: false }]);
    expect(JSON.stringify(json.toolCalls)).toContain('Use `shell` and `open`.');
    const read = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: '/open path=/skills/notes/run.sh' });
    expect(JSON.stringify(read.json.toolCalls)).toContain('ls');
  });

  it('has the skill of the agent instead of that of the toolset with the same name', async () => {
    await service.call('PUT', '/v1/agents/scribe', { model: 'rehearsal/default', toolset: 'desk', skills: ['notes'] });
    const { json: session } = await service.call('POST', '/v1/sessions', { agent: 'scribe' });
    const { json } = await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: '/use_skill name=notes' });
    expect(json.toolCalls).toMatchObject([{ isError: false }]);
  });
});

describe('a toolset that lists a skill', () => {
  it('that does not exist is stored with a warning, and has the skill once it exists', async () => {
    const { json } = await service.call('PUT', '/v1/toolsets/later', { ...document, skills: ['later'] });
    expect(json.warnings).toMatchObject([{ path: 'skills[0]', message: expect.stringContaining('does not exist yet') }]);
    await service.call('PUT', '/v1/skills/later', { content: '---\nname: later\ndescription: Later.\n---\nText.\n' });
    await expect.poll(async () => (await rpc('skills/list', {}, '/mcp/later')).result.skills.length).toBe(1);
  });

  it('that needs a tool which it lacks is warned of it', async () => {
    await service.call('PUT', '/v1/skills/needs', { content: '---\nname: needs\ndescription: N.\nrequires: deploy\n---\nText.\n' });
    const { json } = await service.call('PUT', '/v1/toolsets/lacks', { ...document, skills: ['needs'] });
    expect(json.warnings).toMatchObject([{ path: 'skills[0]', message: expect.stringContaining('needs deploy') }]);
  });

  it.each([
    ['twice', ['notes', 'notes'], 'skills[1]'],
    ['with a path as its name', ['../notes'], 'skills[0]'],
    ['fifty-one times', Array.from({ length: 51 }, (_, index) => `s${index}`), 'skills'],
  ])('%s is refused', async (_what, skills, path) => {
    const { status, json } = await service.call('PUT', '/v1/toolsets/bad', { ...document, skills });
    expect([status, json.issues[0].path]).toEqual([422, path]);
  });
});
