/** What a running tool receives (`ToolContext`), before the policy guard is applied. Built by `execute-call.ts`. */
import type { CallerChannel } from '../../ports/upstream.ts';
import { runCodeCanonical } from '../../core/code-mode/run-code.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { cleanNotice, sanitizeProgress } from '../../core/tools/clean-result.ts';
import type { ToolContext } from '../../ports/tool-executor.ts';
import { createToolFinder } from '../plan/find-tools.ts';
import { writableUntilAborted } from '../policy/policy-guard.ts';
import type { SendWithHops } from '../policy/staged-run.ts';
import { withRedactedTokens, type Redactor } from './redact.ts';
import type { IdleTimeout } from '../timeout.ts';
import type { CallDeps, CallScope } from './call-scope.ts';
import type { InnerCallRunner } from './inner/inner-calls.ts';
import type { ServedTool } from './server-state.ts';
import type { ToolCallRequest } from './tool-call.ts';

type ContextParts = ServedTool & {
  request: ToolCallRequest;
  redactor: Redactor;
  channel: CallerChannel;
  send: SendWithHops;
  inner: InnerCallRunner | null;
  signal: AbortSignal;
  timeoutMs: number;
};

export function createToolContext(
  deps: CallDeps,
  scope: CallScope,
  { tool, server, request, redactor, channel, send, inner, signal, timeoutMs }: ContextParts,
): ToolContext {
  return {
    signal,
    log: redactor.log(deps.log),
    files: writableUntilAborted(scope.files, signal),
    secret: async (name, host) => redactor.addSecret(await deps.secret(name, tool.canonical, host)),
    fetch: (outgoing) => send(outgoing),
    now: () => deps.clock.now(),
    idempotencyKey: request.callId,
    results: scope.results,
    find: createToolFinder(scope.names(), scope.discoveredTools, scope.chain?.at(-1) === runCodeCanonical),
    skills: scope.skills ?? null,
    configuration: deps.configuration?.(scope.keyId) ?? null,
    maker: deps.maker?.(scope.keyId, scope.innerNames?.() ?? scope.names()) ?? null,
    conversation: scope.conversation ?? scope.session ?? scope.keyId,
    channel,
    calls: inner?.calls ?? null,
    sandbox: deps.sandbox ?? null,
    given: request.given ?? null,
    timeoutMs,
    tokens: tokensOf(deps, server, redactor),
  };
}

/** Returns null if the tool has no server, or its server needs no token. */
function tokensOf(deps: CallDeps, server: ServerAccess | null, redactor: Redactor): ToolContext['tokens'] {
  const tokens = server === null ? null : (deps.tokens?.(server) ?? null);
  return tokens === null ? null : withRedactedTokens(tokens, redactor);
}

/** A channel that resets the idle timeout, bounds and redacts what is sent, and drops what comes after the call ended. */
export function boundedChannel(
  channel: CallerChannel,
  { redactor, deadline, signal }: { redactor: Redactor; deadline: IdleTimeout; signal: AbortSignal },
): CallerChannel {
  const { notice, ask } = channel;
  return {
    ...channel,
    progress(update) {
      if (signal.aborted) return;
      deadline.extend();
      const bounded = sanitizeProgress(update);
      if (bounded !== null) channel.progress?.(redactor.data(bounded));
    },
    ...(ask && {
      // After the call has ended there is no caller left to ask.
      ask: async (request, key) => {
        signal.throwIfAborted();
        return await deadline.pauseDuring(ask(redactor.data(request), key));
      },
    }),
    ...(notice && {
      notice: (line) => {
        if (!signal.aborted) notice(redactor.data(cleanNotice(line)));
      },
    }),
  };
}
