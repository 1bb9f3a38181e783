/** The place of a session among the turns in progress of its isolate, held while one of its turns runs. The root key needs none. */
import type { Plan } from '../../core/turn/plan.ts';
import { rootKeyId } from '../../core/principal.ts';
import type { LimitedHolder } from '../../core/usage-limits.ts';
import { type FairPool, isShortage, type Place, type PoolOwner, shortageProblem } from '../../engine/fair-pool.ts';

export type RunningTurns = Pick<FairPool, 'take' | 'takeAnyway'>;

/** When a turn that was refused may be sent again. */
const turnRetryMs = 5_000;

export class TurnPlace {
  readonly #running: RunningTurns;
  readonly #owner: PoolOwner;
  #place: Place | null = null;

  constructor(running: RunningTurns, { workspace, keyId }: PoolOwner) {
    this.#running = running;
    this.#owner = { workspace, keyId };
  }

  /** Takes a place for a turn that will start. Throws `rate_limited` if its key or workspace has too many in progress. */
  require({ limited = [] }: Plan): void {
    if (this.#owner.keyId === rootKeyId) return;
    // Of a turn that was not stored.
    this.leave();
    const maxOf = (holder: LimitedHolder['of']): number | undefined => limited.find(({ of }) => of === holder)?.limits.concurrentTurns;
    const taken = this.#running.take(this.#owner, { granted: { key: maxOf('key'), workspace: maxOf('workspace') } });
    if (isShortage(taken)) throw shortageProblem(taken, turnRetryMs);
    this.#place = taken;
  }

  /** A turn starts or continues, which was accepted before. */
  enter(): void {
    if (this.#owner.keyId !== rootKeyId) this.#place ??= this.#running.takeAnyway(this.#owner);
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
