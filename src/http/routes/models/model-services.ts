/** What the routes of models use: providers, agents, and requests to a provider outside of turns. */
import type { ChatDeps } from '../../../engine/chat/run-chat.ts';
import type { ModelRequests } from '../../../providers/model-requests.ts';
import type { UsageReader } from '../../../ports/usage.ts';
import { type RoomServices, routesUsing } from '../../route.ts';

export type ModelServices = RoomServices<'clock'> & { usage: UsageReader } & Pick<ChatDeps, 'planTurn' | 'sessions'> &
  Pick<ModelRequests, 'countTokens' | 'passRequest' | 'models'>;

export const { defineRoute } = routesUsing<ModelServices>();
