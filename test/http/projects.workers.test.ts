/** Projects and imports over HTTP, against the real catalog. */
import { beforeAll, describe, expect, it } from 'vitest';
import { placeholder } from '../../src/core/project/expand-variables.ts';
import { send } from '../objects/catalog/real-service.ts';
import { bodyOf } from './harness.ts';

const site = {
  secrets: { SITE_TOKEN: { value: 'Bearer site-1234' } },
  servers: {
    weather: {
      kind: 'static',
      url: 'https://tools.example.com/call',
      headers: { authorization: { secret: 'SITE_TOKEN' } },
      tools: [{ name: 'forecast', description: 'The weather of a city.', inputSchema: { type: 'object' } }],
    },
  },
  tools: {
    'made.rain': { description: 'Whether it rains.', implementation: 'return await tools.forecast({});', uses: ['weather.forecast'] },
    'ui.umbrella': { label: 'Umbrella', description: 'Opens an umbrella.', category: 'weather', triggers: ['rain'] },
  },
  toolsets: { work: { tools: [{ tool: 'weather.*' }, { tool: 'made.rain' }, { tool: 'builtin.bash', aliases: ['shell'] }] } },
  agents: { helper: { model: 'rehearsal/default', toolset: 'work' } },
  webhooks: { triage: { agent: 'helper', scheme: 'github', secret: 'a secret of github', input: 'Look.' } },
  policy: { rules: [{ decision: 'deny', tool: 'builtin.delete_file' }] },
};
const all = [
  'secrets.SITE_TOKEN',
  'servers.weather',
  'tools.ui.umbrella',
  'tools.made.rain',
  'toolsets.work',
  'agents.helper',
  'policy',
  'webhooks.triage',
];

const put = async (body: unknown, query = '', headers = {}) => await send('PUT', `/v1/projects/site${query}`, body, headers);
const yaml = (text: string, query = '', headers = {}) =>
  send('POST', `/v1/import${query}`, text, { 'content-type': 'application/yaml', ...headers });
const keyFor = async (key: object) => {
  const { key: text } = await bodyOf(await send('POST', '/v1/keys', { name: 'bound', ...key }));
  return { authorization: `Bearer ${text}` };
};

describe('a project over HTTP', () => {
  it('revokes tools, keeps what is revoked, and gives it back', async () => {
    const apply = async (toolset: object, query = '') =>
      bodyOf(await send('PUT', `/v1/projects/tight${query}`, { toolsets: { tight: toolset } }));
    const stored = async () => bodyOf(await send('GET', '/v1/toolsets/tight'));
    const code = async () => {
      const body = { name: 'bash', arguments: { command: 'date' } };
      return (await bodyOf(await send('POST', '/v1/toolsets/tight/calls?version=1', body))).code;
    };
    const [file, bash] = [{ tool: 'builtin.read_file' }, { tool: 'builtin.bash' }];
    await apply({ tools: [file, bash] });
    expect(await code()).toBeUndefined();
    expect(await apply({ tools: [file], revoked: ['builtin.bash'] })).toMatchObject({ updated: ['toolsets.tight'] });
    expect(await code()).toBe('not_allowed');
    const again = await apply({ tools: [file] });
    expect(again).toMatchObject({ unchanged: ['toolsets.tight'] });
    expect(JSON.stringify(again.warnings)).toContain('builtin.bash stay revoked');
    expect(await stored()).toMatchObject({ revoked: ['builtin.bash'] });
    const { toolsets } = await bodyOf(await send('GET', '/v1/export'));
    expect(toolsets.tight).toMatchObject({ revoked: ['builtin.bash'] });
    expect(await apply({ tools: [file, bash], revoked: [] })).toMatchObject({ updated: ['toolsets.tight'] });
    expect(await code()).toBeUndefined();
    await send('DELETE', '/v1/projects/tight?documents=true');
  });

  it('is planned, applied, changed and removed', async () => {
    const planned = await put(site, '?dryRun=true');
    expect(await bodyOf(planned)).toMatchObject({ project: 'site', created: all, updated: [], skipped: [], waiting: [] });
    expect((await send('GET', '/v1/agents/helper')).status).toBe(404);
    const etag = planned.headers.get('etag') ?? '';

    expect(await bodyOf(await put(site, '', { 'if-match': etag }))).toMatchObject({ created: all });
    expect((await put(site, '', { 'if-match': etag })).status).toBe(412);
    expect((await bodyOf(await send('GET', '/v1/secrets/SITE_TOKEN'))).hosts).toEqual(['tools.example.com']);
    expect((await bodyOf(await send('GET', '/v1/toolsets/work'))).tools.map(({ tool }: { tool: string }) => tool)).toEqual([
      'weather.forecast',
      'made.rain',
      'builtin.bash',
    ]);
    expect(await bodyOf(await put(site))).toMatchObject({ created: [], updated: [], unchanged: all, changes: [] });
    const audit = await bodyOf(await send('GET', '/v1/audit?kind=change&limit=50'));
    expect(
      audit.items.filter(({ resource, action }: { resource: string; action: string }) => resource === 'agent' && action === 'create'),
    ).toHaveLength(1);

    const changed = { ...site, agents: { helper: { ...site.agents.helper, instructions: 'Be brief.' } } };
    expect(await bodyOf(await put(changed))).toMatchObject({
      updated: ['agents.helper'],
      changes: [{ name: 'agents.helper', path: 'instructions', before: '""', after: '"Be brief."' }],
    });
    await send('PUT', '/v1/agents/helper', { model: 'rehearsal/default', toolset: 'work' });
    expect((await bodyOf(await put(changed))).kept).toEqual([{ name: 'agents.helper', reason: 'it was changed since, at version 3' }]);
    expect((await bodyOf(await send('GET', '/v1/projects/site'))).documents).toContainEqual({
      name: 'agents.helper',
      state: 'changed',
      created: true,
    });

    expect(await bodyOf(await put({ ...site, agents: {} }, '?prune=true&force=true'))).toMatchObject({ removed: ['agents.helper'] });
    const removed = await bodyOf(await send('DELETE', '/v1/projects/site?documents=true'));
    expect(removed.removed.toSorted()).toEqual(all.filter((name) => name !== 'agents.helper').toSorted());
    expect((await send('GET', '/v1/projects/site')).status).toBe(404);
    expect((await send('GET', '/v1/servers/weather')).status).toBe(404);
  });

  it('is refused as a whole, with the place of each fault', async () => {
    const wrong = await put({ ...site, toolsets: { work: { tools: [{ tool: 'weather.gone' }, { tool: 'builtin.bahs' }] } } });
    expect(wrong.status).toBe(422);
    expect((await bodyOf(wrong)).issues.map(({ path }: { path: string }) => path)).toEqual([
      'toolsets.work.tools[0].tool',
      'toolsets.work.tools[1].tool',
    ]);
    expect((await send('GET', '/v1/servers/weather')).status).toBe(404);

    const code = await bodyOf(await put({ tools: { 'made.broken': { description: 'x', implementation: 'return (' } } }));
    expect(code.issues[0].path).toBe('tools.made.broken.implementation');
    const folder = await bodyOf(await put({ skills: { notes: { path: 'notes' } } }));
    expect(folder.issues[0].path).toBe('skills.notes.path');
    const unknown = await bodyOf(await put({ mcpServers: {}, agents: { a: { modell: 'x' } } }));
    expect(unknown.issues.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      'agents.a.model',
      'agents.a.modell',
      'mcpServers',
    ]);
    for (const body of [[], 1]) expect((await put(body)).status).toBe(422);
    expect((await put({ secrets: { ALONE: { value: 'x' } } })).status).toBe(422);
  });
});

