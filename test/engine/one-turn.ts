/** One turn over a scripted model, with scripted tools. Used by the tests of `engine/turn/run-turn.ts`. */
import { buildAliasMap } from '../../src/core/toolset/alias-map.ts';
import type { AuditRow } from '../../src/core/records/audit.ts';
import type { ChatEvent } from '../../src/core/model/chat-event.ts';
import { compileEdition } from '../../src/core/toolset/edition.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import { Problem } from '../../src/core/problem.ts';
import type { SessionEventBody } from '../../src/core/turn/session-event.ts';
import type { ToolDefinition, ToolResult } from '../../src/core/tools/tool.ts';
import { Toolset } from '../../src/core/toolset/toolset.ts';
import { createGathering } from '../../src/core/turn/gathered-tools.ts';
import { createTranscript } from '../../src/core/turn/transcript.ts';
import { applyEvent } from '../../src/core/turn/fold-turn.ts';
import { beginTurn } from '../../src/core/turn/turn-state.ts';
import { turnNames, withFetchResult } from '../../src/engine/plan/plan-names.ts';
import type { ServiceHost } from '../../src/engine/host.ts';
import { runTurn, type TurnDeps, type TurnScope } from '../../src/engine/turn/run-turn.ts';
import type { ChatModel, ChatRequest } from '../../src/ports/chat-model.ts';
import type { Directory } from '../../src/ports/directory.ts';
import type { ResultStore } from '../../src/ports/result-store.ts';
import type { ToolContext } from '../../src/ports/tool-executor.ts';
import { createMemoryFiles } from '../../src/storage/files/memory-files.ts';
import { countedIds, fakeClock, keptLog } from '../fakes/runtime.ts';

export const definitions = [
  tool('builtin.bash', 'bash', { command: { type: 'string' } }, {}),
  tool('builtin.read_file', 'read_file', { path: { type: 'string' } }, { readOnlyHint: true }),
  tool('builtin.delete_file', 'delete_file', { path: { type: 'string' } }, { idempotentHint: true }),
];

function tool(canonical: string, name: string, properties: object, annotations: object): ToolDefinition {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
  return {
    canonical,
    server: 'builtin',
    name,
    kind: 'builtin',
    description: `The ${name} tool.`,
    inputSchema,
    annotations,
    aliases: [],
  } as unknown as ToolDefinition;
}

export const toolset = Toolset.parse({
  tools: [
    { tool: 'builtin.bash', name: 'terminalRun', aliases: ['shell', { name: 'sh_old', mode: 'deprecated', note: 'use terminalRun' }] },
    { tool: 'builtin.read_file', aliases: ['cat'] },
    { tool: 'builtin.delete_file', name: 'erase' },
  ],
});

type Script = readonly (readonly ChatEvent[] | Problem)[];
export type Run = {
  events: SessionEventBody[];
  requests: ChatRequest[];
  audit: Omit<AuditRow, 'sequence'>[];
  log: ReturnType<typeof keptLog>;
  clock: ReturnType<typeof fakeClock>;
  done: Promise<'ended' | 'waiting' | 'aborted'>;
  scope: TurnScope;
  abort: AbortController;
};

/**
 * Each entry of the script has one model call's events. `before`: the turn's events so far. `results`: where long results are stored; with
 * it the conversation is kept within its budget, too.
 */
