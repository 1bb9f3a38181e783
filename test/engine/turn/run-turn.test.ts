import { describe, expect, it, vi } from 'vitest';
import type { ChatEvent } from '../../../src/core/model/chat-event.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { errorResult, textResult, type ToolResult } from '../../../src/core/tools/tool.ts';
import type { ToolContext } from '../../../src/ports/tool-executor.ts';
import { Toolset } from '../../../src/core/toolset/toolset.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { callEvents, finish, results, resultText, run, say, start } from '../one-turn.ts';
import { maxRecoveriesWithoutProgress } from '../../../src/core/turn/turn.ts';
import { noEffects } from '../../fakes/no-effects.ts';

describe('a turn over a model', () => {
  it('runs an aliased call as its canonical tool, and ends with text', async () => {
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
      'tool-start',
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

  it('repairs arguments by the schema of the tool, and says so in the event of the result', async () => {
    const inputSchema = { type: 'object', properties: { days: { type: 'integer' } } };
    const definitions = [toolOf('weather', 'forecast', { kind: 'local', inputSchema, annotations: { readOnlyHint: true } })];
    const toolset = Toolset.parse({ tools: [{ tool: 'weather.forecast' }] });
    const given: unknown[] = [];
    const execute = (args: Record<string, unknown>) => {
      given.push(args);
      return textResult('sunny');
    };
    const calls = [...callEvents(0, 'forecast', { days: '3' }), ...callEvents(1, 'forecast', { days: 4 }), finish('tool-calls')];
    const { events } = await run([calls, say('done')], execute, {}, [], null, { definitions, toolset });
    expect(given).toEqual([{ days: 3 }, { days: 4 }]);
    const [first, second] = results(events);
    expect(first).toMatchObject({ isError: false, repaired: [{ path: 'days', from: '"3"', to: '3' }] });
    expect(second).not.toHaveProperty('repaired');
  });

  it('shows the model the current names, the announcement and the results', async () => {
    const { requests } = await run([[...callEvents(0, 'shell', { command: 'date' }), finish('tool-calls')], say('done')], () =>
      textResult('today'),
    );
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['terminalRun', 'cat', 'erase']);
    expect(requests[0]?.messages[0]).toMatchObject({
      role: 'system',
      parts: [{ text: expect.stringMatching(/^Be brief\.[\s\S]*terminalRun = builtin\.bash \(aliases: shell\)/) }],
    });
    expect(requests[1]?.messages.slice(2)).toMatchObject([
      { role: 'assistant', parts: [{ type: 'tool-call', requested: 'terminalRun' }] },
      { role: 'tool', parts: [{ requested: 'terminalRun', content: [{ text: 'today' }] }] },
    ]);
  });

  it('runs calls concurrently, stores each result at once, and shows the model the results in call order', async () => {
    const slow = Promise.withResolvers<void>();
    const { events, requests, done } = await start(
      [[...callEvents(0, 'shell', { command: 'slow' }), ...callEvents(1, 'shell', { command: 'fast' }), finish('tool-calls')], say('done')],
      async ({ command }) => {
        if (command === 'slow') await slow.promise;
        return textResult(String(command));
      },
    );
    await vi.waitFor(() => expect(results(events).map(resultText)).toEqual(['fast']));
    slow.resolve();
    await done;
    expect(results(events).map(resultText)).toEqual(['fast', 'slow']);
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      parts: [{ content: [{ text: 'slow' }] }, { content: [{ text: 'fast' }] }],
    });
  });

  it('runs calls one after the other if the request or agent sets parallelToolCalls to false', async () => {
    const running: string[] = [];
    const { events } = await run(
      [
        [...callEvents(0, 'shell', { command: 'first' }), ...callEvents(1, 'shell', { command: 'second' }), finish('tool-calls')],
        say('done'),
      ],
      async ({ command }) => {
        running.push(`${command} starts`);
        for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
        running.push(`${command} ends`);
        return textResult(String(command));
      },
      { settings: { parallelToolCalls: false } },
    );
    expect(running).toEqual(['first starts', 'first ends', 'second starts', 'second ends']);
    expect(results(events).map(resultText)).toEqual(['first', 'second']);
  });

  it.each([
    { reply: true, setting: undefined, inOrder: true },
    { reply: true, setting: true, inOrder: undefined },
    { reply: undefined, setting: undefined, inOrder: undefined },
    { reply: undefined, setting: false, inOrder: true },
  ] as const)('logs the order of the calls: reply $reply, setting $setting → $inOrder', async ({ reply, setting, inOrder }) => {
    const end = { type: 'finish', reason: 'tool-calls', raw: null, ...(reply && { inOrder: reply }) } as const;
    const settings = setting === undefined ? {} : { parallelToolCalls: setting };
    const { events } = await run([[...callEvents(0, 'shell', { command: 'x' }), end], say('done')], () => textResult('x'), { settings });
    expect(events.find(({ type }) => type === 'step-end')).toEqual(
      expect.objectContaining({ reason: 'tool-calls', ...(inOrder && { inOrder }) }),
    );
    expect('inOrder' in (events.find(({ type }) => type === 'step-end') ?? {})).toBe(inOrder === true);
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

  it('runs a safe call of one step once for two names of its tool, and audits both names', async () => {
    let ran = 0;
    const names = ['cat', 'builtin.read_file', 'Cat'];
    const { events, audit } = await run(
      [[...names.flatMap((name, call) => callEvents(call, name, { path: 'a' })), finish('tool-calls')], say('done')],
      () => {
        ran += 1;
        return textResult('ok');
      },
    );
    expect(ran).toBe(1);
    expect(results(events).map(({ name, via, isError }) => [name, via, isError])).toEqual([
      ['cat', 'wire', false],
      ['builtin.read_file', 'canonical', false],
      ['Cat', 'folded', false],
    ]);
    // The rows of calls that run side by side have no order.
    const rows = audit.map(({ requested, via }) => `${requested} ${via}`);
    expect(rows.toSorted()).toEqual(['Cat folded', 'builtin.read_file canonical', 'cat wire']);
  });

  it('audits a shared refusal as a refusal, for both calls', async () => {
    const { audit } = await run([[...callEvents(0, 'cat', {}), ...callEvents(1, 'cat', {}), finish('tool-calls')], say('sorry')], () =>
      textResult('ran'),
    );
    expect(audit.map(({ verdict, code }) => `${verdict} ${code}`)).toEqual(['refused invalid_arguments', 'refused invalid_arguments']);
  });

  it('treats arguments in a different order as the same', async () => {
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
    ['a rounded number', callEvents(0, 'shell', { command: 1e18 }, 'repaired'), 'invalid_json', /valid JSON/],
  ])('returns a result for %s that says what to do, and continues', async (_what, call, code, text) => {
    const { events } = await run([[...call, finish('tool-calls')], say('sorry')], () => textResult('ran'));
    expect(results(events)).toMatchObject([{ isError: true, code }]);
    expect(resultText(results(events)[0])).toMatch(text);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed' });
  });

  it('runs a call that lacked only closing brackets, and repaired ones that need no approval', async () => {
    const { events } = await run(
      [
        [
          ...callEvents(0, 'shell', { command: 'ls' }, 'closed'),
          ...callEvents(1, 'cat', { path: 'a' }, 'repaired'),
          ...callEvents(2, 'shell', { command: 'id' }, 'repaired'),
          finish('tool-calls'),
        ],
        say('ok'),
      ],
      () => textResult('ran'),
    );
    expect(results(events).map(({ isError }) => isError)).toEqual([false, false, false]);
  });

  it('adds a notice for a deprecated name to the result', async () => {
    const { events } = await run([[...callEvents(0, 'sh_old', { command: 'x' }), finish('tool-calls')], say('ok')], () =>
      textResult('ran'),
    );
    expect(results(events)[0]?.content).toEqual([
      { type: 'text', text: 'ran' },
      { type: 'text', text: '[The name sh_old is deprecated: use terminalRun.]' },
    ]);
  });

  it('turns an exception of a tool into a result and removes read secrets from it', async () => {
    const { events, log } = await run(
      [[...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')], say('ok')],
      async (_args, context) => {
        throw new Error(`bad key ${await context.secret('GH')}`);
      },
    );
    expect(results(events)).toMatchObject([{ code: 'tool_error' }]);
    expect(JSON.stringify([events, log.lines])).not.toContain('hunter2');
  });

  it('stops a tool at its timeout, aborts its signal, and drops what it returns later', async () => {
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

  it('drops what a tool returns and writes after its timeout', async () => {
    let late = (): void => undefined;
    const started = await start([[...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')], say('ok')], (_args, { files }) => {
      const overlay = files.overlay();
      overlay.write('/workspace/b.txt', new Uint8Array([1]));
      files.write('/workspace/before.txt', new Uint8Array([1]));
      return new Promise<ToolResult>((resolve) => {
        late = () => {
          expect(() => files.write('/workspace/a.txt', new Uint8Array([1]))).toThrow('the call has ended');
          expect(() => files.remove('/workspace/before.txt')).toThrow('the call has ended');
          overlay.commit();
          resolve(textResult('late'));
        };
      });
    });
    while (!started.events.some(({ type }) => type === 'tool-start')) await Promise.resolve();
    for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
    await started.clock.advance(limits.toolTimeoutMs);
    await started.done;
    const before = [...started.events];
    late();
    for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
    expect(started.events).toEqual(before);
    expect(started.scope.call.files.list('/workspace').map(({ name }) => name)).toEqual(['before.txt']);
  });

  it('truncates a result that is too large, and says so', async () => {
    const { events } = await run([[...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')], say('ok')], () =>
      textResult('x'.repeat(5_000_000)),
    );
    expect(JSON.stringify(results(events)[0]).length).toBeLessThan(limits.maxResultBytes * 2);
  });

  it('restarts a step whose reply broke off, and drops its text', async () => {
    const broken: ChatEvent[] = [
      { type: 'text', text: 'half' },
      { type: 'error', problem: new Problem('upstream_error', 'cut').toBody(), retryable: true },
    ];
    const { events } = await run([broken, say('whole')], () => textResult('ran'));
    expect(events.find(({ type }) => type === 'step-restart')).toEqual({
      ...{ type: 'step-restart', turn: 'turn_1', step: 1, from: 3 },
      // The failed reply is counted for its model.
      ...{ model: 'a/b', code: 'upstream_error' },
    });
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
  });

  it('uses the fallback model when the first one refuses, and fails with the reason when all do', async () => {
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

  it('asks the targets of a route in its order, keeps them apart from fallbacks, and says in the log which one replied', async () => {
    const down = new Problem('rate_limited', 'later', { provider: 'one', upstreamStatus: 429, retryable: true, retryAfterMs: 60_000 });
    const route = { name: 'fast', targets: [{ model: 'one/turn' }, { model: 'two/turn' }], timeouts: { firstByteMs: 700 } };
    const plan = { model: 'one/turn', fallbacks: ['two/turn', 'c/d'], routes: [route, 'c/d'] };
    const script = [down, [...callEvents(0, 'shell', { command: 'date' }), finish('tool-calls')], say('done')];
    const { events, requests } = await run(script, () => textResult('today'), plan);
    // The second step does not ask the model that is put aside.
    expect(requests.map(({ access, model }) => `${access.name}/${model}`)).toEqual(['one/turn', 'two/turn', 'two/turn']);
    expect(requests.map(({ timeouts }) => timeouts?.firstByteMs)).toEqual([700, 700, 700]);
    expect(events.filter(({ type }) => type === 'step-restart' || type === 'step-end')).toMatchObject([
      { type: 'step-restart', model: 'one/turn', code: 'rate_limited' },
      { model: 'two/turn', target: 'two/turn; why=fallback; attempts=2; failed="one/turn:rate_limited"' },
      { model: 'two/turn', target: 'two/turn; why=fallback; attempts=1' },
    ]);
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
  });

  it('gives a session the same target of a weighted route in every turn', async () => {
    const targets = Array.from({ length: 8 }, (_, index) => ({ model: `p${index}/sticky` }));
    const route = { name: 'shared', targets, strategy: 'weighted' as const };
    const plan = { model: 'p0/sticky', fallbacks: [], routes: [route] };
    const turns = [];
    for (let index = 0; index < 3; index += 1) turns.push(await run([say('hello')], () => textResult('ran'), plan));
    const asked = turns.flatMap(({ requests }) => requests.map(({ access }) => access.name));
    expect([asked.length, new Set(asked).size]).toEqual([3, 1]);
    expect(turns[0]?.events.find(({ type }) => type === 'step-end')).toMatchObject({ target: expect.stringContaining('why=sticky') });
  });

  it('ends a model that calls without end, with one closing step in which no tool may be chosen', async () => {
    const script = Array.from({ length: 40 }, (_, step) => [...callEvents(0, 'shell', { command: `n${step}` }), finish('tool-calls')]);
    const { events, requests } = await run(script, () => textResult('ran'), { limits: { maxSteps: 3 } });
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto', 'auto', 'auto', 'none']);
    expect(requests.at(-1)?.tools).toHaveLength(3);
    expect(results(events).map(({ code }) => code ?? 'ran')).toEqual(['ran', 'ran', 'ran', 'limit_reached']);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed', reason: 'max_steps' });
  });

  it('asks twice for calls that are cut at the length limit', async () => {
    const plan = { clientTools: [{ name: 'pick', description: '', inputSchema: { type: 'object' } }] };
    const cut = [...callEvents(0, 'pick', {}), finish('length')];
    const { events, requests } = await run(
      Array.from({ length: 20 }, () => cut),
      () => textResult('ran'),
      plan,
    );
    expect(requests).toHaveLength(2);
    expect(results(events).map(({ code }) => code)).toEqual(['truncated', 'truncated']);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed', reason: 'length' });
  });

  it('requires a call of the client’s tools as long as only server tools were called', async () => {
    const plan = {
      clientTools: [{ name: 'pick', description: '', inputSchema: { type: 'object' } }],
      settings: { toolChoice: 'required' as const },
    };
    const first = [...callEvents(0, 'shell', { command: 'ls' }), finish('tool-calls')];
    const { events, requests } = await run(
      [first, [...callEvents(0, 'pick', { of: 3 }), finish('tool-calls')]],
      () => textResult('ran'),
      plan,
    );
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', 'required']);
    const result: SessionEventBody = { ...question('call_2'), type: 'tool-result', step: 2, via: null, isError: false, content: [] };
    const second = await run([say('three')], () => textResult('ran'), plan, [...events.slice(1), result]);
    expect(second.requests.map(({ toolChoice }) => toolChoice)).toEqual(['auto']);
    const alone = await run([first, say('done')], () => textResult('ran'), { settings: plan.settings });
    expect(alone.requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', 'auto']);
  });

  it('gives the model only the result code of a tool error', async () => {
    const { events } = await run([[...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')], say('ok')], () =>
      errorResult('tool_error', 'exit 1'),
    );
    expect(results(events)).toMatchObject([{ isError: true, code: 'tool_error' }]);
  });

  it('joins the deltas of one read interval into one event', async () => {
    const { events } = await run([[...'abcdefgh'].map((text): ChatEvent => ({ type: 'text', text })).concat(finish('stop'))], () =>
      textResult('ran'),
    );
    const deltas = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []));
    expect(deltas).toEqual(['a', 'bcdefgh']);
  });
});

const turn = 'turn_1';
const asked = (events: SessionEventBody[]) => events.flatMap((event) => (event.type === 'approval-required' ? [event] : []));
const types = (events: SessionEventBody[]) => events.map(({ type }) => type);
/** A step with one call to `erase` and one to `shell`, as in the log before its calls have started. */
const stepWith = (...names: string[]): SessionEventBody[] => [
  { type: 'step-start', turn, step: 1 },
  ...names.flatMap((name, index): SessionEventBody[] => {
    const callId = `${name}_${index}`;
    const args = name === 'shell' ? { command: 'date' } : { path: 'a' };
    return [
      { type: 'tool-input-start', turn, step: 1, callId, name, canonical: null, via: null },
      { type: 'tool-input-end', turn, step: 1, callId, arguments: args, repaired: false },
    ];
  }),
  { type: 'step-end', turn, step: 1, reason: 'tool-calls', model: 'a/b' },
];
const begun = (callId: string, attempt = 1): SessionEventBody => ({ type: 'tool-start', turn, step: 1, callId, attempt });
const resumed = (attempt: number): SessionEventBody => ({ type: 'turn-resume', turn, attempt });
const decided = (callId: string, decision: 'approve' | 'deny' | 'expire'): SessionEventBody => ({
  type: 'approval-decided',
  turn,
  step: 1,
  callId,
  decision,
  by: 'key_1',
});

describe('a turn that requires approval', () => {
  it('runs what needs no approval, asks, and waits without running the rest', async () => {
    const ran: string[] = [];
    const script = [[...callEvents(0, 'erase', { path: 'a' }), ...callEvents(1, 'cat', { path: 'b' }), finish('tool-calls')]];
    const started = await start(script, (_args, _context, canonical) => {
      ran.push(canonical);
      return textResult('ok');
    });
    started.scope.call.files.write('/workspace/a', new Uint8Array([1]));
    const { events, audit, done } = started;
    expect(await done).toBe('waiting');
    expect(ran).toEqual(['builtin.read_file']);
    expect(types(events).slice(-3)).toEqual(['tool-start', 'tool-result', 'approval-required']);
    expect(asked(events)).toMatchObject([
      {
        canonical: 'builtin.delete_file',
        entry: 'erase',
        arguments: { path: 'a' },
        ask: 'delete-file',
        expiresAt: '2026-01-08T00:00:00.000Z',
      },
    ]);
    expect(audit).toHaveLength(1);
  });

  it('runs an approved call at once, although another call still waits', async () => {
    const before = [...stepWith('erase', 'erase'), ...['erase_0', 'erase_1'].map(question), decided('erase_1', 'approve')];
    const { events, done } = await run([say('done')], () => textResult('gone'), {}, before);
    expect(await done).toBe('waiting');
    expect(results(events)).toMatchObject([{ callId: 'erase_1', isError: false }]);
  });

  it.each([
    ['a no', 'deny' as const, /user denied the call/],
    ['no word in time', 'expire' as const, /in time/],
  ])('gives the model %s, runs nothing, and continues', async (_what, decision, text) => {
    let runs = 0;
    const before = [...stepWith('erase'), question('erase_0'), decided('erase_0', decision)];
    const { events, requests } = await run(
      [say('then not')],
      () => {
        runs += 1;
        return textResult('gone');
      },
      {},
      before,
    );
    expect(runs).toBe(0);
    expect(results(events)).toMatchObject([{ code: 'denied' }]);
    expect(resultText(results(events)[0])).toMatch(text);
    expect(requests).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
  });

  it('requires approval for an effect in the middle of a tool, and reruns the tool when approved', async () => {
    const writes = async (_args: unknown, context: ToolContext): Promise<ToolResult> => {
      context.files.write('/etc/motd', new Uint8Array());
      return textResult('written');
    };
    const first = await run([[...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')]], writes);
    expect(await first.done).toBe('waiting');
    expect(results(first.events)).toEqual([]);
    expect(asked(first.events)).toMatchObject([{ ask: 'write-outside', target: '/etc/motd' }]);
    const before = [...first.events.slice(1), decided('call_1', 'approve')];
    const second = await run([say('done')], writes, {}, before);
    expect(second.events.slice(before.length + 1, before.length + 3)).toMatchObject([
      { type: 'tool-start', attempt: 1 },
      { isError: false },
    ]);
  });

  it('passes a call of a client tool to the client, and continues with its result', async () => {
    const plan = { clientTools: [{ name: 'pick', description: '', inputSchema: { type: 'object' } }] };
    const { events, done } = await run([[...callEvents(0, 'pick', { of: 3 }), finish('tool-calls')]], () => textResult('ran'), plan);
    expect(await done).toBe('waiting');
    expect(events.at(-1)).toMatchObject({ type: 'client-tool-required', name: 'pick', canonical: 'client.pick', arguments: { of: 3 } });
    const result: SessionEventBody = { ...question('call_1'), type: 'tool-result', via: null, isError: false, content: [] };
    const second = await run([say('three')], () => textResult('ran'), plan, [...events.slice(1), result]);
    expect(await second.done).toBe('ended');
    expect(second.requests[0]?.messages.at(-1)).toMatchObject({ role: 'tool', parts: [{ callId: 'call_1' }] });
  });
});

describe('a turn that another run has taken over', () => {
  it('starts no call whose start it could not store', async () => {
    let runs = 0;
    const model: ChatEvent[] = [...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')];
    const started = await start([model], () => {
      runs += 1;
      return textResult('ran');
    });
    started.scope.call.started = () => started.abort.abort(new Error('taken over'));
    expect(await started.done).toBe('aborted');
    expect(runs).toBe(0);
  });
});

describe('a turn whose process died', () => {
  it('repeats the interrupted step, and discards its text', async () => {
    const before: SessionEventBody[] = [
      { type: 'step-start', turn, step: 1 },
      { type: 'text-delta', turn, step: 1, text: 'ha' },
      resumed(1),
    ];
    const { events, requests } = await run([say('hello')], () => textResult('ran'), {}, before);
    expect(events.slice(4)).toMatchObject([
      { type: 'step-restart', from: 3 },
      { text: 'hello' },
      { type: 'step-end' },
      { type: 'turn-end' },
    ]);
    expect(JSON.stringify(requests[0]?.messages)).not.toContain('"ha"');
  });

  it('runs only the calls without a result, a safe one again with its own idempotency key', async () => {
    const keys: string[] = [];
    const finished: SessionEventBody = { ...question('shell_0'), type: 'tool-result', via: null, isError: false, content: [] };
    const before = [...stepWith('shell', 'cat'), begun('shell_0'), begun('cat_1'), finished, resumed(1)];
    const { events } = await run(
      [say('done')],
      (_args, context) => {
        keys.push(context.idempotencyKey);
        return textResult('ok');
      },
      {},
      before,
    );
    expect(keys).toEqual(['cat_1']);
    expect(events.find(({ type }, index) => type === 'tool-start' && index > before.length)).toMatchObject({ callId: 'cat_1', attempt: 2 });
  });

  it('never reruns an unsafe call: the model gets outcome_unknown', async () => {
    let runs = 0;
    const { events } = await run(
      [say('I will look')],
      () => {
        runs += 1;
        return textResult('ran');
      },
      {},
      [...stepWith('shell'), begun('shell_0'), resumed(1)],
    );
    expect(runs).toBe(0);
    expect(results(events)).toMatchObject([{ callId: 'shell_0', isError: true, code: 'outcome_unknown' }]);
    expect(events.at(-1)).toMatchObject({ status: 'completed' });
  });

  it('ends when it dies repeatedly without progress, with a result for every call', async () => {
    const deaths = Array.from({ length: maxRecoveriesWithoutProgress + 1 }, (_, index) => resumed(index + 1));
    const { events, requests } = await run([say('never')], () => textResult('ran'), {}, [
      ...stepWith('shell', 'cat'),
      begun('shell_0'),
      ...deaths,
    ]);
    expect(requests).toEqual([]);
    expect(events.slice(-4)).toMatchObject([
      { callId: 'shell_0', code: 'outcome_unknown' },
      { callId: 'cat_1', code: 'aborted' },
      { type: 'error' },
      { type: 'turn-end', status: 'failed', reason: 'recovery_limit' },
    ]);
  });
});

function question(callId: string): SessionEventBody & { type: 'approval-required' } {
  const at = { turn, step: 1, callId, name: 'erase', canonical: 'builtin.delete_file' };
  const ask = { reason: 'It deletes a file', ask: 'delete-file' as const, target: null, expiresAt: '2026-01-08T00:00:00.000Z' };
  return { type: 'approval-required', ...at, entry: 'erase', arguments: { path: 'a' }, ...noEffects, ...ask };
}
