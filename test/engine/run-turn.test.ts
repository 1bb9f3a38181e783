import { describe, expect, it } from 'vitest';
import { buildAliasMap } from '../../src/core/alias-map.ts';
import type { AuditRow } from '../../src/core/audit.ts';
import type { ChatEvent } from '../../src/core/chat-event.ts';
import { compileEdition } from '../../src/core/edition.ts';
import { limits } from '../../src/core/limits.ts';
import type { Plan } from '../../src/core/plan.ts';
import { Problem } from '../../src/core/problem.ts';
import type { SessionEventBody } from '../../src/core/session-event.ts';
import { errorResult, textResult, type ToolDefinition, type ToolResult } from '../../src/core/tool.ts';
import { Toolset } from '../../src/core/toolset.ts';
import { createTranscript } from '../../src/core/transcript.ts';
import { applyEvent, beginTurn } from '../../src/core/turn.ts';
import { runTurn, type TurnDeps, type TurnScope } from '../../src/engine/run-turn.ts';
import type { ChatRequest } from '../../src/ports/chat-model.ts';
import type { Directory } from '../../src/ports/catalog.ts';
import type { ToolContext } from '../../src/ports/tool-executor.ts';
import { createMemoryFiles } from '../../src/storage/memory-files.ts';
import { countedIds, fakeClock, keptLog } from '../fakes/runtime.ts';

const definitions = [
  tool('builtin.bash', 'bash', { command: { type: 'string' } }, {}),
  tool('builtin.read_file', 'read_file', { path: { type: 'string' } }, { readOnlyHint: true }),
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

const toolset = Toolset.parse({
  tools: [
    { tool: 'builtin.bash', name: 'terminalRun', aliases: ['shell', { name: 'sh_old', mode: 'deprecated', note: 'use terminalRun' }] },
    { tool: 'builtin.read_file', aliases: ['cat'] },
  ],
});

type Script = readonly (readonly ChatEvent[] | Problem)[];
type Run = {
  events: SessionEventBody[];
  requests: ChatRequest[];
  audit: Omit<AuditRow, 'sequence'>[];
  log: ReturnType<typeof keptLog>;
  clock: ReturnType<typeof fakeClock>;
  done: Promise<void>;
  abort: AbortController;
};

/** One turn over a scripted model: each entry is one model call's events. */
async function start(
  script: Script,
  execute: (args: Record<string, unknown>, context: ToolContext, canonical: string) => Promise<ToolResult> | ToolResult,
  plan: Partial<Plan> = {},
): Promise<Run> {
  const known = new Map(definitions.map((definition) => [definition.canonical as string, definition]));
  const { edition } = await compileEdition({
    workspace: 'default',
    name: 'demo',
    toolset,
    known: { get: (name) => known.get(name), all: () => known.values(), hasServer: () => true },
  });
  const names = buildAliasMap(edition, { aliases: true });
  const log = keptLog();
  const clock = fakeClock();
  const requests: ChatRequest[] = [];
  const remaining = [...script];
  const deps = {
    clock,
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
      async *stream(request: ChatRequest) {
        requests.push(request);
        const next = remaining.shift() ?? [{ type: 'finish', reason: 'stop', raw: null } as const];
        if (next instanceof Problem) throw next;
        for (const event of next) yield [event];
      },
    },
    executor: {
      execute: async (target: { canonical: string }, args: Record<string, unknown>, context: ToolContext) =>
        execute(args, context, target.canonical),
    },
    fetch: () => Promise.reject(new Error('no network here')),
    secret: async () => 'hunter2-secret',
  } as unknown as TurnDeps;
  const events: SessionEventBody[] = [];
  const audit: Run['audit'] = [];
  const transcript = createTranscript();
  const state = beginTurn('turn_1');
  const append = (event: SessionEventBody): void => {
    events.push(event);
    applyEvent(state, event);
    transcript.apply(event);
  };
  append({ type: 'turn-start', turn: 'turn_1', input: [{ type: 'text', text: 'go' }], model: 'a/b' });
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
  const pointer = { toolset: 'demo', version: 1, revision: 1, hash: 'h' };
  const scope: TurnScope = {
    workspace: 'default',
    turn: 'turn_1',
    plan: fullPlan,
    names,
    state,
    messages: () => transcript.messages(),
    newest: () => events.length,
    append,
    beforeEnd: async () => undefined,
    call: {
      keyId: 'root',
      session: 's',
      turn: 'turn_1',
      names,
      edition: pointer,
      files: createMemoryFiles(() => 0),
      timeoutMs: 30_000,
      audit: (row) => void audit.push(row),
    },
  };
  return { events, requests, audit, log, clock, abort, done: runTurn(deps, scope, abort.signal) };
}

