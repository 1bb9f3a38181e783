import { describe, expect, it } from 'vitest';
import { compareCalls } from '../../../src/core/replay/compare-calls.ts';
import type { RecordedTurnCall } from '../../../src/core/replay/recorded-turn.ts';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { ownSchemas, withOwnArguments } from '../../../src/engine/replay/own-arguments.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const inputSchema = {
  type: 'object',
  properties: { path: { type: 'string' }, limit: { type: 'integer' }, user: { type: 'string' }, token: { type: 'string' } },
  required: ['path'],
};
const known = knownTools([toolOf('fs', 'read', { inputSchema })]);
const names = async (...entries: object[]) =>
  buildAliasMap((await compile({ tools: entries.map((entry) => ({ tool: 'fs.read', ...entry })) }, known)).edition, { aliases: true });
const call = (requested: string, args: Record<string, unknown> | null, canonical: string | null = 'fs.read'): RecordedTurnCall => ({
  ...{ callId: 'c', turn: 't', model: 'a/b', agent: null, requested, canonical, via: 'wire' },
  ...{ arguments: args, isError: false, code: null, content: [] },
});

describe('calls with the arguments that the tool receives', () => {
  it.each<[string, object, string, Record<string, unknown>]>([
    ['as they are', {}, 'read', { path: 'a', limit: 5 }],
    ['under another name', { name: 'open_file' }, 'open_file', { path: 'a', limit: 5 }],
    ['with renamed arguments', { arguments: { rename: { file: 'path', most: 'limit' } } }, 'read', { file: 'a', most: 5 }],
    ['with an alias of an argument', { arguments: { alias: { file_path: 'path' } } }, 'read', { filePath: 'a', limit: 5 }],
    ['with a preset', { arguments: { preset: { limit: 5 } } }, 'read', { path: 'a', limit: 6 }],
    ['with a default', { arguments: { default: { limit: 5 } } }, 'read', { path: 'a' }],
    ['with a number as text', {}, 'read', { path: 'a', limit: '5' }],
  ])('are the same %s', async (_title, entry, requested, args) => {
    const recorded = withOwnArguments([call('read', { path: 'a', limit: 5 })], await names({}));
    const replayed = withOwnArguments([call(requested, args)], await names(entry));
    expect(replayed[0]?.arguments).toEqual({ path: 'a', limit: 5 });
    expect(compareCalls(recorded, replayed, () => inputSchema).calls).toMatchObject({ same: 1, changed: 0 });
  });

  it('have what depends on the caller and on secrets as names, not as values', async () => {
    const preset = { user: { caller: 'user' }, token: { secret: 'FS' } };
    expect(withOwnArguments([call('read', { path: 'a' })], await names({ arguments: { preset } }))[0]?.arguments).toEqual({
      ...{ path: 'a', user: 'caller.user', token: { secret: 'FS' } },
    });
  });

  it('are those of the entry that was called', async () => {
    const entries = [1, 2].map((limit) => ({ name: `read_${limit}`, arguments: { preset: { limit } } }));
    const calls = [call('read_2', { path: 'a' }), call('read_1', { path: 'a' })];
    expect(withOwnArguments(calls, await names(...entries)).map((one) => one.arguments?.limit)).toEqual([2, 1]);
  });

  it('are compared under the schema of the tool itself, not that of an entry', async () => {
    const [plain, changed] = [await names({}), await names({ arguments: { rename: { file: 'path' }, preset: { limit: 5 } } })];
    for (const schemaOf of [ownSchemas(changed), ownSchemas(null, plain), ownSchemas(changed, null)])
      expect(Object.keys(schemaOf('fs.read')?.properties ?? {})).toEqual(['path', 'limit', 'user', 'token']);
    expect(ownSchemas(plain)('fs.write')).toBeUndefined();
    expect(ownSchemas(null)('fs.read')).toBeUndefined();
  });

  it('stay as they were for tools that the toolset does not have, and for what is no object', async () => {
    const calls = [call('ask', { a: 1 }, 'client.ask'), call('Glob', { a: 1 }, null), call('read', null)];
    expect(withOwnArguments(calls, await names({}))).toEqual(calls);
    expect(withOwnArguments(calls, null)).toEqual(calls);
  });
});
