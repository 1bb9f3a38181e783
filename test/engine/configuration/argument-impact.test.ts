import { describe, expect, it } from 'vitest';
import { withArgumentAliases } from '../../../src/core/impact/name-impact.ts';
import type { RecordedCall } from '../../../src/core/impact/recorded-calls.ts';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { argumentImpact } from '../../../src/engine/configuration/argument-impact.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const schema = {
  type: 'object',
  properties: { path: { type: 'string' }, limit: { type: 'integer' } },
  required: ['path'],
  additionalProperties: false,
};
const known = knownTools([toolOf('fs', 'read', { inputSchema: schema })]);
const names = async (entry: object) =>
  buildAliasMap((await compile({ tools: [{ tool: 'fs.read', ...entry }] }, known)).edition, { aliases: true });
const call = (args: Record<string, unknown> | null, session = 's1'): RecordedCall & { session: string } => ({
  ...{ callId: 'c', turn: 't', model: 'a/b', agent: null, requested: 'read', canonical: 'fs.read', via: 'wire' as const },
  ...{ arguments: args, isError: false, code: null, session },
});
const renamed = (shown: string) => ({ arguments: { rename: { [shown]: 'path' } } });

describe('the impact of a draft on the arguments of past calls', () => {
  it('is nothing for a toolset against itself, also for calls that it refuses', async () => {
    const before = await names(renamed('file'));
    const calls = [call({ file: 'a' }), call({ path: 'a' }), call({ wrong: 1 }), call(null)];
    expect(argumentImpact(before, before, calls)).toEqual({ judged: 2, refusedCalls: 0, refused: [] });
  });

  it('names the calls that would be refused, with their sessions, and the aliases that keep them', async () => {
    const [before, after] = [await names(renamed('file')), await names(renamed('document'))];
    const calls = [call({ file: 'a' }), call({ file: 'b', limit: 2 }, 's2'), call({ path: 'c' })];
    const { judged, refusedCalls, refused } = argumentImpact(before, after, calls);
    expect([judged, refusedCalls]).toEqual([3, 2]);
    expect(refused).toMatchObject([
      { tool: 'fs.read', calls: 2, sessions: ['s1', 's2'], mends: [{ tool: 'fs.read', argument: 'path', alias: 'file' }] },
    ]);
    const draft = Toolset.parse({ tools: [{ tool: 'fs.read', ...renamed('document') }] });
    const mended = withArgumentAliases(draft, after, [0], refused[0]?.mends ?? []);
    expect(mended.tools[0]?.arguments).toEqual({ rename: { document: 'path' }, alias: { file: { argument: 'path', mode: 'deprecated' } } });
    expect(argumentImpact(before, await names(mended.tools[0] ?? {}), calls).refused).toEqual([]);
  });

  it('has no mend where no name helps: an argument that the draft sets itself', async () => {
    const after = await names({ arguments: { preset: { limit: 'x' } } }).catch(() => null);
    expect(after).toBeNull();
    const preset = await names({ arguments: { preset: { path: '/fixed' } } });
    // A value that a call may not set any more is dropped with a note, and refuses nothing.
    expect(argumentImpact(await names({}), preset, [call({ path: 'a' })]).refused).toEqual([]);
  });

  it('fills in fields of callers, which are not recorded', async () => {
    const after = await names({ arguments: { preset: { path: { caller: 'team' } } } });
    expect(argumentImpact(await names({}), after, [call({ path: 'a' })])).toEqual({ judged: 1, refusedCalls: 0, refused: [] });
  });
});
