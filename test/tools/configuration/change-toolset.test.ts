/** Changing the content of a toolset: its entries, their names and their notes. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ToolsetEditor } from '../../../src/ports/toolset-editor.ts';
import type { UsageQuery, UsageReader } from '../../../src/ports/usage.ts';
import type { Toolset } from '../../../src/core/toolset/toolset.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { configurationBench, someTools, type Bench } from './bench.ts';

/** With every field that configuration tools never write. */
const guarded = {
  tool: 'docker.run',
  name: 'start',
  aliases: ['boot', { name: 'old_start', mode: 'deprecated', note: 'use start' }],
  description: 'Starts ours.',
  arguments: { preset: { image: 'ours', token: { secret: 'REGISTRY' } } },
  approval: 'always',
};
const run = toolOf('docker', 'run', {
  inputSchema: { type: 'object', properties: { image: { type: 'string' }, token: { type: 'string' }, name: { type: 'string' } } },
});
const tools = [...someTools.filter(({ canonical }) => canonical !== 'docker.run'), run];

let bench: Bench;
const start = async (around?: (desk: ToolsetEditor, catalog: Bench['catalog']) => ToolsetEditor) => {
  bench = configurationBench(tools, around);
  await bench.catalog.put('secret', 'REGISTRY', { value: 'abcdefgh', hosts: ['registry.example'], tools: ['docker.run'] });
  await bench.catalog.put('toolset', 'dev', { tools: [{ tool: 'git.status', aliases: ['gs'] }, guarded] });
};
beforeEach(() => start());

const update = (more: object) => bench.run('update-toolset', { name: 'dev', ...more });
const entries = async () => ((await bench.catalog.get('toolset', 'dev')).body as Toolset).tools;
const equip = () => bench.catalog.setEquipment('root', { toolset: 'dev', mode: 'normal' });

describe('an edit of a toolset that was called', () => {
  const rows = (calls: Record<string, number>) =>
    Object.entries(calls).map(([requested, count]) => ({ requested, agent: null, key: 'root', calls: count, failures: 0, durationMs: 0 }));
  const edit = async (calls: Record<string, number>, more: object) => {
    const asked: UsageQuery[] = [];
    const totals = { calls: 0, failures: 0, durationMs: 0 };
    const usage = {
      usage: (_workspace: string, query: UsageQuery) => {
        asked.push(query);
        return Promise.resolve({ items: rows(calls), nextCursor: null, totals });
      },
    } as unknown as UsageReader;
    const past = { usage, workspace: 'default', now: () => Date.parse('2026-01-31T12:00:00Z') };
    bench = configurationBench(tools, undefined, { past });
    await bench.catalog.put('toolset', 'dev', { tools: [{ tool: 'git.status', aliases: ['gs'] }, { tool: 'docker.ps' }] });
    const { json, text } = await bench.run('update-toolset', { name: 'dev', ...more });
    return { warnings: json.warnings ?? [], text, asked };
  };

  it('says in two lines what it breaks, and how to keep it', async () => {
    const change = { change: [{ namespacedName: 'git.status', alias: 'tree' }] };
    const { warnings, text, asked } = await edit({ gs: 3, GS: 1, ps: 7 }, change);
    expect(warnings).toEqual([
      'names that were called in the last 30 days lead elsewhere or nowhere now: "gs", "GS" (4 calls)',
      'to keep them, add aliases with update-toolset: gs to git.status',
    ]);
    expect(text).toContain(warnings[0]);
    expect(asked[0]).toMatchObject({ from: '2026-01-02', to: '2026-01-31', where: { toolset: 'dev' } });
  });

  it('has no line where nothing breaks, and no way to keep what is removed', async () => {
    expect((await edit({ ps: 7, Glob: 2 }, { change: [{ namespacedName: 'git.status', alias: 'tree' }] })).warnings).toEqual([]);
    expect((await edit({ gs: 1 }, { add: [{ namespacedName: 'git.log' }] })).warnings).toEqual([]);
    const removed = await edit({ ps: 1 }, { remove: [{ namespacedName: 'docker.ps' }] });
    expect(removed.warnings).toEqual(['names that were called in the last 30 days lead elsewhere or nowhere now: "ps" (1 call)']);
  });

  it('names five of many names', async () => {
    const calls = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`p${'_'.repeat(index)}s`, 1]));
    const { warnings } = await edit(calls, { remove: [{ namespacedName: 'docker.ps' }] });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('and 45 more (50 calls)');
  });
});

