/**
 * What a server reports outside of a call, on the stream that is open for its changes: log messages, and that a user has completed a page. As in
 * a call, secrets and what the redaction rules find are removed, and a guard of results drops log messages.
 */
import { coversToolset } from '../../core/policy/guard.ts';
import { boundNotice } from '../../core/tools/call-report.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { CallerChannel, UpstreamContext } from '../../ports/upstream.ts';
import type { CallDeps } from '../call/call-scope.ts';
import { createRedactor, withRedactedTokens } from '../call/redact.ts';
import type { ServedView } from './serve-view.ts';

/** Where the reports go. */
export type OpenReports = Pick<CallerChannel, 'notice' | 'elicitationComplete' | 'logLevel'>;

type Deps = { clock: Clock; callDeps(workspace: string): CallDeps };
type Watched = { principal: Principal; view: ServedView; reports?: OpenReports };

/** Returns the hooks for a stream, and its context, whose secrets are removed from what they pass on. */
export async function openReports(
  { clock, callDeps }: Deps,
  { principal, view, reports }: Watched,
  context: UpstreamContext,
): Promise<{ hooks: OpenReports; context: UpstreamContext }> {
  if (reports === undefined) return { hooks: {}, context };
  const { guard, redaction } = callDeps(principal.workspace);
  const toolset = view.names.edition.toolset;
  const settings = (await guard?.settings()) ?? null;
  const isGuarded = settings?.after === true && coversToolset(settings, toolset);
  const redactor = createRedactor({ clock }, await redaction?.(toolset));
  const { notice, ...others } = reports;
  return {
    hooks: { ...others, ...(notice && !isGuarded && { notice: (line) => notice(redactor.data(boundNotice(line))) }) },
    context: {
      ...context,
      secret: async (name, host) => redactor.addSecret(await context.secret(name, host)),
      ...(context.tokens && { tokens: withRedactedTokens(context.tokens, redactor) }),
    },
  };
}
