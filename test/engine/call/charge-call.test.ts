/** What calls of tools cost: which price counts, which calls are charged, and when a budget refuses one. */
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../src/core/problem.ts';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import { contentText, errorResult, textResult, type ToolResult } from '../../../src/core/tools/tool.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import { priceMember } from '../../../src/engine/call/charge-call.ts';
import type { CallScope } from '../../../src/engine/call/call-scope.ts';
import { madeTool, memoryJournal, runOf, toolNamed } from '../inner-run.ts';

type Settled = { cost: number; isReported: boolean };

/** Calls a tool of the server `paid`. `price`: of the entry. */
async function callPaid(
  own: { price?: number; server?: Partial<ServerAccess>; scope?: Partial<CallScope>; reserve?(cost: number): void },
  result: () => ToolResult | Promise<ToolResult> = () => textResult('done'),
) {
  const tool = toolNamed('paid.search', {
    kind: 'mcp',
    trusted: true,
    approval: 'never',
    ...(own.price !== undefined && { price: own.price }),
  });
  const run = runOf([tool], { bodies: { 'paid.search': result }, safe: ['paid.search'], ...(own.scope && { scope: own.scope }) });
  const settled: Settled[] = [];
  const server = { name: 'paid', kind: 'mcp', trusted: true, ready: ['search'], held: [], ...own.server };
  const deps = {
    ...run.deps,
    server: async () => server as unknown as ServerAccess,
    reserveCost: async (_limited: unknown, cost: number) => {
      own.reserve?.(cost);
      return {
        settle: (used: { cost: number } | 'unknown', isReported = true) =>
          void (settled.length === 0 && used !== 'unknown' && settled.push({ cost: used.cost, isReported })),
      };
    },
  };
  const request = { callId: 'call_1', requested: 'search', arguments: {} };
  const outcome = await callTool(deps, run.scope, request, new AbortController().signal);
  if (!('answer' in outcome)) throw new Error('the call waits');
  return { ...outcome.answer, settled, audit: run.audit, log: run.log };
}

const reporting = (price: unknown) => () => ({ ...textResult('done'), meta: { [priceMember]: price } });

describe('the price of a call', () => {
  it.each<[string, Parameters<typeof callPaid>[0], number | undefined]>([
    ['of the entry', { price: 0.25 }, 0.25],
    ['of the server', { server: { price: 0.5 } }, 0.5],
    ['of the tool at its server', { server: { price: { search: 0.75, '*': 9 } } }, 0.75],
    ['of all other tools at its server', { server: { price: { other: 9, '*': 1 } } }, 1],
    ['of the entry before that of the server, also if it is 0', { price: 0, server: { price: 2 } }, 0],
    ['of no other tool of the server', { server: { price: { other: 9 } } }, undefined],
    ['of no name of an object', { server: { price: { toString: 9 } } }, undefined],
  ])('is that %s', async (_whose, own, cost) => {
    const answer = await callPaid(own);
    expect(answer.cost).toBe(cost);
    expect(answer.audit.at(-1)?.cost).toBe(cost);
  });

  it('is nothing if the server was not sent the call, and all of it if that is not known', async () => {
    const failing = (failed: 'unsent' | 'unanswered') => () => ({ ...errorResult('tool_error', 'unreachable'), failed });
    const unsent = await callPaid({ price: 0.25 }, failing('unsent'));
    expect([unsent.cost, unsent.settled]).toEqual([undefined, [{ cost: 0, isReported: true }]]);
    expect((await callPaid({ price: 0.25 }, failing('unanswered'))).cost).toBe(0.25);
  });

  it('is what a trusted server reports, whatever the entry says', async () => {
    expect((await callPaid({ price: 0.25, server: { price: 2 } }, reporting(0.031))).cost).toBe(0.031);
    expect((await callPaid({}, reporting(0))).cost).toBe(0);
    expect((await callPaid({ price: 0.25, server: { trusted: false } }, reporting(0.031))).cost).toBe(0.25);
    expect((await callPaid({ server: { trusted: false } }, reporting(0.031))).cost).toBeUndefined();
  });

  it.each([-1, 1e308, 1_000.01, Number.NaN, Number.POSITIVE_INFINITY, '0.5', null, { usd: 1 }])(
    'ignores a reported %s, and logs it',
    async (reported) => {
      const { cost, log, settled } = await callPaid({ price: 0.25 }, reporting(reported));
      expect([cost, settled]).toEqual([0.25, [{ cost: 0.25, isReported: true }]]);
      expect(log.lines.filter(({ message }) => message === 'a reported price was ignored')).toHaveLength(1);
    },
  );
});

