/** A request outside of turns under limits: what its meter reports settles it, and what was refused is not logged. */
import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { rehearsalAccess } from '../../../src/core/model/provider.ts';
import { Problem, type ProblemCode } from '../../../src/core/problem.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import type { UsageReport } from '../../../src/core/records/usage.ts';
import { startMeter, type CallMeter } from '../../../src/engine/proxy/call-meter.ts';
import { limitRequest } from '../../../src/engine/proxy/reserve-request.ts';
import type { Directory } from '../../../src/ports/directory.ts';
import type { Limiter } from '../../../src/ports/limiter.ts';
import { countedIds, fakeClock } from '../../fakes/runtime.ts';

const access = { ...rehearsalAccess, prices: { '*': { input: 0, output: 1_000_000 } } };
const principal: Principal = { workspace: 'w', keyId: 'abcdefghijkl', scopes: ['chat'], limits: { key: { dailyCost: 5 } } };
const text: ChatEvent = { type: 'text', text: 'hi' };
const failed: ChatEvent = { type: 'error', problem: new Problem('upstream_error', 'no').toBody(), retryable: false };

type Act = (meter: CallMeter) => void;
const begun: Act = (meter) => meter.begun();
const used: Act = (meter) => meter.usage({ inputTokens: 1, outputTokens: 2 });
const ended: Act = (meter) => meter.end();
const cut: Act = (meter) => meter.cut();
const broken: Act = (meter) => meter.end('upstream_error');
const failing =
  (code: ProblemCode, extra = {}): Act =>
  (meter) =>
    meter.fail(new Problem(code, 'no', extra));
const nothing = { tokens: 0, cost: 0 };

/** What happens to the request, or why the limiter refuses it. */
async function metered(...acts: (Act | Problem)[]) {
  const settled: unknown[] = [];
  const logged: UsageReport[] = [];
  const limiter = {
    async reserveCall() {
      for (const act of acts) if (act instanceof Problem) throw act;
      return { settle: (given: unknown) => void settled.push(given) };
    },
  } as unknown as Limiter;
  const recorder = { gather: (_workspace: string, report: UsageReport) => void logged.push(report) };
  const deps = { directory: {} as Directory, limiter, usage: recorder };
  const { usage, reserve, hasBudget } = await limitRequest(deps, principal, { access, model: 'default' });
  const asked = { principal, ref: 'rehearsal/default', requestId: undefined, dialect: null };
  const meter = startMeter({ clock: fakeClock(), ids: countedIds(), usage }, asked, access);
  const error = await reserve?.({ inputTokens: 1, outputTokens: 9 }).catch((thrown: unknown) => thrown);
  if (error !== undefined) meter.fail(error);
  else for (const act of acts) if (!(act instanceof Problem)) act(meter);
  return { settled, logged, hasBudget };
}

describe('a request under limits', () => {
  it.each([
    ['reports its usage', [begun, used, ended], { tokens: 3, cost: 2 }],
    ['ends without usage', [begun, ended], 'unknown'],
    ['is cut off by its client', [begun, cut], 'unknown'],
    ['is cut off before its first byte', [cut], 'unknown'],
    ['breaks off', [begun, broken], 'unknown'],
    ['breaks off before its first byte', [broken], nothing],
    ['fails before any output', [begun, (meter) => meter.end('upstream_error', false)], nothing],
    ['sends an error as its first event', [(meter) => meter.take([failed])], nothing],
    ['sends an error after output', [(meter) => meter.take([text]), (meter) => meter.take([failed])], 'unknown'],
    ['is refused by the provider', [failing('upstream_error', { provider: 'p' })], nothing],
    ['is not answered in time', [failing('upstream_timeout', { provider: 'p' })], 'unknown'],
    ['is invalid', [failing('invalid_request')], nothing],
  ] as [string, Act[], unknown][])('that %s counts as it should', async (_how, acts, counted) => {
    const { settled, logged, hasBudget } = await metered(...acts);
    expect(settled).toEqual([counted]);
    expect(logged).toMatchObject([{ budgets: [{ of: 'key', name: 'abcdefghijkl' }] }]);
    expect(hasBudget).toBe(true);
  });

  it('that is refused has no row in the log, and settles nothing', async () => {
    const refusal = new Problem('rate_limited', 'no', { limit: 'dailyCost' });
    expect(await metered(refusal)).toMatchObject({ settled: [], logged: [] });
  });
});
