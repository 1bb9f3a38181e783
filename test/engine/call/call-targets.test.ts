/** Calls of entries with several targets, over tools that count how often they run. */
import { describe, expect, it } from 'vitest';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import type { TargetChoice } from '../../../src/core/toolset/entries/entry-targets.ts';
import { contentText, errorResult, textResult } from '../../../src/core/tools/tool.ts';
import type { CallDeps, CallScope } from '../../../src/engine/call/call-scope.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import { chooseTarget } from '../../../src/engine/call/choose-target.ts';
import type { ToolOutcome } from '../../../src/ports/tool-executor.ts';
import { type Body, runOf, toolNamed } from '../inner-run.ts';

const [first, second, third] = ['a.search', 'b.search', 'c.search'] as const;
const reads = { annotations: { readOnlyHint: true } };

function entryOf(choose: TargetChoice, own: Partial<EditionTool> = {}): EditionTool {
  const target = (canonical: string) => toolNamed(canonical, { kind: 'mcp', trusted: true, approval: 'never', ...own });
  return { ...target(first), targets: { choose, others: [target(second), target(third)] } };
}

type Own = {
  tool?: EditionTool;
  bodies?: Record<string, Body>;
  scope?: Partial<CallScope>;
  held?: readonly string[];
  deps?: Partial<CallDeps>;
};

/** Calls `search`. `ran`: the tools that ran, in order. `held`: servers whose tool is held. */
async function callSearch({ tool = entryOf('in-order'), bodies = {}, scope = {}, held = [], deps: own = {} }: Own) {
  const ran: string[] = [];
  const counted = [first, second, third].map((name): [string, Body] => [
    name,
    (args, context) => {
      ran.push(name);
      return bodies[name]?.(args, context) ?? textResult(name);
    },
  ]);
  const begun: string[] = [];
  const run = runOf([tool], {
    bodies: Object.fromEntries(counted),
    scope: { begin: (row) => void begun.push(String(row.canonical)), ...scope },
  });
  const server = async (name: string) =>
    ({
      name,
      kind: 'mcp',
      trusted: true,
      ready: held.includes(name) ? [] : ['search'],
      held: held.includes(name) ? ['search'] : [],
    }) as unknown as ServerAccess;
  const request = { callId: 'call_1', requested: 'search', arguments: {} };
  const outcome = await callTool({ ...run.deps, server, ...own }, run.scope, request, new AbortController().signal);
  return { outcome, ran, begun, audit: run.audit, log: run.log };
}

const answerOf = ({ outcome }: Awaited<ReturnType<typeof callSearch>>) => {
  if (!('answer' in outcome)) throw new Error('the call waits');
  return outcome.answer;
};
const failing = (failed: NonNullable<ToolOutcome['failed']>) => (): ToolOutcome => ({ ...errorResult('tool_error', 'down'), failed });

describe('targets in order', () => {
  it('run the first one, which the result, the audit and the intent name', async () => {
    const called = await callSearch({});
    expect([called.ran, answerOf(called).canonical, answerOf(called).result.served]).toEqual([[first], first, { tool: first }]);
    expect([called.begun, called.audit.map(({ canonical, served }) => [canonical, served])]).toEqual([[first], [[first, { tool: first }]]]);
  });

  it('continue with the next one if nothing was sent, also for a call with an effect', async () => {
    const called = await callSearch({ bodies: { [first]: failing('unsent') } });
    const served = { tool: second, tried: [{ tool: first, code: 'tool_error' }] };
    expect([called.ran, answerOf(called).result.served, contentText(answerOf(called).result.content)]).toEqual([
      [first, second],
      served,
      second,
    ]);
    // One row, of what ran.
    expect(called.audit.map(({ canonical, verdict, served: by }) => [canonical, verdict, by])).toEqual([[second, 'ran', served]]);
    expect(called.log.lines.filter(({ message }) => message === 'another target is called')).toHaveLength(1);
  });

  it.each(['tool_error', 'timeout'] as const)('never send a call with an effect twice after %s', async (code) => {
    const called = await callSearch({ bodies: { [first]: () => ({ ...errorResult(code, 'lost'), failed: 'unanswered' }) } });
    expect([called.ran, called.audit.map(({ canonical }) => canonical)]).toEqual([[first], [first]]);
    const { result } = answerOf(called);
    expect([result.code, contentText(result.content)]).toEqual(['outcome_unknown', expect.stringContaining('check before you repeat it')]);
  });

  it('call a tool that only reads once more if its server did not answer, and continue then; not if it answered too late', async () => {
    const tool = entryOf('in-order', reads);
    const unanswered = await callSearch({
      tool,
      bodies: { [first]: failing('unanswered'), [second]: () => errorResult('timeout', 'late') },
    });
    expect([unanswered.ran, answerOf(unanswered).result.served?.tool]).toEqual([[first, first, second, third], third]);
  });

  it('take an error of the tool itself as the answer', async () => {
    const called = await callSearch({
      tool: entryOf('in-order', reads),
      bodies: { [first]: () => errorResult('tool_error', 'no such page') },
    });
    expect([called.ran, contentText(answerOf(called).result.content)]).toEqual([[first], 'no such page']);
  });

  it('do not continue where annotations do not apply any more', async () => {
    const server = async (name: string) => ({ name, kind: 'mcp', trusted: false, ready: ['search'], held: [] }) as unknown as ServerAccess;
    const called = await callSearch({ tool: entryOf('in-order', reads), bodies: { [first]: failing('unanswered') }, deps: { server } });
    expect(called.ran).toEqual([first]);
  });

  it('skip a target that is held', async () => {
    const called = await callSearch({ held: ['a'] });
    expect([called.ran, answerOf(called).result.served]).toEqual([[second], { tool: second, tried: [{ tool: first, code: 'tool_held' }] }]);
  });

  it('say how each one failed if none could be called', async () => {
    const called = await callSearch({ bodies: { [first]: failing('unsent'), [second]: failing('unsent'), [third]: failing('unsent') } });
    const { result } = answerOf(called);
    expect([called.ran, result.isError, result.served?.tried]).toEqual([
      [first, second, third],
      true,
      [first, second].map((tool) => ({ tool, code: 'tool_error' })),
    ]);
    expect(contentText(result.content)).toContain('Before, the call was not made by: a.search: down; b.search: down');
  });

  it('are refused by a rule, without a call of the next one', async () => {
    const called = await callSearch({ scope: { rules: [{ tool: first, decision: 'deny' }] } });
    expect([called.ran, answerOf(called).result.code]).toEqual([[], 'not_allowed']);
    // The next one has a rule, too.
    const next = await callSearch({ bodies: { [first]: failing('unsent') }, scope: { rules: [{ tool: second, decision: 'deny' }] } });
    expect([next.ran, answerOf(next).result.code]).toEqual([[first], 'not_allowed']);
  });

  it('ask once, and name the others in the question', async () => {
    const { outcome, ran } = await callSearch({ tool: entryOf('in-order', { approval: 'always' }) });
    if (!('waitFor' in outcome) || outcome.waitFor.kind !== 'approval') throw new Error('the call does not wait for approval');
    expect([ran, outcome.waitFor.ask.reason]).toEqual([
      [],
      expect.stringContaining(`if ${first} cannot be called, ${second}, ${third} is called instead`),
    ]);
  });

  it('do not continue with input that the first one asked for', async () => {
    const run = runOf([entryOf('in-order')], { bodies: { [first]: failing('unsent') } });
    const request = { callId: 'call_1', requested: 'search', arguments: {}, rounds: 1, given: { responses: {}, state: 'own' } };
    const outcome = await callTool(run.deps, run.scope, request as never, new AbortController().signal);
    expect('answer' in outcome && outcome.answer.result.served).toEqual({ tool: first });
  });
});

