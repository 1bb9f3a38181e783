import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/core/tools/hold.ts';
import { identityChanged } from '../../../src/core/tools/hold.ts';
import {
  acceptDefinition,
  type DefinitionKind,
  rejectDefinition,
  requireAcknowledged,
  undoDecision,
} from '../../../src/core/listing/decide-definition.ts';
import { findingCodes, reviewListed, reviewStateOf, showDecisions, type Reviewed } from '../../../src/core/servers/definition-review.ts';
import { Problem } from '../../../src/core/problem.ts';

type Pin = { pin: string };
type One = Reviewed<Pin>;

const kind = (noun: string): DefinitionKind<Pin> => ({ noun, textOf: ({ pin }) => `text of ${pin}` });
const tools = kind('tool');
const prompts = kind('prompt');
const by = { by: 'key', at: Date.UTC(2026, 0, 1) };
const finding = (code: string): Finding => ({ finding: code, path: '/description', message: `has ${code}` });
const identityChange: Finding = { finding: identityChanged, path: '', message: 'is another server' };

function listed(
  before: One | undefined,
  pin: string | null,
  more: { codes?: string[]; isFirst?: boolean; identityChange?: Finding } = {},
): One {
  const { codes = [], isFirst = false } = more;
  const item = { listed: pin === null ? null : { pin }, findings: codes.map(finding), isSuspicious: codes.length > 0 };
  return { name: 'x', listed: item.listed, ...reviewListed(before, item, { isFirst, identityChange: more.identityChange ?? null }) };
}

function accepted(one: One): One {
  return { ...one, ...acceptDefinition(tools, one, { refId: one.listed?.pin, acknowledge: findingCodes(one.findings) }, by) };
}
function rejected(one: One, note?: string): One {
  return { ...one, ...rejectDefinition(prompts, one, { note }, by) };
}
function undone(one: One, refId?: string): One {
  return { ...one, ...undoDecision(kind('resource'), one, { refId }, { by: 'k1', at: 1 }) };
}
function problemOf(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  return expect.fail('nothing was refused');
}
const stateOf = (one: One): string => one.reason ?? reviewStateOf(one);

describe('accepting a definition with findings', () => {
  const flagged = listed(undefined, 'a', { codes: ['role-claim', 'secret-path', 'role-claim'], isFirst: true });
  const codes = ['role-claim', 'secret-path'];

  it.each<[string, Parameters<typeof acceptDefinition>[2]]>([
    ['no acknowledgement', {}],
    ['the definition only', { refId: 'a' }],
    ['the codes without the definition', { acknowledge: codes }],
    ['fewer codes', { refId: 'a', acknowledge: ['role-claim'] }],
    ['no codes', { refId: 'a', acknowledge: [] }],
    ['more codes', { refId: 'a', acknowledge: [...codes, 'other'] }],
    ['other codes', { refId: 'a', acknowledge: ['role-claim', 'other'] }],
    ['codes joined to one', { refId: 'a', acknowledge: ['role-claim secret-path'] }],
    ['codes in other letters', { refId: 'a', acknowledge: ['Role-Claim', 'secret-path'] }],
  ])('is refused with %s, and says what to send', (_what, request) => {
    const problem = problemOf(() => acceptDefinition(tools, flagged, request, by));
    expect(problem).toMatchObject({ code: 'acknowledgement_required', status: 409 });
    expect(problem.extra).toEqual({ refId: 'a', definition: 'text of a', acknowledge: codes, findings: flagged.findings });
    expect(problem.detail).toContain('role-claim, secret-path');
  });

  it('takes the definition and exactly its codes, in any order', () => {
    for (const acknowledge of [codes, codes.toReversed(), [...codes, ...codes]]) {
      const after = { ...flagged, ...acceptDefinition(tools, flagged, { refId: 'a', acknowledge }, by) };
      expect(stateOf(after)).toBe('ready');
      expect(showDecisions(after.decisions)).toEqual([
        { decision: 'accepted', refId: 'a', by: 'key', at: '2026-01-01T00:00:00.000Z', acknowledged: codes },
      ]);
    }
  });

  it('is refused as a conflict if the server lists another definition by now', () => {
    const problem = problemOf(() => acceptDefinition(tools, flagged, { refId: 'b', acknowledge: codes }, by));
    expect(problem).toMatchObject({ code: 'conflict', extra: { refId: 'a' } });
  });

  it('without findings needs no acknowledgement, and refuses one', () => {
    const plain = listed(listed(undefined, 'a', { isFirst: true }), 'b');
    expect(stateOf({ ...plain, ...acceptDefinition(prompts, plain, {}, by) })).toBe('ready');
    const problem = problemOf(() => requireAcknowledged(prompts, plain, { refId: 'b', acknowledge: codes }));
    expect(problem).toMatchObject({ code: 'acknowledgement_required', extra: { acknowledge: [], findings: [] } });
    expect(problem.detail).toContain('the prompt "x"');
  });
});

