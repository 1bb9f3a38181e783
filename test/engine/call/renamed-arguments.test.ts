/** Calls of a tool in code whose argument a later build has renamed, with the editions of both builds. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { contentText } from '../../../src/core/tools/tool.ts';
import type { ToolDefinition } from '../../../src/core/tools/tool.ts';
import type { CallDeps, CallScope } from '../../../src/engine/call/call-scope.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { createCodeExecutor } from '../../../src/tools/executor.ts';
import { register } from '../../../src/tools/registry.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { fakeClock, keptLog } from '../../fakes/runtime.ts';

const input = z.strictObject({ script: z.string(), token: z.string().optional() });
const renamed = { command: 'script', key: 'token' };
const run = defineTool({ name: 'run', description: 'Runs.', input, renamed, run: (args) => record(args) });

/** What the tool received last: secrets are removed from its result. */
let received: unknown = null;
function record(args: Record<string, unknown>): string {
  received = args;
  return 'done';
}

const shown = (first: string, second: string): Partial<ToolDefinition> => ({
  kind: 'local',
  inputSchema: {
    type: 'object',
    properties: { [first]: { type: 'string' }, [second]: { type: 'string' } },
    required: [first],
    additionalProperties: false,
  },
});
const earlier = toolOf('local', 'run', shown('command', 'key'));
const current = toolOf('local', 'run', { ...shown('script', 'token'), renamed });

/** Calls the tool of an edition of this definition, in the code of the current build. */
async function called(definition: ToolDefinition, args: Record<string, unknown>, entry: object = {}) {
  const { edition } = await compile({ tools: [{ tool: 'local.run', ...entry }] }, knownTools([definition]));
  const names = buildAliasMap(edition, { aliases: true });
  const deps: CallDeps = {
    ...{ clock: fakeClock(), log: keptLog(), executor: createCodeExecutor(register([], [run])) },
    server: () => Promise.reject(new Error('no server here')),
    fetch: () => Promise.reject(new Error('no network here')),
    secret: async () => 's3cr3t',
  };
  const scope: CallScope = {
    ...{ keyId: 'k1', caller: {}, session: null, turn: null, names: () => names, edition: null },
    ...{ files: createMemoryFiles(() => 0), timeoutMs: 30_000, rules: [], canWait: false, results: null, audit: () => undefined },
  };
  const outcome = await callTool(deps, scope, { callId: 'c1', requested: 'run', arguments: args }, new AbortController().signal);
  if ('waitFor' in outcome) throw new Error('It waits.');
  const { result, ran } = outcome.answer;
  return { code: result.code, text: contentText(result.content), received: ran ? received : null };
}

describe.each([
  ['of a running turn, whose edition is of the earlier build,', earlier],
  ['of the current edition', current],
])('a call %s', (_which, definition) => {
  it('may use the earlier name of an argument', async () => {
    expect(await called(definition, { command: 'ls' })).toEqual({ code: undefined, text: 'done', received: { script: 'ls' } });
  });

  it('may have rules of its entry with the earlier name, also for a secret', async () => {
    const entry = { arguments: { default: { command: 'ls' }, preset: { key: { secret: 'KEY' } }, rename: { line: 'command' } } };
    expect((await called(definition, {}, entry)).received).toEqual({ script: 'ls', token: 's3cr3t' });
    expect((await called(definition, { line: 'pwd' }, entry)).received).toEqual({ script: 'pwd', token: 's3cr3t' });
  });
});

it('a call with both names is refused, and says why', async () => {
  expect(await called(current, { command: 'ls', script: 'pwd' })).toEqual({
    code: 'invalid_arguments',
    text: 'Not run: the arguments of run are not valid.\n- command: is the earlier name of script, which is given too; give one of them',
    received: null,
  });
});

it('a shown name that is an earlier name keeps its meaning', async () => {
  const entry = { arguments: { rename: { command: 'token' } } };
  expect((await called(current, { script: 'ls', command: 'abc' }, entry)).received).toEqual({ script: 'ls', token: 'abc' });
});

it('an entry with rules under both names is an error with its place', async () => {
  const entry = { arguments: { preset: { command: 'ls', script: 'pwd' } } };
  await expect(called(current, {}, entry)).rejects.toMatchObject({
    extra: { issues: [{ path: 'tools[0].arguments.preset.command', message: expect.stringContaining('is the earlier name of script') }] },
  });
});

it.each<Record<string, string>>([{ script: 'token' }, { command: 'nothing' }])(
  'a definition that renames %j is refused when its module loads',
  (wrong) => {
    expect(() => defineTool({ name: 'run', description: 'Runs.', input, renamed: wrong, run: () => '' })).toThrow(
      'defineTool run: renamed maps',
    );
  },
);
