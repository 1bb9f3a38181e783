/**
 * The deliveries of one workspace in memory: stored once by trigger and id, with turns that start at once in the fake sessions. For tests
 * of layers above the port; without callbacks and schedules.
 */
import { Problem } from '../../src/core/problem.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import { isSettled, type Delivery, type DeliveryWithPayload } from '../../src/core/triggers/delivery.ts';
import type { Trigger } from '../../src/core/turn/turn-trigger.ts';
import { triggerPrincipal } from '../../src/core/triggers/trigger-principal.ts';
import type { AcceptedDelivery, DeliveryVerdict, NewDelivery, StoredWork, Triggers } from '../../src/ports/triggers.ts';
import type { FakeSessions } from './sessions.ts';

type Kept = { delivery: Delivery; given: NewDelivery; verdict: DeliveryVerdict };

export type FakeTriggers = Triggers &
  StoredWork & {
    /** Every request, unchanged. */
    accepted: NewDelivery[];
    replayed: { id: string; verdict: DeliveryVerdict }[];
    /** The state of a delivery, set by the test. */
    set(id: string, changes: Partial<Delivery>): void;
    /** false: accepted deliveries stay pending. */
    dispatches: boolean;
    /** The `waitMs` of each `untilTaken`. */
    waits: number[];
  };

export function fakeTriggers({ sessions, now }: { sessions: FakeSessions; now(): number }): FakeTriggers {
  const kept = new Map<string, Kept>();
  const keyOf = (trigger: Trigger, id: string): string => JSON.stringify([trigger.kind, trigger.name, id]);
  const existing = (trigger: Trigger, id: string): Kept => {
    const found = kept.get(keyOf(trigger, id));
    if (found === undefined) throw new Problem('not_found', 'There is no such delivery.');
    return found;
  };
  const shown = ({ delivery, given }: Kept): DeliveryWithPayload => ({
    ...delivery,
    payload: given.payload === null ? null : given.payload.isJson ? JSON.parse(given.payload.text) : given.payload.text,
  });
  const notBuilt = (): never => {
    throw new Error('not in these tests');
  };

  const begin = async ({ given: { trigger }, delivery, verdict }: Kept): Promise<void> => {
    if (verdict.become !== 'run') return;
    const principal = triggerPrincipal('default', trigger, verdict.agent);
    const { id } = await sessions.create(principal, { agent: verdict.agent, listed: true }, verdict.rendered.sessionKey);
    // The fake needs no more of a plan.
    const plan = { agent: verdict.agent } as unknown as Plan;
    const made = await sessions.get(id).submit(principal, { plan, input: [{ type: 'text', text: verdict.rendered.input }] });
    Object.assign(delivery, { session: id, turn: made.turn, status: 'running' });
  };

  const toAccepted = ({ id, status, reason, session, turn, run }: Delivery, isRepeat: boolean): AcceptedDelivery => {
    return { id, status, reason, session, turn, run, isRepeat };
  };

  const triggers: FakeTriggers = {
    accepted: [],
    replayed: [],
    dispatches: true,
    waits: [],
    set: (id, changes) => {
      for (const { delivery } of kept.values()) if (delivery.id === id) Object.assign(delivery, changes);
    },
    acceptDelivery: async (given) => {
      triggers.accepted.push(given);
      const before = kept.get(keyOf(given.trigger, given.id));
      if (before !== undefined) {
        before.delivery.repeats += 1;
        return toAccepted(before.delivery, true);
      }
      const delivery: Delivery = {
        ...{ id: given.id, event: given.event, receivedAt: new Date(now()).toISOString(), endedAt: null, repeats: 0, run: 1 },
        ...standing(given.verdict),
      };
      const made = { delivery, given, verdict: given.verdict };
      kept.set(keyOf(given.trigger, given.id), made);
      const answer = toAccepted(delivery, false);
      if (!triggers.dispatches || given.verdict.become !== 'run') return answer;
      await begin(made);
      return { ...toAccepted(delivery, false), status: 'pending' };
    },
    waitUntilDispatched: async (trigger, id, waitMs) => {
      triggers.waits.push(waitMs);
      return existing(trigger, id).delivery;
    },
    deliveries: async (trigger, { status, limit }) => {
      const all = [...kept.values()].filter(({ given, delivery }) => {
        return (
          given.trigger.kind === trigger.kind && given.trigger.name === trigger.name && (status ?? delivery.status) === delivery.status
        );
      });
      return { items: all.reverse().slice(0, limit).map(shown), nextCursor: null };
    },
    webhookDeliveries: async ({ status, webhook, limit }) => {
      const all = [...kept.values()].filter(
        ({ given, delivery }) =>
          given.trigger.kind === 'webhook' &&
          [undefined, given.trigger.name].includes(webhook) &&
          (status ?? delivery.status) === delivery.status,
      );
      const items = all.map(({ given, delivery }) => ({ webhook: given.trigger.name, ...delivery }));
      return { items: items.reverse().slice(0, limit), nextCursor: null, refused: [] };
    },
    addRefusals: async () => undefined,
    delivery: async (trigger, id) => shown(existing(trigger, id)),
    storedPayload: async (trigger, id) => {
      const { delivery, given } = existing(trigger, id);
      if (given.payload === null) throw new Problem('conflict', 'The payload is no longer kept.');
      return { delivery, event: given.event, payload: given.payload };
    },
    replayDelivery: async (trigger, id, verdict) => {
      triggers.replayed.push({ id, verdict });
      const found = existing(trigger, id);
      if (!isSettled(found.delivery.status)) throw new Problem('conflict', 'Its turn is under way.');
      Object.assign(found, { verdict });
      Object.assign(found.delivery, standing(verdict), { run: found.delivery.run + 1 });
      await begin(found);
      return toAccepted(found.delivery, false);
    },
    noteTurns: async () => undefined,
    callbacks: notBuilt,
    callback: notBuilt,
    retryCallback: notBuilt,
    testSubscription: notBuilt,
    runSchedule: notBuilt,
  };
  return triggers;
}

function standing(verdict: DeliveryVerdict): Pick<Delivery, 'status' | 'reason' | 'session' | 'sessionKey' | 'turn' | 'warnings'> {
  if (verdict.become !== 'run')
    return { status: verdict.become, reason: verdict.reason, session: null, sessionKey: null, turn: null, warnings: verdict.warnings };
  const { session, turn, rendered } = verdict;
  return { status: 'pending', reason: null, session, sessionKey: rendered.sessionKey, turn, warnings: rendered.warnings };
}