describe('the states of a definition', () => {
  const first = listed(undefined, 'a', { isFirst: true });
  const changed = listed(first, 'b');
  const added = listed(undefined, 'b');
  const flagged = listed(undefined, 'b', { codes: ['role-claim'] });
  const moved = listed(first, 'a', { identityChange });

  it.each<[string, One, string]>([
    ['first listing', first, 'ready'],
    ['changed', changed, 'changed'],
    ['added', added, 'new'],
    ['flagged', flagged, 'suspicious'],
    ['identity changed', moved, 'server'],
    ['gone', listed(first, null), 'missing'],
  ])('%s: accepting, rejecting and undoing each return to the state before', (_what, one, state) => {
    expect(stateOf(one)).toBe(state);
    const before = { accepted: one.accepted, listed: one.listed, reason: one.reason, findings: one.findings };
    if (state === 'missing') {
      expect(problemOf(() => rejected(one))).toMatchObject({ code: 'conflict' });
      return;
    }
    expect(reviewStateOf(rejected(one))).toBe('rejected');
    expect(undone(rejected(one))).toEqual(one);
    if (state === 'ready') expect(problemOf(() => accepted(one))).toMatchObject({ code: 'conflict' });
    else {
      expect(stateOf(accepted(one))).toBe('ready');
      const { decisions, ...after } = undone(accepted(one));
      expect([after, decisions]).toEqual([{ ...before, name: 'x' }, []]);
      // A refresh changes nothing about it.
      const { pin } = one.listed ?? expect.fail('listed');
      const codes = one.findings.flatMap(({ finding: code }) => (code === identityChanged ? [] : [code]));
      expect(listed(undone(accepted(one)), pin, { codes })).toEqual(one);
      expect(listed(undone(listed(accepted(one), pin, { codes })), pin, { codes })).toEqual(one);
    }
  });

  it('a rejected definition cannot be accepted or rejected again before the rejection is undone', () => {
    const one = rejected(changed, 'Reads every file.');
    expect(problemOf(() => accepted(one))).toMatchObject({ code: 'conflict', detail: expect.stringContaining('Undo the rejection first') });
    expect(problemOf(() => rejected(one))).toMatchObject({ code: 'conflict' });
    expect(showDecisions(one.decisions)).toMatchObject([{ decision: 'rejected', note: 'Reads every file.' }]);
    expect(stateOf(accepted(undone(one)))).toBe('ready');
  });

  it('an acceptance that is undone after another listing compares that one with what was accepted before', () => {
    const second = accepted(changed);
    expect(stateOf(undone(listed(second, 'c')))).toBe('changed');
    expect(undone(listed(second, 'c')).accepted).toEqual({ pin: 'a' });
    expect(stateOf(undone(listed(second, 'a')))).toBe('ready');
    expect(stateOf(undone(listed(accepted(added), 'c')))).toBe('new');
    expect(undone(listed(second, null))).toMatchObject({ accepted: { pin: 'a' }, listed: null, reason: null });
    // What held it before still does, although another definition is listed.
    const back = undone(listed(accepted(moved), 'c'));
    expect(stateOf(back)).toBe('changed');
    expect(stateOf(listed(back, 'a'))).toBe('server');
  });

  it('undo takes decisions back from the newest, or the one that is named, and then there are none', () => {
    const one = rejected(listed(accepted(changed), 'c'));
    expect(reviewStateOf(one)).toBe('rejected');
    expect(undone(one, 'b')).toMatchObject({ accepted: { pin: 'a' } });
    expect(reviewStateOf(undone(one, 'b'))).toBe('rejected');
    const all = undone(undone(one));
    expect(all).toMatchObject({ accepted: { pin: 'a' }, decisions: [] });
    expect(problemOf(() => undone(all))).toMatchObject({ code: 'conflict' });
    expect(problemOf(() => undone(one, 'f'))).toMatchObject({ code: 'conflict' });
  });
});

describe('for any sequence of listings and decisions', () => {
  const pin = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    fc.record({ do: fc.constant('list' as const), pin: fc.option(pin, { nil: null }), isFirst: fc.boolean(), isFlagged: fc.boolean() }),
    fc.record({ do: fc.constantFrom('accept' as const, 'reject' as const, 'undo' as const, 'one-click' as const) }),
  );

  it('only what is listed, accepted and not rejected is ready, and findings are never accepted in one request', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let one: One | undefined;
        const rejections = new Set<string>();
        for (const next of steps) {
          if (next.do === 'list') {
            one = listed(one, next.pin, { isFirst: next.isFirst && one === undefined, codes: next.isFlagged ? ['role-claim'] : [] });
          } else if (one !== undefined) {
            try {
              if (next.do === 'accept') one = accepted(one);
              else if (next.do === 'reject') one = rejected(one);
              else if (next.do === 'undo') one = undone(one);
              else {
                const hadFindings = one.findings.length > 0;
                one = { ...one, ...acceptDefinition(tools, one, { refId: one.listed?.pin }, by) };
                expect(hadFindings).toBe(false);
              }
            } catch (error) {
              if (!(error instanceof Problem)) throw error;
            }
          }
          if (one === undefined) continue;
          rejections.clear();
          for (const { decision, refId } of one.decisions) if (decision === 'rejected') rejections.add(refId);
          const isReady = reviewStateOf(one) === 'ready';
          expect(isReady && (one.accepted?.pin !== one.listed?.pin || rejections.has(one.listed?.pin ?? ''))).toBe(false);
        }
      }),
    );
  });
});
