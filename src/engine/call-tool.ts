/**
 * The one door to a tool (DESIGN §7): resolve → authorise → check the input → execute → bound the result → one audit row
 * and one log line. Turns, direct calls and everything later come through here, so what holds here holds everywhere.
 */
import { resolveName, type AliasMap, type Resolution } from '../core/alias-map.ts';
import type { Ask } from '../core/approval.ts';
import type { AuditRow } from '../core/audit.ts';
import { crashPoint } from '../core/crash-point.ts';
import { canonicalJson, sha256Hex } from '../core/hash.ts';
import { checkInput } from '../core/input-schema.ts';
import type { EditionPointer, EditionTool } from '../core/edition.ts';
import { limits } from '../core/limits.ts';
import { judgeCall, type PolicyRule } from '../core/policy.ts';
import type { Via } from '../core/message.ts';
import type { Issue } from '../core/problem.ts';
import { boundResult, keptContent } from '../core/result-bound.ts';
import { contentText, errorResult, type ToolResult } from '../core/tool.ts';
import type { Refusal } from '../core/turn.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { ResultStore } from '../ports/result-store.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { ToolContext, ToolExecutor } from '../ports/tool-executor.ts';
import { guard, untilOver, type Send } from './ask-first.ts';
import { createRedactor } from './redact.ts';

export type CallDeps = {
  clock: Clock;
  log: Logger;
  executor: ToolExecutor;
  /** `onHop`: as in `ports/outbound.ts`. */
  fetch(request: Request, signal: AbortSignal, onHop?: (to: URL, hop: number) => void): Promise<Response>;
  /** True of a URL that no request may go to: nobody is asked about what would be refused all the same. */
  refuses?(url: string): boolean;
  /** Reads a secret for a tool; throws a `Problem` that names what is missing. */
  secret(name: string, tool: string): Promise<string>;
};

/** Where the call comes from and what it may touch. */
export type CallScope = {
  keyId: string;
  session: string | null;
  turn: string | null;
  /** null: the conversation has no tools, so every name is unknown. */
  names(): AliasMap | null;
  edition: EditionPointer | null;
  files: FileSystem;
  /** Where results that are too long are kept whole; null: nowhere. */
  results: ResultStore | null;
  timeoutMs: number;
  /** What the workspace has allowed. */
  rules: readonly PolicyRule[];
  /** False: there is nobody to ask, so a call that needs it is answered with `approval_required`. */
  canWait: boolean;
  /** Journals, durably before the effect, that the call is about to be tried. */
  started?(callId: string, attempt: number): void;
  /** One row a call, refusals too. A direct call awaits it before it answers. */
  audit(row: Omit<AuditRow, 'sequence'>): void | Promise<void>;
};

export type ToolCallRequest = {
  callId: string;
  requested: string;
  /** null when the text could not be used: `fault` says why. */
  arguments: Record<string, unknown> | null;
  fault?: 'truncated' | 'invalid_json' | null;
  /** jsonrepair changed more than closing brackets: such a call never drives an unsafe tool. */
  guessed?: boolean;
  /** Answered with this instead of running: budgets of the turn, a person's no. */
  refusal?: Refusal | null;
  /** A person said yes to exactly this call. */
  approved?: boolean;
  /** With `approved`: the host that the question was about; absent or null: it was about something else. */
  approvedHost?: string | null;
  /** Tries before this one, and whether the last of them died on its way. */
  attempts?: number;
  interrupted?: boolean;
};

/** Somebody outside has to act first: a person, or the caller, whose tool it is. */
export type WaitFor = { kind: 'approval'; tool: EditionTool; ask: Ask } | { kind: 'client'; tool: EditionTool };
export type CallOutcome = { answer: ToolCallAnswer } | { waitFor: WaitFor };

export type ToolCallAnswer = {
  requested: string;
  canonical: string | null;
  via: Via | null;
  /** False: it was refused before the tool was asked. */
  ran: boolean;
  result: ToolResult;
  durationMs: number;
};

