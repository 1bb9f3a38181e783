/** When schedules run: the times that are due become deliveries, missed ones once, and the next time is written down with them. */
import type { AcceptedDelivery, ScheduleState } from '../../ports/triggers.ts';
import type { CatalogContext } from '../context.ts';
import type { Duty } from '../duty.ts';

export type ScheduleDeps = {
  /** Id of the session of a trigger with this key. */
  sessionId(schedule: string, agent: string, sessionKey: string): Promise<string>;
  newTurn(): string;
  /** A run was stored. */
  kick(): void;
  wake(): Promise<void>;
};

export type Scheduler = Duty & {
  runNow(schedule: string): Promise<AcceptedDelivery>;
  state(schedule: string): ScheduleState;
};

export function createScheduler(_context: CatalogContext, _deps: ScheduleDeps): Scheduler {
  const notBuilt = (): never => {
    throw new Error('not built yet');
  };
  return { nextDue: () => null, tend: async () => undefined, runNow: notBuilt, state: notBuilt };
}
