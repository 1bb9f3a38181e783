/** The errors a tool gets for effects that are denied or not yet approved. Used by `policy-guard.ts` and `staged-run.ts`. */
import type { ApprovalReason } from '../../core/policy/approval.ts';
import { requestHost } from '../../core/policy/host.ts';
import type { PolicyDecision } from '../../core/policy/evaluate-policy.ts';
import type { Effect } from '../../core/policy/policy-effect.ts';
import { Problem } from '../../core/problem.ts';
import { FileError } from '../../ports/file-system.ts';

export function networkEffect(request: Request, to: URL): Extract<Effect, { kind: 'network' }> {
  return { kind: 'network', host: requestHost(to.href) ?? to.host, method: request.method };
}

export function isReadRequest({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

export function forbidden(what: 'Not sent' | 'Not done', { reason }: PolicyDecision): Problem {
  return new Problem('forbidden', `${what}: ${reason}.`);
}

export function needsApproval(reason: string): Problem {
  return new Problem('forbidden', `${reason}: this requires approval.`);
}

export function refuseDenied(path: string, { verdict, reason }: PolicyDecision): void {
  if (verdict === 'deny') throw new FileError('EPERM', path, `${path}: not done. ${reason}.`);
}

export function refuseAfterAbort(path: string, signal: AbortSignal): void {
  if (signal.aborted) throw new FileError('EPERM', path, `${path} was not written: the call has ended.`);
}

/** A request other than GET or HEAD has had its effect when it is redirected, so the redirect is not followed. */
export function redirectRefused(request: Request, to: URL, ask: ApprovalReason): Problem {
  const from = requestHost(request.url) ?? request.url;
  const why = ask.kind === 'network' ? 'a host that is new to this workspace' : 'which requires approval';
  const detail =
    `The ${request.method} to ${from} was redirected to ${to.host}, ${why}; the redirect was not followed. ` +
    `If the redirect is right, send a separate request to ${to.href}.`;
  return new Problem('upstream_error', detail, { retryable: false });
}
