/** Calls of Durable Objects that fail on the way: what is sent again, and what the caller receives. */
import { describe, expect, it } from 'vitest';
import { Problem, type Outcome } from '../../../src/core/problem.ts';
import {
  byName,
  closedAfterDeleteReason,
  type MethodTable,
  type ObjectBinding,
  objectClient,
  plainByName,
  resetReason,
} from '../../../src/objects/shared/object-client.ts';
import type { Remote, RemotePort } from '../../../src/ports/remote.ts';

interface Port {
  look(what: string): Promise<string>;
  change(what: string, to: number): Promise<void>;
  step(name: 'safe' | 'once'): Promise<string>;
}

const methods: MethodTable<Port> = {
  look: { retry: true },
  change: { retry: false },
  step: { retry: (name) => name === 'safe' },
};

type Answer = Outcome<unknown> | Error | 'never';
const done: Answer = { ok: true, value: 'done' };
const moved = () => Object.assign(new Error('the object was moved'), { retryable: true });
const overloaded = () => Object.assign(moved(), { overloaded: true });
const reset = () => new Error(resetReason);
const closed = () => new Error(`jsg.Error: ${closedAfterDeleteReason}`);

/** A namespace with one object: the client needs no more of it than this. */
const namespaceOf = (object: object) => ({ get: () => object }) as unknown as DurableObjectNamespace;
const idOf = (text: string) => text as unknown as DurableObjectId;

/** A client of an object that answers its calls like this, one after another, and then with `done`. */
function clientOf(answers: readonly Answer[], own: Partial<ObjectBinding<Port>> = {}) {
  const left = [...answers];
  const calls: unknown[][] = [];
  const ended: unknown[] = [];
  const receive = async (...call: unknown[]): Promise<unknown> => {
    calls.push(call);
    const answer = left.shift() ?? done;
    if (answer === 'never') return await new Promise(() => undefined);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const stub = { run: (method: string, args: readonly unknown[]) => receive(method, ...args) };
  const client = objectClient<Port, RemotePort<Port>>(
    {
      namespace: namespaceOf(stub),
      id: () => idOf('an id'),
      what: 'The object',
      timeoutMs: 5_000,
      onEnd: (method, _args, error) => void ended.push([method, error instanceof Error ? error.message : error]),
      ...own,
    },
    methods,
  );
  return { client, calls, ended };
}

describe('a call of an object', () => {
  it.each<[string, Answer[], (client: Port) => Promise<unknown>, { calls: number; result?: unknown; fails?: string }]>([
    ['returns the value', [], (client) => client.look('a'), { calls: 1, result: 'done' }],
    ['is repeated once if it is safe and the object was moved', [moved()], (client) => client.look('a'), { calls: 2, result: 'done' }],
    ['is repeated once if it is safe and the object was reset', [reset()], (client) => client.look('a'), { calls: 2, result: 'done' }],
    ['fails with the second failure', [moved(), moved()], (client) => client.look('a'), { calls: 2, fails: 'moved' }],
    ['is not repeated if it may have run', [moved()], (client) => client.change('a', 1), { calls: 1, fails: 'moved' }],
    ['is not repeated by an overloaded object', [overloaded()], (client) => client.look('a'), { calls: 1, fails: 'moved' }],
    ['is not repeated after another error', [new Error('disk full')], (client) => client.look('a'), { calls: 1, fails: 'disk full' }],
    ['is repeated if its arguments make it safe', [reset()], (client) => client.step('safe'), { calls: 2, result: 'done' }],
    ['is not repeated if its arguments do not', [reset()], (client) => client.step('once'), { calls: 1, fails: resetReason }],
    ['is repeated in any case if the object had ended itself', [closed(), closed()], (client) => client.change('a', 1), { calls: 3 }],
    [
      'fails when the object ends itself again and again',
      [closed(), closed(), closed(), closed()],
      (client) => client.look('a'),
      { calls: 4, fails: closedAfterDeleteReason },
    ],
  ])('%s', async (_what, answers, call, { calls: count, result, fails }) => {
    const { client, calls } = clientOf(answers);
    if (fails === undefined) expect(await call(client)).toBe(result ?? 'done');
    else await expect(call(client)).rejects.toThrow(fails);
    expect(calls).toHaveLength(count);
  });

  it('throws the problem of the object again, with its code and members', async () => {
    const problem = new Problem('conflict', 'It is at version 2.', { version: 2 });
    const { client, calls, ended } = clientOf([{ ok: false, problem: problem.toBody() }]);
    await expect(client.look('a')).rejects.toMatchObject({ code: 'conflict', detail: problem.detail, extra: { version: 2 } });
    expect(calls).toHaveLength(1);
    expect(ended).toEqual([['look', problem.message]]);
  });

  it('fails after the timeout of its object and its own, with the code of the binding', async () => {
    const late = clientOf(['never'], { timeoutMs: 20, lateCode: 'unavailable' });
    await expect(late.client.look('a')).rejects.toMatchObject({
      code: 'unavailable',
      detail: 'The object did not respond in time. Try again.',
    });
    const slow = clientOf(['never'], { timeoutMs: 20 });
    await expect(slow.client.change('a', 1)).rejects.toMatchObject({ code: 'internal' });
    expect(slow.calls).toHaveLength(1);
  });

  it('has the name of the object before its arguments', async () => {
    const calls: unknown[][] = [];
    const change = async (...args: unknown[]) => {
      calls.push(args);
      return { ok: true, value: undefined };
    };
    const binding = { namespace: namespaceOf({ change }), id: () => idOf('an id'), what: 'The object', timeoutMs: null };
    await objectClient<Port, Remote<Port, [string]>>({ ...binding, send: byName<Port, [string]>('shard 3') }, methods).change('a', 1);
    expect(calls).toEqual([['shard 3', 'a', 1]]);
  });

  it('finds the object anew for each attempt', async () => {
    let found = 0;
    const id = async () => {
      found += 1;
      return idOf(`id ${found}`);
    };
    const { client, ended } = clientOf([moved()], { id });
    await client.look('a');
    expect([found, ended]).toEqual([2, [['look', undefined]]]);
  });

  it('may return a value that is no outcome', async () => {
    const stub = { look: async (what: string) => `saw ${what}` };
    const binding = { namespace: namespaceOf(stub), id: () => idOf('an id'), what: 'The object', timeoutMs: null };
    type Plain = Pick<Port, 'look'>;
    const client = objectClient<Plain, Plain>({ ...binding, send: plainByName<Plain>() }, { look: { retry: false } });
    expect(await client.look('a')).toBe('saw a');
  });
});