describe('targets by weight', () => {
  const choose = { weights: { [first]: 95, [second]: 5, [third]: 0 } };
  const sessions = Array.from({ length: 10_000 }, (_none, index) => `session-${index}`);
  const targetOf = (session: string | null, keyId = 'k') => String(chooseTarget(entryOf(choose), { keyId, session }).canonical);

  it('share 10,000 sessions as the weights say, and each session keeps its target', () => {
    const shares = Map.groupBy(sessions, (session) => targetOf(session));
    expect(shares.get(second)?.length).toBeGreaterThan(420);
    expect(shares.get(second)?.length).toBeLessThan(580);
    expect(shares.has(third)).toBe(false);
    const some = sessions.slice(0, 100);
    expect(some.map((session) => targetOf(session))).toEqual(some.map((session) => targetOf(session)));
  });

  it('only move sessions towards a target whose weight grows', () => {
    const wider = entryOf({ weights: { [first]: 90, [second]: 10, [third]: 0 } });
    const left = sessions.filter(
      (session) => targetOf(session) === second && String(chooseTarget(wider, { keyId: 'k', session }).canonical) !== second,
    );
    expect(left).toEqual([]);
  });

  it('depend on the key without a session', () => {
    expect(new Set(sessions.slice(0, 200).map((key) => targetOf(null, key))).size).toBe(2);
  });

  it('give a held target no calls', () => {
    const tool = entryOf(choose);
    const others = tool.targets?.others.map((one) => (String(one.canonical) === second ? { ...one, state: 'held' as const } : one)) ?? [];
    const held = { ...tool, targets: { choose, others } };
    expect(new Set(sessions.slice(0, 500).map((session) => chooseTarget(held, { keyId: 'k', session }).canonical))).toEqual(
      new Set([first]),
    );
  });

  it('have no other one if the chosen one fails', async () => {
    const all = { weights: { [first]: 1, [second]: 0, [third]: 0 } };
    const called = await callSearch({ tool: entryOf(all), bodies: { [first]: failing('unsent') } });
    expect([called.ran, answerOf(called).result.served]).toEqual([[first], { tool: first }]);
  });
});

describe('targets by caller', () => {
  const choose: TargetChoice = {
    callers: { [second]: [{ key: 'partner' }, { team: 'research', region: 'eu' }], [third]: [{ role: 'admin' }] },
  };
  it.each([
    ['the key', { keyId: 'partner' }, second],
    ['all fields of it', { keyId: 'k', caller: { team: 'research', region: 'eu' } }, second],
    ['not one of two fields', { keyId: 'k', caller: { team: 'research' } }, first],
    ['the role', { keyId: 'k', caller: { role: 'admin' } }, third],
    ['no member of every object', { keyId: 'k', caller: {} }, first],
  ])('depend on %s', (_what, by, expected) => {
    expect(chooseTarget(entryOf(choose), by).canonical).toBe(expected);
  });

  it('are refused if the target of the caller is not known, rather than given another one', async () => {
    const tool = entryOf({ callers: { 'gone.search': [{ key: 'k' }] } });
    const called = await callSearch({ tool });
    expect([called.ran, answerOf(called).result.code]).toEqual([[], 'tool_error']);
  });

  it('name what ran in the audit, and the entry in the answer', async () => {
    const called = await callSearch({ tool: entryOf({ callers: { [second]: [{ key: 'k' }] } }) });
    expect([called.ran, answerOf(called).canonical, called.audit[0]?.canonical]).toEqual([[second], first, second]);
  });
});
