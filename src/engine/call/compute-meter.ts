/**
 * Counts what interpreted code computes for the limit `sandboxSecondsPerMinute` of its callers: the sandbox, the shell, and the work on arguments
 * and results. A run that begins within the limit is not interrupted.
 */
import { Problem } from '../../core/problem.ts';
import type { LimitedHolder } from '../../core/usage-limits.ts';
import type { Limiter } from '../../ports/limiter.ts';
import type { ComputeMeter, Sandbox } from '../../ports/sandbox.ts';
import type { CallDeps, CallScope } from './call-scope.ts';

type SecondsLimiter = Pick<Limiter, 'requireSandboxSeconds' | 'spendSandboxSeconds'>;

/** Returns null if none of them has this limit. */
export function createComputeMeter(limiter: SecondsLimiter, workspace: string, holders: readonly LimitedHolder[]): ComputeMeter | null {
  const limited = holders.filter(({ limits }) => limits.sandboxSecondsPerMinute !== undefined);
  if (limited.length === 0) return null;
  return {
    require: () => limiter.requireSandboxSeconds(workspace, limited),
    spend: (seconds) => limiter.spendSandboxSeconds(workspace, limited, seconds),
  };
}

/**
 * Does work on arguments whose cost depends on a foreign schema, and counts its time. On the edge the clock stands still meanwhile, so that
 * nothing is counted; the work is bounded.
 */
export function countPreparation<Value>(
  { clock, compute }: Pick<CallDeps, 'clock' | 'compute'>,
  { limited }: Pick<CallScope, 'limited'>,
  work: () => Value,
): Value {
  if (limited === undefined) return work();
  const began = clock.now();
  const value = work();
  compute?.(limited)?.spend((clock.now() - began) / 1_000);
  return value;
}

export function limitSandbox(sandbox: Sandbox, meter: ComputeMeter): Sandbox {
  return {
    check: (source) => sandbox.check(source),
    async run(run, signal) {
      try {
        await meter.require();
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return { end: 'threw', message: error.detail, console: '' };
      }
      let seconds = 0;
      try {
        return await sandbox.run({ ...run, used: (part) => (seconds += part) }, signal);
      } finally {
        meter.spend(seconds);
      }
    },
  };
}
