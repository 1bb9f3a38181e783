import { describe, expect, it } from 'vitest';
import type { ApplyRequest, DocumentWrite } from '../../../../src/ports/projects.ts';
import { emptyWorkspace } from '../../../storage/workspace.ts';

const server: DocumentWrite = {
  kind: 'server',
  name: 'weather',
  body: {
    kind: 'static',
    url: 'https://tools.example.com/call',
    tools: [{ name: 'now', description: 'The weather now.', inputSchema: { type: 'object' } }],
  },
};
const toolset: DocumentWrite = {
  kind: 'toolset',
  name: 'work',
  body: { announce: 'prompt', tools: [{ tool: 'weather.now', aliases: ['clock'] }] },
};
const agent: DocumentWrite = { kind: 'agent', name: 'helper', body: { model: 'rehearsal/default', toolset: 'work' } };
// Not in the order in which they depend on each other.
const writes = [agent, toolset, server];

async function open() {
  const { catalog } = await emptyWorkspace();
  const apply = async (request: Partial<ApplyRequest>) => {
    const result = await catalog.applyDocuments({ project: 'site', writes, ...request });
    return { ...result, actions: Object.fromEntries(result.documents.map(({ name, action }) => [name, action])) };
  };
  const names = async () => (await catalog.list('toolset', { limit: 10 })).items.map(({ name }) => name);
  return { catalog, apply, names };
}

describe('documents that are written together', () => {
  it('may depend on each other, and are unchanged when they are written again', async () => {
    const { catalog, apply } = await open();
    expect((await apply({})).actions).toEqual({ weather: 'created', work: 'created', helper: 'created' });
    const { documents } = await apply({});
    expect(documents).toEqual(
      ['weather', 'work', 'helper'].map((name, index) => ({ kind: ['server', 'toolset', 'agent'][index], name, action: 'unchanged' })),
    );
    expect(await catalog.projects()).toMatchObject([
      { name: 'site', documents: [{ state: 'current' }, { state: 'current' }, { state: 'current' }] },
    ]);
  });

  it('are planned by a dry run that stores nothing, and whose plan can be required', async () => {
    const { catalog, apply, names } = await open();
    const planned = await apply({ dryRun: true });
    expect(planned.actions).toEqual({ weather: 'created', work: 'created', helper: 'created' });
    expect(await names()).toEqual([]);
    expect(await catalog.projects()).toEqual([]);
    expect(
      await catalog.tools({ limit: 1_000 }, undefined, undefined).then(({ items }) => items.filter(({ server }) => server === 'weather')),
    ).toEqual([]);

    await catalog.put('agent', 'helper', { model: 'rehearsal/default' });
    await expect(apply({ plan: planned.plan, force: true })).rejects.toMatchObject({ code: 'precondition_failed' });
    expect(await names()).toEqual([]);
    const again = await apply({ dryRun: true, force: true });
    const otherBody = { ...agent, body: { ...agent.body, instructions: 'Else.' } };
    await expect(apply({ plan: again.plan, force: true, writes: [otherBody, toolset, server] })).rejects.toMatchObject({ status: 412 });
    expect(again.documents.find(({ name }) => name === 'helper')).toMatchObject({
      action: 'updated',
      changes: [{ path: 'toolset', after: '"work"' }],
    });
    expect((await apply({ plan: again.plan, force: true })).actions.helper).toBe('updated');
  });

  it('are not written at all if one of them is wrong, and each fault has its place', async () => {
    const { apply, names } = await open();
    const bad = { ...toolset, name: 'bad', body: { tools: [{ tool: 'weather.gone' }] } };
    const wrong = apply({ writes: [...writes, bad, { ...bad, name: 'worse', body: { tools: [] } }] });
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_request',
      extra: { issues: [{ path: 'toolsets.bad.tools[0].tool' }, { path: 'toolsets.worse.tools' }] },
    });
    expect(await names()).toEqual([]);
    expect((await apply({})).actions.work).toBe('created');
  });

  it('are deferred if they wait for the tools of a server, and skipped if they may fail', async () => {
    const { apply, names } = await open();
    const self: DocumentWrite = { kind: 'server', name: 'docs', body: { kind: 'mcp', url: 'https://mcp.example.com/mcp' } };
    const all: DocumentWrite = { ...toolset, body: { tools: [{ tool: 'docs.*' }] }, awaitsTools: true };
    const hook: DocumentWrite = { kind: 'webhook', name: 'hook', body: { agent: 'helper', scheme: 'github', input: 'x' }, mayFail: true };
    const { documents } = await apply({ writes: [self, all, hook] });
    expect(documents).toMatchObject([
      { action: 'created' },
      { action: 'deferred' },
      { action: 'skipped', reason: expect.stringContaining('secret') },
    ]);
    expect(await names()).toEqual([]);
  });

  it('never change a secret without its value', async () => {
    const { catalog, apply } = await open();
    const secret = (body: Record<string, unknown>): DocumentWrite => ({ kind: 'secret', name: 'TOKEN', body });
    const actionOf = async (body: Record<string, unknown>) => (await apply({ writes: [secret(body)] })).actions.TOKEN;
    expect(await actionOf({ hosts: ['a.example'] })).toBe('skipped');
    expect(await actionOf({ hosts: ['a.example'], value: 'secret-1' })).toBe('created');
    expect(await actionOf({ hosts: ['a.example'] })).toBe('unchanged');
    expect(await actionOf({ hosts: ['b.example'] })).toBe('skipped');
    expect((await catalog.get('secret', 'TOKEN')).body).toEqual({ hosts: ['a.example'] });
    const { documents } = await apply({ writes: [secret({ hosts: ['a.example'], value: 'secret-2' })] });
    expect(documents).toMatchObject([{ action: 'updated', changes: [{ path: 'value' }] }]);
    expect(JSON.stringify(documents)).not.toContain('secret-2');
  });
});

