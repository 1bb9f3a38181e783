/** The guard in the path of a call: what it can change, and what it cannot. The guard itself is a function here. */
import { describe, expect, it } from 'vitest';
import { GuardEndpoint, type GuardDecision, type GuardQuestion } from '../../../src/core/policy/guard.ts';
import { contentText, textResult, type ToolResult } from '../../../src/core/tools/tool.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import type { CallScope } from '../../../src/engine/call/call-scope.ts';
import type { CallOutcome, ToolCallRequest } from '../../../src/engine/call/tool-call.ts';
import { yesTo } from '../approve.ts';
import { runOf, toolNamed } from '../inner-run.ts';
import { limits } from '../../../src/core/limits/limits.ts';

type Answer = { decision: string; arguments?: object; content?: object[]; reason?: string };
const guard = GuardEndpoint.parse({ url: 'https://guard.example', after: true });

/** `ran`: the arguments that the tool received. */
function guarded(
  answer: (question: GuardQuestion) => Answer | null,
  own: { tool?: object; safe?: string[]; scope?: Partial<CallScope>; body?: () => ToolResult } = {},
) {
  const [ran, asked, reported]: [unknown[], GuardQuestion[], unknown[]] = [[], [], []];
  const tool = toolNamed('local.pay', {
    inputSchema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    ...own.tool,
  });
  const run = runOf([tool], {
    safe: own.safe ?? [],
    scope: { channel: { progress: (update) => void reported.push(update) }, ...own.scope },
    bodies: {
      'local.pay': (args, { channel }) => {
        channel.progress?.({ progress: 1, message: 'paying ada' });
        ran.push(args);
        return own.body?.() ?? textResult('paid');
      },
    },
  });
  run.deps.guard = {
    workspace: 'default',
    settings: async () => guard,
    ask: async (_guard, question) => {
      asked.push(question);
      const given = answer(question);
      return given === null ? { ok: false, why: 'it did not respond' } : ({ ok: true, answer: given } as never);
    },
  };
  const call = (more: Partial<ToolCallRequest> = {}): Promise<CallOutcome> => {
    const request = { callId: 'call_1', requested: 'pay', arguments: { to: 'ada' }, ...more };
    return callTool(run.deps, run.scope, request, new AbortController().signal);
  };
  return { ...run, ran, asked, reported, call };
}

function resultOf(outcome: CallOutcome): { code: string | undefined; text: string } {
  if (!('answer' in outcome)) throw new Error('the call waits');
  const { code, content } = outcome.answer.result;
  return { code, text: contentText(content) };
}

const toEve = ({ event }: GuardQuestion): Answer =>
  event === 'before' ? { decision: 'replace', arguments: { to: 'eve' } } : { decision: 'allow' };

describe('replaced arguments', () => {
  it('may be as large as any others, and no larger', async () => {
    const frame = '{"to":""}'.length;
    for (const [bytes, code] of [
      [limits.maxArgumentBytes, undefined],
      [limits.maxArgumentBytes + 1, 'guard_denied'],
    ] as const) {
      const to = 'x'.repeat(bytes - frame);
      const { call } = guarded(({ event }) => (event === 'before' ? { decision: 'replace', arguments: { to } } : { decision: 'allow' }), {
        safe: ['local.pay'],
      });
      expect([bytes, resultOf(await call()).code]).toEqual([bytes, code]);
    }
  });

  it('are covered by an approval only as they were when it was asked for', async () => {
    let to = 'eve';
    const replace = ({ event }: GuardQuestion): Answer =>
      event === 'before' ? { decision: 'replace', arguments: { to } } : { decision: 'allow' };
    const { call, ran } = guarded(replace, { tool: { approval: 'always' } });
    const asked = await call();
    if (!('waitFor' in asked) || asked.waitFor.kind !== 'approval') throw new Error('no question');
    expect(asked.waitFor.arguments).toEqual({ to: 'eve' });
    to = 'mallory';
    const again = await call({ approved: yesTo(asked.waitFor) });
    expect(again).toMatchObject({ waitFor: { kind: 'approval', round: 2, arguments: { to: 'mallory' } } });
    expect(ran).toEqual([]);
    to = 'eve';
    expect(resultOf(await call({ approved: yesTo(asked.waitFor) })).text).toContain('paid');
    expect(ran).toEqual([{ to: 'eve' }]);
  });

  it('must match the schema, and keep the presets of the toolset', async () => {
    const wrong = guarded(() => ({ decision: 'replace', arguments: { to: 7 } }));
    expect(resultOf(await wrong.call())).toMatchObject({ code: 'guard_denied', text: expect.stringContaining('invalid ones: to') });
    const preset = guarded(toEve, {
      tool: { arguments: { preset: { to: 'ada' } }, inputSchema: { type: 'object' }, sourceSchema: { type: 'object' } },
    });
    expect(resultOf(await preset.call())).toMatchObject({
      code: 'guard_denied',
      text: expect.stringContaining('to is set by the toolset'),
    });
    expect([...wrong.ran, ...preset.ran]).toEqual([]);
  });

  it('decide whether an interrupted call may run again', async () => {
    const { call, ran, deps } = guarded(toEve);
    deps.executor.isSafe = (_tool, args) => args.to === 'ada';
    expect(resultOf(await call({ attempts: 1, interrupted: true })).code).toBe('outcome_unknown');
    expect(ran).toEqual([]);
  });
});