export async function start(
  script: Script,
  execute: (args: Record<string, unknown>, context: ToolContext, canonical: string) => Promise<ToolResult> | ToolResult,
  plan: Partial<Plan> = {},
  before: readonly SessionEventBody[] = [],
  results: ResultStore | null = null,
  offer: { definitions: readonly ToolDefinition[]; toolset: Toolset; model?: ChatModel; host?: ServiceHost } = { definitions, toolset },
): Promise<Run> {
  const known = new Map(offer.definitions.map((definition) => [definition.canonical as string, definition]));
  const { edition } = await compileEdition({
    workspace: 'default',
    name: 'demo',
    toolset: offer.toolset,
    known: { get: (name) => known.get(name), all: () => known.values(), hasServer: () => true },
  });
  const log = keptLog();
  const clock = fakeClock();
  const requests: ChatRequest[] = [];
  const remaining = [...script];
  const deps = {
    clock,
    ...(offer.host !== undefined && { host: offer.host }),
    ids: countedIds(),
    log,
    directory: {
      provider: async (_workspace: string, name: string) => ({
        name,
        kind: 'rehearsal',
        baseUrl: '',
        headers: {},
        models: [],
        profile: {},
      }),
    } as unknown as Directory,
    model: {
      async *stream(request: ChatRequest, signal: AbortSignal) {
        requests.push(request);
        if (offer.model !== undefined) {
          yield* offer.model.stream(request, signal);
          return;
        }
        const next = remaining.shift() ?? [{ type: 'finish', reason: 'stop', raw: null } as const];
        if (next instanceof Problem) throw next;
        for (const event of next) yield [event];
      },
    },
    executor: {
      isSafe: (target: { annotations?: { readOnlyHint?: boolean } }) => target.annotations?.readOnlyHint === true,
      execute: async (target: { canonical: string }, args: Record<string, unknown>, context: ToolContext) =>
        execute(args, context, target.canonical),
    },
    fetch: () => Promise.reject(new Error('no network here')),
    secret: async () => 'hunter2-secret',
  } as unknown as TurnDeps;
  const events: SessionEventBody[] = [];
  const audit: Run['audit'] = [];
  const transcript = createTranscript();
  const gathering = createGathering();
  const state = beginTurn('turn_1');
  const append = (...added: readonly SessionEventBody[]): void => {
    for (const event of added) {
      events.push(event);
      applyEvent(state, { ...event, id: events.length });
      transcript.apply(event);
      gathering.apply(event);
    }
  };
  append({ type: 'turn-start', turn: 'turn_1', input: [{ type: 'text', text: 'go' }], model: 'a/b' });
  append(...before);
  const abort = new AbortController();
  const fullPlan: Plan = {
    model: 'a/b',
    fallbacks: [],
    instructions: 'Be brief.',
    allow: null,
    aliases: true,
    limits: {},
    settings: {},
    ...plan,
  };
  const offered = turnNames(buildAliasMap(edition, { aliases: true }), fullPlan);
  const names = () => withFetchResult(offered, results);
  const pointer = { toolset: 'demo', version: 1, revision: 1, hash: 'h' };
  const scope: TurnScope = {
    workspace: 'default',
    turn: 'turn_1',
    plan: fullPlan,
    names,
    state,
    messages: () => transcript.messages(),
    gathered: () => gathering.list(),
    ...(results !== null && { conversation: transcript, results }),
    newest: () => events.length,
    append,
    inputs: { store: () => undefined, given: () => null },
    flushBeforeEnd: async () => undefined,
    call: {
      keyId: 'root',
      session: 's',
      turn: 'turn_1',
      names,
      discoveredTools: () => gathering.list(),
      rules: [],
      canWait: true,
      results,
      started: (callId, attempt) => append({ type: 'tool-start', turn: 'turn_1', step: state.step, callId, attempt }),
      edition: pointer,
      files: createMemoryFiles(() => 0),
      timeoutMs: 30_000,
      audit: (row) => void audit.push(row),
    },
  };
  return { events, requests, audit, log, clock, abort, scope, done: runTurn(deps, scope, abort.signal) };
}

export async function run(...args: Parameters<typeof start>): Promise<Run> {
  const started = await start(...args);
  await started.done;
  return started;
}

export function callEvents(
  call: number,
  name: string,
  args: Record<string, unknown>,
  state: 'ok' | 'repaired' | 'closed' = 'ok',
): ChatEvent[] {
  const raw = JSON.stringify(args);
  return [
    { type: 'call-start', call, name, nativeId: `native_${call}` },
    { type: 'call-delta', call, text: raw },
    { type: 'call-end', call, state, arguments: args, raw },
  ];
}
export const finish = (reason: 'stop' | 'tool-calls' | 'length'): ChatEvent => ({ type: 'finish', reason, raw: reason });
export const say = (text: string): ChatEvent[] => [{ type: 'text', text }, finish('stop')];
export const results = (events: SessionEventBody[]) => events.flatMap((event) => (event.type === 'tool-result' ? [event] : []));
export const resultText = (event: ReturnType<typeof results>[number] | undefined): string =>
  event?.content[0]?.type === 'text' ? event.content[0].text : '';
