import { utf8Length } from '../../../../src/core/text/utf8.ts';
import { expect, test } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { contentText, errorResult, textResult, type ToolResult } from '../../../../src/core/tools/tool.ts';
import type { InnerOutcome } from '../../../../src/ports/inner-calls.ts';
import type { ToolOutcome, ToolContext } from '../../../../src/ports/tool-executor.ts';
import { answerOf, decideAll, madeTool, memoryJournal, runOf, toolNamed, waitingOf, type Body } from '../../inner-run.ts';

const read = toolNamed('local.read');
const send = toolNamed('local.send');
const asks = toolNamed('local.asks', { approval: 'always' });

/** What code sees of one result. */
function seen(answer: InnerOutcome): string {
  return answer.waits ? 'waits' : `${answer.result.code ?? 'ok'}: ${contentText(answer.result.content)}`;
}

/** Calls one tool after the other and returns what it saw; ends as sandboxed code does when one waits. */
function inTurn(...calls: [name: string, args?: unknown][]): Body {
  return async (_args, context) => {
    const lines: string[] = [];
    for (const [name, args = {}] of calls) {
      const answer = await beneath(context).call(name, args);
      if (answer.waits) return suspended;
      lines.push(seen(answer));
    }
    return textResult(lines.join('\n'));
  };
}

const suspended: ToolOutcome = { ...textResult(''), suspended: true };

function beneath({ calls }: ToolContext) {
  if (calls === null) throw new Error('it may call no tool');
  return calls;
}

const text = (result: ToolResult): string => contentText(result.content);

test('a nested call has its own id, audit row and log line, and names its parent call', async () => {
  const keys: string[] = [];
  const run = runOf([madeTool('both', [read, send])], {
    bodies: {
      'made.both': inTurn(['read', { at: 1 }], ['local.send']),
      'local.read': (_args, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return textResult('read');
      },
    },
  });
  expect(text(answerOf(await run.call('both')))).toBe('ok: read\nok: local.send');
  expect(keys).toEqual(['call_1.1']);
  expect(run.audit.map(({ callId, parent, canonical, requested, verdict }) => [callId, parent, canonical, requested, verdict])).toEqual([
    ['call_1.1', 'call_1', 'local.read', 'read', 'ran'],
    ['call_1.2', 'call_1', 'local.send', 'local.send', 'ran'],
    ['call_1', null, 'made.both', 'both', 'ran'],
  ]);
  expect(run.log.lines.filter(({ message }) => message === 'tool call')).toHaveLength(3);
});

test('a made tool can call the tools it uses and no others, whatever the plan offers', async () => {
  const run = runOf([madeTool('one', [read]), send], { bodies: { 'made.one': inTurn(['send'], ['local.send'], ['local.read']) } });
  const answer = text(answerOf(await run.call('one')));
  expect(answer.split('\n').map((line) => line.split(':')[0])).toEqual(['unknown_tool', 'unknown_tool', 'ok']);
});

test('the shell inside a made tool can call only what the made tool can', async () => {
  const bash = toolNamed('builtin.bash');
  const run = runOf([madeTool('one', [read, bash]), send], {
    bodies: { 'made.one': inTurn(['bash']), 'builtin.bash': inTurn(['send'], ['read']) },
  });
  expect(text(answerOf(await run.call('one')))).toMatch(/^ok: unknown_tool: .*\nok: local\.read$/s);
});

test("the plan's entry of a tool is used, and the name that the code was written with still resolves to it", async () => {
  const entry = toolNamed('local.read', { wireName: 'fetch_it' as never, approval: 'always' });
  const { journal } = memoryJournal();
  const run = runOf([madeTool('one', [read]), entry], { bodies: { 'made.one': inTurn(['read']) }, scope: { journal } });
  expect(waitingOf(await run.call('one'))).toEqual([{ callId: 'call_1.1', kind: 'approval' }]);
});