describe('update-toolset', () => {
  it('adds, changes and removes entries atomically, and leaves the others byte for byte', async () => {
    const { json } = await update({
      description: 'New words.',
      add: [{ namespacedName: 'docker.ps', alias: 'containers' }],
      change: [{ namespacedName: 'git.status', alias: 'tree' }],
    });
    expect(json).toMatchObject({
      success: true,
      toolset: { version: 2, description: 'New words.', tools: [{ wireName: 'tree' }, { wireName: 'start' }, { wireName: 'containers' }] },
    });
    expect(await entries()).toEqual([{ tool: 'git.status', aliases: ['tree'] }, guarded, { tool: 'docker.ps', aliases: ['containers'] }]);
    await update({ remove: [{ namespacedName: 'git.status' }] });
    expect(await entries()).toEqual([guarded, { tool: 'docker.ps', aliases: ['containers'] }]);
  });

  it('replaces the whole list, and retained tools keep their settings', async () => {
    const { json } = await update({ tools: [{ namespacedName: 'docker.run' }, { namespacedName: 'git.log', alias: 'history' }] });
    expect(json.success).toBe(true);
    expect(await entries()).toEqual([guarded, { tool: 'git.log', aliases: ['history'] }]);
  });

  it('renames an entry, and keeps its presets, approval, secrets and other aliases', async () => {
    const { json } = await update({ change: [{ namespacedName: 'docker.run', alias: 'launch' }] });
    expect(json.toolset.tools[1]).toMatchObject({ wireName: 'launch', alias: 'launch' });
    const { name: _name, ...rest } = guarded;
    expect((await entries())[1]).toEqual({ ...rest, aliases: ['launch', guarded.aliases[1]] });
  });

  it('reports each impossible change by its index, and applies none', async () => {
    const cases: [object, RegExp][] = [
      [
        { add: [{ namespacedName: 'docker.ps' }, { namespacedName: 'git.log', alias: 'gs' }] },
        /^add\[1\]\.alias: "gs" is also claimed by git\.status at the entry of git\.status/,
      ],
      [{ add: [{ namespacedName: 'git.log', alias: 'Log' }] }, /^add\[0\]\.alias: .*capitals/],
      [{ add: [{ namespacedName: 'docker.ps', alias: 'git_status' }] }, /^add\[0\]\.alias: "git_status" reads like git\.status/],
      [{ add: [{ namespacedName: 'nothing.here' }] }, /^add\[0\]\.namespacedName: there is no tool/],
      [{ remove: [{ namespacedName: 'docker.ps' }] }, /^remove\[0\]: docker\.ps is not in this toolset/],
      [{ change: [{ namespacedName: 'git.status' }] }, /^change\[0\]: contains no new name/],
      [{ change: [{ alias: 'x1' }] }, /^change\[0\]: names no tool/],
      [
        { change: [{ namespacedName: 'git.status', wireName: 'other', alias: 'x1' }] },
        /^change\[0\]\.wireName: the names of git\.status in this toolset are gs/,
      ],
      [{ tools: [] }, /^tools: is empty/],
      [{ remove: [{ namespacedName: 'git.status' }, { namespacedName: 'docker.run' }] }, /^tools: is empty/],
      [{ tools: [{ namespacedName: 'git.log' }], add: [{ namespacedName: 'docker.ps' }] }, /^tools: is the complete new list/],
      [{}, /^contains no change/],
    ];
    for (const [request, error] of cases) {
      const { isError, json } = await update(request);
      expect([isError, json.success], JSON.stringify(request)).toEqual([true, false]);
      expect(json.error).toMatch(error);
    }
    expect((await bench.catalog.get('toolset', 'dev')).version).toBe(1);
  });

  it('keeps an entry that an administrator accepted, even if its name resembles another tool', async () => {
    await bench.catalog.put('toolset', 'dev', { tools: [{ tool: 'git.status', aliases: ['gs', 'docker_ps'] }, { tool: 'docker.ps' }] });
    expect((await update({ add: [{ namespacedName: 'git.log' }] })).json.success).toBe(true);
    expect((await update({ add: [{ namespacedName: 'docker.run', alias: 'git_log' }] })).json.error).toMatch(
      /^add\[0\]\.alias: "git_log" reads like git\.log/,
    );
  });

  it('distinguishes entries of one tool by their wire names', async () => {
    await update({ add: [{ namespacedName: 'git.status', alias: 'again' }] });
    expect((await update({ change: [{ namespacedName: 'git.status', alias: 'x1' }] })).json.error).toContain('set wireName as well');
    expect((await update({ change: [{ namespacedName: 'git.status', wireName: 'again', alias: 'x1' }] })).json.success).toBe(true);
    expect((await entries()).map(({ aliases }) => aliases)).toEqual([['gs'], guarded.aliases, ['x1']]);
  });

  it('revokes what it removes if asked to, and cannot give it back', async () => {
    const revoked = async () => ((await bench.catalog.get('toolset', 'dev')).body as Toolset).revoked;
    await update({ remove: [{ namespacedName: 'git.status' }] });
    expect(await revoked()).toBeUndefined();
    await update({ add: [{ namespacedName: 'git.status' }] });
    expect((await update({ remove: [{ namespacedName: 'git.status' }], revoke: true })).json.success).toBe(true);
    expect(await revoked()).toEqual(['git.status']);
    expect((await update({ tools: [{ namespacedName: 'git.log' }], revoke: true })).json.success).toBe(true);
    expect(await revoked()).toEqual(['docker.run', 'git.status']);
    const { json } = await update({ add: [{ namespacedName: 'git.status' }] });
    expect([json.success, json.error]).toEqual([false, expect.stringContaining('add[0]')]);
    expect(json.error).toContain('was revoked from this toolset');
    await update({ description: 'Other words.' });
    expect(await revoked()).toEqual(['docker.run', 'git.status']);
  });

  it('removes an entry of a tool that no longer exists', async () => {
    await bench.catalog.put('server', 'gone', {
      kind: 'static',
      url: 'https://gone.example/call',
      tools: [{ name: 'one', description: 'One.', inputSchema: { type: 'object' } }],
    });
    await update({ add: [{ namespacedName: 'gone.one' }] });
    await bench.catalog.remove('server', 'gone');
    expect((await update({ remove: [{ namespacedName: 'gone.one' }] })).json.success).toBe(true);
    expect((await entries()).map(({ tool }) => tool)).toEqual(['git.status', 'docker.run']);
  });

  it('does not change an entry that waives approval', async () => {
    const waiving = { tool: 'git.log', approval: 'never' };
    await bench.catalog.put('toolset', 'dev', { tools: [waiving, { tool: 'git.status' }] });
    const writer = await bench.key({ scopes: ['toolsets'] });
    const change = (request: object) => bench.run('update-toolset', { name: 'dev', ...request }, writer);
    expect((await change({ change: [{ namespacedName: 'git.log', alias: 'history' }] })).json.error).toContain('scope "admin"');
    expect((await change({ change: [{ namespacedName: 'git.status', alias: 'gs' }] })).json.success).toBe(true);
    expect((await bench.run('rename-toolset', { name: 'dev', newName: 'other' }, writer)).json.success).toBe(false);
    expect((await entries())[0]).toEqual(waiving);
  });
});