describe('a project', () => {
  it('keeps what others wrote or changed, unless it is forced', async () => {
    const { catalog, apply } = await open();
    await catalog.put('agent', 'helper', { model: 'rehearsal/default' });
    expect((await apply({})).documents.at(-1)).toMatchObject({
      name: 'helper',
      action: 'kept',
      reason: 'it exists, and no project wrote it',
    });
    await catalog.put('toolset', 'work', { announce: 'none', tools: [{ tool: 'weather.now' }] });
    expect((await apply({})).actions).toEqual({ weather: 'unchanged', work: 'kept', helper: 'kept' });
    const other = await catalog.applyDocuments({ project: 'other', writes: [{ ...server, body: { ...server.body, trusted: true } }] });
    expect(other.documents[0]?.reason).toBe('it belongs to the project "site"');
    expect((await apply({ force: true })).actions).toEqual({ weather: 'unchanged', work: 'updated', helper: 'updated' });
  });

  it('removes only what it created, and only when it is asked to', async () => {
    const { catalog, apply } = await open();
    await catalog.put('agent', 'helper', { model: 'rehearsal/default' });
    await apply({ force: true });
    const kept = await apply({ writes: [server] });
    expect(kept.documents.map(({ action }) => action)).toEqual(['unchanged', 'kept', 'kept']);
    const planned = await apply({ writes: [server], prune: true, dryRun: true });
    const pruned = await apply({ writes: [server], prune: true, plan: planned.plan });
    expect(pruned.actions).toEqual({ weather: 'unchanged', work: 'removed' });
    await expect(catalog.get('toolset', 'work')).rejects.toMatchObject({ code: 'not_found' });
    expect((await catalog.get('agent', 'helper')).body.toolset).toBe('work');

    expect((await apply({ writes: [], prune: true, ends: true })).actions).toEqual({ weather: 'removed' });
    expect(await catalog.projects()).toEqual([]);
  });

  it('does not remove what was changed since', async () => {
    const { catalog, apply } = await open();
    await apply({});
    await catalog.put('agent', 'helper', { model: 'rehearsal/default' });
    const { documents } = await apply({ writes: [], prune: true });
    expect(documents.map(({ name, action }) => `${name} ${action}`)).toEqual(['helper kept', 'work removed', 'weather removed']);
    expect((await apply({ writes: [], prune: true, force: true })).actions).toEqual({ helper: 'removed' });
  });

  it('creates again what was deleted', async () => {
    const { catalog, apply } = await open();
    await apply({});
    await catalog.remove('agent', 'helper');
    expect((await catalog.projects())[0]?.documents.find(({ name }) => name === 'helper')?.state).toBe('missing');
    expect((await apply({})).actions.helper).toBe('created');
  });
});