test("no name that the code was written with resolves to another tool, whatever the plan's names are", async () => {
  const swapped = [toolNamed('local.read', { wireName: 'send' as never }), toolNamed('local.send', { wireName: 'read' as never })];
  const run = runOf([madeTool('one', [read, send]), ...swapped], { bodies: { 'made.one': inTurn(['read'], ['send']) } });
  expect(text(answerOf(await run.call('one')))).toBe('ok: local.read\nok: local.send');
});

test('where the plan has a tool more than once, its entries are called by their own names', async () => {
  const entries = [
    toolNamed('local.read', { wireName: 'read_a' as never, arguments: { preset: { at: 1 } } as never }),
    toolNamed('local.read', { wireName: 'read_b' as never, arguments: { preset: { at: 2 } } as never }),
  ];
  const run = runOf([madeTool('one', [read]), ...entries], { bodies: { 'made.one': inTurn(['read'], ['read_b']) } });
  expect(text(answerOf(await run.call('one')))).toMatch(/^ambiguous_tool: .*read_a, read_b.*\nok: local\.read$/s);
});

test('a held tool keeps its name in a made tool, and a call returns an error', async () => {
  const run = runOf([madeTool('one', [toolNamed('local.held', { state: 'held' })])], {
    bodies: {
      'made.one': async (_args, context) => {
        const { tools, call } = beneath(context);
        return textResult(`${tools.map(({ name }) => name).join()} ${seen(await call('held', {}))}`);
      },
    },
  });
  expect(text(answerOf(await run.call('one')))).toMatch(/^held tool_held: /);
});

test('only tools that call tools get nested calls', async () => {
  const run = runOf([read], { bodies: { 'local.read': (_args, { calls }) => textResult(String(calls === null)) } });
  expect(text(answerOf(await run.call('read')))).toBe('true');
});

test('code is offered what it may call: not itself, no UI tools, and client tools only in a turn', async () => {
  const tools = [
    toolNamed('builtin.run_code'),
    read,
    toolNamed('ui.show', { kind: 'ui' }),
    toolNamed('client.mine', { kind: 'client' }),
    toolNamed('local.held', { state: 'held' }),
  ];
  const body: Body = (_args, context) =>
    textResult(
      beneath(context)
        .tools.map(({ name }) => name)
        .join(' '),
    );
  const bodies = { 'builtin.run_code': body };
  const { journal } = memoryJournal();
  expect(text(answerOf(await runOf(tools, { bodies, scope: { journal } }).call('run_code')))).toBe('read mine');
  expect(text(answerOf(await runOf(tools, { bodies, scope: { journal, turn: null } }).call('run_code')))).toBe('read');
});

test.each([
  ['an unknown name', 'nope', {}, /^unknown_tool: There is no tool "nope"/],
  ['arguments that are a list', 'read', [1], /^invalid_json: /],
  ['arguments that are a text', 'read', 'x', /^invalid_json: /],
  ['arguments that are null', 'read', null, /^invalid_json: /],
  ['no arguments', 'read', undefined, /^ok: local\.read$/],
] as const)('%s is a result for code and is never thrown', async (_what, name, args, expected) => {
  const run = runOf([madeTool('one', [read])], {
    bodies: { 'made.one': async (_args, context) => textResult(seen(await beneath(context).call(name, args))) },
  });
  expect(text(answerOf(await run.call('one')))).toMatch(expected);
});

test('arguments nested too deeply are a result, too', async () => {
  let deep: unknown = {};
  for (let level = 0; level < 20_000; level += 1) deep = { deep };
  const run = runOf([madeTool('one', [read])], {
    bodies: { 'made.one': async (_args, context) => textResult(seen(await beneath(context).call('read', deep))) },
  });
  expect(text(answerOf(await run.call('one')))).toMatch(/^invalid_json: /);
});

