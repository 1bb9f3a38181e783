/**
 * Executes a call that is allowed to run: gives the tool guarded capabilities, a timeout and a signal, and turns whatever happens into one
 * result. If the call needs an approval or input first, that is returned instead.
 */
import type { ApprovalQuestion } from '../../core/policy/approval.ts';
import { callsTools } from '../../core/toolset/composite-tool.ts';
import { failpoint } from '../../core/failpoint.ts';
import { canonicalJson, sha256HexSync } from '../../core/hash.ts';
import { type EditionTool, onlyReads } from '../../core/toolset/edition-tool.ts';
import { secretArguments } from '../../core/toolset/arguments/entry-arguments.ts';
import { limits } from '../../core/limits/limits.ts';
import { once } from '../../core/memoize.ts';
import type { InputRequired } from '../../core/tools/mcp-input.ts';
import { Problem } from '../../core/problem.ts';
import { createTaintMarks } from '../../core/policy/taint.ts';
import { contentText, errorResult, type ToolResult } from '../../core/tools/tool.ts';
import { FileError } from '../../ports/file-system.ts';
import type { ToolOutcome } from '../../ports/tool-executor.ts';
import { createServerFetch } from '../servers/server-fetch.ts';
import { createEffectJudge, judgeCall, type JudgedCall, withoutAllowances } from '../policy/judge-call.ts';
import { TaintWatch } from '../policy/mark-taint.ts';
import { namedFiles } from '../policy/named-files.ts';
import { guardCall, type GuardedCall } from '../policy/policy-guard.ts';
import type { ApprovedEffects, SendWithHops } from '../policy/staged-run.ts';
import type { CallIntent } from './audit-call.ts';
import { createIdleTimeout, type IdleTimeout } from '../timeout.ts';
import type { CallDeps, CallScope } from './call-scope.ts';
import { limitEgress } from './limit-egress.ts';
import { InnerCallRunner, type CallPrepared } from './inner/inner-calls.ts';
import type { RunnableCall } from './prepare-call.ts';
import { createRedactor, type Redactor } from './redact.ts';
import { runRepeatably, SentEffects } from './sent-effects.ts';
import { isServerTool, type ServedTool } from './server-state.ts';
import type { WaitingInner } from './tool-call.ts';
import { boundedChannel, createToolContext } from './tool-context.ts';

/** A call that may be executed, with the tool in its server's current state. The policy is applied to its effects. */
export type AuthorizedCall = { call: RunnableCall; served: ServedTool };

/**
 * `asks`: the call needs this approval; nothing that requires approval was done. `input`: the tool wants to be called again with this input; the result is for
 * callers that cannot provide it. `waiting`: nested calls wait for approval or input before the call can continue.
 */
export type ExecutionOutcome =
  | { result: ToolResult; ran: boolean; input: InputRequired | null; failed?: ToolOutcome['failed'] }
  | { asks: ApprovalQuestion }
  | { waiting: readonly WaitingInner[] };

/** `signal`: ends the call with its turn. `callPrepared`: makes nested calls. */
type Execution = { intent: CallIntent; signal: AbortSignal; callPrepared: CallPrepared; price: number | null };

