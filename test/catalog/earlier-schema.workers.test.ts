/**
 * A workspace written by the release before servers and skills: this release opens it with all its data, and accepts new kinds of
 * documents.
 */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { resolveName } from '../../src/core/toolset/alias-map.ts';
import { sha256Hex } from '../../src/core/hash.ts';
import { kvKeys } from '../../src/storage/keys.ts';
import { catalogMigrations } from '../../src/storage/schema.ts';
import { emptyWorkspace, testEnv } from '../storage/workspace.ts';

const document = { name: 'support', announce: 'prompt', tools: [{ tool: 'builtin.bash', name: 'run', aliases: ['sh'] }] };
const agent = { name: 'helper', model: 'rehearsal/default', instructions: 'You help.', toolset: 'support', tools: ['run'] };

/** As compiled by that release: without entries, on-demand settings or server instructions. */
function editionOf(workspace: string): string {
  return JSON.stringify({
    format: 1,
    workspace,
    toolset: 'support',
    announce: 'prompt',
    tools: [
      {
        canonical: 'builtin.bash',
        wireName: 'run',
        ownName: 'bash',
        server: 'builtin',
        kind: 'builtin',
        description: 'Runs a bash script.',
        inputSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
        annotations: { readOnlyHint: false, destructiveHint: true },
        aliases: [{ name: 'sh', mode: 'announced' }],
        state: 'ready',
        pin: '34affecfc968b9956083e0b79555164516d929bffb2b0c9bc66ba57bbffdf657',
      },
    ],
  });
}

/** `isPublished`: whether the toolset was written to KV before the process ended. */
async function earlierWorkspace({ isPublished = false } = {}) {
  const parts = await emptyWorkspace();
  const { workspace, object, catalog } = parts;
  const { key } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
  const text = editionOf(workspace);
  const hash = await sha256Hex(text);
  await runInDurableObject(object, (_instance, { storage }) => {
    const keys = storage.sql.exec('SELECT id, name, hash, scopes, created_at FROM keys').toArray();
    const tables = storage.sql.exec<{ name: string }>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT GLOB '_cf*'",
    );
    for (const { name } of tables.toArray()) storage.sql.exec(`DROP TABLE "${name}"`);
    storage.sql.exec(catalogMigrations[0] ?? '');
    storage.sql.exec('CREATE TABLE schema_version (version INTEGER NOT NULL)');
    storage.sql.exec('INSERT INTO schema_version (version) VALUES (1)');
    storage.sql.exec("INSERT INTO meta (key, value) VALUES ('workspace', ?)", workspace);
    const insert = 'INSERT INTO documents (kind, name, version, deleted, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 1, 1)';
    storage.sql.exec(insert, 'toolset', 'support', 4, 0, JSON.stringify(document));
    storage.sql.exec(insert, 'toolset', 'gone', 2, 1, '{}');
    storage.sql.exec(insert, 'agent', 'helper', 1, 0, JSON.stringify(agent));
    const version = 'INSERT INTO toolset_versions (name, version, body, revision, hash, created_at) VALUES (?, ?, ?, ?, ?, 1)';
    storage.sql.exec(version, 'support', 4, JSON.stringify(document), 2, hash);
    storage.sql.exec('INSERT INTO editions (hash, bytes, published_at) VALUES (?, ?, ?)', hash, text.length, isPublished ? 1 : null);
    storage.sql.exec('INSERT INTO edition_chunks (hash, sequence, data) VALUES (?, 0, ?)', hash, new TextEncoder().encode(text));
    storage.sql.exec("INSERT INTO outbox (kind, name, sequence, attempts, due_at) VALUES ('toolset', 'support', 1, 0, 0)");
    for (const row of keys)
      storage.sql.exec('INSERT INTO keys (id, name, hash, scopes, created_at) VALUES (?, ?, ?, ?, ?)', ...Object.values(row));
  });
  await evictDurableObject(object);
  return { ...parts, key, hash };
}

const facts = {
  kind: 'static',
  url: 'https://tools.example.com/call',
  tools: [{ name: 'get', description: 'Gets.', inputSchema: { type: 'object' } }],
};

describe('a workspace of the previous release', () => {
  it('keeps its documents, keys, versions and editions, with their numbers', async () => {
    const { catalog, directory, workspace, key, hash } = await earlierWorkspace();
    expect(await catalog.get('toolset', 'support')).toMatchObject({ version: 4, body: document });
    expect(await catalog.get('agent', 'helper')).toMatchObject({ version: 1, body: agent });
    expect(await directory.principal(key)).toMatchObject({ workspace, scopes: ['chat'] });
    const { pointer, names } = await directory.toolset(workspace, 'support');
    expect(pointer).toEqual({ toolset: 'support', version: 4, revision: 2, hash });
    expect(resolveName(names, 'sh')).toMatchObject({ ok: true, canonical: 'builtin.bash', via: 'alias' });
    expect(await directory.toolset(workspace, 'support', 4)).toMatchObject({ pointer: { revision: 2 } });
    await expect(directory.toolset(workspace, 'gone')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('knows which toolsets have a tool, including those that are not written again', async () => {
    const { catalog, object } = await earlierWorkspace();
    await catalog.list('toolset', { limit: 1 });
    expect(
      await runInDurableObject(object, (_instance, { storage }) => storage.sql.exec('SELECT tool, toolset FROM toolset_tools').toArray()),
    ).toEqual([{ tool: 'builtin.bash', toolset: 'support' }]);
  });

  it('publishes pending documents', async () => {
    const { catalog, workspace, hash } = await earlierWorkspace();
    await catalog.put('agent', 'other', { model: 'rehearsal/default' });
    expect(JSON.parse((await testEnv.KV.get(kvKeys.toolset(workspace, 'support'))) ?? '')).toMatchObject({ version: 4, revision: 2, hash });
    expect(await testEnv.KV.get(kvKeys.edition(workspace, hash))).toBe(editionOf(workspace));
  });

  it('accepts servers, skills, UI tools and caller fields', async () => {
    const { catalog, directory, workspace } = await earlierWorkspace({ isPublished: true });
    await catalog.put('server', 'facts', facts);
    await catalog.put('ui-tool', 'ui.camera', { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: [] });
    await catalog.put('skill', 'git', { content: '---\nname: git\ndescription: Uses git.\n---\nUse `run`.' });
    await catalog.put('agent', 'helper', { ...agent, skills: ['git'] });
    const { key } = await catalog.createKey({ name: 'team', scopes: ['chat'], caller: { team: 'support' } });
    expect(await directory.principal(key)).toMatchObject({ caller: { team: 'support' } });
    const tools = [...document.tools, { tool: 'facts.get' }, { tool: 'ui.camera' }];
    expect(await catalog.put('toolset', 'support', { tools })).toMatchObject({ document: { version: 5 } });
    const { names } = await directory.toolset(workspace, 'support');
    expect(names.tools.map(({ canonical, state }) => [canonical, state])).toEqual([
      ['builtin.bash', 'ready'],
      ['facts.get', 'ready'],
      ['ui.camera', 'ready'],
    ]);
    expect(await directory.skill(workspace, 'git')).toMatchObject({ description: 'Uses git.' });
    // The old edition is still what a pin names.
    expect((await directory.toolset(workspace, 'support', 4)).names.tools).toHaveLength(1);
  });
});