describe('decisions in the log of a turn', () => {
  const logOf = (stored: Map<string, GuardDecision>): Partial<CallScope> => ({
    guardLog: {
      find: (callId) => stored.get(callId) ?? null,
      store: (callId, stage, decision) => void (stage === 'before' && stored.set(callId, decision)),
    },
  });

  it('are used when the call resumes, for the same arguments only', async () => {
    const stored = new Map<string, GuardDecision>();
    const { call, asked, ran } = guarded(toEve, { scope: logOf(stored) });
    await call();
    await call();
    expect(asked.filter(({ event }) => event === 'before')).toHaveLength(1);
    await call({ arguments: { to: 'bob' } });
    expect(asked.filter(({ event }) => event === 'before')).toHaveLength(2);
    expect(ran).toEqual([{ to: 'eve' }, { to: 'eve' }, { to: 'eve' }]);
  });

  it('include denials, and failures that deny', async () => {
    for (const answer of [{ decision: 'deny', reason: 'not today.' }, null]) {
      const stored = new Map<string, GuardDecision>();
      const { call, asked, ran } = guarded(() => answer, { scope: logOf(stored) });
      const [first, second] = [resultOf(await call()), resultOf(await call())];
      expect(first).toEqual(second);
      expect(first.code).toBe('guard_denied');
      expect([asked.length, ran.length]).toEqual([1, 0]);
    }
  });
});

it('shows no text of progress before the guard has seen the result', async () => {
  const { call, reported } = guarded(() => ({ decision: 'allow' }));
  await call();
  expect(reported).toEqual([{ progress: 1 }]);
});

it('shows the guard what a model reads, and what clients get if that differs', async () => {
  const { call, asked } = guarded(() => ({ decision: 'allow' }), { body: () => textResult('IGN\u200bORE') });
  expect(resultOf(await call()).text).toBe('IGN\u200bORE');
  const [{ result }] = asked.filter(({ event }) => event === 'after') as { result: unknown }[] as [{ result: unknown }];
  expect(result).toEqual({ isError: false, content: textResult('IGNORE').content, unaltered: textResult('IGN\u200bORE').content });
  const plain = guarded(() => ({ decision: 'allow' }));
  await plain.call();
  expect(plain.asked.at(-1)).toMatchObject({ result: { isError: false, content: textResult('paid').content } });
  expect(plain.asked.at(-1)).not.toHaveProperty('result.unaltered');
});

it('replaces the result with all its parts, and withholds it when the guard fails afterwards', async () => {
  const { call } = guarded(({ event }) =>
    event === 'before' ? { decision: 'allow' } : { decision: 'replace', content: [{ type: 'text', text: 'hidden\u202e' }] },
  );
  const outcome = await call();
  expect('answer' in outcome && outcome.answer).toMatchObject({ ran: true, guard: 'replace', result: { isError: false } });
  expect(resultOf(outcome).text).toBe('hidden\u202e');
  const failing = guarded(({ event }) => (event === 'before' ? { decision: 'allow' } : null));
  const withheld = await failing.call();
  expect('answer' in withheld && withheld.answer).toMatchObject({ ran: true, guard: 'failed', result: { code: 'guard_denied' } });
});

it('is not asked about calls that are refused anyway', async () => {
  const { call, asked } = guarded(() => ({ decision: 'allow' }));
  await call({ arguments: {} });
  await call({ requested: 'unknown' });
  expect(asked).toEqual([]);
});

describe('a service that is too busy to ask the guard', () => {
  const busy = { ok: false, why: 'this key (k) has too many questions to the guard: 50 of at most 50', isOurs: true } as const;

  it.each(['allow', 'deny'] as const)('runs nothing, with `onFailure: "%s"`, and that is no decision of the guard', async (onFailure) => {
    const stored = new Map<string, GuardDecision>();
    const { call, ran, deps, audit } = guarded(() => ({ decision: 'allow' }), {
      scope: { guardLog: { find: () => null, store: (callId, _stage, decision) => void stored.set(callId, decision) } },
    });
    deps.guard = { workspace: 'default', settings: async () => ({ ...guard, onFailure }), ask: async () => busy };
    expect(resultOf(await call())).toEqual({
      code: 'limit_reached',
      text: 'Not run: the guard of the workspace was not asked. This key (k) has too many questions to the guard: 50 of at most 50.',
    });
    expect([ran, [...stored], audit.map(({ guard: verdict, code }) => [verdict, code])]).toEqual([[], [], [[undefined, 'limit_reached']]]);
  });

  it.each(['allow', 'deny'] as const)('withholds a result that was not checked, with `onFailure: "%s"`', async (onFailure) => {
    const { call, ran, deps } = guarded(() => ({ decision: 'allow' }));
    deps.guard = { workspace: 'default', settings: async () => ({ ...guard, before: false, onFailure }), ask: async () => busy };
    const { code, text } = resultOf(await call());
    expect([code, ran]).toEqual(['limit_reached', [{ to: 'ada' }]]);
    expect(text).toContain('its result is withheld: the guard of the workspace was not asked. This key (k) has too many');
    expect(text).not.toContain('paid');
  });
});
