/** What the routes of replays use. */
import type { ReplayDeps } from '../../../engine/replay/start-replay.ts';
import type { Replays } from '../../../ports/replays.ts';
import { type RoomServices, routesUsing } from '../../route.ts';

export interface ReplayServices extends RoomServices<'clock' | 'log'>, Pick<ReplayDeps, 'sessions' | 'usage' | 'planTurn'> {
  replays: Replays;
}

export const { defineRoute } = routesUsing<ReplayServices>();
