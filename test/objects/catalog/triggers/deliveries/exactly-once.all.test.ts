import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { acceptDelivery, followTurn, replayDelivery } from '../../../../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { readDelivery } from '../../../../../src/objects/catalog/triggers/deliveries/delivery-list.ts';
import { findDelivery } from '../../../../../src/objects/catalog/triggers/deliveries/delivery-rows.ts';
import { limits } from '../../../../../src/core/limits/limits.ts';
import { Problem } from '../../../../../src/core/problem.ts';
import { isSettled } from '../../../../../src/core/triggers/delivery.ts';
import type { TriggeredRun } from '../../../../../src/engine/triggers/dispatch-run.ts';
import { hook, nightly, notice, openLife, openStorage, run, type Fate, type Life, type Storage } from './deliveries-of.ts';

// Work that timed out stays abandoned with the object that died.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const sessions = ['a', 'b', 'c'];
const ids = ['1', '2', '3', '4', '5', '6'];
const fates: Fate[] = ['taken', 'taken, answer lost', 'unreachable', 'refused'];

type Step =
  | { do: 'accept'; id: string; session: string; fate: Fate }
  | { do: 'notice'; which: number; status: 'completed' | 'failed' | 'waiting' | 'cancelled' | 'interrupted' }
  | { do: 'replay'; id: string; fate: Fate }
  | { do: 'dies'; fate: 'taken, no answer' | 'no answer' }
  | { do: 'alarm'; afterMs: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('accept' as const),
      id: fc.constantFrom(...ids),
      session: fc.constantFrom(...sessions),
      fate: fc.constantFrom(...fates),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('notice' as const),
      which: fc.nat(20),
      status: fc.constantFrom('completed' as const, 'failed' as const, 'waiting' as const, 'cancelled' as const, 'interrupted' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('replay' as const), id: fc.constantFrom(...ids), fate: fc.constantFrom(...fates) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('dies' as const), fate: fc.constantFrom('taken, no answer' as const, 'no answer' as const) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('alarm' as const), afterMs: fc.constantFrom(0, 500, 1_000, 10_000, 400_000) }) },
);

/** `accepted`: in this order. `requests`: how many there were; each has its own turn. */
type Told = { accepted: string[]; requests: number };

async function take(step: Step, storage: Storage, life: Life, told: Told): Promise<void> {
  const { context, advance } = storage;
  switch (step.do) {
    case 'accept': {
      told.requests += 1;
      const answer = acceptDelivery(context, run(step.id, step.session, { turn: `turn of request ${told.requests}` }));
      expect(answer.isRepeat).toBe(told.accepted.includes(step.id));
      if (!answer.isRepeat) told.accepted.push(step.id);
      life.fates.push(step.fate);
      life.dispatcher.kick();
      return await life.quiet();
    }
    case 'notice': {
      const begun = life.begun[step.which % Math.max(life.begun.length, 1)];
      if (begun !== undefined) followTurn(context, begun.trigger, notice(begun, step.status));
      life.dispatcher.kick();
      return await life.quiet();
    }
    case 'replay': {
      const before = findDelivery(context.sql, hook, step.id);
      const again = run(step.id, before?.session_key ?? 'a').verdict;
      const replayed = (): unknown => replayDelivery(context, hook, step.id, again);
      if (before === null || !isSettled(before.status)) {
        expect(replayed).toThrow(Problem);
        return;
      }
      replayed();
      life.fates.push(step.fate);
      life.dispatcher.kick();
      return await life.quiet();
    }
    case 'dies': {
      life.fates = [step.fate, step.fate, step.fate];
      advance(limits.maxDispatchBackoffMs);
      life.dispatcher.kick();
      // As far as it gets.
      for (let tick = 0; tick < 20; tick += 1) await Promise.resolve();
      life.fates = [];
      life.die();
      return;
    }
    case 'alarm':
      advance(step.afterMs);
      await life.dispatcher.runDue();
      return await life.quiet();
    default:
      step satisfies never;
  }
}

async function rest({ advance }: Storage, life: Life): Promise<void> {
  life.fates = [];
  for (let times = 0; life.dispatcher.nextDue() !== null; times += 1) {
    expect(times, 'rings of the alarm until all is quiet').toBeLessThan(50);
    advance(limits.maxDispatchBackoffMs);
    await life.dispatcher.runDue();
    await life.quiet();
  }
}

const named = ({ trigger }: TriggeredRun): string => `${trigger.delivery} ${trigger.run}`;

it('with any failures, crashes and repeats, each delivery and run has one turn, or one notice that it could not start', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const storage = openStorage();
      const life = openLife(storage);
      const told: Told = { accepted: [], requests: 0 };
      for (const one of steps) await take(one, storage, life, told);
      await rest(storage, life);

      const ended = [...life.begun.map(named), ...life.told.map(({ trigger }) => `${trigger?.delivery} ${trigger?.run}`)];
      const wanted = told.accepted.flatMap((id) => {
        const { run } = readDelivery(storage.context, hook, id);
        return Array.from({ length: run }, (_, index) => `${id} ${index + 1}`);
      });
      expect(ended.toSorted()).toEqual(wanted.toSorted());
      for (const session of sessions) {
        const first = life.begun.filter(({ sessionKey, trigger }) => sessionKey === session && trigger.run === 1);
        const places = first.map(({ trigger }) => told.accepted.indexOf(trigger.delivery));
        expect(places, 'the order in a session').toEqual(places.toSorted((one, other) => one - other));
      }
    }),
    { numRuns: 300 },
  );
});

it('queued runs never overlap, and all of them run in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('due', 'ends', 'dies', 'alarm'), { maxLength: 30 }), async (steps) => {
      const storage = openStorage();
      const { context, advance } = storage;
      const life = openLife(storage);
      let due = 0;
      let over = 0;
      const end = async (): Promise<void> => {
        const begun = life.begun[over];
        if (begun === undefined) return;
        over += 1;
        followTurn(context, begun.trigger, notice(begun));
        life.dispatcher.kick();
        await life.quiet();
      };
      for (const one of steps) {
        if (one === 'due') {
          acceptDelivery(context, run(String(due), `own ${due}`, { trigger: nightly, isQueued: true }));
          due += 1;
          life.dispatcher.kick();
          await life.quiet();
        } else if (one === 'ends') await end();
        else if (one === 'dies') life.die();
        else {
          advance(limits.maxDispatchBackoffMs);
          await life.dispatcher.runDue();
          await life.quiet();
        }
        expect(life.begun.length - over).toBeLessThanOrEqual(1);
      }
      await rest(storage, life);
      while (over < due) {
        expect(life.begun.length).toBe(over + 1);
        await end();
        await rest(storage, life);
      }
      expect(life.begun.map(({ trigger }) => Number(trigger.delivery))).toEqual(Array.from({ length: due }, (_, index) => index));
    }),
    { numRuns: 200 },
  );
});
