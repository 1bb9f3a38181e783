import { describe, expect, it } from 'vitest';
import { parsePart } from '../../../src/core/problem.ts';
import { ReplayRequest } from '../../../src/core/replay/replay.ts';
import { Suite } from '../../../src/core/replay/suite.ts';

const select = { agent: 'support' };
const faults = (schema: typeof Suite | typeof ReplayRequest, value: unknown): string[] => {
  const parsed = parsePart(schema, value);
  return 'issues' in parsed ? parsed.issues.map(({ path, message }) => `${path}: ${message}`) : [];
};

describe('a suite', () => {
  it.each<[string, unknown]>([
    ['a selection', { select: {} }],
    [
      'all filters',
      { select: { ...select, toolset: 't', model: 'a/b/c', key: 'k', status: 'failed', tools: ['github.*'], days: 7, limit: 1_000 } },
    ],
    ['days of the calendar', { select: { from: '2026-11-01', to: '2026-11-01' } }],
    ['requests', { select: { kind: 'request', model: 'a/b' } }],
    ['cases', { cases: [{ session: 's' }, { session: 's', turn: 't', rules: [{ maxCalls: 0 }] }, { request: 'r' }] }],
    ['every rule', { select, rules: [{ calls: 'same' }, { answer: 'json-equal' }, { answer: { 'json-equal': null } }, { maxCost: 0 }] }],
  ])('may have %s', (_title, value) => {
    expect(faults(Suite, value)).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['nothing to replay', {}, ': needs either `select` or `cases`'],
    ['a selection and cases', { select, cases: [{ session: 's' }] }, ': needs either `select` or `cases`'],
    ['no case', { cases: [] }, 'cases: Too small'],
    ['1,001 cases', { cases: Array.from({ length: 1_001 }, () => ({ session: 's' })) }, 'cases: Too big'],
    ['a case that is a turn and a request', { cases: [{ session: 's', request: 'r' }] }, 'cases[0].request: unknown field'],
    ['a limit of 1,001', { select: { limit: 1_001 } }, 'select.limit: Too big'],
    ['both kinds of days', { select: { days: 1, from: '2026-11-01' } }, 'select.days: cannot be given with `from` or `to`'],
    ['an end without a start', { select: { to: '2026-11-01' } }, 'select.to: needs `from`'],
    ['an end before the start', { select: { from: '2026-11-02', to: '2026-11-01' } }, 'select.to: is before `from`'],
    ['requests by their tools', { select: { kind: 'request', tools: ['a.b'] } }, 'select.kind: requests without a session have no toolset'],
    ['an unknown filter', { select: { user: 'u' } }, 'select.user: unknown field'],
    ['a rule of two', { select, rules: [{ calls: 'same', maxCalls: 1 }] }, 'rules[0].maxCalls: unknown field'],
    ['an empty rule', { select, rules: [{}] }, 'rules[0]'],
    ['a judge', { select, rules: [{ judge: 'Is it good?' }] }, 'rules[0]'],
    ['51 rules', { select, rules: Array.from({ length: 51 }, () => ({ maxCalls: 1 })) }, 'rules: Too big'],
  ])('cannot have %s', (_title, value, fault) => {
    expect(faults(Suite, value).join('\n')).toContain(fault);
  });
});

describe('the request of a replay', () => {
  it.each<[string, unknown]>([
    ['a suite as recorded', { suite: 'support' }],
    ['a selection with rules', { select, rules: [{ maxCalls: 1 }] }],
    ['an earlier agent and a pinned toolset', { suite: 's', with: { agent: 'support@3', toolset: 'desk@2', model: 'cheap' } }],
    ['drafts', { suite: 's', with: { agent: { model: 'a/b' }, toolset: { tools: [{ tool: 'a.b' }] }, instructions: '' } }],
  ])('may have %s', (_title, value) => {
    expect(faults(ReplayRequest, value)).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['no suite', {}, ': needs one of `suite`, `select` and `cases`'],
    ['a suite and cases', { suite: 's', cases: [{ session: 's' }] }, ': needs one of `suite`, `select` and `cases`'],
    ['rules beside a suite', { suite: 's', rules: [] }, 'rules: the suite has its own rules'],
    ['nine cases at once', { suite: 's', concurrency: 9 }, 'concurrency: Too big'],
    ['the name of a draft', { suite: 's', with: { agent: { name: 'x', model: 'a/b' } } }, 'with.agent'],
  ])('cannot have %s', (_title, value, fault) => {
    expect(faults(ReplayRequest, value).join('\n')).toContain(fault);
  });
});