/** Never throws for a fault of the call or the tool: every fault is a result that says what to do. A call that waits has no row yet. */
export async function callTool(deps: CallDeps, scope: CallScope, request: ToolCallRequest, signal: AbortSignal): Promise<CallOutcome> {
  const startedAt = deps.clock.now();
  const resolution = resolve(scope.names(), request.requested);
  const judged = judge(resolution, request) ?? (signal.aborted ? errorResult('aborted', 'Not run: the turn was cancelled.') : null);
  const outcome = judged === null ? await run(deps, scope, resolution, request, signal) : { result: judged, ran: false };
  if ('waitFor' in outcome) return outcome;
  const answer: ToolCallAnswer = {
    requested: request.requested,
    canonical: resolution.ok ? resolution.canonical : null,
    via: resolution.ok ? resolution.via : null,
    ran: outcome.ran,
    result: withDeprecation(bound(scope, request.callId, outcome.result), resolution),
    durationMs: Math.max(0, deps.clock.now() - startedAt),
  };
  await auditCall(deps, scope, request, answer);
  return { answer };
}

/** The same where there is nobody to wait for: `scope.canWait` is false. */
export async function callToolNow(
  deps: CallDeps,
  scope: CallScope,
  request: ToolCallRequest,
  signal: AbortSignal,
): Promise<ToolCallAnswer> {
  const outcome = await callTool(deps, { ...scope, canWait: false }, request, signal);
  if ('waitFor' in outcome) throw new Error('a call that cannot wait waits');
  return outcome.answer;
}

function resolve(names: AliasMap | null, requested: string): Resolution {
  return names === null ? { ok: false, code: 'unknown_tool', requested, suggestions: [] } : resolveName(names, requested);
}

/** What `?dryRun=true` shows: everything up to running. */
export function inspectCall(
  names: AliasMap,
  requested: string,
  args: Record<string, unknown>,
): { resolution: Resolution; issues: Issue[] } {
  const resolution = resolveName(names, requested);
  return { resolution, issues: resolution.ok ? checkInput(resolution.tool.inputSchema, args) : [] };
}

/** A result when the call must not run, null when it may. Order: budgets, name, state, arguments. */
function judge(resolution: Resolution, request: ToolCallRequest): ToolResult | null {
  if (request.refusal) return errorResult(request.refusal.code, request.refusal.message);
  if (!resolution.ok) return unresolved(resolution);
  const { tool } = resolution;
  if (tool.state === 'held')
    return errorResult(
      'tool_held',
      `${tool.wireName} is held: its definition changed and nobody has accepted the change yet. Use another tool.`,
    );
  if (tool.state === 'missing')
    return errorResult(
      'tool_error',
      `${tool.wireName} cannot be called: its server "${tool.server}" has never listed it. Use another tool.`,
    );
  if (request.arguments === null) return unusableArguments(request.fault ?? 'invalid_json');
  if (request.guessed === true && !onlyReads(tool)) {
    return errorResult(
      'invalid_json',
      'Not run: the arguments were not valid JSON and had to be repaired by guessing. Send the call again with valid JSON.',
    );
  }
  const issues = checkInput(tool.inputSchema, request.arguments);
  return issues.length === 0 ? null : invalidArguments(tool, issues);
}

function unresolved(resolution: Exclude<Resolution, { ok: true }>): ToolResult {
  if (resolution.code === 'ambiguous_tool') {
    return errorResult(
      'ambiguous_tool',
      `"${resolution.requested}" fits more than one tool. Call one of: ${resolution.candidates.join(', ')}.`,
    );
  }
  const near = resolution.suggestions;
  const hint = near.length === 0 ? 'Call only tools that you were offered, or answer in words.' : `Did you mean ${near.join(', ')}?`;
  return errorResult('unknown_tool', `There is no tool "${resolution.requested}". ${hint}`);
}

function unusableArguments(fault: 'truncated' | 'invalid_json'): ToolResult {
  if (fault === 'truncated')
    return errorResult('truncated', 'Not run: the arguments were cut off before they were whole. Send the call again, shorter.');
  return errorResult('invalid_json', 'Not run: the arguments are not a JSON object. Send the call again with valid JSON.');
}

function invalidArguments(tool: EditionTool, issues: Issue[]): ToolResult {
  const lines = issues.map((issue) => `- ${issue.path === '' ? '(arguments)' : issue.path}: ${issue.message}`);
  return errorResult('invalid_arguments', `Not run: the arguments of ${tool.wireName} are not valid.\n${lines.join('\n')}`, issues);
}

