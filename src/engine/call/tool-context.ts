/** What a running tool receives (`ToolContext`), before the policy guard is applied. Built by `execute-call.ts`. */
import type { CallerChannel } from '../../ports/upstream.ts';
import { runCodeCanonical } from '../../core/turn/run-code.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { boundNotice, boundProgress } from '../../core/tools/call-report.ts';
import { declareTool } from '../../core/turn/tool-declarations.ts';
import type { Gathered } from '../../core/turn/gathered-tools.ts';
import { resolveName, wireNameOf, type AliasMap } from '../../core/toolset/alias-map.ts';
import { visibleAliases, modelDefinition } from '../../core/toolset/model-definitions.ts';
import { canOfferMore, readyTools } from '../../core/turn/offered-tools.ts';
import type { ComputeMeter } from '../../ports/sandbox.ts';
import type { FindToolsResult, ToolContext, ToolFinder } from '../../ports/tool-executor.ts';
import { writableUntilAborted } from '../policy/policy-guard.ts';
import type { SendWithHops } from '../policy/staged-run.ts';
import { withRedactedTokens, type Redactor } from './redact.ts';
import type { IdleTimeout } from '../timeout.ts';
import { limitSandbox } from './compute-meter.ts';
import type { CallDeps, CallScope } from './call-scope.ts';
import type { InnerCallRunner } from './inner/inner-calls.ts';
import type { SentEffects } from './sent-effects.ts';
import type { ServedTool } from './server-state.ts';
import type { ToolCallRequest } from './tool-call.ts';

type ContextParts = ServedTool & {
  request: ToolCallRequest;
  redactor: Redactor;
  channel: CallerChannel;
  send: SendWithHops;
  effects: SentEffects;
  inner: InnerCallRunner | null;
  signal: AbortSignal;
  timeoutMs: number;
  compute: ComputeMeter | null;
};

export function createToolContext(
  deps: CallDeps,
  scope: CallScope,
  { tool, server, request, redactor, channel, send, effects, inner, signal, timeoutMs, compute }: ContextParts,
): ToolContext {
  // Only built-in tools use them, and they take a moment to make.
  const isBuiltin = tool.kind === 'builtin';
  const sandbox = deps.sandbox?.(scope.keyId) ?? null;
  return {
    signal,
    log: redactor.log(deps.log),
    files: writableUntilAborted(scope.files, signal),
    secret: async (name, host) => redactor.addSecret(await deps.secret(name, tool.canonical, host)),
    // Nested calls are made by code, which a model may have written.
    mayAuthenticate: tool.arguments?.preset?.headers !== undefined || (scope.turn === null && request.parent === undefined),
    fetch: (outgoing) => send(outgoing),
    sending: () => effects.mark(),
    now: () => deps.clock.now(),
    idempotencyKey: request.callId,
    ...(scope.resultBounds && { resultBytes: scope.resultBounds.text }),
    results: scope.results,
    find: createToolFinder(scope.names(), scope.discoveredTools, scope.chain?.at(-1) === runCodeCanonical),
    skills: scope.skills ?? null,
    configuration: (isBuiltin && deps.configuration?.(scope.keyId)) || null,
    maker: (isBuiltin && deps.maker?.(scope.keyId, scope.innerNames?.() ?? scope.names())) || null,
    conversation: conversationOf(scope, server),
    ...(deps.workspace !== undefined && { owner: { workspace: deps.workspace, keyId: scope.keyId } }),
    ...(scope.turn !== null && { isTurn: true }),
    channel,
    calls: inner?.calls ?? null,
    sandbox: sandbox === null || compute === null ? sandbox : limitSandbox(sandbox, compute),
    ...(compute !== null && { compute }),
    given: request.given ?? null,
    timeoutMs,
    tokens: tokensOf(deps, scope, server, redactor),
  };
}

/** Returns the key that started the turn or made the call. The session of a turn may belong to another one: administrators can open it. */
function callerOf({ caller, keyId }: CallScope): string {
  return caller?.key ?? keyId;
}

/** State at a server that has an account for each user belongs to the user as well. */
function conversationOf(scope: CallScope, server: ServerAccess | null): string {
  const conversation = scope.conversation ?? scope.session ?? scope.keyId;
  return server?.mcp?.oauth?.per === 'user' ? `${conversation} ${callerOf(scope)}` : conversation;
}

/** Returns null if the tool has no server, or its server needs no token. */
function tokensOf(deps: CallDeps, scope: CallScope, server: ServerAccess | null, redactor: Redactor): ToolContext['tokens'] {
  const tokens = server === null ? null : (deps.tokens?.(server, callerOf(scope)) ?? null);
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
    alive() {
      if (!signal.aborted) deadline.extend();
    },
    progress(update) {
      if (signal.aborted) return;
      deadline.extend();
      const bounded = boundProgress(update);
      if (bounded !== null) channel.progress?.(redactor.data(bounded));
    },
    ...(ask && {
      // After the call has ended there is no caller left to ask.
      ask: async (request, key) => {
        signal.throwIfAborted();
        return await deadline.pauseDuring(ask(await redactor.content(request, 'The question of the server'), key));
      },
    }),
    ...(notice && {
      notice: (line) => {
        if (!signal.aborted) notice(redactor.data(boundNotice(line)));
      },
    }),
  };
}

/**
 * The plan's tools for `find_tools`, with the definitions that the model would be sent. Builds nothing until it is used. `offered`: what the caller
 * is offered, with the tools as its `inner` if those are called otherwise. `inCode`: code searches, which needs declarations and has no list of definitions to extend.
 */
export function createToolFinder(
  offered: AliasMap | null,
  gathered: () => readonly Gathered[] = () => [],
  inCode = false,
): ToolFinder | null {
  if (offered === null) return null;
  const names = offered.inner ?? offered;
  const forCode = inCode || (names !== offered && wireNameOf(offered, runCodeCanonical) !== undefined);
  return {
    calledBy: forCode ? 'code' : names === offered ? 'name' : 'call_tool',
    get total() {
      return readyTools(names);
    },
    get isFull() {
      return this.calledBy === 'name' && !canOfferMore(names, gathered());
    },
    async find(query, max) {
      const { searchTools } = await import('../../core/toolset/tool-index.ts');
      return searchTools(names, query, max).map((tool): FindToolsResult => {
        const { description, inputSchema } = modelDefinition(names, tool);
        const declaration = forCode ? { declaration: declareTool(names, tool) } : {};
        return { name: tool.wireName, canonical: tool.canonical, aliases: visibleAliases(tool), description, inputSchema, ...declaration };
      });
    },
    similarNames(query) {
      const resolution = resolveName(names, query);
      return !resolution.ok && resolution.code === 'unknown_tool' ? resolution.suggestions : [];
    },
  };
}