test('tools may be nested up to the limit; one level more is refused with the chain', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'].slice(0, limits.maxCompositeDepth + 1);
  const outermost = names.reduceRight((uses, name) => madeTool(name, [uses]), read);
  const bodies = Object.fromEntries(
    names.map((name, index) => [`made.${name}`, inTurn([index + 1 < names.length ? `made.${names[index + 1]}` : 'read'])]),
  );
  const run = runOf([outermost], { bodies });
  const answer = text(answerOf(await run.call('a')));
  expect(answer).toContain('not_allowed');
  expect(answer).toContain('made.a → made.b → made.c → made.d → made.e');
  expect(run.audit.map(({ callId }) => callId)).toEqual(['call_1.1.1.1.1', 'call_1.1.1.1', 'call_1.1.1', 'call_1.1', 'call_1']);
});

test('a tool that would call itself is refused with the chain', async () => {
  const inner = madeTool('a', []);
  const run = runOf([madeTool('a', [madeTool('b', [inner])])], {
    bodies: { 'made.a': inTurn(['made.b']), 'made.b': inTurn(['made.a']) },
  });
  expect(text(answerOf(await run.call('a')))).toContain('made.a → made.b → made.a');
});

test('the nested calls of one outermost call are counted together; one beyond the limit is refused', async () => {
  const many = Array.from({ length: limits.maxInnerCalls }, (): [string] => ['read']);
  const run = runOf([madeTool('outer', [madeTool('inner', [read])])], {
    bodies: { 'made.outer': inTurn(['made.inner']), 'made.inner': inTurn(...many) },
  });
  const lines = text(answerOf(await run.call('outer'))).split('\n');
  expect(lines.filter((line) => line.includes('local.read'))).toHaveLength(limits.maxInnerCalls - 1);
  expect(lines.at(-1)).toMatch(/^limit_reached: /);
});

test('the configured number of nested calls runs concurrently, and no more', async () => {
  let now = 0;
  let most = 0;
  const full = Promise.withResolvers<void>();
  const run = runOf([madeTool('wide', [read])], {
    bodies: {
      'made.wide': async (_args, context) => {
        await Promise.all(Array.from({ length: 20 }, () => beneath(context).call('read', {})));
        return textResult('done');
      },
      'local.read': async () => {
        now += 1;
        most = Math.max(most, now);
        if (now === limits.maxParallelCalls) full.resolve();
        await full.promise;
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        return textResult('read');
      },
    },
  });
  await run.call('wide');
  expect(most).toBe(limits.maxParallelCalls);
});

test('code gets the full long result, without a note about fetching the rest', async () => {
  const long = 'x'.repeat(limits.maxResultBytes * 2);
  let length = 0;
  const run = runOf([madeTool('one', [read])], {
    bodies: {
      'made.one': async (_args, context) => {
        const answer = await beneath(context).call('read', {});
        length = answer.waits ? 0 : text(answer.result).length;
        return textResult('done');
      },
      'local.read': () => textResult(long),
    },
  });
  await run.call('one');
  expect(length).toBe(long.length);
});

test('the timeout of a call does not include its nested calls, which have their own', async () => {
  const { promise, resolve } = Promise.withResolvers<ToolOutcome>();
  const reached = Promise.withResolvers<void>();
  const run = runOf([madeTool('one', [read, send])], {
    bodies: {
      'made.one': inTurn(['read'], ['send']),
      'local.read': () => textResult('quick'),
      'local.send': () => {
        reached.resolve();
        return promise;
      },
    },
  });
  const outcome = run.call('one');
  await reached.promise;
  run.clock.advance(1_001);
  expect(text(answerOf(await outcome))).toMatch(/^ok: quick\ntimeout: local\.send did not finish within 1 s/);
  resolve(textResult('late'));
});

test('a nested call that requires approval asks for itself, whatever approval the outer call has', async () => {
  const { journal } = memoryJournal();
  const run = runOf([madeTool('one', [asks], { approval: 'never' })], { bodies: { 'made.one': inTurn(['asks']) }, scope: { journal } });
  expect(waitingOf(await run.call('one'))).toEqual([{ callId: 'call_1.1', kind: 'approval' }]);
  expect(run.audit).toEqual([]);
});

