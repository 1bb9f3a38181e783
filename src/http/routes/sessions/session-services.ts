/** What the routes of sessions use: their turns, files and approvals. */
import type { ChatDeps } from '../../../engine/chat/run-chat.ts';
import type { SessionPrompts } from '../../../engine/mcp/session-prompts.ts';
import type { ApprovalLinkTokens } from '../../../storage/keys/signed-token.ts';
import { type RoomServices, routesUsing } from '../../route.ts';

export interface SessionServices extends RoomServices<'clock' | 'ids' | 'log' | 'limiter'>, Pick<ChatDeps, 'sessions' | 'planTurn'> {
  /** Tokens of links that decide one approval. */
  approvalLinks: ApprovalLinkTokens;
  prompts: SessionPrompts;
}

export const { defineRoute, definePublicRoute } = routesUsing<SessionServices>();
