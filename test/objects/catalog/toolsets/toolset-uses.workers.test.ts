/** What depends on a toolset, over HTTP and the real Catalog. */
import { beforeAll, describe, expect, it } from 'vitest';
import { send } from '../real-service.ts';
import { emptyWorkspace } from '../../../storage/workspace.ts';

const agent = (toolset?: string) => ({ model: 'rehearsal/default', instructions: 'Help.', ...(toolset !== undefined && { toolset }) });
const uses = async (toolset: string) => (await send('GET', `/v1/toolsets/${toolset}/uses`)).json() as Promise<Record<string, unknown>>;
const keyId = async (name: string, bindings: object): Promise<string> => {
  const answer = await send('POST', '/v1/keys', { name, scopes: ['chat'], ...bindings });
  return ((await answer.json()) as { id: string }).id;
};

describe('GET /v1/toolsets/{toolset}/uses', () => {
  let ids: Record<'bound' | 'indirect' | 'both' | 'revoked', string>;
  beforeAll(async () => {
    for (const name of ['used', 'used-2', 'idle']) await send('PUT', `/v1/toolsets/${name}`, { tools: [{ tool: 'builtin.bash' }] });
    await send('PUT', '/v1/agents/newest', agent('used'));
    await send('PUT', '/v1/agents/pinned', agent('used@1'));
    await send('PUT', '/v1/agents/similar', agent('used-2'));
    await send('PUT', '/v1/agents/without', agent());
    await send('PUT', '/v1/webhooks/orders', { agent: 'pinned', scheme: 'bearer', secret: 'a secret of a hook', input: 'i' });
    await send('PUT', '/v1/webhooks/others', { agent: 'similar', scheme: 'bearer', secret: 'a secret of a hook', input: 'i' });
    const schedule = await send('PUT', '/v1/schedules/daily', { agent: 'newest', interval: '1h', input: 'i' });
    expect([schedule.status, await schedule.json()]).toMatchObject([201, { agent: 'newest' }]);
    ids = {
      bound: await keyId('bound', { toolsets: ['used'] }),
      indirect: await keyId('indirect', { agents: ['pinned', 'without'] }),
      both: await keyId('both', { agents: ['pinned'], toolsets: ['idle'] }),
      revoked: await keyId('revoked', { toolsets: ['used'] }),
    };
    await keyId('unbound', {});
    await send('DELETE', `/v1/keys/${ids.revoked}`);
  });

  it('lists agents, triggers and keys, and no others', async () => {
    expect(await uses('used')).toEqual({
      toolset: 'used',
      agents: [
        { name: 'newest', toolset: 'used' },
        { name: 'pinned', toolset: 'used@1' },
      ],
      keys: [
        { id: ids.bound, name: 'bound', agent: null },
        { id: ids.indirect, name: 'indirect', agent: 'pinned' },
      ],
      webhooks: [{ name: 'orders', agent: 'pinned' }],
      schedules: [{ name: 'daily', agent: 'newest' }],
      equipped: [],
      truncated: false,
    });
  });

  it('is empty for a toolset that nothing uses, and 404 for one that does not exist', async () => {
    const none = { agents: [], webhooks: [], schedules: [], equipped: [], truncated: false };
    expect(await uses('idle')).toEqual({ toolset: 'idle', ...none, keys: [{ id: ids.both, name: 'both', agent: null }] });
    expect((await send('GET', '/v1/toolsets/nothing/uses')).status).toBe(404);
  });

  it('still lists what names a deleted toolset', async () => {
    await send('DELETE', '/v1/toolsets/used-2');
    expect(await uses('used-2')).toMatchObject({ agents: [{ name: 'similar' }], webhooks: [{ name: 'others' }] });
  });
});

describe('the uses of a toolset', () => {
  it('include keys that have it equipped', async () => {
    const { catalog } = await emptyWorkspace();
    await catalog.put('toolset', 'worn', { tools: [{ tool: 'builtin.bash' }] });
    const { record } = await catalog.createKey({ name: 'wearer', scopes: ['tools'] });
    await catalog.setEquipment(record.id, { toolset: 'worn', mode: 'normal' });
    await catalog.setEquipment('root', { toolset: 'worn', mode: 'normal' });
    const { equipped } = await catalog.toolsetUses('worn');
    expect(equipped.map(({ name }) => name)).toEqual(['root', 'wearer']);
  });

  it('are cut at a number of each kind', async () => {
    const { catalog } = await emptyWorkspace();
    await catalog.put('toolset', 'many', { tools: [{ tool: 'builtin.bash' }] });
    for (let index = 0; index < 201; index += 1)
      await catalog.put('agent', `a${index}`, { model: 'rehearsal/default', instructions: 'Help.', toolset: 'many' });
    const { agents, truncated } = await catalog.toolsetUses('many');
    expect([agents.length, truncated]).toEqual([200, true]);
  });
});
