import { expect, it } from 'vitest';
import { buildAliasMap, type AliasMap } from '../../../src/core/toolset/alias-map.ts';
import type { Plan } from '../../../src/core/turn/plan.ts';
import { Problem } from '../../../src/core/problem.ts';
import { whyNotYet } from '../../../src/engine/plan/newest-made.ts';
import { compile, knownTools, toolOf } from '../../fakes/known-tools.ts';
import { keptLog } from '../../fakes/runtime.ts';

const tools = ['count_lines', 'sort_lines'].map((name) => toolOf('made', name, { kind: 'made' }));
const namesOf = async (...names: string[]): Promise<AliasMap> =>
  buildAliasMap((await compile({ tools: names.map((name) => ({ tool: `made.${name}` })) }, knownTools(tools))).edition, { aliases: true });
const pointer = (version: number) => ({ toolset: '', version, revision: 1, hash: `${version}` });
const [before, after] = [await namesOf('count_lines'), await namesOf('count_lines', 'sort_lines')];
const log = keptLog();
const directory = (newest: () => Promise<{ pointer: ReturnType<typeof pointer>; names: AliasMap }>) => ({
  directory: { privateMade: async () => null, made: newest, edition: async () => ({ pointer: pointer(1), names: before }) },
  log,
});
const caller = { workspace: 'default', keyId: 'k' };
const plan = { offersMade: true, made: pointer(1) } as Plan;

it('names the turn from which a tool can be called that was made since, by any of its names', async () => {
  const now = directory(async () => ({ pointer: pointer(2), names: after }));
  for (const name of ['sort_lines', 'sortLines', 'made.sort_lines'])
    expect(await whyNotYet(now, caller, plan, name)).toContain('sort_lines was made in this turn: it can be called from the next turn on.');
  // The plan has left it out for another reason, which does not end with the turn.
  expect(await whyNotYet(now, caller, plan, 'count_lines')).toBeNull();
  expect(await whyNotYet(now, caller, plan, 'nothing')).toBeNull();
});

it('says nothing for an agent without made tools, without newer ones, and if they cannot be read', async () => {
  const now = directory(async () => ({ pointer: pointer(2), names: after }));
  expect(await whyNotYet(now, caller, { ...plan, offersMade: undefined } as unknown as Plan, 'sort_lines')).toBeNull();
  const same = directory(async () => ({ pointer: pointer(1), names: after }));
  expect(await whyNotYet(same, caller, plan, 'sort_lines')).toBeNull();
  const away = directory(() => Promise.reject(new Problem('unavailable', 'Not now.')));
  expect(log.lines).toEqual([]);
  expect(await whyNotYet(away, caller, plan, 'sort_lines')).toBeNull();
  expect(log.lines).toMatchObject([{ level: 'error', fields: { workspace: 'default', cause: expect.stringContaining('Not now.') } }]);
});
