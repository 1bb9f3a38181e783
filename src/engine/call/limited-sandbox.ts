/** A sandbox whose runs count for limits. A wrapper around the port. A run that begins within the limit is not interrupted. */
import { Problem } from '../../core/problem.ts';
import type { LimitedHolder } from '../../core/usage-limits.ts';
import type { Limiter } from '../../ports/limiter.ts';
import type { Sandbox } from '../../ports/sandbox.ts';

export function limitSandbox(sandbox: Sandbox, limiter: Limiter, workspace: string, holders: readonly LimitedHolder[]): Sandbox {
  const limited = holders.filter(({ limits }) => limits.sandboxSecondsPerMinute !== undefined);
  if (limited.length === 0) return sandbox;
  return {
    check: (source) => sandbox.check(source),
    async run(run, signal) {
      try {
        await limiter.requireSandboxSeconds(workspace, limited);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return { end: 'threw', message: error.detail, console: '' };
      }
      let seconds = 0;
      try {
        return await sandbox.run({ ...run, used: (part) => (seconds += part) }, signal);
      } finally {
        limiter.spendSandboxSeconds(workspace, limited, seconds);
      }
    },
  };
}
