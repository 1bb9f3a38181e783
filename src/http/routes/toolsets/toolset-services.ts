/** What the routes of toolsets use, including those that serve them over MCP. */
import type { Principal } from '../../../core/people/principal.ts';
import type { DirectCall, DryRun } from '../../../engine/call/direct-call.ts';
import type { ChatDeps } from '../../../engine/chat/run-chat.ts';
import type { McpAnswer, McpRequest } from '../../../mcp/server/endpoint.ts';
import type { SessionCall } from '../../../ports/session.ts';
import type { UsageReader } from '../../../ports/usage.ts';
import type { SseRelays } from '../../../ports/sse-relays.ts';
import type { PastCallServices } from '../../past-calls.ts';
import { type RoomServices, routesUsing } from '../../route.ts';

export interface ToolsetServices extends RoomServices<'clock'>, Pick<ChatDeps, 'planTurn'>, PastCallServices {
  usage: UsageReader;
  /** Makes a call outside a session. */
  callTool(principal: Principal, call: DirectCall): Promise<SessionCall>;
  /** Resolves, authorizes and checks a call without running it. Also for calls with a session. */
  dryRunCall(principal: Principal, call: DirectCall): Promise<DryRun>;
  /** Serves a request to `/mcp` whose key, origin and body were checked. */
  mcp(request: McpRequest): Promise<McpAnswer>;
  /** Connections of clients that only know HTTP+SSE. */
  sseRelays: SseRelays;
}

export const { defineRoute } = routesUsing<ToolsetServices>();
