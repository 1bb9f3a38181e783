/** What the routes of servers use: their documents, tool lists and programs, and the sign-ins to them. */
import type { CompleteServer } from '../../../core/servers/server.ts';
import type { GivenListing, ListingReport } from '../../../core/servers/server-tool.ts';
import type { Program, ServerProcess } from '../../../core/servers/stdio.ts';
import type { RefreshReason } from '../../../core/servers/refresh-state.ts';
import type { ServerTest } from '../../../core/servers/server-state.ts';
import type { SignIns } from '../../../mcp/oauth/sign-in-service.ts';
import type { PastCallServices } from '../../past-calls.ts';
import { type RoomServices, routesUsing } from '../../route.ts';

/** Of a workspace. */
export interface ServerAdmin {
  refresh(name: string, reason: RefreshReason, options?: { isNew?: boolean }): Promise<ListingReport | null>;
  test(name: string, document?: CompleteServer): Promise<ServerTest>;
  /** The tools of a server that has its OpenAPI document in its own. Throws `Problem`. */
  listGiven(name: string, document: CompleteServer): Promise<GivenListing>;
  /** Refreshes, in the background, the tool lists of these servers that are stale. */
  refreshIfStale(names: readonly string[]): void;
  /** The processes of its servers with a command. */
  processes(): Promise<ServerProcess[]>;
}

export interface ServerServices extends RoomServices<'clock' | 'log' | 'people'>, PastCallServices {
  /** Refreshes the tool lists of a workspace's servers, and tests a server. */
  servers(workspace: string): ServerAdmin;
  /** Signs people in to servers. */
  signIns: SignIns;
  /** Returns the keys of those programs of the launcher that are to end. */
  unwantedPrograms(programs: readonly Program[]): Promise<string[]>;
}

export const { defineRoute, definePublicRoute } = routesUsing<ServerServices>();
