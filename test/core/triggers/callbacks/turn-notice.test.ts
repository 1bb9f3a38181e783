/** The maximum size of a notice, for any turn. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pending } from '../../../../src/core/policy/approval.ts';
import { limits } from '../../../../src/core/limits/limits.ts';
import { truncateNotice, type TurnNotice } from '../../../../src/core/triggers/callbacks/turn-notice.ts';
import { utf8Length } from '../../../../src/core/text/utf8.ts';

const { maxCallbackTextBytes, maxCallbackBodyBytes, maxCallsPerTurn } = limits;

const notice = (more: Partial<TurnNotice> = {}): TurnNotice => ({
  ...{ session: 's', sequence: 1, type: 'turn.completed', turn: 't', at: 0, status: 'completed', reason: 'stop', text: 'Done.' },
  usage: { inputTokens: 1, outputTokens: 1 },
  ...more,
});
const pending = (text: string, reason = 'asked'): Pending => ({
  ...{ callId: 'c', kind: 'approval', canonical: 'mail.send', arguments: { text }, reason },
});
const sizeOf = (value: unknown): number => utf8Length(JSON.stringify(value));

describe('a notice', () => {
  it('of a usual turn is unchanged', () => {
    const usual = notice({ text: 'x'.repeat(maxCallbackTextBytes), pending: [pending('hello')] });
    expect(truncateNotice(usual)).toEqual(usual);
  });

  it('has the beginning of a long text, in whole characters, and says that it was cut', () => {
    const { text, truncated } = truncateNotice(notice({ text: `x${'😀'.repeat(maxCallbackTextBytes)}` }));
    expect(truncated).toBe(true);
    expect(text).toBe(`x${'😀'.repeat((maxCallbackTextBytes - 4) / 4)}`);
  });

  it('drops the arguments of calls if they are too large, and says so', () => {
    const bound = truncateNotice(notice({ pending: [pending('x'.repeat(maxCallbackBodyBytes)), pending('y')] }));
    expect(bound).toMatchObject({ truncated: true, text: 'Done.' });
    expect(bound.pending).toEqual([
      { ...pending(''), arguments: {} },
      { ...pending(''), arguments: {} },
    ]);
  });

  it('fits into the body of a callback, for any turn', () => {
    const long = (count: number) =>
      fc
        .tuple(fc.constantFrom('x', '"', '\u0001', '\ud800', 'é', '😀'), fc.constantFrom(0, 10, count))
        .map(([character, times]) => character.repeat(times));
    const asked = fc
      .tuple(long(20_000), fc.constantFrom(0, 1, maxCallsPerTurn))
      .map(([text, count]) => Array.from({ length: count }, () => pending(text, 'x'.repeat(5_000))));
    const problem = fc.record({ type: fc.constant('about:blank'), title: fc.constant('It failed'), detail: long(100_000) });
    const anything = fc.record({ text: long(maxCallbackTextBytes), pending: asked, problem });
    fc.assert(
      fc.property(anything, (more) => {
        expect(sizeOf(truncateNotice(notice(more)))).toBeLessThanOrEqual(maxCallbackBodyBytes);
      }),
      { numRuns: 30 },
    );
  });
});