/** May run on guessed arguments. Narrower than what may run again: deleting a wrong file is idempotent, too. */
function onlyReads(tool: EditionTool): boolean {
  return isOurs(tool) && tool.annotations?.readOnlyHint === true;
}

function isOurs(tool: EditionTool): boolean {
  return tool.kind === 'builtin' || tool.kind === 'local';
}

type Ran = { result: ToolResult; ran: boolean } | { waitFor: WaitFor };

/** Asks whom there is to ask, then runs the tool. An interrupted call that may have had its effect is never tried again. */
async function run(deps: CallDeps, scope: CallScope, resolution: Resolution, request: ToolCallRequest, signal: AbortSignal): Promise<Ran> {
  if (!resolution.ok || request.arguments === null) throw new Error('run: the call was not judged');
  const { tool } = resolution;
  if (request.interrupted === true && !deps.executor.isSafe(tool, request.arguments)) return { result: outcomeUnknown(), ran: true };
  if (tool.kind === 'client') return scope.canWait ? { waitFor: { kind: 'client', tool } } : { result: nobodyToRunIt(tool), ran: false };
  const free = request.approved === true || tool.approval === 'never';
  const ask = free ? null : foresee(deps, tool, request.arguments, scope.rules);
  if (ask !== null) return askOrRefuse(scope, tool, ask);
  return await execute(deps, scope, tool, { ...request, arguments: request.arguments }, signal);
}

/** What the call will have to ask for, as far as can be said before it runs. */
export function foresee(
  deps: Pick<CallDeps, 'refuses'>,
  tool: EditionTool,
  args: Record<string, unknown>,
  rules: readonly PolicyRule[],
): Ask | null {
  const ask = judgeCall(tool, args, rules);
  return ask?.kind === 'network' && deps.refuses?.(String(args.url)) === true ? null : ask;
}

function askOrRefuse(scope: CallScope, tool: EditionTool, ask: Ask): Ran {
  if (scope.canWait) return { waitFor: { kind: 'approval', tool, ask } };
  const text = `Not run: ${ask.reason}. That needs a person's approval, and this call cannot wait for one. Call it in a session.`;
  return { result: errorResult('approval_required', text), ran: false };
}

/** What is told of a call that was under way when its process died. */
export function outcomeUnknown(): ToolResult {
  return errorResult(
    'outcome_unknown',
    'The service restarted while this call was running: it may or may not have had its effect. Check before repeating it, and tell the user.',
  );
}

function nobodyToRunIt(tool: EditionTool): ToolResult {
  return errorResult('not_allowed', `Not run: ${tool.wireName} is run by the caller of a turn, and there is none here.`);
}

/** A result that is cut for the model is kept whole, where there is a place for it. */
function bound(scope: CallScope, callId: string, result: ToolResult): ToolResult {
  const { results } = scope;
  const shown = boundResult(result, limits.maxResultBytes, results === null ? null : callId);
  const kept = results === null || shown === result ? null : keptContent(result, shown);
  if (kept !== null) results?.keep(callId, kept);
  return shown;
}

async function execute(
  deps: CallDeps,
  scope: CallScope,
  tool: EditionTool,
  request: ToolCallRequest & { arguments: Record<string, unknown> },
  signal: AbortSignal,
): Promise<Ran> {
  const redactor = createRedactor();
  const abort = new AbortController();
  const send: Send = (outgoing, onHop) => deps.fetch(outgoing, abort.signal, onHop);
  const plain: ToolContext = {
    signal: abort.signal,
    log: deps.log,
    files: untilOver(scope.files, abort.signal),
    secret: async (name) => redactor.keep(await deps.secret(name, tool.canonical)),
    fetch: (outgoing) => send(outgoing),
    now: () => deps.clock.now(),
    idempotencyKey: request.callId,
    results: scope.results,
  };
  const guarded = guard(
    { context: plain, send, canonical: tool.canonical, rules: scope.rules },
    tool.approval === 'never' ? { by: 'entry' } : request.approved === true ? { by: 'person', host: request.approvedHost ?? null } : null,
    (ask) => abort.abort(new Error(ask.reason)),
  );
  scope.started?.(request.callId, (request.attempts ?? 0) + 1);
  await crashPoint('tool-marked-before-effect');
  // Its turn was stopped, or taken over by another run, whose log does not say that this one began.
  if (signal.aborted) return { result: stopped(tool), ran: false };
  const result = await perform(deps, scope, tool, request.arguments, { context: guarded.context, redactor, abort }, signal);
  await crashPoint('effect-before-result');
  const ask = guarded.asked();
  return ask === null ? { result, ran: true } : askOrRefuse(scope, tool, ask);
}

