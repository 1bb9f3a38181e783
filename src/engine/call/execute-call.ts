/**
 * Executes a call that is allowed to run: gives the tool guarded capabilities, a timeout and a signal, and turns whatever happens into one
 * result. If the call needs an approval or input first, that is returned instead.
 */
import type { ApprovalQuestion } from '../../core/policy/approval.ts';
import { callsTools } from '../../core/tools/composite-tool.ts';
import { runCodeCanonical } from '../../core/code-mode/run-code.ts';
import { failpoint } from '../../core/failpoint.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { secretArguments } from '../../core/toolset/entry-arguments.ts';
import { cleanNotice } from '../../core/tools/clean-data.ts';
import { cleanResult } from '../../core/tools/clean-result.ts';
import { limits } from '../../core/limits.ts';
import type { InputRequired } from '../../core/tools/mcp-input.ts';
import { Problem } from '../../core/problem.ts';
import { sanitizeProgress } from '../../core/tools/progress.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import { createTaintMarks } from '../../core/policy/taint.ts';
import { contentText, errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { FileError } from '../../ports/file-system.ts';
import type { CallerChannel, ToolOutcome, ToolContext } from '../../ports/tool-executor.ts';
import { guardCall, writableUntilAborted, type GuardedCall } from '../policy/policy-guard.ts';
import { namedFiles } from '../policy/named-files.ts';
import type { ApprovedEffects, SendWithHops } from '../policy/staged-run.ts';
import { approvalsBeforeRun } from '../policy/predict-policy.ts';
import type { CallIntent } from './audit-call.ts';
import { createIdleDeadline, type IdleDeadline } from './call-deadline.ts';
import { createToolFinder } from '../plan/find-tools.ts';
import { createInnerCallRunner, type CallTool, type InnerCallRunner } from './inner/inner-calls.ts';
import { createEffectJudge } from '../policy/judge-effect.ts';
import { isServerTool, type ToolWithServer } from './server-state.ts';
import { withRedactedTokens } from '../servers/redacted-tokens.ts';
import { TaintWatch } from '../policy/mark-taint.ts';
import { createRedactor, type Redactor } from './redact.ts';
import { createServerFetch } from '../servers/server-fetch.ts';
import type { CallDeps, CallScope, ToolCallRequest, WaitingInner } from './tool-call.ts';

/**
 * `asks`: the call needs this approval; nothing that requires approval was done. `input`: the tool wants to be called again with this input; the result is for
 * callers that cannot provide it. `waiting`: nested calls wait for approval or input before the call can continue.
 */
export type ExecutionOutcome =
  | { result: ToolResult; ran: boolean; input: InputRequired | null }
  | { asks: ApprovalQuestion }
  | { waiting: readonly WaitingInner[] };

/** A request with the tool's own arguments. */
type OwnCall = ToolCallRequest & { arguments: Record<string, unknown>; intent: CallIntent };

export async function executeCall(
  deps: CallDeps,
  scope: CallScope,
  { tool, server }: Extract<ToolWithServer, { ok: true }>,
  request: OwnCall,
  signal: AbortSignal,
  callTool: CallTool,
): Promise<ExecutionOutcome> {
  const redactor = createRedactor();
  const watch = new TaintWatch(scope.taint ?? createTaintMarks(), tool, scope.keyId);
  const seeing = { ...scope, taint: watch.marks };
  const abort = new AbortController();
  const timeoutMs = server?.timeoutMs ?? scope.timeoutMs;
  const deadline = createIdleDeadline(deps.clock, { softMs: timeoutMs, hardMs: limits.maxServerCallMs });
  const send: SendWithHops = (outgoing, onHop) =>
    deps.fetch(outgoing, abort.signal, (to, hop) => {
      onHop?.(to, hop);
      watch.recordHost(to);
    });
  const channel = boundedChannel(scope.channel ?? {}, { redactor, deadline, signal: abort.signal });
  const stop = (why: string): void => abort.abort(new Error(why));
  const inner = callsTools(tool)
    ? createInnerCallRunner({
        deps,
        scope: seeing,
        tool,
        callId: request.callId,
        callTool,
        signal: abort.signal,
        deadline,
        channel,
        stop,
      })
    : null;
  const given = { tool, server, request, redactor, channel, send, inner, signal: abort.signal, timeoutMs };
  const plain = unguardedContext(deps, scope, given);
  const guarded = guardCall(
    {
      context: plain,
      send,
      judge: createEffectJudge(seeing, tool),
      ruled: scope.rules.length > 0,
      inTurn: scope.turn !== null,
      called: () => inner?.unrepeatableCall() ?? null,
      isFileTool: (name) => inner?.isFileTool(name) === true,
    },
    tool.approval === 'never' ? { by: 'entry' } : allowedTo(deps, seeing, tool, request),
    stop,
  );
  const first = guarded.question();
  if (first !== null) return { asks: first };
  const filled = await fillSecrets(deps, tool, request.arguments, { redactor, watch });
  if (!filled.ok) return { result: filled.result, ran: false, input: null };
  // The intent is stored only now, since a call that waits for approval has no intent yet.
  if (!deps.executor.isSafe(tool, request.arguments) && !(await request.intent.store()))
    return {
      result: errorResult('tool_error', 'Not run: the audit cannot be written at the moment. Try again later.'),
      ran: false,
      input: null,
    };
  scope.started?.(request.callId, (request.attempts ?? 0) + 1);
  await failpoint(request.parent === undefined ? 'tool-marked-before-effect' : 'inner-marked-before-effect');
  // The turn was cancelled, or another run took it over, whose log does not record that this call started.
  if (signal.aborted) return { result: stopped(tool), ran: false, input: null };
  const watched = watch.watchContext(guarded.context, () => guarded.question() === null);
  // An administrator set the server's address, so requests to it need no approval.
  const context = isServerTool(tool) ? { ...watched, fetch: createServerFetch(deps, tool.kind === 'mcp' ? null : abort.signal) } : watched;
  const parts = { context, redactor, abort, deadline, inner, guarded };
  const { input, suspended, ...result } = await perform(deps, scope, tool, filled.arguments, parts, signal);
  // Nested calls that are still running were aborted; their audit rows are written before this call's own.
  await inner?.idle();
  await failpoint(request.parent === undefined ? 'effect-before-result' : 'inner-effect-before-result');
  const question = guarded.question();
  if (question !== null) return { asks: question };
  if (suspended !== true) watch.recordResult(result, server);
  const end = inner?.forcedResult() ?? null;
  if (end !== null) return { result: end, ran: true, input: null };
  if (suspended !== true || signal.aborted) return { result: withDenials(result, guarded.denied()), ran: true, input: input ?? null };
  const waiting = inner?.waiting() ?? [];
  return waiting.length > 0 ? { waiting } : { result: suspendedWithoutReason(tool), ran: true, input: null };
}

/** Looks for files that a script names only if an approval is asked before it runs: one that is asked later records what the script has read. */
function allowedTo(deps: CallDeps, scope: CallScope, tool: EditionTool, { approved, arguments: args }: OwnCall): ApprovedEffects {
  const asks = approvalsBeforeRun(deps, scope, tool, args);
  const isScript = asks.length > 0 && tool.canonical === 'builtin.bash' && typeof args.command === 'string';
  const reads = isScript ? namedFiles(String(args.command), typeof args.cwd === 'string' ? args.cwd : '.', scope.files) : [];
  return { by: 'call', approved: approved?.binding ?? [], asks, reads };
}

/** Commits files while the call is open, since its files refuse writes afterwards. Fails if another call made conflicting changes meanwhile. */
function releaseFiles(guarded: GuardedCall, answer: ToolOutcome): ToolOutcome {
  if (answer.suspended === true || guarded.question() !== null) return answer;
  try {
    guarded.commitFiles();
    return answer;
  } catch (error) {
    if (error instanceof FileError) return errorResult('tool_error', error.message);
    throw error;
  }
}

type ContextParts = Pick<Extract<ToolWithServer, { ok: true }>, 'tool' | 'server'> & {
  request: ToolCallRequest;
  redactor: Redactor;
  channel: CallerChannel;
  send: SendWithHops;
  inner: InnerCallRunner | null;
  signal: AbortSignal;
  timeoutMs: number;
};

/** Everything a tool receives, before the policy guard is applied. */
function unguardedContext(
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

/** Appends the reasons of denied effects: the tool may have continued without reporting them. */
function withDenials(result: ToolResult, reasons: readonly string[]): ToolResult {
  if (reasons.length === 0) return result;
  const text = reasons.map((reason) => `[Not done: ${reason}.]`).join('\n');
  return { ...result, content: [...result.content, { type: 'text', text }] };
}

function suspendedWithoutReason(tool: EditionTool): ToolResult {
  return errorResult('tool_error', `${tool.wireName} was suspended, but none of its nested calls waits. Call it again.`);
}

/** Returns null if the tool has no server, or its server needs no token. */
function tokensOf(deps: CallDeps, server: ServerAccess | null, redactor: Redactor): ToolContext['tokens'] {
  const tokens = server === null ? null : (deps.tokens?.(server) ?? null);
  return tokens === null ? null : withRedactedTokens(tokens, redactor);
}

/** A channel that resets the idle timeout, bounds and redacts what is sent, and drops what comes after the call ended. */
function boundedChannel(
  channel: CallerChannel,
  { redactor, deadline, signal }: { redactor: Redactor; deadline: IdleDeadline; signal: AbortSignal },
): CallerChannel {
  const { notice, ask } = channel;
  return {
    ...channel,
    progress(update) {
      if (signal.aborted) return;
      deadline.reset();
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

type Filled = { ok: true; arguments: Record<string, unknown> } | { ok: false; result: ToolResult };

/** Inserts the values of the entry's preset secrets; arguments that are shown or stored only have their names. */
async function fillSecrets(
  deps: CallDeps,
  tool: EditionTool,
  args: Record<string, unknown>,
  { redactor, watch }: { redactor: Redactor; watch: TaintWatch },
): Promise<Filled> {
  const secrets = secretArguments(tool.arguments);
  if (secrets.size === 0) return { ok: true, arguments: args };
  try {
    const host = (await deps.executor.host?.(tool)) ?? undefined;
    const filled = new Map(Object.entries(args));
    for (const [name, secret] of secrets) filled.set(name, redactor.addSecret(await deps.secret(secret, tool.canonical, host)));
    for (const secret of secrets.values()) watch.recordSecret(secret);
    return { ok: true, arguments: Object.fromEntries(filled) };
  } catch (error) {
    if (!(error instanceof Problem)) deps.log.error('a secret could not be read', { canonical: tool.canonical, cause: String(error) });
    const why = error instanceof Problem ? error.detail : 'It could not be read. Try again later.';
    const text = `Not run: the toolset sets an argument of ${tool.wireName} (${tool.canonical}) from a secret that cannot be used. ${why}`;
    return { ok: false, result: errorResult('tool_error', text) };
  }
}

type Performing = {
  context: ToolContext;
  redactor: Redactor;
  abort: AbortController;
  deadline: IdleDeadline;
  inner: InnerCallRunner | null;
  guarded: GuardedCall;
};

async function perform(
  deps: CallDeps,
  scope: CallScope,
  tool: EditionTool,
  args: Record<string, unknown>,
  { context, redactor, abort, deadline, inner, guarded }: Performing,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  try {
    const work = deps.executor.execute(tool, args, context).then(async (answer) => {
      // Waits for running nested calls, so that no effect is left without its result.
      if (answer.suspended === true) await inner?.idle();
      return answer;
    });
    const answer = releaseFiles(guarded, await beforeDeadline(deadline, work, signal, tool));
    // Cleaned before redaction: a secret with hidden characters inside is only recognized once those are removed.
    const { input, ...result } = redactor.result(isServerTool(tool) ? cleanResult(answer) : answer);
    return input === undefined ? result : { ...result, input: { ...input, requests: redactor.data(input.requests) } };
  } catch (error) {
    if (signal.aborted) return stopped(tool);
    const failure = redactor.result(
      errorResult('tool_error', `${tool.wireName} failed: ${error instanceof Error ? error.message : String(error)}`),
    );
    // If the policy guard stopped the tool, this is the error of the interrupted work and not worth logging.
    if (!abort.signal.aborted)
      deps.log.error('a tool failed', { canonical: tool.canonical, session: scope.session, error: contentText(failure.content) });
    return failure;
  } finally {
    // Aborts whatever the tool left running.
    abort.abort(new Error('the call has ended'));
  }
}

function stopped(tool: EditionTool): ToolResult {
  return errorResult('aborted', `${tool.wireName} was stopped: the turn was cancelled.`);
}

/** Settles with the result, the timeout or the end of the turn, whichever comes first; a late result is dropped. */
function beforeDeadline(deadline: IdleDeadline, work: Promise<ToolOutcome>, signal: AbortSignal, tool: EditionTool): Promise<ToolOutcome> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      deadline.stop();
      signal.removeEventListener('abort', stop);
    };
    const stop = (): void => {
      settle();
      reject(signal.reason);
    };
    deadline.start((ms) => {
      settle();
      const text = `${tool.canonical} did not finish within ${ms / 1000} s and was stopped. Try again with less work in one call.`;
      resolve(errorResult('timeout', text));
    });
    signal.addEventListener('abort', stop, { once: true });
    work.finally(settle).then(resolve, reject);
  });
}