it('keeps the settings of the workspace for keys other than the root key', async () => {
  await put({ workspace: { settings: { retention: { auditDays: 45 } } } });
  const admin = await keyFor({ scopes: ['admin'] });
  const { kept } = await bodyOf(await put({}, '?prune=true&force=true', admin));
  expect(kept).toEqual([{ name: 'workspace', reason: 'only the root key removes it' }]);
  expect((await bodyOf(await send('DELETE', '/v1/projects/site?documents=true', undefined, admin))).removed).toEqual([]);
  expect(await bodyOf(await send('GET', '/v1/export', undefined, admin))).not.toHaveProperty('workspace');
  expect((await bodyOf(await send('GET', '/v1/export'))).workspace.settings.retention.auditDays).toBe(45);
  expect((await bodyOf(await send('GET', '/v1/workspaces/default'))).settings.retention.auditDays).toBe(45);
});

describe('a server with a command', () => {
  const project = {
    secrets: { FILES_KEY: { value: 'files-key' } },
    servers: { files: { kind: 'mcp', command: 'npx', args: ['-y', 'files'], env: { KEY: { secret: 'FILES_KEY' } } } },
    toolsets: { disk: { tools: [{ tool: 'files.*' }] }, plain: { tools: [{ tool: 'builtin.bash' }] } },
  };

  it('is skipped with what needs it, without the proof of this machine', async () => {
    for (const apply of [() => send('POST', '/v1/import?format=moniker', project), () => put(project)]) {
      const { created, unchanged, skipped } = await bodyOf(await apply());
      expect([...created, ...unchanged]).toEqual(['toolsets.plain']);
      expect(skipped.map(({ name }: { name: string }) => name)).toEqual(['secrets.FILES_KEY', 'servers.files', 'toolsets.disk']);
      expect(skipped[1].reason).toContain('moniker start');
    }
    expect((await send('GET', '/v1/secrets/FILES_KEY')).status).toBe(404);
    await send('DELETE', '/v1/projects/site?documents=true&force=true');
  });
});

