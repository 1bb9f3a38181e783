import { describe, expect, it } from 'vitest';
import { learnNames } from '../../../src/core/impact/learned-names.ts';
import { type RecordedCall, recordedCalls } from '../../../src/core/impact/recorded-calls.ts';
import { unknownNames, unusedAliases, withoutDismissed } from '../../../src/core/impact/suggestions.ts';
import { buildAliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { SessionEvent } from '../../../src/core/turn/session-event.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';

const text = { type: 'string' };
const verbs = ['list', 'read', 'write', 'copy', 'send', 'close', 'open', 'merge', 'share', 'count'];
const nouns = ['issue', 'page', 'ticket'];
const tools = nouns.flatMap((noun) =>
  verbs.map((verb) =>
    toolOf('desk', `${verb}_${noun}`, {
      inputSchema: {
        type: 'object',
        properties: { target: text, limit: { type: 'integer' }, body: text },
        required: ['target'],
        additionalProperties: false,
      },
    }),
  ),
);
const known = knownTools([...tools, toolOf('desk', 'purge_all', { annotations: { destructiveHint: true } }), toolOf('desk', 'drop_page')]);
const names = async (document: unknown = { tools: [{ tool: 'desk.*' }] }) =>
  buildAliasMap((await compile(document, known)).edition, { aliases: true });

type Call = Partial<RecordedCall> & { requested: string };
let turns = 0;
/** The calls of one turn. A call without a code succeeds, under the name of its tool. */
function turn(...calls: Call[]): RecordedCall[] {
  turns += 1;
  return calls.map(({ code = null, ...call }) => ({
    ...{ callId: '', turn: `turn_${turns}`, model: 'a/small', agent: 'helper', via: null, arguments: {}, code, isError: code !== null },
    canonical: code === 'unknown_tool' ? null : `desk.${call.requested}`,
    ...call,
  }));
}

const refusedThen = (requested: string, meant: string, args: Record<string, unknown>): RecordedCall[] =>
  turn({ requested, code: 'unknown_tool', arguments: args }, { requested: meant, arguments: args });

describe('names that models call from habit', () => {
  it('are learned from the call that was made then, with the same values', async () => {
    const calls = [1, 2].flatMap((number) =>
      refusedThen(number === 1 ? 'ShowIssue' : 'show_issue', 'read_issue', { target: `issue-${number}` }),
    );
    expect(learnNames(calls, await names(), 2)).toEqual([
      {
        ...{ name: 'ShowIssue', tool: 'desk.read_issue', argument: null, alias: 'showissue', seen: 2, contrary: 0 },
        ...{ models: ['a/small'], agents: ['helper'], isNoteOnly: false },
        examples: [{ target: 'issue-1' }, { target: 'issue-2' }],
      },
    ]);
  });

  it('are not learned from a call that has nothing to do with them', async () => {
    const unrelated = () =>
      turn(
        { requested: 'Glob', code: 'unknown_tool', arguments: { pattern: '**/*.ts' } },
        { requested: 'count_page', arguments: { target: 'home page' } },
      );
    expect(learnNames([...unrelated(), ...unrelated(), ...unrelated()], await names(), 2)).toEqual([]);
  });

  it('are not learned where models mean different tools, too rarely, or already have the name', async () => {
    const mixed = ['read_issue', 'read_page', 'read_ticket', 'read_issue'].flatMap((meant) =>
      refusedThen('Fetch', meant, { target: 'number 7' }),
    );
    expect(learnNames(mixed, await names(), 2)).toEqual([]);
    expect(learnNames(refusedThen('Fetch', 'read_issue', { target: 'number 7' }), await names(), 2)).toEqual([]);
    const table = await names({ tools: [{ tool: 'desk.read_issue', aliases: ['fetch'] }] });
    expect(
      learnNames(
        [1, 2].flatMap(() => refusedThen('Fetch', 'read_issue', { target: 'number 7' })),
        table,
        2,
      ),
    ).toEqual([]);
  });

  it('are only noted towards tools that may destroy', async () => {
    const calls = ['purge_all', 'drop_page'].flatMap((meant) =>
      [1, 2].flatMap(() => refusedThen(`clear_${meant}`, meant, { target: 'everything' })),
    );
    expect(learnNames(calls, await names(), 2).map(({ tool, isNoteOnly }) => [tool, isNoteOnly])).toEqual([
      ['desk.drop_page', true],
      ['desk.purge_all', true],
    ]);
  });

  it('of ten thousand that a model invents cost nothing but a look', async () => {
    const invented = Array.from({ length: 10_000 }, (_, index) => turn({ requested: `invented_${index}`, code: 'unknown_tool' })).flat();
    expect(learnNames(invented, await names(), 2)).toEqual([]);
  });
});

describe('arguments that models give from habit', () => {
  const refused = (first: Record<string, unknown>, second: Record<string, unknown>) =>
    turn({ requested: 'read_page', code: 'invalid_arguments', arguments: first }, { requested: 'read_page', arguments: second });

  it('are learned from the argument with the same value, by the own name of the tool', async () => {
    const calls = [1, 2].flatMap((page) => refused({ file_path: `page ${page}`, limit: 5 }, { target: `page ${page}`, limit: 5 }));
    expect(learnNames(calls, await names(), 2)).toMatchObject([
      { name: 'file_path', tool: 'desk.read_page', argument: 'target', alias: 'file_path' },
    ]);
    const renamed = await names({ tools: [{ tool: 'desk.read_page', arguments: { rename: { page: 'target' } } }] });
    const shown = [1, 2].flatMap((page) => refused({ file_path: `page ${page}` }, { page: `page ${page}` }));
    expect(learnNames(shown, renamed, 2)).toMatchObject([{ argument: 'target' }]);
  });

  it('are not learned where two arguments have the value, or the name is an alias', async () => {
    const both = [1, 2].flatMap(() => refused({ text: 'same' }, { target: 'same', body: 'same' }));
    expect(learnNames(both, await names(), 2)).toEqual([]);
    const table = await names({ tools: [{ tool: 'desk.read_page', arguments: { alias: { file_path: 'target' } } }] });
    expect(
      learnNames(
        [1, 2].flatMap((page) => refused({ filePath: `p ${page}` }, { target: `p ${page}` })),
        table,
        2,
      ),
    ).toEqual([]);
  });
});

it('finds at least 45 of 50 names and arguments that are hidden in recorded turns, and none that is wrong', async () => {
  let seed = 7;
  const random = (most: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % most;
  };
  const own = tools.map(({ name }) => name);
  const hidden = own.slice(0, 30).map((name, index) => ({ name: `habit_${index}_x`, meant: name }));
  const hiddenArguments = own.slice(0, 20).map((name, index) => ({ name: `param_${index}`, meant: name }));
  const noise = (): RecordedCall =>
    turn({ requested: own[random(own.length)] ?? '', arguments: { target: `thing ${random(50)}` } })[0] as RecordedCall;
  const inTurn = (calls: readonly RecordedCall[]): RecordedCall[] => calls.map((call) => ({ ...call, turn: calls[0]?.turn ?? '' }));
  const calls: RecordedCall[] = [];
  for (let round = 0; round < 3; round += 1) {
    for (const { name, meant } of hidden)
      calls.push(...inTurn([...refusedThen(name, meant, { target: `value ${random(9_999)}` }), noise()]));
    for (const { name, meant } of hiddenArguments) {
      const value = `value ${random(9_999)}`;
      calls.push(
        ...turn(
          { requested: meant, code: 'invalid_arguments', arguments: { [name]: value, limit: random(9) } },
          { requested: meant, arguments: { target: value } },
        ),
      );
    }
    // Names without a meaning, between calls that have nothing to do with them.
    for (let index = 0; index < 40; index += 1)
      calls.push(
        ...inTurn([
          noise(),
          ...turn({ requested: `stray_${index % 10}`, code: 'unknown_tool', arguments: { query: `q ${random(99)}` } }),
          noise(),
          noise(),
        ]),
      );
  }
  const lessons = learnNames(calls, await names(), 2);
  const right = lessons.filter(({ name, tool, argument }) =>
    argument === null
      ? hidden.some((one) => one.name === name && tool === `desk.${one.meant}`)
      : argument === 'target' && hiddenArguments.some((one) => one.name === name && tool === `desk.${one.meant}`),
  );
  expect(right.length).toBe(lessons.length);
  expect(right.length).toBeGreaterThanOrEqual(45);
});

it('reads the calls of a log with the arguments as the model gave them, and leaves out those inside of others', () => {
  const at = { at: 1, turn: 't', step: 0, callId: 'c' };
  const events = [
    { id: 1, type: 'turn-start', turn: 't', input: [], model: 'a/b', agent: 'helper', at: 1 },
    { id: 2, type: 'tool-input-start', name: 'Glob', canonical: null, via: null, ...at },
    { id: 3, type: 'tool-input-end', arguments: { a: 1 }, repaired: false, ...at },
    { id: 4, type: 'inner-call', parent: 'c', name: 'x', canonical: 'a.x', via: 'wire', arguments: {}, ...at, callId: 'c.1' },
    { id: 5, type: 'tool-result', name: 'Glob', canonical: null, via: null, isError: true, code: 'unknown_tool', content: [], ...at },
  ] as SessionEvent[];
  expect(recordedCalls(events)).toEqual([
    {
      ...{ callId: 'c', turn: 't', model: 'a/b', agent: 'helper', requested: 'Glob', canonical: null, via: null },
      ...{ arguments: { a: 1 }, isError: true, code: 'unknown_tool' },
    },
  ]);
});

describe('suggestions', () => {
  const called = (requested: string) => ({ requested, calls: 3, failures: 0, lastDay: null, agents: [], keys: [] });

  it('that were dismissed are not made again, in any spelling', async () => {
    const calls = [1, 2].flatMap((number) => refusedThen('ShowIssue', 'read_issue', { target: `issue-${number}` }));
    const lessons = learnNames(calls, await names(), 2);
    expect(withoutDismissed(lessons, { dismissed: ['show_issue'] })).toEqual([]);
    expect(withoutDismissed(lessons, { dismissed: ['desk.read_issue#show_issue'] })).toHaveLength(1);
  });

  it('list names that lead nowhere with what looks like them, and aliases that nobody calls', async () => {
    const document = { tools: [{ tool: 'desk.read_issue', aliases: ['look', { name: 'peek', mode: 'hidden' as const }] }] };
    const unknown = unknownNames([called('read_issues'), called('Look'), called('Glob')], await names(document), { dismissed: ['glob'] });
    expect(unknown).toMatchObject([{ requested: 'read_issues', calls: 3, near: ['look'] }]);
    expect(unusedAliases(document, [called('LOOK')])).toEqual([{ entry: 0, alias: 'peek' }]);
  });
});

it('learns from a model that invents ten thousand names without growing without bound', async () => {
  const calls = Array.from({ length: 10_000 }, (_, index) =>
    refusedThen(`invented_${index}`, 'read_issue', { target: `issue number ${index}` }),
  ).flat();
  const often = [1, 2, 3].flatMap((number) => refusedThen('ShowIssue', 'read_issue', { target: `issue number ${number}` }));
  expect(learnNames([...calls, ...often], await names(), 2)).toMatchObject([{ name: 'ShowIssue', seen: 3 }]);
  expect(learnNames([...calls, ...often], await names(), 1)).toHaveLength(200);
  const same = Array.from({ length: 10_000 }, (_, index) => refusedThen('ShowIssue', 'read_issue', { target: `issue number ${index}` }));
  expect(learnNames(same.flat(), await names(), 2)).toMatchObject([{ seen: 10_000, examples: { length: 3 } }]);
});