async function perform(
  deps: CallDeps,
  scope: CallScope,
  tool: EditionTool,
  args: Record<string, unknown>,
  { context, redactor, abort }: { context: ToolContext; redactor: ReturnType<typeof createRedactor>; abort: AbortController },
  signal: AbortSignal,
): Promise<ToolResult> {
  try {
    const work = deps.executor.execute(tool, args, context);
    return redactor.clean(await beforeDeadline(deps.clock, work, scope.timeoutMs, signal, tool));
  } catch (error) {
    if (signal.aborted) return stopped(tool);
    const failure = redactor.clean(
      errorResult('tool_error', `${tool.wireName} failed: ${error instanceof Error ? error.message : String(error)}`),
    );
    deps.log.error('a tool failed', { canonical: tool.canonical, session: scope.session, error: contentText(failure.content) });
    return failure;
  } finally {
    // Ends whatever the tool left running; after an ordinary end there is nothing left to hear it.
    abort.abort(new Error('the call has ended'));
  }
}

function stopped(tool: EditionTool): ToolResult {
  return errorResult('aborted', `${tool.wireName} was stopped: the turn was cancelled.`);
}

/** Ends at the result, the time-out or the turn's end, whichever is first; a late result is dropped. */
function beforeDeadline(
  clock: Clock,
  work: Promise<ToolResult>,
  timeoutMs: number,
  signal: AbortSignal,
  tool: EditionTool,
): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      disarm();
      signal.removeEventListener('abort', stop);
    };
    const stop = (): void => {
      settle();
      reject(signal.reason);
    };
    const disarm = clock.after(timeoutMs, () => {
      settle();
      const text = `${tool.canonical} did not finish within ${timeoutMs / 1000} s and was stopped. Try a smaller piece of work.`;
      resolve(errorResult('timeout', text));
    });
    signal.addEventListener('abort', stop, { once: true });
    work.finally(settle).then(resolve, reject);
  });
}

function withDeprecation(result: ToolResult, resolution: Resolution): ToolResult {
  if (!resolution.ok || resolution.via !== 'alias') return result;
  const alias = resolution.tool.aliases.find((candidate) => candidate.name === resolution.requested);
  if (alias?.mode !== 'deprecated') return result;
  const note = alias.note === undefined ? `use ${resolution.tool.wireName}` : alias.note;
  return { ...result, content: [...result.content, { type: 'text', text: `[The name ${alias.name} is deprecated: ${note}.]` }] };
}

/** The call's audit row and log line. A call that was answered from an identical one has its own, too. */
export async function auditCall(
  deps: Pick<CallDeps, 'clock' | 'log'>,
  scope: Pick<CallScope, 'keyId' | 'session' | 'turn' | 'edition' | 'audit'>,
  request: Pick<ToolCallRequest, 'callId' | 'requested' | 'arguments'>,
  answer: ToolCallAnswer,
): Promise<void> {
  const { edition } = scope;
  const row: Omit<AuditRow, 'sequence'> = {
    at: new Date(deps.clock.now()).toISOString(),
    keyId: scope.keyId,
    session: scope.session,
    turn: scope.turn,
    callId: request.callId,
    requested: request.requested,
    canonical: answer.canonical,
    via: answer.via,
    toolset: edition?.toolset ?? null,
    edition: edition === null ? null : `${edition.toolset}@${edition.version}.${edition.revision}`,
    argumentsHash: await sha256Hex(canonicalJson(request.arguments)),
    verdict: answer.ran ? 'ran' : 'refused',
    code: answer.result.code ?? null,
    durationMs: answer.durationMs,
  };
  const { at: _at, ...line } = row;
  deps.log.info('tool call', line);
  await scope.audit(row);
}