describe('two concurrent changes of one toolset', () => {
  /** Another write comes first, once. */
  const overtaken = () => {
    let isFirst = true;
    return start((desk, catalog) => ({
      ...desk,
      write: async (name, document, version) => {
        if (isFirst) {
          isFirst = false;
          const before = (await catalog.get('toolset', name)).body as Toolset;
          await catalog.put('toolset', name, { ...before, tools: [...before.tools, { tool: 'docker.ps' }] });
        }
        return await desk.write(name, document, version);
      },
    }));
  };

  it('both succeed if each adds', async () => {
    await overtaken();
    expect((await update({ add: [{ namespacedName: 'git.log' }] })).json.success).toBe(true);
    expect((await entries()).map(({ tool }) => tool)).toEqual(['git.status', 'docker.run', 'docker.ps', 'git.log']);
    await overtaken();
    const noted = await bench.run('add-tool-annotation', {
      toolset: 'dev',
      toolRef: { namespacedName: 'git.status' },
      notes: [{ name: 'when', note: 'Now.' }],
    });
    expect(noted.json.success).toBe(true);
    expect((await entries()).map(({ tool, notes = [] }) => [tool, notes.length])).toEqual([
      ['git.status', 1],
      ['docker.run', 0],
      ['docker.ps', 0],
    ]);
  });

  it('fail for the one that replaces the whole list', async () => {
    await overtaken();
    const { isError, json } = await update({ tools: [{ namespacedName: 'git.log' }] });
    expect([isError, json.error]).toEqual([true, expect.stringContaining('Another client changed the toolset')]);
    expect((await entries()).map(({ tool }) => tool)).toEqual(['git.status', 'docker.run', 'docker.ps']);
  });
});

