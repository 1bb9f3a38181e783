/**
 * Calls of models for which an isolate holds reservations. While a call is in flight its reservations are renewed, so that the counters do not
 * set them free. A call whose request ended without a settlement, such as one that the platform dropped with its client, is settled as unknown.
 */
import type { CallEstimate, Reservation } from '../../../ports/limiter.ts';
import type { Clock } from '../../../ports/runtime.ts';
import { leaseMs } from './limit-counter-client.ts';
import type { HolderLease, Taken } from './limit-lease.ts';
import { isBudget } from '../../../core/usage-limits.ts';

const renewMs = leaseMs / 3;

/** `flush`: exchanges the leases of the holder soon, in the background. */
export type ReservedPart = { lease: HolderLease; taken: readonly Taken[]; flush(): void };

type OpenCall = { seenAt: number; settle: Reservation['settle'] };

export function createReservedCalls(clock: Clock) {
  /** In the order of `seenAt`. */
  const open = new Set<OpenCall>();

  return {
    /** Settles the calls that were not renewed: their timers ended with their requests. */
    settleLost(): void {
      const now = clock.now();
      for (const call of open) {
        if (Math.abs(now - call.seenAt) < leaseMs) break;
        call.settle('unknown');
      }
    },

    /** `estimate`: counts if the call ends without known usage. */
    start(parts: readonly ReservedPart[], estimate: CallEstimate): Reservation {
      const see = (): void => {
        call.seenAt = clock.now();
        open.delete(call);
        open.add(call);
        disarm = clock.after(renewMs, () => {
          see();
          for (const { flush } of parts) flush();
        });
      };
      let disarm = (): void => undefined;
      const call: OpenCall = {
        seenAt: 0,
        settle(given, isReported = given !== 'unknown') {
          disarm();
          if (!open.delete(call)) return;
          const used = given === 'unknown' ? estimate : given;
          for (const { lease, taken, flush } of parts) {
            lease.settle(taken, (limit) => (isBudget(limit) ? used.cost : used.tokens), !isReported);
            flush();
          }
        },
      };
      see();
      return call;
    },
  };
}
