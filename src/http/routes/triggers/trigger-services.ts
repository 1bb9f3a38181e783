/** What the routes of webhooks, schedules and deliveries use. */
import type { AttemptLimit } from '../../../engine/attempt-limit.ts';
import type { RefusalCounter } from '../../../engine/triggers/count-refusals.ts';
import type { Sessions } from '../../../ports/session.ts';
import type { StoredWork, Triggers } from '../../../ports/triggers.ts';
import { type RoomServices, routesUsing, type WorkspaceKey } from '../../route.ts';

export interface TriggerServices extends RoomServices<'clock' | 'ids' | 'log' | 'limiter'> {
  triggers(workspace: string): Triggers;
  /** Starts stored work, for the key that asks for it. */
  storedWork(caller: WorkspaceKey): StoredWork;
  sessions: Sessions;
  /** Failed attempts to send events to webhooks. */
  hookAttempts: AttemptLimit;
  refusals: RefusalCounter;
}

export const { defineRoute, definePublicRoute } = routesUsing<TriggerServices>();
