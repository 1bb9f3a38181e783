/**
 * The tests of tool-level aliases from the seed (input → expected), as this product responds. Where the contract differs, the test says
 * "Differs: …". `test/core/skill*.test.ts` covers its skills.
 */
import { describe, expect, it } from 'vitest';
import { buildAliasMap, resolveName } from '../../src/core/toolset/alias-map.ts';
import { offeredTools } from '../../src/core/turn/offered-tools.ts';
import { textResult } from '../../src/core/tools/tool.ts';
import { ToolCallAssembler } from '../../src/core/model/tool-call-assembler.ts';
import { toRequestBody } from '../../src/providers/chat-model.ts';
import { callEvents, finish, results, resultText, run, say, start } from '../engine/one-turn.ts';
import { compile, knownTools, refusalOf, toolOf } from '../fakes/known-tools.ts';
import { otherTasks } from '../wait-for.ts';

const known = knownTools([toolOf('sisu', 'terminalRun'), toolOf('sisu', 'echo')]);
const mapOf = async (tools: unknown[]) => buildAliasMap((await compile({ tools }, known)).edition, { aliases: true });

describe('a turn', () => {
  it('runs two identical calls of one step once, and returns both results', async () => {
    let ran = 0;
    const twice = [...callEvents(0, 'cat', { path: 'a' }), ...callEvents(1, 'cat', { path: 'a' }), finish('tool-calls')];
    const { events } = await run([twice, say('done')], () => {
      ran += 1;
      return textResult('once');
    });
    expect(ran).toBe(1);
    expect(results(events).map(resultText)).toEqual(['once', 'once']);
  });

  it('runs both if the tool has side effects. Differs: the seed shared all', async () => {
    let ran = 0;
    const twice = [...callEvents(0, 'shell', { command: 'date' }), ...callEvents(1, 'shell', { command: 'date' }), finish('tool-calls')];
    await run([twice, say('done')], () => {
      ran += 1;
      return textResult('again');
    });
    expect(ran).toBe(2);
  });

  it('returns an answer without tools in one step, and after two rounds of them with the last text', async () => {
    const none = await run([say('Hello.')], () => textResult('never'));
    expect(none.requests).toHaveLength(1);
    const read = (path: string) => [...callEvents(0, 'cat', { path }), finish('tool-calls')];
    const two = await run([read('a'), read('b'), say('Both read.')], () => textResult('ok'));
    expect(two.requests).toHaveLength(3);
    expect(results(two.events)).toHaveLength(2);
    expect(two.events.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed' });
  });

  it('gives a tool its signal, log, files and secrets, and never the messages, the state or other tools to call', async () => {
    let given: string[] = [];
    await run([[...callEvents(0, 'cat', { path: 'a' }), finish('tool-calls')], say('done')], (_args, context) => {
      given = Object.keys(context);
      return textResult('ok');
    });
    expect(given).toEqual(expect.arrayContaining(['signal', 'log', 'files', 'secret', 'fetch']));
    for (const name of ['messages', 'tools', 'state', 'input', 'stream', 'registry', 'call']) expect(given).not.toContain(name);
  });

  it('ends as cancelled if its signal aborts. Differs: the end is an event of the log, not an exception', async () => {
    const started = await start([[...callEvents(0, 'shell', { command: 'x' }), finish('tool-calls')]], () => new Promise(() => undefined));
    await otherTasks();
    started.abort.abort(new Error('cancelled'));
    expect(await started.done).toBe('aborted');
  });

  it('returns a result for an unknown tool and continues. Differs: there the run failed', async () => {
    const { events } = await run([[...callEvents(0, 'nothing_like_it', {}), finish('tool-calls')], say('Sorry.')], () =>
      textResult('never'),
    );
    expect(results(events)).toMatchObject([{ isError: true, code: 'unknown_tool' }]);
    expect(events.at(-1)).toMatchObject({ type: 'turn-end', status: 'completed' });
  });
});

describe('arguments', () => {
  const read = (text: string) => {
    const assembler = new ToolCallAssembler();
    const events = [
      ...assembler.push({ index: 0, id: 'c', name: 'echo', arguments: text }),
      ...assembler.finish({ ended: true, length: false }),
    ];
    return events.find((event) => event.type === 'call-end');
  };

  it('as JSON text and as JSON text within a JSON string are both parsed to an object', () => {
    expect(read('{"text":"x"}')).toMatchObject({ state: 'ok', arguments: { text: 'x' } });
    expect(read(JSON.stringify('{"text":"x"}'))?.arguments).toEqual({ text: 'x' });
  });

  it('that are invalid JSON are kept unchanged and run nothing', () => {
    expect(read('not json at all')).toMatchObject({ state: 'invalid', arguments: null, raw: 'not json at all' });
  });

  it('that a call omits are {}. Differs: there those of the call before were used', () => {
    expect(read('')).toMatchObject({ arguments: {} });
  });
});

describe('aliases', () => {
  it('show the model `bash` and `echo`, and keep both names of a call', async () => {
    const map = await mapOf([{ tool: 'sisu.terminalRun', aliases: ['bash'] }, { tool: 'sisu.echo' }]);
    expect(offeredTools(map).map(({ name }) => name)).toEqual(['bash', 'echo']);
    expect(resolveName(map, 'bash')).toMatchObject({ ok: true, requested: 'bash', canonical: 'sisu.terminalRun', via: 'wire' });
  });

  it('leave the canonical and the own name callable. Differs: there the call of `terminalRun` failed', async () => {
    const map = await mapOf([{ tool: 'sisu.terminalRun', aliases: ['bash'] }]);
    expect(resolveName(map, 'terminalRun')).toMatchObject({ ok: true, wireName: 'bash', via: 'own' });
    expect(resolveName(map, 'sisu.terminalRun')).toMatchObject({ ok: true, wireName: 'bash', via: 'canonical' });
  });

  it('of an unknown tool are rejected with its path. Differs: there it was a warning', async () => {
    const refusal = await refusalOf({ tools: [{ tool: 'sisu.terminalRum', aliases: ['bash'] }] }, known);
    expect(refusal.extra.issues).toMatchObject([{ path: 'tools[0].tool', message: expect.stringContaining('sisu.terminalRun') }]);
  });

  it('given as an empty list are ignored', async () => {
    expect(offeredTools(await mapOf([{ tool: 'sisu.terminalRun', aliases: [] }])).map(({ name }) => name)).toEqual(['terminalRun']);
  });

  it('equal to their own tool’s name are allowed, to another’s they are not, in either order. Differs: there the order decided', async () => {
    expect(offeredTools(await mapOf([{ tool: 'sisu.echo', aliases: ['echo'] }])).map(({ name }) => name)).toEqual(['echo']);
    const tools = [{ tool: 'sisu.terminalRun', aliases: ['echo'] }, { tool: 'sisu.echo' }];
    for (const order of [tools, [...tools].reverse()]) expect((await refusalOf({ tools: order }, known)).code).toBe('name_conflict');
  });

  it('are all announced to the model, not the primary name only: it sees the first one', async () => {
    const { requests } = await run([say('Hello.')], () => textResult('never'));
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['terminalRun', 'cat', 'erase']);
    expect(JSON.stringify(requests[0]?.messages[0])).toContain('terminalRun = builtin.bash (aliases: shell)');
  });

  it('apply to a forced tool as well. Differs: there the name was sent to the provider unmapped', async () => {
    const { requests } = await run([say('Hello.')], () => textResult('never'), { settings: { toolChoice: { tool: 'builtin.bash' } } });
    expect(requests[0]?.toolChoice).toEqual({ tool: 'terminalRun' });
  });
});

describe('a request to a provider', () => {
  it('has neither tools nor a tool choice without tools', async () => {
    const { requests } = await run([say('Hello.')], () => textResult('never'), { allow: [] });
    const [request] = requests;
    if (request === undefined) throw new Error('nothing was asked');
    const body = toRequestBody(request);
    expect(body).not.toHaveProperty('tools');
    expect(body).not.toHaveProperty('tool_choice');
  });
});
