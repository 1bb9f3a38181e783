import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { compileEdition } from '../../../src/core/toolset/edition.ts';
import type { EditionPointer, EditionTool, ToolsetStanding } from '../../../src/core/toolset/edition-tool.ts';
import type { ToolsetEntry } from '../../../src/core/toolset/toolset.ts';
import { Problem } from '../../../src/core/problem.ts';
import { withToolsetState } from '../../../src/engine/call/toolset-state.ts';
import type { CallDeps } from '../../../src/engine/call/call-scope.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { keptLog } from '../../fakes/runtime.ts';

const definitions = [toolOf('builtin', 'bash', { kind: 'builtin' }), toolOf('builtin', 'read_file', { kind: 'builtin' })];
const known = {
  get: (name: string) => definitions.find(({ canonical }) => canonical === name),
  all: () => definitions,
  hasServer: () => true,
};

async function namesOf(tools: ToolsetEntry[]) {
  const { edition } = await compileEdition({ workspace: 'default', name: 'tight', toolset: { announce: 'none', tools }, known });
  return buildAliasMap(edition, { aliases: true });
}

const pointer = (version: number): EditionPointer => ({ toolset: 'tight', version, revision: 1, hash: `h${version}` });
const bash = (more: object = {}): ToolsetEntry => ({ tool: 'builtin.bash', ...more });

/** The entry of version 1, called while `current` is version 2. */
async function called(entry: ToolsetEntry, current: ToolsetEntry[], standing: ToolsetStanding = {}, edition = pointer(1)) {
  const [tool] = (await namesOf([entry])).tools as [EditionTool];
  const log = keptLog();
  const toolset = async () => ({ pointer: pointer(2), names: await namesOf(current), standing });
  return await withToolsetState({ toolset, log }, edition, tool);
}

const codeOf = (found: Awaited<ReturnType<typeof called>>) => (found.ok ? null : found.result.code);
const textOf = (found: Awaited<ReturnType<typeof called>>) => (found.ok ? '' : JSON.stringify(found.result.content));

describe('a tool of an earlier version', () => {
  it('is refused if it was revoked, or the version retired, and says so', async () => {
    const other = [{ tool: 'builtin.read_file' }];
    expect(await called(bash(), other)).toMatchObject({ ok: true });
    const revoked = await called(bash(), other, { revoked: ['builtin.bash'] });
    expect([codeOf(revoked), textOf(revoked)]).toEqual(['not_allowed', expect.stringContaining('revoked from this toolset')]);
    const retired = await called(bash(), other, { retired: [1] });
    expect([codeOf(retired), textOf(retired)]).toEqual([
      'not_allowed',
      expect.stringContaining('version 1 of the toolset tight was retired'),
    ]);
    expect(await called(bash(), other, { retired: [2, 11], revoked: ['builtin.read_file', 'builtin.bas'] })).toMatchObject({ ok: true });
  });

  it.each<[string, object, object[], 'never' | 'always' | undefined]>([
    ['stays waived while the current version waives it', { approval: 'never' }, [{ approval: 'never' }], 'never'],
    ['is not waived any more', { approval: 'never' }, [{}], undefined],
    ['is not waived for a tool that was removed', { approval: 'never' }, [], undefined],
    ['is required now', { approval: 'never' }, [{ approval: 'always' }], 'always'],
    ['is required now, without a setting before', {}, [{ approval: 'always' }], 'always'],
    ['is not waived by a later version', {}, [{ approval: 'never' }], undefined],
    ['stays required, whatever a later version says', { approval: 'always' }, [{ approval: 'never' }], 'always'],
    [
      'is that of the entry with the same arguments',
      { approval: 'never', arguments: { preset: { a: 1 } } },
      [
        { name: 'one', approval: 'always' },
        { name: 'two', approval: 'never', arguments: { preset: { a: 1 } } },
      ],
      'never',
    ],
    [
      'is the strictest of all entries if no entry has the same arguments',
      { approval: 'never' },
      [
        { name: 'one', approval: 'never', arguments: { preset: { a: 1 } } },
        { name: 'two', approval: 'always', arguments: { preset: { a: 2 } } },
      ],
      'always',
    ],
  ])('has an approval that %s', async (_how, before, entries, approval) => {
    const current = [...entries.map((entry) => bash(entry)), { tool: 'builtin.read_file' }];
    const found = await called(bash(before), current);
    expect(found.ok && found.tool.approval).toBe(approval);
  });

  it('is not compared with an older version, which a stale cache may have', async () => {
    const found = await called(bash({ approval: 'never' }), [bash()], {}, pointer(3));
    expect(found.ok && found.tool.approval).toBe('never');
  });
});

describe('a toolset', () => {
  const [tool] = [{ canonical: 'builtin.bash', wireName: 'bash', kind: 'builtin' }] as unknown as [EditionTool];
  const failing = (error: unknown): Pick<CallDeps, 'toolset' | 'log'> => ({ toolset: () => Promise.reject(error), log: keptLog() });

  it('that was deleted has no callable tools', async () => {
    const found = await withToolsetState(failing(new Problem('not_found', 'There is none.')), pointer(1), tool);
    expect([codeOf(found), textOf(found)]).toEqual(['not_allowed', expect.stringContaining('the toolset tight was deleted')]);
  });

  it('that cannot be read is not taken for unchanged', async () => {
    for (const error of [new Problem('upstream_timeout', 'Late.'), new Error('broken')])
      expect(codeOf(await withToolsetState(failing(error), pointer(1), tool))).toBe('tool_error');
  });

  it('does not matter to tools of no toolset, of the client, or where toolsets do not change', async () => {
    const deps = failing(new Error('not read'));
    expect(await withToolsetState(deps, null, tool)).toEqual({ ok: true, tool });
    const own = { ...tool, kind: 'client' } as EditionTool;
    expect(await withToolsetState(deps, pointer(1), own)).toEqual({ ok: true, tool: own });
    expect(await withToolsetState({ log: keptLog() }, pointer(1), tool)).toEqual({ ok: true, tool });
  });
});
