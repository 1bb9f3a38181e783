/**
 * Nested calls: the calls a running tool makes of other tools (`ToolContext.calls`). Each goes through `callPrepared` with its own id, timeout,
 * approval, journal entry and audit row. Independent of the language of the calling code. Used by `execute-call.ts`.
 */
import type { CallerChannel } from '../../../ports/upstream.ts';
import { findTool, type AliasMap } from '../../../core/toolset/alias-map.ts';
import { callsTools, innerCallId } from '../../../core/toolset/composite-tool.ts';
import { failpoint } from '../../../core/failpoint.ts';
import type { EditionTool } from '../../../core/toolset/edition-tool.ts';
import { canonicalJson } from '../../../core/hash.ts';
import { limits } from '../../../core/limits/limits.ts';
import { codeBounds } from '../../../core/toolset/result-bound.ts';
import { errorResult, type ToolResult } from '../../../core/tools/tool.ts';
import { utf8Length } from '../../../core/text/utf8.ts';
import { toCodeCallResult } from '../../../core/turn/run-code.ts';
import { decisionRefusal, type Refusal } from '../../../core/turn/turn-budget.ts';
import type { CallJournal, InnerCallStart, JournalEntry } from '../../../ports/call-journal.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import type { InnerOutcome, InnerCalls } from '../../../ports/inner-calls.ts';
import { createCallTree, resultsTooLarge, type CallTree } from './call-tree.ts';
import type { IdleTimeout } from '../../timeout.ts';
import { createConcurrencyLimit } from '../../concurrency-limit.ts';
import { withoutGuards } from '../../policy/guard-files.ts';
import { innerNames, innerTools, isFileTool, nestingFault, shellOutput, worksOnFiles } from './inner-names.ts';
import { createReplayOrder, innerFingerprint, type ReplayOrder } from './replay.ts';
import type { CallDeps, CallScope } from '../call-scope.ts';
import { countPreparation } from '../compute-meter.ts';
import { changeRequest, prepareCall, type PreparedCall } from '../prepare-call.ts';
import type { CallOutcome, ToolCallRequest, WaitFor, WaitingInner } from '../tool-call.ts';

/** The type of `callPrepared`, which the caller passes in because it is a layer above. */
export type CallPrepared = (deps: CallDeps, scope: CallScope, call: PreparedCall, signal: AbortSignal) => Promise<CallOutcome>;

/** The call that makes nested calls. `signal`: aborts when it ends. `channel`: the one its tool has. `stop` aborts its tool. */
export type CallingTool = {
  deps: CallDeps;
  scope: CallScope;
  tool: EditionTool;
  callId: string;
  callPrepared: CallPrepared;
  signal: AbortSignal;
  deadline: Pick<IdleTimeout, 'pauseDuring'>;
  channel: CallerChannel;
  stop(why: string): void;
};

/** Runs the nested calls of one run of a call. */
export class InnerCallRunner {
  readonly calls: InnerCalls;
  readonly #caller: CallingTool;
  readonly #journal: CallJournal | null;
  readonly #tree: CallTree;
  readonly #names: AliasMap | null;
  readonly #chain: readonly string[];
  /** The calls of this call that an earlier run recorded. */
  readonly #recorded: readonly Recorded[];
  readonly #order: ReplayOrder;
  readonly #fewAtOnce = createConcurrencyLimit(limits.maxParallelCalls);
  readonly #running = new Set<Promise<unknown>>();
  /** The nested calls that need an approval or input before the call can be rerun. */
  readonly waiting: WaitingInner[] = [];
  #made = 0;
  #end: ToolResult | null = null;

  constructor(caller: CallingTool) {
    const { deps, scope, tool, callId } = caller;
    const journal = scope.journal ?? null;
    const above = (): AliasMap | null => scope.innerNames?.() ?? scope.names();
    const tree = scope.callTree ?? createCallTree(callId, above, journal);
    const names = innerNames(tool, tree.plan(), above());
    this.#caller = caller;
    this.#journal = journal;
    this.#tree = tree;
    this.#names = names;
    this.#chain = [...(scope.chain ?? []), tool.canonical];
    this.#recorded = journal?.entriesUnder(tree.root).filter((entry) => isChildOf(entry.callId, callId)) ?? [];
    this.#order = createReplayOrder(this.#recorded.flatMap(({ order }) => order ?? []));
    this.calls = {
      get tools() {
        return innerTools(names, tool, scope.canWait && scope.turn !== null && journal !== null);
      },
      // A getter: most scripts use neither value, and then no row is stored.
      get replay() {
        return { now: journal?.startedAt(tree.root) ?? deps.clock.now(), seed: callId };
      },
      call: (name, args, { files = null } = {}) => this.#call(name, args, files),
    };
  }