async function run(...args: Parameters<typeof start>): Promise<Run> {
  const started = await start(...args);
  await started.done;
  return started;
}

function callEvents(call: number, name: string, args: Record<string, unknown>, state: 'ok' | 'repaired' | 'closed' = 'ok'): ChatEvent[] {
  const raw = JSON.stringify(args);
  return [
    { type: 'call-start', call, name, nativeId: `native_${call}` },
    { type: 'call-delta', call, text: raw },
    { type: 'call-end', call, state, arguments: args, raw },
  ];
}
const finish = (reason: 'stop' | 'tool-calls' | 'length'): ChatEvent => ({ type: 'finish', reason, raw: reason });
const say = (text: string): ChatEvent[] => [{ type: 'text', text }, finish('stop')];
const results = (events: SessionEventBody[]) => events.flatMap((event) => (event.type === 'tool-result' ? [event] : []));
const resultText = (event: ReturnType<typeof results>[number] | undefined): string =>
  event?.content[0]?.type === 'text' ? event.content[0].text : '';

describe('a turn over a model', () => {
  it('runs an aliased call as its canonical tool, and answers', async () => {
    const { events, audit, log } = await run([[...callEvents(0, 'shell', { command: 'date' }), finish('tool-calls')], say('done')], () =>
      textResult('today'),
    );
    expect(events.map(({ type }) => type)).toEqual([
      'turn-start',
      'step-start',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-end',
      'step-end',
      'tool-result',
      'step-start',
      'text-delta',
      'step-end',
      'turn-end',
    ]);
    expect(events[2]).toMatchObject({ name: 'shell', canonical: 'builtin.bash', via: 'alias', nativeId: 'native_0' });
    expect(audit).toMatchObject([
      { requested: 'shell', canonical: 'builtin.bash', via: 'alias', verdict: 'ran', code: null, edition: 'demo@1.1' },
    ]);
    expect(log.lines.find(({ message }) => message === 'tool call')?.fields).toMatchObject({
      requested: 'shell',
      canonical: 'builtin.bash',
      turn: 'turn_1',
    });
  });

  it('shows the model the current names, the announcement and the results', async () => {
    const { requests } = await run([[...callEvents(0, 'shell', { command: 'date' }), finish('tool-calls')], say('done')], () =>
      textResult('today'),
    );
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['terminalRun', 'cat']);
    expect(requests[0]?.messages[0]).toMatchObject({
      role: 'system',
      parts: [{ text: expect.stringMatching(/^Be brief\.[\s\S]*terminalRun = builtin\.bash \(aliases: shell\)/) }],
    });
    expect(requests[1]?.messages.slice(2)).toMatchObject([
      { role: 'assistant', parts: [{ type: 'tool-call', requested: 'terminalRun' }] },
      { role: 'tool', parts: [{ requested: 'terminalRun', content: [{ text: 'today' }] }] },
    ]);
  });

  it('runs calls side by side and keeps their results in call order', async () => {
    const order: string[] = [];
    let release = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { events } = await run(
      [[...callEvents(0, 'shell', { command: 'slow' }), ...callEvents(1, 'shell', { command: 'fast' }), finish('tool-calls')], say('done')],
      async ({ command }) => {
        if (command === 'slow') await slow;
        else release();
        order.push(String(command));
        return textResult(String(command));
      },
    );
    expect(order).toEqual(['fast', 'slow']);
    expect(results(events).map(resultText)).toEqual(['slow', 'fast']);
  });

  it('runs identical safe calls of one step once, identical unsafe ones each', async () => {
    const ran: string[] = [];
    const twice = (name: string, args: Record<string, unknown>) => [
      ...callEvents(0, name, args),
      ...callEvents(1, name, args),
      finish('tool-calls'),
    ];
    const { events, audit } = await run(
      [twice('cat', { path: 'a' }), twice('shell', { command: 'x' }), say('done')],
      (_args, _context, canonical) => {
        ran.push(canonical);
        return textResult('ok');
      },
    );
    expect(ran).toEqual(['builtin.read_file', 'builtin.bash', 'builtin.bash']);
    expect(results(events)).toHaveLength(4);
    expect(audit).toHaveLength(4);
  });

  it('writes down a shared refusal as a refusal, for both calls', async () => {
    const { audit } = await run([[...callEvents(0, 'cat', {}), ...callEvents(1, 'cat', {}), finish('tool-calls')], say('sorry')], () =>
      textResult('ran'),
    );
    expect(audit.map(({ verdict, code }) => `${verdict} ${code}`)).toEqual(['refused invalid_arguments', 'refused invalid_arguments']);
  });

  it('takes arguments in another order for the same', async () => {
    const pairs = [0, 1, 2, 3].map((at): [string, unknown][] =>
      at % 2 === 0
        ? [
            ['command', 'x'],
            ['more', 1],
          ]
        : [
            ['more', 1],
            ['command', 'x'],
          ],
    );
    const script = pairs.map((pair) => [...callEvents(0, 'shell', Object.fromEntries(pair)), finish('tool-calls')]);
    const { events } = await run([...script, say('ok')], () => textResult('ran'));
    expect(results(events).map(({ code }) => code)).toEqual([
      'invalid_arguments',
      'invalid_arguments',
      'invalid_arguments',
      'limit_reached',
    ]);
  });

  it.each([
    ['an unknown tool', callEvents(0, 'shel', { command: 'x' }), 'unknown_tool', /Did you mean/],
    ['a missing argument', callEvents(0, 'shell', {}), 'invalid_arguments', /command/],
    ['a wrong type', callEvents(0, 'shell', { command: 7 }), 'invalid_arguments', /command: .*string/],
    ['guessed arguments for an unsafe tool', callEvents(0, 'shell', { command: 'rm' }, 'repaired'), 'invalid_json', /valid JSON/],
  ])('answers %s with a result that says what to do, and goes on', async (_what, call, code, text) => {
    const { events } = await run([[...call, finish('tool-calls')], say('sorry')], () => textResult('ran'));
    expect(results(events)).toMatchObject([{ isError: true, code }]);
    expect(resultText(results(events)[0])).toMatch(text);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed' });
  });

  it('runs a call that lacked only closing brackets, and a guessed one of a safe tool', async () => {
    const { events } = await run(
      [
        [...callEvents(0, 'shell', { command: 'ls' }, 'closed'), ...callEvents(1, 'cat', { path: 'a' }, 'repaired'), finish('tool-calls')],
        say('ok'),
      ],
      () => textResult('ran'),
    );
    expect(results(events).map(({ isError }) => isError)).toEqual([false, false]);
  });

  it('tells of a deprecated name in the result', async () => {
    const { events } = await run([[...callEvents(0, 'sh_old', { command: 'x' }), finish('tool-calls')], say('ok')], () =>
      textResult('ran'),
    );
    expect(results(events)[0]?.content).toEqual([
      { type: 'text', text: 'ran' },
      { type: 'text', text: '[The name sh_old is deprecated: use terminalRun.]' },
    ]);
  });

  it('turns a throwing tool into a result and takes read secrets out of it', async () => {
    const { events, log } = await run(
      [[...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')], say('ok')],
      async (_args, context) => {
        throw new Error(`bad key ${await context.secret('GH')}`);
      },
    );
    expect(results(events)).toMatchObject([{ code: 'tool_error' }]);
    expect(JSON.stringify([events, log.lines])).not.toContain('hunter2');
  });

  it('stops a tool at its time-out, tells the tool, and drops what it says later', async () => {
    let told = false;
    const started = await start([[...callEvents(0, 'shell', { command: 'hang' }), finish('tool-calls')], say('ok')], (_args, context) => {
      context.signal.addEventListener('abort', () => {
        told = true;
      });
      return new Promise<ToolResult>(() => undefined);
    });
    while (!started.events.some(({ type }) => type === 'step-end')) await Promise.resolve();
    for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
    await started.clock.advance(limits.toolTimeoutMs);
    await started.done;
    expect(results(started.events)).toMatchObject([{ code: 'timeout' }]);
    expect(resultText(results(started.events)[0])).toContain('builtin.bash');
    expect(told).toBe(true);
  });

  it('cuts a result that is too large, and says so', async () => {
    const { events } = await run([[...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')], say('ok')], () =>
      textResult('x'.repeat(5_000_000)),
    );
    expect(JSON.stringify(results(events)[0]).length).toBeLessThan(limits.maxResultBytes * 2);
  });

  it('restarts a step that broke off, and drops what it had said', async () => {
    const broken: ChatEvent[] = [
      { type: 'text', text: 'half' },
      { type: 'error', problem: new Problem('upstream_error', 'cut').toBody(), retryable: true },
    ];
    const { events } = await run([broken, say('whole')], () => textResult('ran'));
    expect(events.find(({ type }) => type === 'step-restart')).toEqual({ type: 'step-restart', turn: 'turn_1', step: 1, from: 3 });
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
  });

  it('goes to the fallback model when the first refuses, and fails with the reason when all do', async () => {
    const refusal = new Problem('upstream_error', 'no credit');
    const saved = await run([refusal, say('hello')], () => textResult('ran'), { fallbacks: ['c/d'] });
    expect(saved.requests.map(({ access, model }) => `${access.name}/${model}`)).toEqual(['a/b', 'c/d']);
    expect(saved.events.at(-1)).toMatchObject({ status: 'completed' });
    const lost = await run([refusal, refusal], () => textResult('ran'), { fallbacks: ['c/d'] });
    expect(lost.events.slice(-2)).toMatchObject([
      { type: 'error', problem: { code: 'upstream_error', detail: 'no credit' } },
      { type: 'turn-end', status: 'failed', reason: 'upstream_error' },
    ]);
  });

  it('ends a model that calls for ever, with one closing step in which tools may not be chosen', async () => {
    const script = Array.from({ length: 40 }, (_, step) => [...callEvents(0, 'shell', { command: `n${step}` }), finish('tool-calls')]);
    const { events, requests } = await run(script, () => textResult('ran'), { limits: { maxSteps: 3 } });
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto', 'none']);
    expect(requests.at(-1)?.tools).toHaveLength(2);
    expect(results(events).map(({ code }) => code ?? 'ran')).toEqual(['ran', 'ran', 'ran', 'limit_reached']);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed', reason: 'max_steps' });
  });

  it('passes a tool on no further than the result code says when a tool answers with an error', async () => {
    const { events } = await run([[...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')], say('ok')], () =>
      errorResult('tool_error', 'exit 1'),
    );
    expect(results(events)).toMatchObject([{ isError: true, code: 'tool_error' }]);
  });

  it('joins deltas of one read interval into one event', async () => {
    const { events } = await run([[...'abcdefgh'].map((text): ChatEvent => ({ type: 'text', text })).concat(finish('stop'))], () =>
      textResult('ran'),
    );
    const deltas = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []));
    expect(deltas).toEqual(['a', 'bcdefgh']);
  });
});
