import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/core/problem.ts';
import type { JsonSchema, ToolDefinition } from '../../../src/core/tools/tool.ts';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import { compileDraft } from '../../../src/core/toolset/compile-draft.ts';
import { withTools } from '../../../src/core/toolset/known-tools.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { prepareCall } from '../../../src/engine/call/prepare-call.ts';
import { definitionImpact } from '../../../src/engine/configuration/definition-impact.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { runs } from '../../selection.ts';

type Call = { requested: string; arguments: Record<string, unknown>; toolset?: string | null; parent?: string };
type Deps = Parameters<typeof definitionImpact>[0];

const range = { from: '2026-01-01', to: '2026-01-30', key: undefined };
const root = { workspace: 'default', keyId: 'root', scopes: ['admin' as const] };
const known = knownTools([toolOf('fs', 'read'), toolOf('fs', 'other')]);

/** Each call is the only one of its session. `lost`: sessions that were deleted. */
function depsFor(calls: readonly Call[], toolsets: Record<string, unknown>, lost: readonly string[] = []) {
  const compiled: string[] = [];
  const rows = calls.map(({ requested, toolset = 'desk', parent = null }, index) => ({
    ...{
      kind: 'call',
      verdict: 'ran',
      turn: `t${index}`,
      session: `s${index}`,
      callId: `c${index}`,
      canonical: 'fs.read',
      requested,
      toolset,
      parent,
    },
  }));
  const eventsOf = ({ requested, arguments: args }: Call, turn: string) => [
    { id: 1, type: 'turn-start', turn, model: 'a/b' },
    { id: 2, type: 'tool-input-end', turn, callId: 'c', arguments: args },
    { id: 3, type: 'tool-result', turn, callId: 'c', name: requested, canonical: 'fs.read', via: 'wire', isError: false, content: [] },
  ];
  const deps = {
    aliases: true,
    audit: { list: async () => ({ items: [...rows, { ...rows[0], verdict: 'waiting' }], nextCursor: null }) },
    catalog: {
      get: async (_kind: string, name: string) => {
        if (toolsets[name] === undefined) throw new Problem('not_found', 'It does not exist.');
        return { body: Toolset.parse(toolsets[name]) };
      },
      previewToolset: async (name: string, toolset: Toolset, places: readonly number[], tools: readonly ToolDefinition[] = []) => {
        compiled.push(name);
        return await compileDraft({ workspace: 'default', name, toolset, known: withTools(known, tools) }, places);
      },
    },
    sessions: {
      get: (id: string) => ({
        eventPage: async () => {
          if (lost.includes(id)) throw new Problem('not_found', 'It was deleted.');
          const index = Number(id.slice(1));
          return { items: eventsOf(calls[index] ?? { requested: '', arguments: {} }, `t${index}`), lastEvent: 3 };
        },
      }),
    },
  };
  // Nothing else of these ports is used.
  return { deps: deps as unknown as Deps, compiled };
}

const schemaOf = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
  ...{ type: 'object', properties, required: [...required], additionalProperties: false },
});
const defined = (inputSchema: JsonSchema, aliases: string[] = []) => toolOf('fs', 'read', { inputSchema, aliases });
const text = { type: 'string' };
const impactOf = (
  before: ToolDefinition | null,
  after: ToolDefinition,
  calls: readonly Call[],
  toolsets: Record<string, unknown>,
  lost?: string[],
) => definitionImpact(depsFor(calls, toolsets, lost).deps, root, { before, after }, range);
const desk = { desk: { tools: [{ tool: 'fs.read' }] } };