describe('a call with a price', () => {
  it('is charged once it was sent, also if it failed, and by its own report only in a turn', async () => {
    const failed = await callPaid({ price: 2 }, () => errorResult('tool_error', 'no'));
    expect([failed.cost, failed.settled]).toEqual([2, [{ cost: 2, isReported: true }]]);
    const thrown = await callPaid({ price: 2 }, () => Promise.reject(new Error('lost')));
    expect([thrown.result.code, thrown.cost]).toEqual(['tool_error', 2]);
    const direct = await callPaid({ price: 2, scope: { turn: null } });
    expect(direct.settled).toEqual([{ cost: 2, isReported: false }]);
  });

  it('is not charged if it was not sent', async () => {
    const held = await callPaid({ price: 2, server: { ready: [], held: ['search'] } });
    expect([held.ran, held.cost, held.settled]).toEqual([false, undefined, []]);
    const begin = () => Promise.reject(new Error('full'));
    const run = runOf([toolNamed('local.send', { price: 2 })], { scope: { begin } });
    const settled: unknown[] = [];
    const deps = { ...run.deps, reserveCost: async () => ({ settle: (used: unknown) => void settled.push(used) }) };
    const outcome = await callTool(deps, run.scope, { callId: 'c', requested: 'send', arguments: {} }, new AbortController().signal);
    expect(outcome).toMatchObject({ answer: { ran: false } });
    expect([JSON.stringify(outcome).includes('"cost"'), settled]).toEqual([false, [{ tokens: 0, cost: 0 }]]);
  });

  it('is refused with the reason when a budget has nothing left, before anything is sent', async () => {
    let sent = 0;
    const reserve = (cost: number) => {
      throw new Problem('rate_limited', `The limit dailyCost of the key "k" is reached (${cost}).`);
    };
    const { ran, result } = await callPaid({ price: 2, reserve }, () => {
      sent += 1;
      return textResult('done');
    });
    expect([ran, result.code, sent]).toEqual([false, 'limit_reached', 0]);
    expect(contentText(result.content)).toBe('Not run: search costs 2 USD. The limit dailyCost of the key "k" is reached (2).');
  });

  it('tells the log of the turn its price before it is sent', async () => {
    const started: unknown[] = [];
    await callPaid({ price: 2, scope: { started: (...call: unknown[]) => void started.push(call) } });
    expect(started).toEqual([['call_1', 1, 2]]);
  });

  it('is charged beside the calls that it makes', async () => {
    const paid = toolNamed('local.paid', { price: 0.5 });
    const finished: unknown[] = [];
    const { journal } = memoryJournal();
    const noted = {
      ...journal,
      finish: (...[call, result, options]: Parameters<typeof journal.finish>) => {
        finished.push([call.callId, options.cost]);
        return journal.finish(call, result, options);
      },
    };
    const run = runOf([paid, madeTool('outer', [paid], { price: 2 })], {
      bodies: {
        'made.outer': async (_args, { calls }) => {
          await calls?.call('paid', {});
          return textResult('done');
        },
      },
      scope: { journal: noted },
    });
    expect(await run.call('outer')).toMatchObject({ answer: { cost: 2 } });
    expect(finished).toEqual([['call_1.1', 0.5]]);
  });
});