test('if the call cannot wait, code gets approval_required and continues', async () => {
  const run = runOf([madeTool('one', [asks, read])], { bodies: { 'made.one': inTurn(['asks'], ['read']) } });
  expect(text(answerOf(await run.call('one')))).toMatch(/^approval_required: .*\nok: local\.read$/s);
});

test('a nested call aborted by the end of the outer call gets that as its result, and its audit row comes first', async () => {
  const begun = Promise.withResolvers<void>();
  const run = runOf([madeTool('one', [read])], {
    bodies: {
      'made.one': async (_args, context) => {
        void beneath(context).call('read', {});
        await begun.promise;
        return textResult('done');
      },
      'local.read': (_args, { signal }) => {
        begun.resolve();
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(errorResult('aborted', 'cut')), { once: true }));
      },
    },
  });
  expect(text(answerOf(await run.call('one')))).toBe('done');
  expect(run.audit.map(({ callId, code }) => [callId, code])).toEqual([
    ['call_1.1', 'aborted'],
    ['call_1', null],
  ]);
});

test('file changes that a script made through tools are repeated when it is rerun, and nothing else is', async () => {
  const write = toolNamed('builtin.write_file');
  const store = memoryJournal();
  const ran: string[] = [];
  const bash: Body = async (_args, context) => {
    const overlay = context.files.overlay();
    const calls = beneath(context);
    for (const name of ['write_file', 'send', 'asks', 'write_file']) {
      const answer = await calls.call(name, {}, { files: overlay });
      if (answer.waits) return suspended;
      ran.push(`${name} ${answer.result.code ?? 'ok'}`);
    }
    overlay.commit();
    return textResult(new TextDecoder().decode(context.files.read('/workspace/log')));
  };
  const run = runOf([toolNamed('builtin.bash'), write, send, asks], {
    bodies: {
      'builtin.bash': bash,
      'builtin.write_file': (_args, { files }) => {
        files.append('/workspace/log', new TextEncoder().encode('w'));
        return textResult('written');
      },
      'local.send': () => {
        ran.push('sent');
        return textResult('sent');
      },
    },
    scope: { journal: store.journal },
  });
  const waiting = await run.call('bash');
  expect(waitingOf(waiting)).toEqual([{ callId: 'call_1.3', kind: 'approval' }]);
  expect(run.scope.files.stat('/workspace/log')).toBeNull();
  decideAll(waiting, store);
  expect(text(answerOf(await run.call('bash')))).toBe('ww');
  expect(ran).toEqual(['write_file ok', 'sent', 'send ok', 'write_file ok', 'send ok', 'asks ok', 'write_file ok']);
  expect(run.audit.map(({ callId }) => callId)).toEqual(['call_1.1', 'call_1.2', 'call_1.3', 'call_1.4', 'call_1']);
});

test.each(['x', '€'])('the size of nested results in bytes is limited without a journal, too (%s)', async (character) => {
  const half = textResult(character.repeat(limits.maxInnerResultBytes / 2 / utf8Length(character)));
  const bodies: Record<string, Body> = {
    'made.many': async (_args, context) => {
      await Promise.all(Array.from({ length: 20 }, () => beneath(context).call('read', {})));
      return textResult('all of them');
    },
    'local.read': () => half,
  };
  const run = runOf([madeTool('many', [read])], { bodies });
  expect(answerOf(await run.call('many'))).toMatchObject({ isError: true, code: 'limit_reached' });
  expect(run.audit.length).toBeLessThan(limits.maxInnerCalls);
});

test('a full journal ends the whole call', async () => {
  const { journal } = memoryJournal(100);
  const run = runOf([madeTool('outer', [madeTool('inner', [read])])], {
    bodies: {
      'made.outer': inTurn(['made.inner'], ['made.inner']),
      'made.inner': inTurn(['read']),
      'local.read': () => textResult('x'.repeat(200)),
    },
    scope: { journal },
  });
  const result = answerOf(await run.call('outer'));
  expect([result.code, result.isError]).toEqual(['limit_reached', true]);
});