describe('the impact of another definition of a tool', () => {
  it('names the toolset, the sessions and the reason, and leaves out what it could not judge', async () => {
    const calls: Call[] = [
      { requested: 'read', arguments: { path: 'a' } },
      { requested: 'fetch_it', arguments: { file: 'b' }, toolset: 'shop' },
      { requested: 'read', arguments: { path: 'c' } },
      { requested: 'read', arguments: { path: 'd' }, parent: 'code' },
      { requested: 'read', arguments: { path: 'e' }, toolset: 'removed' },
    ];
    const toolsets = { ...desk, shop: { tools: [{ tool: 'fs.read', name: 'fetch_it', arguments: { rename: { file: 'path' } } }] } };
    const impact = await impactOf(
      defined(schemaOf({ path: text }, ['path'])),
      defined(schemaOf({ where: text }, ['where'])),
      calls,
      toolsets,
      ['s2'],
    );
    expect(impact).toMatchObject({ judged: 3, refusedCalls: 3, hashed: 1, left: 0, turns: { read: 3, left: 1, more: false } });
    expect(impact.refused.map(({ toolset, sessions, mends }) => [toolset, sessions, mends.map(({ alias }) => alias)])).toEqual([
      ['desk', ['s0'], ['path']],
      // The entry renames an argument that the definition no longer has, so the tool would stay held there.
      ['shop', ['s1'], []],
      ['removed', ['s4'], ['path']],
    ]);
    expect(impact.refused[1]?.issues[0]?.path).toContain('tools[0].arguments.rename');
  });

  it('reports calls by a default alias that the definition no longer has', async () => {
    const schema = schemaOf({ path: text }, ['path']);
    const impact = await impactOf(defined(schema, ['cat']), defined(schema), [{ requested: 'cat', arguments: { path: 'a' } }], desk);
    expect(impact.refused).toMatchObject([{ calls: 1, mends: [], issues: [{ path: 'aliases' }] }]);
  });

  it('judges nothing for a tool that was never accepted', async () => {
    const impact = await impactOf(null, defined(schemaOf({}, [])), [{ requested: 'read', arguments: {} }], desk);
    expect(impact).toMatchObject({ judged: 0, refusedCalls: 0, refused: [] });
  });

  it('compiles a bounded number of toolsets, and says how many calls are left', async () => {
    const calls = Array.from({ length: 40 }, (_, index) => ({ requested: 'read', arguments: { path: 'a' }, toolset: `t${index}` }));
    const { deps, compiled } = depsFor(calls, {});
    const definition = defined(schemaOf({ path: text }, ['path']));
    const impact = await definitionImpact(deps, root, { before: definition, after: definition }, range);
    expect(impact).toMatchObject({ judged: 10, left: 30, refusedCalls: 0 });
    expect(compiled).toHaveLength(20);
  });

  it('counts all refused calls, also of reasons that are too many to list', async () => {
    const names = Array.from({ length: 150 }, (_, index) => `name_${index}`);
    const calls = names.map((name): Call => ({ requested: 'read', arguments: { [name]: 'a' } }));
    const before = defined({ ...schemaOf({}, []), additionalProperties: true });
    const { deps } = depsFor(calls, desk);
    const one = (await deps.sessions.get('s0').eventPage(root, { after: 0, limit: 1 })).items;
    // All in one session, since the logs of 50 are read.
    const events = calls.flatMap(({ arguments: args }, index) =>
      one.map((event, part) => ({ ...event, id: index * 3 + part + 1, callId: `c${index}`, arguments: args })),
    );
    const whole = { ...deps, sessions: { get: () => ({ eventPage: async () => ({ items: events, lastEvent: events.length }) }) } };
    const impact = await definitionImpact(whole as unknown as Deps, root, { before, after: defined(schemaOf({}, [])) }, range);
    expect([impact.judged, impact.refusedCalls, impact.refused.length]).toEqual([150, 150, 100]);
  });

  it('is what calls do that are really repeated, and nothing against itself, for 300 random definitions', async () => {
    const names = ['path', 'limit', 'where', 'count'] as const;
    const schema = fc
      .record({
        types: fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom('string', 'string', 'integer', null)]))),
        required: fc.subarray([...names], { maxLength: 1 }),
        open: fc.boolean(),
      })
      .map(({ types, required, open }): JsonSchema => {
        const properties = Object.fromEntries(Object.entries(types).flatMap(([name, type]) => (type === null ? [] : [[name, { type }]])));
        return {
          ...schemaOf(
            properties,
            required.filter((name) => name in properties),
          ),
          additionalProperties: open,
        };
      });
    const rename = fc.constantFrom({}, { rename: { file: 'path' } }, { preset: { limit: 3 } }, { alias: { old: 'where' } });
    const args = fc.dictionary(
      fc.constantFrom('path', 'path', 'limit', 'where', 'file', 'old', 'x'),
      fc.constantFrom<unknown>('a', 'a', 3),
      { maxKeys: 2 },
    );
    const repeat = async (definition: ToolDefinition, rules: object, calls: readonly Call[]): Promise<boolean[]> => {
      const document = { tools: [{ tool: 'fs.read', arguments: rules }] };
      const compiled = await compile(document, withTools(known, [definition])).catch(() => null);
      if (compiled === null) return calls.map(() => false);
      const table = buildAliasMap(compiled.edition, { aliases: true });
      const scope = { names: () => table, caller: {}, keyId: 'root' } as unknown as Parameters<typeof prepareCall>[0];
      return calls.map(
        ({ requested, arguments: given }) => prepareCall(scope, { callId: 'c', requested, arguments: given }).refusal === null,
      );
    };
    let broken = 0;
    let whole = 0;
    await fc.assert(
      fc.asyncProperty(
        schema,
        fc.option(schema, { freq: 1 }),
        rename,
        fc.array(args, { minLength: 1, maxLength: 6 }),
        async (one, other, rules, given) => {
          // null: the server renames a parameter.
          const renamed = JSON.parse(JSON.stringify(one).replaceAll('"path"', '"file_path"')) as JsonSchema;
          const [before, after] = [defined(one), defined(other ?? renamed)];
          const calls = given.map((each): Call => ({ requested: 'read', arguments: each }));
          const toolsets = { desk: { tools: [{ tool: 'fs.read', arguments: rules }] } };
          const document = await compile(toolsets.desk, withTools(known, [before])).catch(() => null);
          if (document === null) return;
          const [did, does] = [await repeat(before, rules, calls), await repeat(after, rules, calls)];
          const failing = did.map((ran, index) => ran && does[index] === false);
          const impact = await impactOf(before, after, calls, toolsets);
          expect(impact.judged).toBe(did.filter(Boolean).length);
          expect(impact.refusedCalls).toBe(failing.filter(Boolean).length);
          const named = impact.refused.flatMap(({ sessions }) => sessions).toSorted();
          expect(named).toEqual(failing.flatMap((fails, index) => (fails ? [`s${index}`] : [])).toSorted());
          expect(await impactOf(before, before, calls, toolsets)).toMatchObject({ refusedCalls: 0, refused: [] });
          broken += impact.refusedCalls;
          for (const { sessions, mends } of impact.refused.filter((refused) => refused.mends.length > 0)) {
            const alias = {
              ...('alias' in rules ? rules.alias : {}),
              ...Object.fromEntries(mends.map((mend) => [mend.alias, mend.argument])),
            };
            const kept = await repeat(
              after,
              { ...rules, alias },
              sessions.map((session) => calls[Number(session.slice(1))] ?? { requested: '', arguments: {} }),
            );
            expect(kept).not.toContain(false);
            whole += sessions.length;
          }
        },
      ),
      { numRuns: runs(300) },
    );
    expect(broken).toBeGreaterThan(0);
    expect(whole).toBeGreaterThan(0);
  });
});