export async function executeCall(
  given: CallDeps,
  callScope: CallScope,
  { call, served: { tool: served, server } }: AuthorizedCall,
  { intent, signal, callPrepared, price }: Execution,
): Promise<ExecutionOutcome> {
  const { request, own } = call;
  const { scope, tool } = request.recovered ? withoutAllowances(callScope, served) : { scope: callScope, tool: served };
  const egress = limitEgress(given, scope.egressHosts, scope.caller?.key ?? scope.keyId);
  const { deps } = egress;
  const watch = new TaintWatch(scope.taint ?? createTaintMarks(), tool, scope.keyId);
  const seeing = { ...scope, taint: watch.marks };
  const judged = judgeCall(deps, seeing, tool, own);
  if (judged.decision.verdict === 'deny') return notRun(forbidden(judged.decision.reason));
  const unreachable = await egress.refusalOf(tool);
  if (unreachable !== null) return notRun(unreachable);
  const compute = deps.compute?.(scope.limited ?? []) ?? null;
  const redactor = createRedactor({ clock: deps.clock, compute }, await deps.redaction?.(scope.edition?.toolset));
  const abort = new AbortController();
  const stop = (why: string): void => abort.abort(new Error(why));
  const timeoutMs = server?.timeoutMs ?? scope.timeoutMs ?? (isServerTool(tool) ? limits.serverTimeoutMs : limits.toolTimeoutMs);
  const deadline = createIdleTimeout(deps.clock, { idleMs: timeoutMs, maxMs: Math.max(timeoutMs, limits.maxServerCallMs) });
  const send: SendWithHops = (outgoing, onHop) =>
    effects.watch(outgoing, (onSend) =>
      deps.fetch(outgoing, abort.signal, (to, hop) => {
        onHop?.(to, hop);
        watch.recordHost(to);
        if (hop === 0) onSend();
      }),
    );
  const channel = boundedChannel(scope.channel ?? {}, { redactor, deadline, signal: abort.signal });
  const shared = { tool, callId: request.callId, callPrepared, signal: abort.signal, deadline, channel, stop };
  const inner = callsTools(tool) ? new InnerCallRunner({ deps: given, scope: seeing, ...shared }) : null;
  const effects = new SentEffects(deps.executor.isSafe(tool, own) || onlyReads(tool), () => inner?.unrepeatableCall() ?? null);
  const parts = { tool, server, request, redactor, channel, send, effects, inner, signal: abort.signal, timeoutMs, compute };
  const guarded = guardCall(
    {
      context: createToolContext(deps, scope, parts),
      send,
      judge: createEffectJudge(seeing, tool),
      ruled: scope.rules.length > 0,
      inTurn: scope.turn !== null,
      called: () => inner?.unrepeatableCall() ?? null,
      isFileTool: (name) => inner?.isFileTool(name) === true,
    },
    approvedEffects(scope, tool, call, judged),
    stop,
  );
  const first = guarded.question();
  if (first !== null) return { asks: first };
  const filled = await fillSecrets(deps, tool, own, { redactor, watch });
  if (!filled.ok) return notRun(filled.result);
  // The intent is stored only now, since a call that waits for approval has no intent yet.
  // A call that costs something has one in any case: if the process dies, the audit has what it may have cost.
  if (((price ?? 0) > 0 || !deps.executor.isSafe(tool, own)) && !(await intent.store(price)))
    return notRun(errorResult('tool_error', 'Not run: the audit cannot be written at the moment. Try again later.'));
  scope.started?.(request.callId, (request.attempts ?? 0) + 1, price);
  await failpoint(request.parent === undefined ? 'tool-marked-before-effect' : 'inner-marked-before-effect');
  // The turn was cancelled, or another run took it over, whose log does not record that this call started.
  if (signal.aborted) return notRun(stopped(tool));
  const watched = watch.watchContext(guarded.context, () => guarded.question() === null);
  // An administrator set the server's address, so requests to it need no approval.
  // Of a call that must not be made twice, it must be known whether it was sent.
  const mustKnow = !effects.isSafe || (call.inOrder !== undefined && !onlyReads(tool));
  const toServer = () => createServerFetch(deps, tool.kind === 'mcp' ? null : abort.signal, mustKnow ? 'opened-server' : 'server');
  const context = isServerTool(tool) ? { ...watched, fetch: toServer() } : watched;
  const run = async (): Promise<ToolOutcome> => {
    const attempt = (): Promise<ToolOutcome> => deps.executor.execute(tool, filled.arguments, context);
    const send = (): Promise<ToolOutcome> => runRepeatably(attempt, effects, abort.signal);
    const stored = tool.cache === undefined || request.given != null ? undefined : deps.storedResults;
    const asked = { tool, server, scope, arguments: filled.arguments };
    const outcome = stored === undefined ? await send() : await (await loadStored()).throughStored(deps, await stored(), asked, send);
    // Waits for running nested calls, so that no effect is left without its result.
    if (outcome.suspended === true) await inner?.idle();
    return outcome;
  };
  const logFailure = (error: string): void =>
    redactor.log(deps.log).error('a tool failed', { canonical: tool.canonical, session: scope.session, error });
  const running = { redactor, abort, deadline, guarded, signal, effects, logFailure };
  const { input, suspended, serverFault, failed, ...result } = await toResult(run(), tool, running);
  // Whether the call can be made elsewhere depends on what its annotations say now.
  const isElsewhere = failed === 'unsent' || ((failed !== undefined || result.code === 'timeout') && onlyReads(tool));
  if (serverFault === true) deps.serverFailed?.(tool.server, contentText(result.content.slice(0, 1)));
  if (result.code === 'result_withheld')
    deps.log.error('a result was withheld', { canonical: tool.canonical, session: scope.session, cause: contentText(result.content) });
  // Nested calls that are still running were aborted; their audit rows are written before this call's own.
  await inner?.idle();
  await failpoint(request.parent === undefined ? 'effect-before-result' : 'inner-effect-before-result');
  const question = guarded.question();
  if (question !== null) return { asks: question };
  if (suspended !== true) watch.recordResult(result, server);
  const end = inner?.forcedResult() ?? null;
  if (end !== null) return { result: end, ran: true, input: null };
  if (suspended !== true || signal.aborted)
    return {
      result: withDenials(egress.report(result), guarded.denied()),
      ran: true,
      input: input ?? null,
      ...(isElsewhere && { failed: failed ?? 'unanswered' }),
    };
  const waiting = inner?.waiting ?? [];
  return waiting.length > 0 ? { waiting } : { result: suspendedWithoutReason(tool), ran: true, input: null };
}

