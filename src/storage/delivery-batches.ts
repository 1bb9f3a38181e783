/**
 * Sends the deliveries that reach an isolate at the same time to their Catalog together: in a burst, a call and a commit for each cost more
 * than the deliveries themselves. The first one is sent at once; those that arrive before it is stored are sent together after it.
 */
import { limits } from '../core/limits.ts';
import { MB } from '../core/limits/units.ts';
import { type Outcome, unwrap } from '../core/problem.ts';
import { abandoned, joinWork } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
import type { WaitUntil } from '../platform/background.ts';
import type { AcceptedDelivery, NewDelivery } from '../ports/triggers.ts';

const maxBatchDeliveries = 64;
const maxBatchCharacters = 4 * MB;
/** A batch waits at most this long for the call before it. */
const waitMs = 1_000;

type Outcomes = readonly Outcome<AcceptedDelivery>[];
/** `settled`: the outcomes as plain data, once they are there. */
type Batch = { deliveries: NewDelivery[]; characters: number; outcomes: Promise<Outcomes>; settled: Outcomes | null };

type BatchDeps = {
  /** Returns an outcome for each, in their order. Storing a delivery again has no effect. */
  accept(deliveries: readonly NewDelivery[]): Promise<Outcomes>;
  background: WaitUntil;
};

/** Returns a function that stores a delivery of one workspace, as `Triggers.acceptDelivery`. */
export function createDeliveryBatches({ accept, background }: BatchDeps): (delivery: NewDelivery) => Promise<AcceptedDelivery> {
  /** The newest call. One whose request has ended may stay here: nothing waits long for it. */
  let sending: Promise<unknown> | null = null;
  let next: Batch | null = null;

  const send = async (deliveries: readonly NewDelivery[]): Promise<Outcomes> => {
    const call = accept(deliveries);
    sending = call;
    try {
      return await call;
    } finally {
      if (sending === call) sending = null;
    }
  };

  const open = (previous: Promise<unknown>): Batch => {
    const batch: Batch = { deliveries: [], characters: 0, outcomes: Promise.resolve([]), settled: null };
    batch.outcomes = (async () => {
      // Its own request reports how it failed.
      await joinWork(systemClock, previous, waitMs).catch(() => undefined);
      if (next === batch) next = null;
      batch.settled = await send(batch.deliveries);
      return batch.settled;
    })();
    // The batch has deliveries of other requests, so it must not end with the client of this one.
    background(batch.outcomes.catch(() => undefined));
    return batch;
  };

  const isFull = ({ deliveries, characters }: Batch): boolean =>
    deliveries.length >= maxBatchDeliveries || characters >= maxBatchCharacters;

  return async (delivery) => {
    if (sending === null) return outcomeAt(await send([delivery]), 0);
    if (next === null || isFull(next)) next = open(sending);
    const batch = next;
    const place = batch.deliveries.push(delivery) - 1;
    batch.characters += lengthOf(delivery);
    const joined = await joinWork(systemClock, batch.outcomes, waitMs + 2 * limits.catalogTimeoutMs);
    // On a busy thread, the timer of this request can fire before it learns that the other request's promise was resolved long ago.
    const outcomes = joined === abandoned ? batch.settled : joined;
    return outcomes === null ? outcomeAt(await accept([delivery]), 0) : outcomeAt(outcomes, place);
  };
}

function outcomeAt(outcomes: Outcomes, place: number): AcceptedDelivery {
  const outcome = outcomes[place];
  if (outcome === undefined) throw new Error('the catalog returned fewer outcomes than deliveries');
  return unwrap(outcome);
}

function lengthOf({ payload, verdict }: NewDelivery): number {
  return (payload?.text.length ?? 0) + (verdict.become === 'run' ? verdict.rendered.input.length : 0);
}
