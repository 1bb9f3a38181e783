/**
 * Calls that a running tool makes of other tools (`ToolContext.calls`): each goes through the one door with its own id, time and audit row,
 * stands in the journal, and waits for itself. What code over it looks like is not known here. Used by `execute-call.ts`.
 */
import { callsTools, innerCallId } from '../core/composite-tool.ts';
import { crashPoint } from '../core/crash-point.ts';
import type { EditionTool } from '../core/edition.ts';
import { canonicalJson } from '../core/hash.ts';
import { limits } from '../core/limits.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';
import { refusalOf, type Refusal } from '../core/turn-budget.ts';
import type { InnerCallStart } from '../ports/call-journal.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { InnerAnswer, InnerCalls } from '../ports/inner-calls.ts';
import type { CallerChannel } from '../ports/tool-executor.ts';
import { createCallTree } from './call-tree.ts';
import type { Deadline } from './call-deadline.ts';
import { createFewAtOnce } from './few-at-once.ts';
import { unguarded } from './guard-files.ts';
import { innerFingerprint } from './inner-fingerprint.ts';
import { chainFault, innerNames, innerTool, innerTools } from './inner-names.ts';
import { createReplayOrder } from './replay-order.ts';
import type { CallDeps, CallOutcome, CallScope, ToolCallRequest, WaitingInner } from './tool-call.ts';

/** `callTool`, given by whoever called: it stands above. */
export type Door = (deps: CallDeps, scope: CallScope, request: ToolCallRequest, signal: AbortSignal) => Promise<CallOutcome>;

/** The call that calls. `signal`: its own, which ends with it. `channel`: as its tool has it. `stop` ends its tool. */
export type Caller = {
  deps: CallDeps;
  scope: CallScope;
  tool: EditionTool;
  callId: string;
  door: Door;
  signal: AbortSignal;
  deadline: Pick<Deadline, 'during'>;
  channel: CallerChannel;
  stop(why: string): void;
};

export type InnerDesk = {
  calls: InnerCalls;
  /** Nothing beneath runs any more. */
  idle(): Promise<void>;
  /** What has to be asked for before the call can be run again. */
  waiting(): readonly WaitingInner[];
  /** What the call ends with, whatever its tool answers; null: with that. */
  end(): ToolResult | null;
};

