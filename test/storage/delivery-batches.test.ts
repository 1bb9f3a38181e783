/** Deliveries that arrive at the same time are stored together, each with its own outcome. */
import { describe, expect, it, vi } from 'vitest';
import { Problem, type Outcome } from '../../src/core/problem.ts';
import type { AcceptedDelivery, NewDelivery } from '../../src/ports/triggers.ts';
import { createDeliveryBatches } from '../../src/storage/delivery-batches.ts';

const delivery = (id: string, text = ''): NewDelivery => ({
  trigger: { kind: 'webhook', name: 'hook' },
  id,
  event: null,
  payload: { text, isJson: false, headers: {} },
  verdict: { become: 'ignored', reason: 'test', warnings: [] },
});
const accepted = ({ id }: NewDelivery): Outcome<AcceptedDelivery> => ({
  ok: true,
  value: { id, status: 'ignored', reason: 'test', session: null, turn: null, run: 1, isRepeat: false },
});

/** Calls of the Catalog, which the test ends one by one. */
function make() {
  const calls: { ids: string[]; end: (outcomes?: Outcome<AcceptedDelivery>[]) => void; fail: (error: Error) => void }[] = [];
  const kept: Promise<unknown>[] = [];
  const accept = createDeliveryBatches({
    accept: (deliveries) =>
      new Promise((resolve, reject) => {
        const end = (outcomes = deliveries.map(accepted)): void => resolve(outcomes);
        calls.push({ ids: deliveries.map(({ id }) => id), end, fail: reject });
      }),
    background: (work) => void kept.push(work),
  });
  const send = (id: string, text?: string) => accept(delivery(id, text));
  const ids = () => calls.map((call) => call.ids);
  return { calls, kept, send, ids };
}
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe('deliveries to one workspace', () => {
  it('are sent at once, and together when they arrive before an earlier one is stored', async () => {
    const { calls, send, ids, kept } = make();
    const all = ['a', 'b', 'c'].map((id) => send(id));
    await settle();
    expect(ids()).toEqual([['a']]);
    calls[0]?.end();
    await settle();
    expect(ids()).toEqual([['a'], ['b', 'c']]);
    const late = send('d');
    calls[1]?.end();
    await settle();
    expect(ids()).toEqual([['a'], ['b', 'c'], ['d']]);
    calls[2]?.end();
    expect((await Promise.all([...all, late])).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    // Both batches outlive the request that sends them.
    expect(kept).toHaveLength(2);
    const alone = send('e');
    await settle();
    calls[3]?.end();
    expect((await alone).id).toBe('e');
    expect(kept).toHaveLength(2);
  });

  it('each get their own outcome', async () => {
    const { calls, send } = make();
    const [first, full, taken] = ['a', 'b', 'c'].map((id) => send(id));
    calls[0]?.end();
    await settle();
    const problem = new Problem('rate_limited', 'Too many deliveries are pending.').toBody();
    calls[1]?.end([{ ok: false, problem }, accepted(delivery('c'))]);
    await expect(full).rejects.toMatchObject({ code: 'rate_limited' });
    expect((await first)?.id).toBe('a');
    expect((await taken)?.id).toBe('c');
  });

  it('fail together if the call fails, and not because an earlier call has failed', async () => {
    const { calls, send } = make();
    const [first, ...others] = ['a', 'b', 'c'].map((id) => send(id));
    calls[0]?.fail(new Error('the object was moved'));
    await expect(first).rejects.toThrow('the object was moved');
    await settle();
    calls[1]?.fail(new Error('the disk is full'));
    for (const other of others) await expect(other).rejects.toThrow('the disk is full');
    const next = send('d');
    await settle();
    calls[2]?.end();
    expect((await next).id).toBe('d');
  });

  it('are sent without the call before them if it takes too long', async () => {
    vi.useFakeTimers();
    try {
      const { calls, send, ids } = make();
      void send('a').catch(() => undefined);
      const second = send('b');
      await vi.advanceTimersByTimeAsync(1_000);
      expect(ids()).toEqual([['a'], ['b']]);
      calls[1]?.end();
      expect((await second).id).toBe('b');
    } finally {
      vi.useRealTimers();
    }
  });

  it('are bounded in number and length', async () => {
    const { calls, send, ids } = make();
    const all = [send('first'), ...Array.from({ length: 100 }, (_, index) => send(`n${index}`))];
    calls[0]?.end();
    await settle();
    for (const call of calls.slice(1)) call.end();
    await settle();
    for (const call of calls) call.end();
    await Promise.all(all);
    expect(ids().map(({ length }) => length)).toEqual([1, 64, 36]);
    const long = 'x'.repeat(3_000_000);
    const more = [send('x'), ...['y', 'z', 'w'].map((id) => send(id, long))];
    for (let call = 3; call < 6; call += 1) {
      calls[call]?.end();
      await settle();
      calls.at(-1)?.end();
    }
    await Promise.all(more);
    expect(ids().slice(3).flat()).toEqual(['x', 'y', 'z', 'w']);
    expect(
      Math.max(
        ...ids()
          .slice(3)
          .map(({ length }) => length),
      ),
    ).toBe(2);
  });
});
