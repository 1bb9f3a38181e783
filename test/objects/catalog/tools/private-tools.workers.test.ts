/**
 * Private made tools in the Catalog: limited for each key, recompiled with the tools that they use, held when edited, and removed with
 * their key.
 */
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { emptyWorkspace } from '../../../storage/workspace.ts';
import { maxPrivateTools } from '../../../../src/objects/catalog/tools/private-tools.ts';
import { takeErrors } from '../../../service-errors.ts';

const tool = (implementation = 'return 1') => ({ description: 'Does it.', parameters: [], implementation });

async function twoKeys() {
  const parts = await emptyWorkspace();
  const { catalog, directory, workspace } = parts;
  const newKey = async (more: object = {}) => (await catalog.createKey({ name: 'k', scopes: ['chat'], ...more })).record.id;
  const put = (key: string, name: string, body: Record<string, unknown> = tool()) =>
    catalog.put('private-tool', `${key}/made.${name}`, body);
  const namesOf = async (key: string) =>
    ((await directory.privateMade(workspace, key))?.names.tools ?? []).map(({ canonical }) => canonical);
  return { ...parts, newKey, put, namesOf, a: await newKey(), b: await newKey() };
}

describe('private made tools', () => {
  it('are compiled only for their key, and are not known to the workspace', async () => {
    const { a, b, put, namesOf, catalog, directory, workspace } = await twoKeys();
    await put(a, 'helper');
    await put(a, 'outer', tool('return await tools.helper({})'));
    await put(b, 'helper', tool('return 2'));
    expect(await namesOf(a)).toEqual(['made.helper', 'made.outer']);
    expect(await namesOf(b)).toEqual(['made.helper']);
    expect(await directory.made(workspace)).toBeNull();
    await expect(catalog.tool('made.helper')).rejects.toMatchObject({ code: 'unknown_tool' });
    const own = (await catalog.tools({ limit: 200 }, b)).items.filter(({ kind }) => kind === 'made');
    expect(own.map(({ canonical, made }) => [canonical, made?.by])).toEqual([['made.helper', b]]);
    expect((await catalog.tools({ limit: 200 })).items.filter(({ kind }) => kind === 'made')).toEqual([]);
    await expect(put(b, 'thief', tool('return await tools.outer({})'))).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(catalog.put('made-tool', 'made.thief', tool('return await tools.outer({})'))).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect((await catalog.put('made-tool', 'made.helper', tool('return 3'))).created).toBe(true);
    expect(await namesOf(a)).toEqual(['made.helper', 'made.outer']);
  });

  it('are limited for each key, not counting deleted names', async () => {
    const { a, b, put, catalog } = await twoKeys();
    for (let count = 0; count < maxPrivateTools; count += 1) await put(a, `tool_${count}`);
    await expect(put(a, 'one_more')).rejects.toMatchObject({ code: 'conflict' });
    await put(a, 'tool_0', tool('return 2'));
    await put(b, 'one_more');
    await catalog.remove('private-tool', `${a}/made.tool_0`);
    await put(a, 'one_more');
  });

  it('follow changes of the shared tools that they use', async () => {
    const { a, put, catalog, directory, workspace } = await twoKeys();
    await catalog.put('made-tool', 'made.inner', tool('return 1'));
    await put(a, 'outer', tool('return await tools.inner({})'));
    const inner = async () => (await directory.privateMade(workspace, a))?.names.tools[0]?.made?.uses[0];
    expect(await inner()).toMatchObject({ state: 'ready', made: { implementation: 'return 1' } });
    await catalog.put('made-tool', 'made.inner', tool('return 2'));
    expect(await inner()).toMatchObject({ made: { implementation: 'return 2' } });
    await catalog.remove('made-tool', 'made.inner');
    expect(await inner()).toMatchObject({ state: 'missing' });
  });

  it('are removed with their key, and cannot be written by a revoked one', async () => {
    const { a, b, put, namesOf, catalog, object } = await twoKeys();
    for (const key of [a, b]) await put(key, 'helper');
    await catalog.revokeKey(a);
    expect(await namesOf(a)).toEqual([]);
    expect(await namesOf(b)).toEqual(['made.helper']);
    await expect(put(a, 'later')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(put('unknown', 'ghost')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(put('webhook:none', 'ghost')).rejects.toMatchObject({ code: 'forbidden' });
    const rows = await runInDurableObject(object, (_instance, { storage }) =>
      storage.sql.exec("SELECT name FROM documents WHERE kind = 'private-tool'").toArray(),
    );
    expect(rows).toEqual([{ name: `${b}/made.helper` }]);
  });

  it('of an expired key are removed when the Catalog restarts', async () => {
    const { a, put, catalog, object } = await twoKeys();
    await put(a, 'helper');
    await runInDurableObject(object, (_instance, { storage }) => void storage.sql.exec('UPDATE keys SET expires_at = 1 WHERE id = ?', a));
    await expect(runInDurableObject(object, (_instance, state) => state.abort('moved'))).rejects.toThrow('moved');
    expect(await catalog.privateTools(a)).toEqual([]);
  });

  it.each([
    ['whose code was changed', "json_set(body, '$.implementation', 'return 2')"],
    ['that is no JSON', 'substr(body, 2)'],
  ])('%s in the table are held, until they are written again', async (_what, change) => {
    const { a, put, namesOf, catalog, object } = await twoKeys();
    await put(a, 'helper');
    await put(a, 'other');
    await runInDurableObject(
      object,
      (_instance, { storage }) =>
        void storage.sql.exec(`UPDATE documents SET body = ${change} WHERE kind = 'private-tool' AND name LIKE '%helper'`),
    );
    await expect(runInDurableObject(object, (_instance, state) => state.abort('moved'))).rejects.toThrow('moved');
    expect((await catalog.privateTools(a)).map(({ source }) => source?.state)).toEqual(['held', 'ready']);
    expect(await namesOf(a)).toEqual(['made.other']);
    expect(takeErrors()).toMatchObject([{ message: heldMessage, tools: [`${a}/made.helper`] }]);
    await put(a, 'helper', tool('return 3'));
    expect(await namesOf(a)).toEqual(['made.helper', 'made.other']);
  });

  it('moved to another key in the table are held: the hash covers the owner', async () => {
    const { a, b, put, namesOf, object, catalog } = await twoKeys();
    await put(a, 'helper');
    await runInDurableObject(
      object,
      (_instance, { storage }) => void storage.sql.exec("UPDATE documents SET name = ? WHERE kind = 'private-tool'", `${b}/made.helper`),
    );
    await expect(runInDurableObject(object, (_instance, state) => state.abort('moved'))).rejects.toThrow('moved');
    expect((await catalog.privateTools(b)).map(({ source }) => source?.state)).toEqual(['held']);
    expect(await namesOf(b)).toEqual([]);
    expect(takeErrors()).toMatchObject([{ message: heldMessage, tools: [`${b}/made.helper`] }]);
  });
});

const heldMessage = 'made tools are held: stored rows do not match their checksums';
