/** A call of a tool that calls tools, over tools with scripted results. Used by the tests of `engine/call/inner/inner-calls.ts`. */
import { buildAliasMap } from '../../src/core/toolset/alias-map.ts';
import type { AuditRow } from '../../src/core/records/audit.ts';
import type { Edition, EditionTool } from '../../src/core/toolset/edition-tool.ts';
import type { PolicyRule } from '../../src/core/policy/rule.ts';
import { textResult, type ToolResult } from '../../src/core/tools/tool.ts';
import { callTool } from '../../src/engine/call/call-tool.ts';
import type { CallDeps, CallScope } from '../../src/engine/call/call-scope.ts';
import type { CallOutcome } from '../../src/engine/call/tool-call.ts';
import type { CallJournal, InnerCallStart, JournalEntry } from '../../src/ports/call-journal.ts';
import type { ToolOutcome, ToolContext } from '../../src/ports/tool-executor.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { fakeClock, keptLog } from '../fakes/runtime.ts';
import { yesTo } from './approve.ts';

export function toolNamed(canonical: string, own: Partial<EditionTool> = {}): EditionTool {
  const [server = '', ownName = ''] = canonical.split('.');
  return {
    canonical,
    wireName: ownName,
    ownName,
    server,
    kind: server === 'made' ? 'made' : server === 'builtin' ? 'builtin' : 'local',
    description: `The ${ownName} tool.`,
    inputSchema: { type: 'object' },
    aliases: [],
    state: 'ready',
    pin: '',
    ...own,
  } as unknown as EditionTool;
}

/** `uses` are compiled in; its code is the body that a test passes to `runOf`. */
export function madeTool(name: string, uses: EditionTool[], own: Partial<EditionTool> = {}): EditionTool {
  return toolNamed(`made.${name}`, { made: { by: 'k', implementation: '', uses }, ...own });
}

export type Body = (args: Record<string, unknown>, context: ToolContext) => Promise<ToolOutcome> | ToolOutcome;

/** `bodies` by canonical name; a tool without one returns its name. */
export type RunOptions = {
  bodies?: Record<string, Body>;
  safe?: readonly string[];
  rules?: PolicyRule[];
  scope?: Partial<CallScope>;
};

export function runOf(tools: readonly EditionTool[], { bodies = {}, safe = [], rules = [], scope: own = {} }: RunOptions = {}) {
  const clock = fakeClock();
  const log = keptLog();
  const audit: Omit<AuditRow, 'sequence'>[] = [];
  const edition: Edition = { format: 1, workspace: 'default', toolset: 'demo', announce: 'none', tools: [...tools] };
  const names = buildAliasMap(edition, { aliases: true });
  const deps = {
    clock,
    log,
    executor: {
      isSafe: ({ kind, canonical }: EditionTool) => kind === 'made' || safe.includes(canonical),
      execute: async ({ canonical }: EditionTool, args: Record<string, unknown>, context: ToolContext) =>
        (await bodies[canonical]?.(args, context)) ?? textResult(canonical),
    },
    fetch: () => Promise.reject(new Error('no network here')),
    secret: async () => '',
  } as unknown as CallDeps;
  const scope: CallScope = {
    keyId: 'k',
    session: 's',
    turn: 't',
    names: () => names,
    edition: null,
    files: createMemoryFiles(clock.now),
    results: null,
    timeoutMs: 1_000,
    rules,
    canWait: true,
    channel: { askable: { elicitation: { form: {} } } },
    audit: (row) => void audit.push(row),
    ...own,
  };
  const call = (name: string, args: Record<string, unknown> = {}, signal = new AbortController().signal): Promise<CallOutcome> =>
    callTool(deps, scope, { callId: 'call_1', requested: name, arguments: args }, signal);
  return { clock, log, audit, scope, deps, call };
}

export function answerOf(outcome: CallOutcome): ToolResult {
  if (!('answer' in outcome)) throw new Error('the call waits');
  return outcome.answer.result;
}

export function waitingOf(outcome: CallOutcome): readonly { callId: string; kind: string }[] {
  if (!('waitFor' in outcome) || outcome.waitFor.kind !== 'inner') throw new Error('none of its nested calls waits');
  return outcome.waitFor.waiting.map(({ callId, waitFor }) => ({ callId, kind: waitFor.kind }));
}

/** Answers every question of nested calls, as a session stores them. */
export function decideAll(
  outcome: CallOutcome,
  { verdicts }: Pick<ReturnType<typeof memoryJournal>, 'verdicts'>,
  decision = approveEach,
): void {
  if (!('waitFor' in outcome) || outcome.waitFor.kind !== 'inner') throw new Error('no inner call waits');
  for (const { callId, waitFor } of outcome.waitFor.waiting) {
    const decided = decision();
    const approved = decided === 'approve' && waitFor.kind === 'approval' ? yesTo(waitFor) : null;
    verdicts.set(callId, { decision: decided, approved });
  }
}

const approveEach = (): 'approve' | 'deny' | 'expire' => 'approve';

/** A journal in memory that outlives runs, as a session has one. */
export function memoryJournal(maxBytes = Number.POSITIVE_INFINITY) {
  const entries = new Map<string, JournalEntry>();
  const verdicts = new Map<string, NonNullable<ReturnType<CallJournal['verdict']>>>();
  const told: string[] = [];
  let bytes = 0;
  const put = ({ callId, canonical, fingerprint }: InnerCallStart, change: Partial<JournalEntry>): void => {
    const before = entries.get(callId) ?? { callId, canonical, fingerprint, attempts: 0, order: null, result: null };
    entries.set(callId, { ...before, ...change });
  };
  const journal: CallJournal = {
    startedAt: () => 1_000,
    find: (callId) => entries.get(callId) ?? null,
    entriesUnder: () => [...entries.values()],
    begin(call) {
      told.push(`begin ${call.callId}`);
      put(call, { attempts: (entries.get(call.callId)?.attempts ?? 0) + 1 });
    },
    markWaiting: (call) => put(call, { attempts: 0 }),
    finish(call, result, { keep }) {
      told.push(`finish ${call.callId}`);
      bytes += JSON.stringify(result).length;
      if (bytes > maxBytes) return null;
      const order = Math.max(0, ...[...entries.values()].map((entry) => entry.order ?? 0)) + 1;
      put(call, { order, result: keep ? result : null });
      return order;
    },
    verdict: (callId) => verdicts.get(callId) ?? null,
    given: () => ({ input: null, rounds: 0 }),
  };
  return { journal, entries, verdicts, told };
}