describe('notes', () => {
  const note = { name: 'when', note: 'Before a commit.' };
  const add = (more: object = {}) =>
    bench.run('add-tool-annotation', { toolRef: { namespacedName: 'git.status' }, notes: [note], ...more });

  it('are added to the equipped toolset, or to a named one', async () => {
    expect((await add()).json).toMatchObject({ success: false, error: expect.stringContaining('no toolset is equipped'), addedNotes: [] });
    await equip();
    expect((await add()).json).toEqual({
      success: true,
      toolset: 'dev',
      tool: 'git.status',
      addedNotes: [note],
      successCount: 1,
      errorCount: 0,
    });
    await bench.catalog.put('toolset', 'other', { tools: [{ tool: 'git.status' }] });
    expect((await add({ toolset: 'other' })).json.toolset).toBe('other');
    expect((await entries())[0]).toEqual({ tool: 'git.status', aliases: ['gs'], notes: [note] });
  });

  it('are not overwritten: a note whose name is already used is skipped and reported', async () => {
    await equip();
    await add();
    const again = await add({
      notes: [
        { name: 'when', note: 'Never.' },
        { name: 'how', note: 'Gently.' },
        { name: 'how', note: 'Twice.' },
      ],
    });
    expect(again.json).toMatchObject({ success: true, addedNotes: [{ name: 'how', note: 'Gently.' }], successCount: 1, errorCount: 2 });
    expect(again.json.errors).toEqual([
      expect.stringMatching(/^notes\[0\]: the note "when" already exists/),
      expect.stringMatching(/^notes\[2\]: "how" is a duplicate of notes\[1\]/),
    ]);
    expect((await entries())[0]?.notes).toEqual([note, { name: 'how', note: 'Gently.' }]);
    const none = await add();
    expect([none.isError, none.json.successCount, none.json.errorCount]).toEqual([true, 0, 1]);
  });

  it('have names and lengths, and there are at most twenty', async () => {
    await equip();
    for (const notes of [
      [],
      [{ name: 'No', note: 'x' }],
      [{ name: 'x', note: 'x' }],
      [{ name: 'ok', note: '' }],
      [{ name: 'ok', note: 'x'.repeat(501) }],
    ])
      expect((await add({ notes })).json.error).toMatch(/^notes/);
    const many = Array.from({ length: 20 }, (_item, index) => ({ name: `note-${index}`, note: 'x' }));
    expect((await add({ notes: [...many, note] })).json.error).toMatch(/^notes/);
    expect((await add({ notes: many })).json.successCount).toBe(20);
    expect((await add()).json.error).toContain('at most 20 notes');
  });

  it('belong to the tool under any name, and follow its description once', async () => {
    await equip();
    await add();
    for (let times = 0; times < 3; times += 1) {
      const { names } = await bench.catalog.directory.toolset('default', 'dev');
      expect(names.tools[0]).toMatchObject({
        wireName: 'gs',
        description: 'Shows the working tree.\n\n### Additional tool notes\n- when: Before a commit.',
      });
      await bench.run('list-available-tools');
    }
  });

  it('are removed by name', async () => {
    await equip();
    await add({ notes: [note, { name: 'how', note: 'Gently.' }] });
    const remove = (names: string[]) => bench.run('remove-tool-annotation', { toolRef: { namespacedName: 'git.status' }, names });
    expect((await remove(['when', 'what'])).json).toMatchObject({
      ...{ success: true, removedNotes: ['when'], successCount: 1, errorCount: 1 },
      // The state after the removal.
      errors: ['there is no note "what"; it has how'],
    });
    expect((await remove(['what'])).json).toMatchObject({
      success: false,
      removedNotes: [],
      errors: ['there is no note "what"; it has how'],
    });
    expect((await entries())[0]?.notes).toEqual([{ name: 'how', note: 'Gently.' }]);
    await remove(['how']);
    expect((await entries())[0]).toEqual({ tool: 'git.status', aliases: ['gs'] });
  });

  it('of a tool outside the toolset are rejected', async () => {
    await equip();
    expect((await add({ toolRef: { namespacedName: 'docker.ps' } })).json.error).toContain('toolRef: docker.ps is not in this toolset');
    expect((await add({ toolRef: {} })).json.error).toContain('toolRef: names no tool');
  });
});
