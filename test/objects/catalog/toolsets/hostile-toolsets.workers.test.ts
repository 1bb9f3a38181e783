/** Documents of an older release, stored before a rule existed, over HTTP and the real catalog. */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { readEditionText, storeEdition } from '../../../../src/objects/catalog/toolsets/editions.ts';
import { editionBytes, editionHash } from '../../../../src/core/toolset/edition.ts';
import type { Edition } from '../../../../src/core/toolset/edition-tool.ts';
import { objectName } from '../../../../src/storage/keys.ts';
import { plainTool, serverOf } from '../../../http/hostile-rows.ts';
import { bodyOf } from '../../../http/harness.ts';
import { testEnv } from '../../../storage/workspace.ts';
import { send } from '../real-service.ts';

/** Simulates documents of an older release: replaces stored values with values that are rejected today. */
describe('documents of an older release', () => {
  const content = '---\nname: notes\ndescription: Keeps notes.\n---\nWrite them down.\n';
  const get = async (path: string) => await bodyOf(await send('GET', `/v1/${path}`));
  const issuesOf = async (answer: Response) => [answer.status, (await bodyOf(answer)).issues?.map(({ path }: { path: string }) => path)];

  beforeAll(async () => {
    const facts = serverOf([plainTool('get_fact'), plainTool('old_fact')]);
    for (const [path, body] of [
      ['servers/facts', facts],
      ['toolsets/good', { tools: [{ tool: 'facts.get_fact' }, { tool: 'builtin.bash' }] }],
      ['toolsets/old', { tools: [{ tool: 'facts.get_fact', aliases: ['older_name'] }] }],
      ['toolsets/old-tool', { tools: [{ tool: 'facts.old_fact' }] }],
      ['tools/builtin.bash/aliases', { aliases: ['older_alias'] }],
      ['agents/older', { model: 'rehearsal/default', toolset: 'old', tools: ['older_name'], skills: ['notes'] }],
      ['skills/notes', { content }],
    ] as const)
      expect([path, (await send('PUT', `/v1/${path}`, body)).status]).toEqual([path, 201]);
    const object = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName('default', 'catalog', '')));
    await runInDurableObject(object, async (_instance, { storage: { sql } }) => {
      const { hash: before } = sql.exec<{ hash: string }>("SELECT hash FROM toolset_versions WHERE name = 'old'").one();
      const edition = JSON.parse(readEditionText(sql, before).replaceAll('older_name', 'constructor')) as Edition;
      const hash = await editionHash(edition);
      storeEdition(sql, hash, editionBytes(edition));
      sql.exec("UPDATE toolset_versions SET hash = ?, body = replace(body, 'older_name', 'constructor') WHERE name = 'old'", hash);
      sql.exec("UPDATE documents SET body = replace(body, 'older_name', 'constructor') WHERE name IN ('old', 'older')");
      sql.exec("UPDATE documents SET body = replace(body, '{', '{\"legacy\":1,') WHERE name = 'older'");
      sql.exec("UPDATE documents SET body = replace(body, 'older_alias', '__proto__') WHERE kind = 'tool-aliases'");
      sql.exec("UPDATE documents SET body = replace(body, 'name: notes', 'name: [notes') WHERE kind = 'skill'");
      for (const column of ['name', 'accepted'])
        sql.exec(`UPDATE server_tools SET ${column} = replace(${column}, 'old_fact', 'old\u200bfact') WHERE server = 'facts'`);
      for (const table of ['documents', 'toolset_versions'])
        sql.exec(`UPDATE ${table} SET body = replace(body, 'facts.old_fact', 'facts.old\u200bfact') WHERE name = 'old-tool'`);
      sql.exec("UPDATE toolset_tools SET tool = 'facts.old\u200bfact' WHERE tool = 'facts.old_fact'");
    });
    await evictDurableObject(object);
  });

  it('are read and listed, and their editions are used', async () => {
    expect((await get('toolsets/old')).tools).toEqual([{ tool: 'facts.get_fact', aliases: ['constructor'] }]);
    expect((await get('toolsets')).items.map(({ name }: { name: string }) => name)).toEqual(['good', 'old', 'old-tool']);
    expect((await get('toolsets/old/versions')).items).toHaveLength(1);
    expect((await get('toolsets/old/tools')).tools).toMatchObject([{ canonical: 'facts.get_fact', wireName: 'constructor' }]);
    expect(await get('toolsets/old/resolve?name=constructor')).toMatchObject({ canonical: 'facts.get_fact', via: 'wire' });
    expect((await get('agents/older')).tools).toEqual(['constructor']);
    expect((await get('skills/notes')).content).toContain('name: [notes');
    expect((await get('tools/builtin.bash')).aliases).toEqual(['__proto__']);
    expect((await get('servers/facts')).tools.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual([
      ['get_fact', 'ready'],
      ['old\u200bfact', 'ready'],
    ]);
    expect((await get('tools?limit=200')).items.length).toBeGreaterThan(5);
  });

  it('work in a chat', async () => {
    const answer = await bodyOf(
      await send('POST', '/v1/chat/completions', { model: 'agent/older', messages: [{ role: 'user', content: 'What can you do?' }] }),
    );
    expect(answer.choices[0].message.content).toContain('constructor');
  });

  it('are rejected at their path when they are written again, and stay unchanged', async () => {
    for (const [path, at] of [
      ['toolsets/old', 'tools[0].aliases[0]'],
      ['tools/builtin.bash/aliases', 'aliases[0]'],
      ['skills/notes', 'SKILL.md'],
      ['agents/older', 'legacy'],
    ] as const) {
      const before = await send('GET', `/v1/${path}`);
      const text = await before.text();
      expect([path, ...(await issuesOf(await send('PUT', `/v1/${path}`, text)))]).toEqual([path, 422, [at]]);
      const after = await send('GET', `/v1/${path}`);
      expect([after.headers.get('etag'), await after.text()]).toEqual([before.headers.get('etag'), text]);
    }
  });

  it('have a warning when one of their tools changes, and the others are recompiled', async () => {
    const answer = await bodyOf(await send('POST', '/v1/servers/facts/refresh'));
    expect(answer).toMatchObject({ refused: ['old\u200bfact'], tools: 1 });
    // The name of its tool is invalid now and cannot be called any more.
    const { tools } = await get('toolsets/old-tool/tools');
    expect(tools).toMatchObject([{ canonical: 'facts.old\u200bfact', state: 'missing' }]);
    const refused = await bodyOf(await send('POST', '/v1/toolsets/old-tool/calls', { name: 'facts.old\u200bfact', arguments: {} }));
    expect(refused).toMatchObject({ canonical: 'facts.old\u200bfact', isError: true });
    const changed = serverOf([{ ...plainTool('get_fact'), description: 'Other.' }, plainTool('old\u200bfact')]);
    const { warnings } = await bodyOf(await send('PUT', '/v1/servers/facts', changed));
    const told = warnings.map(({ message }: { message: string }) => message);
    expect(told).toContainEqual(expect.stringMatching(/The toolset "old" keeps its previous names: .*constructor/));
    const compiled: { canonical: string; state: string }[] = (await get('toolsets/good/tools')).tools;
    expect(compiled.find(({ canonical }) => canonical === 'facts.get_fact')).toMatchObject({ state: 'held' });
    const called = await bodyOf(await send('POST', '/v1/toolsets/old/calls', { name: 'constructor', arguments: {} }));
    expect(called).toMatchObject({ canonical: 'facts.get_fact', isError: true, code: 'tool_held' });
    // Another one with the invalid default alias: skipped with a warning.
    const made = await bodyOf(await send('PUT', '/v1/toolsets/fresh', { tools: [{ tool: 'builtin.bash' }] }));
    expect(made.warnings).toMatchObject([{ path: 'tools[0]', message: expect.stringContaining('__proto__') }]);
  });

  it('cannot be restored, and their replacements can', async () => {
    const put = await send('PUT', '/v1/toolsets/old', { tools: [{ tool: 'facts.get_fact', aliases: ['newer_name'] }] });
    expect([put.status, put.headers.get('etag')]).toEqual([200, '"2"']);
    expect((await get('toolsets/old?version=1')).tools[0].aliases).toEqual(['constructor']);
    expect((await send('GET', '/v1/toolsets/old/diff?from=1&to=2')).status).toBe(200);
    const [status, paths] = await issuesOf(await send('POST', '/v1/toolsets/old/rollback', { version: 1 }));
    expect([status, paths]).toEqual([422, expect.arrayContaining(['tools[0].aliases[0]'])]);
    expect((await send('GET', '/v1/toolsets/old')).headers.get('etag')).toBe('"2"');
    for (const path of ['toolsets/old-tool', 'tools/builtin.bash/aliases', 'skills/notes', 'servers/facts'])
      expect([path, (await send('DELETE', `/v1/${path}`)).status]).toEqual([path, 204]);
  });
});
