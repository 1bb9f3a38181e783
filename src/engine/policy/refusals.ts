/** The errors that a tool gets for what it may not do, or not yet. Used by `ask-first.ts` and `rehearsal.ts`. */
import type { Ask } from '../../core/approval.ts';
import { requestHost } from '../../core/policy/host.ts';
import type { Judgement } from '../../core/policy/judge.ts';
import type { Effect } from '../../core/policy-effect.ts';
import { Problem } from '../../core/problem.ts';
import { FileError } from '../../ports/file-system.ts';

export function networkEffect(request: Request, to: URL): Extract<Effect, { kind: 'network' }> {
  return { kind: 'network', host: requestHost(to.href) ?? to.host, method: request.method };
}

export function isReading({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

export function forbidden(what: 'Not sent' | 'Not done', { reason }: Judgement): Problem {
  return new Problem('forbidden', `${what}: ${reason}.`);
}

export function needsApproval(reason: string): Problem {
  return new Problem('forbidden', `${reason}: it needs approval.`);
}

export function refuseLate(path: string, signal: AbortSignal): void {
  if (signal.aborted) throw new FileError('EPERM', path, `${path} was not written: the call has ended.`);
}

/** A request that is no mere reading has had its effect by the time it is redirected, so the redirect is not followed. */
export function redirectedAway(request: Request, to: URL, ask: Ask): Problem {
  const from = requestHost(request.url) ?? request.url;
  const why = ask.kind === 'network' ? 'which is new to this workspace' : 'which needs approval';
  const detail =
    `The ${request.method} to ${from} leads to ${to.host}, ${why}, and was not followed there. ` +
    `Request ${to.href} separately if that is right.`;
  return new Problem('upstream_error', detail, { retryable: false });
}
