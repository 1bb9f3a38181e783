/** The place of a session among the turns in progress of its isolate, held while one of its turns runs. The root key needs none. */
import type { Plan } from '../../../core/turn/plan.ts';
import { rootKeyId } from '../../../core/people/principal.ts';
import { grantedShare } from '../../../core/usage-limits.ts';
import type { ShareOwner } from '../../../core/limits/fair-share.ts';
import { type FairPool, type Place, requireTaken } from '../../../engine/fair-pool.ts';

export type RunningTurns = Pick<FairPool, 'take' | 'takeBeyondLimit'>;

/** When a turn that was refused may be sent again. */
export const turnRetryMs = 5_000;

export class TurnPlace {
  readonly #running: RunningTurns;
  readonly #owner: ShareOwner;
  #place: Place | null = null;

  constructor(running: RunningTurns, { workspace, keyId }: ShareOwner) {
    this.#running = running;
    this.#owner = { workspace, keyId };
  }

  /** Takes a place for a turn that will start. Throws `rate_limited` if its key or workspace has too many in progress. */
  require({ limited }: Plan): void {
    if (this.#owner.keyId === rootKeyId) return;
    // Of a turn that was not stored.
    this.leave();
    const taken = this.#running.take(this.#owner, { granted: grantedShare(limited, 'concurrentTurns') });
    this.#place = requireTaken(taken, turnRetryMs);
  }

  /** A turn starts or continues, which was accepted before. */
  enter(): void {
    if (this.#owner.keyId !== rootKeyId) this.#place ??= this.#running.takeBeyondLimit(this.#owner);
  }

  renew(): void {
    this.#place?.renew();
  }

  /** The turn has ended or waits. */
  leave(): void {
    this.#place?.release();
    this.#place = null;
  }
}