export function createInnerCalls(caller: Caller): InnerDesk {
  const { deps, scope, tool, callId, deadline } = caller;
  const journal = scope.journal ?? null;
  const tree = scope.tree ?? createCallTree(callId, () => scope.innerNames?.() ?? scope.names(), journal);
  const names = innerNames(tool, tree.plan(), scope.innerNames?.() ?? scope.names());
  const recorded = journal?.beneath(tree.root).filter((entry) => isChildOf(entry.callId, callId)) ?? [];
  const order = createReplayOrder(recorded.flatMap((entry) => entry.order ?? []));
  const chain = [...(scope.chain ?? []), tool.canonical];
  const fewAtOnce = createFewAtOnce(limits.maxParallelCalls);
  const running = new Set<Promise<unknown>>();
  const waiting: WaitingInner[] = [];
  let made = 0;
  let ownEnd: ToolResult | null = null;

  const endWith = (result: ToolResult): Settled => {
    ownEnd ??= result;
    caller.stop('its calls cannot go on');
    return { result, order: null };
  };

  const settle = async (id: string, name: string, args: unknown, files: FileSystem | null): Promise<Settled> => {
    const meant = innerTool(names, name);
    const given = readArguments(args);
    const fingerprint = journal === null ? '' : await innerFingerprint(name, given, meant);
    const entry = journal?.find(id) ?? null;
    if (entry !== null && entry.fingerprint !== fingerprint) return endWith(wentAnotherWay(recorded));
    if (entry?.result) return { result: entry.result, order: entry.order };
    if (caller.signal.aborted) return { result: errorResult('aborted', 'Not run: the call that made it has ended.'), order: null };
    const start: InnerCallStart = {
      callId: id,
      root: tree.root,
      requested: name,
      canonical: meant?.canonical ?? null,
      via: null,
      arguments: given ?? {},
      fingerprint,
    };
    const onOverlay = files !== null || scope.onOverlay === true;
    const isRedone = onOverlay && worksOnFiles(meant);
    const again = entry?.order ?? null;
    const verdict = journal?.verdict(id) ?? null;
    const { input = null, rounds = 0 } = journal?.given(id) ?? {};
    const request: ToolCallRequest = {
      callId: id,
      parent: callId,
      requested: name,
      arguments: given,
      fault: given === null ? 'invalid_json' : null,
      refusal: verdict === null ? refuse(id, meant) : refusalOf(verdict.decision),
      approved: verdict?.decision === 'approve',
      approvedHost: verdict?.host ?? null,
      given: input,
      rounds,
      attempts: entry?.attempts ?? 0,
      // What it did to the files of a script that is run again is not there.
      interrupted: (entry?.attempts ?? 0) > 0 && !isRedone,
    };
    // Beneath a made tool nothing is reached but what it uses: `names` says all.
    const { innerNames: _plan, started: _ofCaller, ...above } = scope;
    const own: CallScope = {
      ...above,
      names: () => names,
      chain,
      tree,
      channel: channelBeneath(caller),
      // It is judged for itself, whatever holds the one back that calls it.
      files: files === null ? scope.files : unguarded(files),
      onOverlay,
      canWait: scope.canWait && journal !== null,
      // What is made again stands in the log already.
      ...(again !== null && { audit: () => undefined }),
      ...(journal !== null && again === null && { started: () => journal.begin(start) }),
    };
    const outcome = await caller.door(deps, own, request, caller.signal);
    if ('waitFor' in outcome) {
      const { waitFor } = outcome;
      journal?.pause(start);
      if (waitFor.kind === 'inner') waiting.push(...waitFor.waiting);
      else waiting.push({ callId: id, name, arguments: given, rounds, waitFor });
      return null;
    }
    const { result, via, durationMs } = outcome.answer;
    // Cut off by the end of the call above, which no one runs again.
    if (journal === null || (caller.signal.aborted && result.code === 'aborted')) return { result, order: null };
    if (again !== null) return { result, order: again };
    const place = journal.finish({ ...start, via }, result, { durationMs, keep: !isRedone });
    if (place === null) {
      tree.end ??= journalFull();
      return endWith(tree.end);
    }
    order.add(place);
    await crashPoint('inner-result-before-root');
    return { result, order: place };
  };

  const refuse = (id: string, meant: EditionTool | null): Refusal | null => {
    if (!tree.admit(id)) {
      const message = `Not run: a call may make ${limits.maxInnerCalls} calls, all beneath it counted. Go on with what there is.`;
      return { code: 'limit_reached', message };
    }
    const fault = meant === null || !callsTools(meant) ? null : chainFault(chain, meant);
    return fault === null ? null : { code: 'not_allowed', message: fault };
  };

  const calls: InnerCalls = {
    get tools() {
      return innerTools(names, tool, scope.canWait && scope.turn !== null && journal !== null);
    },
    // When it is asked for: most scripts ask for neither, and leave no row.
    get replay() {
      return { now: journal?.startedAt(tree.root) ?? deps.clock.now(), seed: callId };
    },
    async call(name, args, { files = null } = {}): Promise<InnerAnswer> {
      // At once: its place is that in which code made it.
      made += 1;
      const id = innerCallId(callId, made);
      const work = deadline.during(fewAtOnce(() => settle(id, name, args, files)));
      running.add(work);
      const settled = await work.finally(() => running.delete(work));
      if (settled === null) return { waits: true };
      if (settled.order !== null) await order.turn(settled.order);
      return { waits: false, result: settled.result };
    },
  };
  return {
    calls,
    idle: async () => void (await Promise.allSettled(running)),
    waiting: () => waiting,
    end: () => tree.end ?? ownEnd,
  };
}

/** null: it waits. `order`: null where nothing is remembered. */
type Settled = { result: ToolResult; order: number | null } | null;

function isChildOf(callId: string, parent: string): boolean {
  return callId.startsWith(`${parent}.`) && !callId.includes('.', parent.length + 1);
}

/** null: nothing that a tool can be sent. Nothing at all is no arguments. */
function readArguments(args: unknown): Record<string, unknown> | null {
  if (args === undefined) return {};
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return null;
  try {
    canonicalJson(args);
    // An object that is no array: JSON has no other.
    return args as Record<string, unknown>;
  } catch {
    // Deeper than any input that we accept.
    return null;
  }
}

/** Whoever is above hears of it while it runs. Who has no journal cannot ask and be called again. */
function channelBeneath({ channel, scope }: Caller): CallerChannel {
  if (scope.journal !== undefined || channel.ask !== undefined) return channel;
  const { askable: _askable, ...rest } = channel;
  return rest;
}

const fileTools: ReadonlySet<string> = new Set(
  ['read_file', 'write_file', 'edit_file', 'delete_file', 'list_directory'].map((name) => `builtin.${name}`),
);

/** What it did went with the files of the script, and is done again with it; so is what calls such tools. */
function worksOnFiles(tool: EditionTool | null): boolean {
  return tool !== null && (fileTools.has(tool.canonical) || callsTools(tool));
}

function wentAnotherWay(recorded: readonly { canonical: string | null; order: number | null }[]): ToolResult {
  const done = recorded.flatMap(({ canonical, order }) => (order === null || canonical === null ? [] : [canonical]));
  const what = done.length === 0 ? 'nothing' : [...new Set(done)].join(', ');
  return errorResult('tool_error', `Its code went another way than before it waited, and was stopped. What it had called: ${what}.`);
}

function journalFull(): ToolResult {
  const text = `Stopped: what the calls beneath it answered is more than ${limits.maxJournalBytes} bytes together. Ask for less of it.`;
  return errorResult('limit_reached', text);
}