describe('an import', () => {
  it('takes JSON and YAML, and replaces documents of the same name', async () => {
    const text = 'agents:\n  yam: {model: rehearsal/default}\ntoolsets:\n  small:\n    tools: [{tool: builtin.bash, aliases: [shell]}]\n';
    expect(await bodyOf(await yaml(text, '?dryRun=true'))).toMatchObject({ format: 'moniker', created: ['toolsets.small', 'agents.yam'] });
    expect(await bodyOf(await yaml(text))).toMatchObject({ created: ['toolsets.small', 'agents.yam'] });
    const json = { agents: { yam: { model: 'rehearsal/default', toolset: 'small' } } };
    expect(await bodyOf(await send('POST', '/v1/import?format=moniker', json))).toMatchObject({ updated: ['agents.yam'], skipped: [] });
    expect((await bodyOf(await send('GET', '/v1/projects'))).items).toEqual([]);
  });

  it('skips secrets that are still variables, and what needs them', async () => {
    const secret = placeholder('HOOK_SECRET');
    const project = {
      secrets: { LATER: { value: placeholder('LATER'), hosts: ['a.example'] } },
      webhooks: { hook: { agent: 'yam', scheme: 'github', input: 'x', secret } },
      agents: { later: { model: 'rehearsal/default' } },
    };
    const report = await bodyOf(await send('POST', '/v1/import', project));
    expect(report.created).toEqual(['agents.later']);
    expect(report.skipped.map(({ name }: { name: string }) => name)).toEqual(['secrets.LATER', 'webhooks.hook']);
    expect(report.warnings.map(({ path }: { path: string }) => path)).toContain('secrets.LATER.value');
  });

  it.each([
    ['', 422],
    ['{"agents": {', 400],
    ['{"agents": {},}', 200],
    ['agents: [', 422],
    ['a: &a [*a]', 422],
    ['just text', 422],
    ['{"__proto__": {"agents": {}}}', 422],
    ['__proto__:\n  agents: {}\n', 422],
    [`${'['.repeat(1_000)}`, 400],
    [Array.from({ length: 30 }, (_, index) => `a${index}: &a${index} [${`*a${index - 1},`.repeat(index === 0 ? 0 : 9)}]`).join('\n'), 422],
  ])('ends with a clear error for %.40j', async (text, status) => {
    const answer = await yaml(text);
    expect(answer.status).toBe(status);
    if (status !== 200) expect((await bodyOf(answer)).detail.length).toBeGreaterThan(10);
  });

  describe('with a restricted key', () => {
    let bound: Record<string, string>;
    let toolsets: Record<string, string>;

    beforeAll(async () => {
      await send('PUT', '/v1/toolsets/own', { tools: [{ tool: 'builtin.read_file' }] });
      bound = await keyFor({ scopes: ['toolsets'], toolsets: ['own'] });
      toolsets = await keyFor({ scopes: ['toolsets'] });
    });

    const refused = async (project: object, headers: Record<string, string>) => {
      const answer = await send('POST', '/v1/import', project, headers);
      return [answer.status, (await bodyOf(answer)).detail];
    };

    it('writes what the key may write by its own operation, and nothing of a file with more', async () => {
      const own = { toolsets: { own: { tools: [{ tool: 'builtin.read_file', aliases: ['cat_file'] }] } } };
      expect((await send('POST', '/v1/import', own, bound)).status).toBe(200);
      expect(await refused({ toolsets: { own: { tools: [{ tool: 'builtin.bash' }] } } }, bound)).toEqual([
        403,
        expect.stringContaining('toolsets.own'),
      ]);
      expect(await refused({ toolsets: { other: { tools: [{ tool: 'builtin.read_file' }] } } }, bound)).toEqual([403, expect.anything()]);
      expect(await refused({ agents: { sly: { model: 'rehearsal/default' } } }, bound)).toEqual([
        403,
        expect.stringContaining('agents.sly'),
      ]);
      expect(await refused({ ...own, secrets: { MINE: { value: 'v', hosts: ['a.example'] } } }, toolsets)).toEqual([
        403,
        expect.stringContaining('secrets.MINE'),
      ]);
      const waiver = { toolsets: { fresh: { tools: [{ tool: 'builtin.bash', approval: 'never' }] } } };
      expect(await refused(waiver, toolsets)).toEqual([403, expect.stringContaining('tools[0].approval')]);
      expect(await refused({ agents: { sly: { model: 'rehearsal/default', taint: false } } }, toolsets)).toEqual([403, expect.anything()]);
      expect(await refused({ workspace: { settings: {} } }, await keyFor({ scopes: ['admin'] }))).toEqual([
        403,
        expect.stringContaining('workspace'),
      ]);
      expect((await send('GET', '/v1/agents/sly')).status).toBe(404);
    });
  });
});

describe('a project that removes documents', () => {
  it('says what still names a document that it removes', async () => {
    const content = '---\nname: notes\ndescription: Writes.\n---\nWrite.\n';
    expect((await send('PUT', '/v1/projects/writers', { skills: { notes: { content } } })).status).toBe(200);
    await send('PUT', '/v1/agents/writer', { model: 'rehearsal/default', skills: ['notes'] });
    const { removed, warnings } = await bodyOf(await send('PUT', '/v1/projects/writers?prune=true', {}));
    expect(removed).toEqual(['skills.notes']);
    const message = 'agents.writer.skills[0]: names "notes", which does not exist any more';
    expect(warnings).toEqual([{ path: 'skills.notes', message }]);
    for (const path of ['/v1/agents/writer', '/v1/projects/writers']) expect((await send('DELETE', path)).status).toBeLessThan(300);
  });
});