  /** Resolves when no nested call is running. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /** The result that replaces the tool's own; null: none. */
  forcedResult(): ToolResult | null {
    return this.#tree.end ?? this.#end;
  }

  /** Whether a name resolves to a tool that only works on files. */
  isFileTool(name: string): boolean {
    return isFileTool(findTool(this.#names, name));
  }

  /** The name of a nested call whose effect would be repeated if this call were rerun; null: none. */
  unrepeatableCall(): string | null {
    return this.#tree.effectUnder(this.#caller.callId);
  }

  async #call(name: string, args: unknown, files: FileSystem | null): Promise<InnerOutcome> {
    // Counted synchronously, so that the id follows the order in which the code made its calls.
    this.#made += 1;
    const id = innerCallId(this.#caller.callId, this.#made);
    const work = this.#caller.deadline.pauseDuring(this.#fewAtOnce(() => this.#settle(id, name, args, files)));
    this.#running.add(work);
    const settled = await work.finally(() => this.#running.delete(work));
    if (settled === null) return { waits: true };
    const tool = findTool(this.#names, name);
    const { result, order } = settled;
    const shown = tool === null ? result : await (this.#caller.scope.showInner?.(tool, result) ?? result);
    if (order !== null) await this.#order.waitForTurn(order);
    // Code reads the result as it is, and passes on what the caller is shown.
    const output = shellOutput(tool, result) ?? (shown === result ? undefined : toCodeCallResult(result).output);
    return { waits: false, result: shown, ...(output !== undefined && { output }) };
  }

  async #settle(id: string, name: string, args: unknown, files: FileSystem | null): Promise<Settled> {
    const journal = this.#journal;
    const { deps, scope, callId, signal } = this.#caller;
    const given = readArguments(args);
    const request = {
      callId: id,
      parent: callId,
      requested: name,
      arguments: given,
      fault: given === null ? ('invalid_json' as const) : null,
    };
    const call = countPreparation(deps, scope, () => prepareCall({ ...scope, names: () => this.#names, servesApps: false }, request));
    const fingerprint = journal === null ? '' : await innerFingerprint(name, given, call.tool);
    const entry = journal?.find(id) ?? null;
    if (entry !== null && entry.fingerprint !== fingerprint) return this.#endWith(codeDiverged(this.#recorded));
    if (entry?.result) return { result: entry.result, order: entry.order };
    if (signal.aborted) return { result: errorResult('aborted', 'Not run: the call that made this one has ended.'), order: null };
    const { canonical, via } = call;
    const start = { callId: id, root: this.#tree.root, requested: name, canonical, via, arguments: given ?? {}, fingerprint };
    const onOverlay = files !== null || scope.onOverlay === true;
    return await this.#run(start, call, { entry, files, onOverlay, isRedone: onOverlay && worksOnFiles(call.tool) });
  }

  async #run(start: InnerCallStart, prepared: PreparedCall, at: Place): Promise<Settled> {
    const { deps, scope, callPrepared, signal } = this.#caller;
    const innerScope = this.#scope(start, at);
    let call = changeRequest(prepared, this.#decisions(prepared, at));
    let outcome = await callPrepared(deps, innerScope, call, signal);
    while ('waitFor' in outcome && this.#journal === null && scope.askDuringCall !== undefined) {
      call = changeRequest(call, await scope.askDuringCall(outcome.waitFor, call.request.rounds ?? 0));
      outcome = await callPrepared(deps, innerScope, call, signal);
    }
    if ('waitFor' in outcome) return this.#wait(start, call.request, outcome.waitFor);
    const { result, via, durationMs, ran, cost } = outcome.answer;
    if (ran && this.#journal === null && hasEffect(deps, prepared, at))
      this.#tree.recordEffect(start.callId, start.canonical ?? start.requested);
    // Aborted by the end of the outer call, which is not rerun.
    if (signal.aborted && result.code === 'aborted') return { result, order: null };
    if (this.#journal === null)
      return this.#tree.addResultBytes(utf8Length(JSON.stringify(result))) ? { result, order: null } : this.#endFull();
    const before = at.entry?.order ?? null;
    if (before !== null) return { result, order: before };
    const order = this.#journal.finish({ ...start, via }, result, { durationMs, keep: !at.isRedone, cost });
    if (order === null) return this.#endFull();
    this.#order.add(order);
    await failpoint('inner-result-before-root');
    return { result, order };
  }

  /** Returns what was decided and recorded about the call before. */
  #decisions({ request: { callId }, tool }: PreparedCall, { entry, isRedone }: Place): Partial<ToolCallRequest> {
    const verdict = this.#journal?.verdict(callId) ?? null;
    const { input = null, rounds = 0 } = this.#journal?.given(callId) ?? {};
    const attempts = entry?.attempts ?? 0;
    return {
      refusal: verdict === null ? this.#refuse(callId, tool) : decisionRefusal(verdict),
      approved: verdict?.approved ?? null,
      given: input,
      rounds,
      attempts,
      // The effects of an interrupted call on a script's uncommitted files were discarded, so it can simply be rerun.
      interrupted: attempts > 0 && !isRedone,
    };
  }

  #scope(start: InnerCallStart, { files, onOverlay, entry }: Place): CallScope {
    const { scope } = this.#caller;
    const journal = this.#journal;
    const again = (entry?.order ?? null) !== null;
    // Inside a made tool only the tools it uses can be called, which are all in `names`.
    const { innerNames: _plan, started: _ofCaller, ...above } = scope;
    return {
      ...above,
      names: () => this.#names,
      chain: this.#chain,
      callTree: this.#tree,
      channel: innerChannel(this.#caller),
      resultBounds: codeBounds,
      // The nested call is judged by its own policy check, not by that of the calling script as well.
      files: files === null ? scope.files : withoutGuards(files),
      onOverlay,
      canWait: scope.canWait && (journal !== null || scope.askDuringCall !== undefined),
      // A call that is repeated is already in the audit log, and charged.
      ...(again && { begin: () => undefined, audit: () => undefined, limited: [] }),
      ...(journal !== null && !again && { started: () => journal.begin(start) }),
    };
  }

  #wait(start: InnerCallStart, { arguments: args, rounds = 0 }: ToolCallRequest, waitFor: WaitFor): Settled {
    this.#journal?.markWaiting(start);
    const { callId, requested: name } = start;
    if (waitFor.kind === 'inner') this.waiting.push(...waitFor.waiting);
    else this.waiting.push({ callId, name, arguments: args, rounds, waitFor });
    return null;
  }

  #refuse(callId: string, tool: EditionTool | null): Refusal | null {
    if (!this.#tree.tryAdd(callId)) {
      const message = `Not run: a call may make at most ${limits.maxInnerCalls} nested calls in total. Continue with the results so far.`;
      return { code: 'limit_reached', message };
    }
    const fault = tool === null || !callsTools(tool) ? null : nestingFault(this.#chain, tool);
    return fault === null ? null : { code: 'not_allowed', message: fault };
  }

  #endFull(): Settled {
    this.#tree.end ??= resultsTooLarge();
    return this.#endWith(this.#tree.end);
  }

  #endWith(result: ToolResult): Settled {
    this.#end ??= result;
    this.#caller.stop('its nested calls cannot continue');
    return { result, order: null };
  }
}

type Recorded = ReturnType<CallJournal['entriesUnder']>[number];

/** `isRedone`: its effects are on the files of a script that is rerun, so it is rerun too. */
type Place = { entry: JournalEntry | null; files: FileSystem | null; onOverlay: boolean; isRedone: boolean };

/** null: the call waits. `order`: null where nothing is journaled. */
type Settled = { result: ToolResult; order: number | null } | null;

function isChildOf(callId: string, parent: string): boolean {
  return callId.startsWith(`${parent}.`) && !callId.includes('.', parent.length + 1);
}

/** Returns null for arguments that no tool can be sent. Missing arguments are an empty object. */
function readArguments(args: unknown): Record<string, unknown> | null {
  if (args === undefined) return {};
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return null;
  try {
    canonicalJson(args);
    // An object that is not an array, checked above.
    return args as Record<string, unknown>;
  } catch {
    // Nested more deeply than any input we accept.
    return null;
  }
}

/** The outer caller gets progress while the nested call runs. Without a journal or `ask`, the call cannot ask for input and be rerun. */
function innerChannel({ channel, scope }: CallingTool): CallerChannel {
  if (scope.journal !== undefined || channel.ask !== undefined) return channel;
  const { askable: _askable, ...rest } = channel;
  return rest;
}

/** Nested calls of a tool that calls tools are recorded separately. */
function hasEffect({ executor }: CallDeps, { tool, request }: PreparedCall, { isRedone }: Place): boolean {
  return tool !== null && !isRedone && !callsTools(tool) && !executor.isSafe(tool, request.arguments ?? {});
}

function codeDiverged(recorded: readonly { canonical: string | null; order: number | null }[]): ToolResult {
  const done = recorded.flatMap(({ canonical, order }) => (order === null || canonical === null ? [] : [canonical]));
  const what = done.length === 0 ? 'nothing' : [...new Set(done)].join(', ');
  return errorResult(
    'tool_error',
    `The code made different calls than before it waited, so it was stopped. Calls that had already run: ${what}.`,
  );
}
