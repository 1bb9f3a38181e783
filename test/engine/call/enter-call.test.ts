/** Calls of tools take places, by key and workspace; the calls nested in them run in the same ones. */
import { describe, expect, it } from 'vitest';
import { poolBounds } from '../../../src/core/limits/pools.ts';
import { contentText, textResult } from '../../../src/core/tools/tool.ts';
import { callTool } from '../../../src/engine/call/call-tool.ts';
import type { CallOutcome } from '../../../src/engine/call/tool-call.ts';
import { createFairPool } from '../../../src/engine/fair-pool.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { madeTool, runOf, toolNamed } from '../inner-run.ts';
import { waitFor } from '../../wait-for.ts';

function calling() {
  const clock = fakeClock();
  const pool = createFairPool({ ...poolBounds.calls, perKey: 3, perWorkspace: 8, total: 20 }, clock);
  const running: (() => void)[] = [];
  const slow = toolNamed('local.slow');
  const run = runOf([slow, madeTool('outer', [slow])], {
    bodies: {
      'local.slow': () => new Promise((resolve) => running.push(() => resolve(textResult('done')))),
      'made.outer': async (_args, { calls }) => {
        const inner = await calls?.call('slow', {});
        return textResult(inner === undefined || inner.waits ? 'waits' : contentText(inner.result.content));
      },
    },
  });
  let number = 0;
  const call = (name: string, keyId = 'k', signal = new AbortController().signal): Promise<CallOutcome> => {
    number += 1;
    const deps = {
      ...run.deps,
      enter: (id: string, aborted: AbortSignal) => pool.wait({ workspace: 'default', keyId: id }, { signal: aborted }),
    };
    return callTool(deps, { ...run.scope, keyId }, { callId: `call_${number}`, requested: name, arguments: {} }, signal);
  };
  const finish = async (): Promise<void> => {
    for (const end of running.splice(0)) end();
    await clock.advance(0);
  };
  return { ...run, clock, pool, running, call, finish };
}

function textOf(outcome: CallOutcome): string {
  if (!('answer' in outcome)) return 'waits';
  const { code, content } = outcome.answer.result;
  return `${code ?? 'ok'}: ${contentText(content)}`;
}

describe('calls of a key', () => {
  it('run up to a bound, then wait, and are refused in words after a while; another key is served meanwhile', async () => {
    const { call, clock, running, finish, audit, pool } = calling();
    const flood = Array.from({ length: 12 }, () => call('slow'));
    await waitFor(() => expect(running).toHaveLength(3));
    const other = call('slow', 'other');
    await waitFor(() => expect(running).toHaveLength(4));
    await finish();
    expect(textOf(await other)).toBe('ok: done');
    // Three of the flood ended, and three of those that waited began.
    await waitFor(() => expect(running).toHaveLength(3));
    await clock.advance(10_000);
    await finish();
    const texts = (await Promise.all(flood)).map(textOf);
    const refused = 'limit_reached: Not run: This key (k) has too many tool calls in progress: 3 of at most 3. Wait until some have ended.';
    expect(Object.fromEntries(Object.entries(Object.groupBy(texts, (text) => text)).map(([text, all]) => [text, all?.length]))).toEqual({
      'ok: done': 6,
      [refused]: 6,
    });
    expect(audit.filter(({ verdict, code }) => verdict === 'refused' && code === 'limit_reached')).toHaveLength(6);
    expect(pool.usedBy({ workspace: 'default' })).toBe(0);
  });

  it('that call tools need no further places, so that they cannot block each other', async () => {
    const { call, running, finish } = calling();
    const flood = Array.from({ length: 3 }, () => call('outer'));
    await expect.poll(() => running.length).toBe(3);
    await finish();
    expect((await Promise.all(flood)).map(textOf)).toEqual(['ok: done', 'ok: done', 'ok: done']);
  });

  it('that are cancelled while they wait do not run', async () => {
    const { call, clock, running, finish, pool } = calling();
    const flood = Array.from({ length: 3 }, () => call('slow'));
    await clock.advance(0);
    const gone = new AbortController();
    const waiting = call('slow', 'k', gone.signal);
    gone.abort(new Error('cancelled'));
    expect(textOf(await waiting)).toMatch(/^aborted: /);
    await finish();
    await Promise.all(flood);
    expect([running.length, pool.usedBy({ workspace: 'default' })]).toEqual([0, 0]);
  });

  it('that are refused anyway take no place', async () => {
    const { call, pool } = calling();
    for (let n = 0; n < 3; n += 1) pool.takeBeyondLimit({ workspace: 'default', keyId: 'k' });
    expect(textOf(await call('unknown'))).toMatch(/^unknown_tool: /);
  });
});