/** Few tools have their results stored. */
const loadStored = once(() => import('./stored-result.ts'));

function notRun(result: ToolResult): ExecutionOutcome {
  return { result, ran: false, input: null };
}

function forbidden(reason: string): ToolResult {
  return errorResult(
    'not_allowed',
    `Not run: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}. An approval cannot change this. Continue without this call.`,
  );
}

/** Looks for files that a script names only if an approval is asked before it runs: one that is asked later records what the script has read. */
function approvedEffects(
  scope: CallScope,
  tool: EditionTool,
  { request, own, isReplaced }: RunnableCall,
  { asks }: JudgedCall,
): ApprovedEffects {
  if (tool.approval === 'never') return { by: 'entry' };
  const isScript = asks.length > 0 && tool.canonical === 'builtin.bash' && typeof own.command === 'string';
  const reads = isScript ? namedFiles(String(own.command), typeof own.cwd === 'string' ? own.cwd : '.', scope.files) : [];
  const replaced = isReplaced === true ? sha256HexSync(new TextEncoder().encode(canonicalJson(own))) : undefined;
  return { by: 'call', approved: request.approved?.binding ?? [], asks, reads, replaced };
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

type Running = {
  redactor: Redactor;
  abort: AbortController;
  deadline: IdleTimeout;
  guarded: GuardedCall;
  signal: AbortSignal;
  effects: SentEffects;
  logFailure(error: string): void;
};

/** Waits for the tool and returns its outcome, redacted; or the timeout, cancellation or failure as a result. Ends the tool's signal. */
async function toResult(
  work: Promise<ToolOutcome>,
  tool: EditionTool,
  { redactor, abort, deadline, guarded, signal, effects, logFailure }: Running,
): Promise<ToolOutcome> {
  try {
    const answer = releaseFiles(guarded, await beforeDeadline(deadline, work, signal, (ms) => effects.late(tool.canonical, ms)));
    return await redactor.result(answer);
  } catch (error) {
    if (signal.aborted) return stopped(tool, effects.any);
    const failure = await redactor.result(
      errorResult('tool_error', `${tool.wireName} failed: ${error instanceof Error ? error.message : String(error)}`),
    );
    // If the policy guard stopped the tool, this is the error of the interrupted work and not worth logging.
    if (!abort.signal.aborted) logFailure(contentText(failure.content));
    return failure;
  } finally {
    // Aborts whatever the tool left running.
    abort.abort(callEnded);
  }
}

/** Shared, because each call ends with it: an error with a new stack takes the runtime longer to abort with. */
const callEnded = new Error('the call has ended');

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

function stopped({ wireName }: EditionTool, hasSent = false): ToolResult {
  return errorResult('aborted', `${wireName} was stopped: the turn was cancelled.${hasSent ? ' It may have had its effect.' : ''}`);
}

/** Settles with the result, the timeout or the end of the turn, whichever comes first; a late result is dropped. */
function beforeDeadline(
  deadline: IdleTimeout,
  work: Promise<ToolOutcome>,
  signal: AbortSignal,
  late: (ms: number) => ToolResult,
): Promise<ToolOutcome> {
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
      resolve(late(ms));
    });
    signal.addEventListener('abort', stop, { once: true });
    work.finally(settle).then(resolve, reject);
  });
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
