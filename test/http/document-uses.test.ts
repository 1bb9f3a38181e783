import { beforeEach, describe, expect, it } from 'vitest';
import { bodyOf, createHarness, type Harness } from './harness.ts';

let h: Harness;
beforeEach(() => {
  h = createHarness();
});

async function put(path: string, body: unknown): Promise<void> {
  const answer = await h.send('PUT', path, body);
  expect(answer.status, `${path}: ${await answer.clone().text()}`).toBeLessThan(300);
}

/** The places that the answer names. */
async function pathsOf(path: string, headers?: Record<string, string>): Promise<string[]> {
  const answer = await h.send('DELETE', path, undefined, headers);
  expect([path, answer.status]).toEqual([path, 204]);
  return answer.headers.get('x-moniker-still-named')?.split(', ') ?? [];
}

const content = (name: string) => ({ content: `---\nname: ${name}\ndescription: Writes.\n---\nWrite.\n` });
const agent = (more: object = {}) => ({ model: 'rehearsal/default', ...more });
const tools = [{ tool: 'builtin.bash' }];

describe('deleting what something still names', () => {
  it('names the toolsets and agents of a skill, and nothing for one that is not used', async () => {
    await put('/v1/skills/notes', content('notes'));
    await put('/v1/skills/other', content('other'));
    await put('/v1/toolsets/work', { tools, skills: ['other', 'notes'] });
    await put('/v1/agents/helper', agent({ skills: ['notes'] }));
    expect(await pathsOf('/v1/skills/notes')).toEqual(['toolsets.work.skills[1]', 'agents.helper.skills[0]']);
    await put('/v1/toolsets/work', { tools });
    expect(await pathsOf('/v1/skills/other')).toEqual([]);
  });

  it('names what uses a toolset, also by a version, and the keys that are bound to it', async () => {
    await put('/v1/toolsets/work', { tools });
    await put('/v1/toolsets/workshop', { tools });
    await put('/v1/agents/pinned', agent({ toolset: 'work@1' }));
    await put('/v1/agents/another', agent({ toolset: 'workshop' }));
    await put('/v1/members/ada', { email: 'ada@example.com', role: 'user', toolsets: ['work'] });
    const key = await bodyOf(await h.send('POST', '/v1/keys', { name: 'app', scopes: ['tools'], toolsets: ['work'] }));
    expect(await pathsOf('/v1/toolsets/work')).toEqual(['agents.pinned.toolset', 'members.ada.toolsets[0]', `keys.${key.id}.toolsets`]);
  });

  it('names the triggers, aliases and keys of an agent', async () => {
    await put('/v1/agents/helper', agent());
    await put('/v1/schedules/daily', { agent: 'helper', input: 'Hello', cron: '0 8 * * *' });
    await put('/v1/model-aliases/small', { model: 'agent/helper' });
    expect(await pathsOf('/v1/agents/helper')).toEqual(['schedules.daily.agent', 'modelAliases.small.model']);
  });

  it('names the agents whose model an alias was, and not those that another alias serves', async () => {
    await put('/v1/model-aliases/claude-*', { model: 'rehearsal/default' });
    await put('/v1/model-aliases/claude-exact', { model: 'rehearsal/default' });
    await put('/v1/agents/one', agent({ model: 'claude-any' }));
    await put('/v1/agents/two', agent({ model: 'claude-exact', fallbacks: ['claude-more'] }));
    expect(await pathsOf('/v1/model-aliases/claude-*')).toEqual(['agents.one.model', 'agents.two.fallbacks[0]']);
  });

  it('names the agents and routes of a provider, the toolsets of a server, and the providers and servers of a secret', async () => {
    await put('/v1/secrets/KEY', { value: 'x', hosts: ['api.example.com', 'mcp.example.com'] });
    const provider = { kind: 'openai-compatible', baseUrl: 'https://api.example.com/v1', apiKeySecret: 'KEY' };
    await put('/v1/providers/mine', provider);
    const forecast = { name: 'forecast', description: 'The weather.', inputSchema: { type: 'object' } };
    const headers = { 'x-key': { secret: 'KEY' } };
    await put('/v1/servers/weather', { kind: 'static', url: 'https://mcp.example.com/call', headers, tools: [forecast] });
    await put('/v1/toolsets/work', { tools: [{ tool: 'weather.forecast' }] });
    await put('/v1/agents/helper', agent({ model: 'mine/large' }));
    await put('/v1/model-aliases/route', { targets: [{ model: 'mine/large' }, { model: 'rehearsal/default' }] });
    expect(await pathsOf('/v1/secrets/KEY')).toEqual(['providers.mine.apiKeySecret', 'servers.weather.headers."x-key".secret']);
    expect(await pathsOf('/v1/servers/weather')).toEqual(['toolsets.work.tools']);
    expect(await pathsOf('/v1/providers/mine')).toEqual(['agents.helper.model', 'modelAliases.route.targets[0].model']);
  });

  it('names the toolsets of a UI tool', async () => {
    await put('/v1/tools/ui.camera', { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: ['photo'] });
    await put('/v1/toolsets/work', { tools: [...tools, { tool: 'ui.camera' }] });
    expect(await pathsOf('/v1/tools/ui.camera')).toEqual(['toolsets.work.tools']);
  });

  it('counts what the key cannot read', async () => {
    await put('/v1/skills/notes', content('notes'));
    await put('/v1/toolsets/work', { tools });
    await put('/v1/agents/helper', agent({ toolset: 'work' }));
    await put('/v1/members/ada', { email: 'ada@example.com', role: 'user', toolsets: ['work'] });
    const writer = { name: 'writer', scopes: ['toolsets'] };
    const unbound = (await bodyOf(await h.send('POST', '/v1/keys', writer))) as { key: string };
    const bound = (await bodyOf(await h.send('POST', '/v1/keys', { ...writer, toolsets: ['work'] }))) as { key: string };
    const asUnbound = await pathsOf('/v1/toolsets/work', { authorization: `Bearer ${unbound.key}` });
    expect(asUnbound).toEqual(['agents.helper.toolset', 'and 2 more']);
    await put('/v1/toolsets/work', { tools });
    expect(await pathsOf('/v1/toolsets/work', { authorization: `Bearer ${bound.key}` })).toEqual(['and 3 more']);
  });
});
