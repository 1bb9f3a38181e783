import { describe, expect, it } from 'vitest';
import type { RecordedCall } from '../../../src/core/impact/recorded-calls.ts';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { previewLesson } from '../../../src/engine/configuration/lesson-preview.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const inputSchema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'], additionalProperties: false };
const known = knownTools([toolOf('fs', 'read', { inputSchema }), toolOf('fs', 'list')]);
const document = { tools: [{ tool: 'fs.read' }, { tool: 'fs.list', aliases: ['dir'] }] };
const names = buildAliasMap((await compile(document, known)).edition, { aliases: true });
const called = (counts: Record<string, number>) =>
  Object.entries(counts).map(([requested, calls]) => ({ requested, calls, failures: 0, lastDay: null, agents: [], keys: [] }));
const call = (args: Record<string, unknown>): RecordedCall => ({
  ...{ turn: 't', callId: 'c', model: 'a/b', agent: null, requested: 'read', canonical: 'fs.read', via: 'wire' as const },
  ...{ arguments: args, isError: false, code: null },
});

describe('the preview of a learned name', () => {
  it('counts the calls in every spelling that it would have found', () => {
    const calls = { called: called({ Show: 3, show: 2, Glob: 9 }), calls: [] };
    expect(previewLesson({ tool: 'fs.read', argument: null, alias: 'show' }, names, calls)).toEqual({ found: 5, broken: 0 });
  });

  it('counts calls of another tool that it would break, without those of its exact name', () => {
    const calls = { called: called({ Dir: 4, dir: 1 }), calls: [] };
    expect(previewLesson({ tool: 'fs.read', argument: null, alias: 'DIR' }, names, calls).broken).toBe(4);
  });

  it('is nothing for a tool that is gone', () => {
    const calls = { called: called({ show: 2 }), calls: [] };
    expect(previewLesson({ tool: 'fs.gone', argument: null, alias: 'show' }, names, calls)).toEqual({ found: 0, broken: 0 });
  });

  it('of an argument counts recorded calls that would be accepted, and none that are', () => {
    const calls = { called: [], calls: [call({ file: 'a' }), call({ file: 'b' }), call({ path: 'c' }), call({ other: 1 })] };
    expect(previewLesson({ tool: 'fs.read', argument: 'path', alias: 'file' }, names, calls)).toEqual({ found: 2, broken: 0 });
  });
});
