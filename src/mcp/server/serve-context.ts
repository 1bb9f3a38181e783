/** The context of the handlers of one MCP server: the caller, the served toolset, and the engine's services. */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Principal } from '../../core/principal.ts';
import type { MarkStore } from '../../engine/policy/direct-marks.ts';
import type { InFlightCallSlot } from '../../engine/mcp/in-flight-call.ts';
import type { ServeCallDeps } from '../../engine/mcp/serve-call.ts';
import type { ServedView, ServeTarget } from '../../engine/mcp/serve-view.ts';
import type { WatchDeps } from '../../engine/mcp/serve-watch.ts';
import type { ServedEra } from './client-channel.ts';

export type ServeDeps = ServeCallDeps &
  WatchDeps & {
    /** Continues work in the background after the client has disconnected. It must not fail. */
    background(work: Promise<unknown>): void;
  };

export type ServeContext = {
  deps: ServeDeps;
  era: ServedEra;
  target: ServeTarget;
  conversation: string;
  /** Called for each request: in a session the key's rights may have changed since it started. */
  principalOf(context: ServerContext): Principal;
  /** Read for each request. */
  viewOf(principal: Principal): Promise<ServedView>;
  /** Set if a call may stay open. */
  hold?: InFlightCallSlot;
  /** In a session: its marks for the taint rule. */
  marks?: MarkStore;
  /** In a session: for a call that is resumed because the process ended during it; undefined for others. */
  interruptedOf?(context: ServerContext): { callId: string } | undefined;
  /** In a session: stored durably before the effect. */
  started?(context: ServerContext, callId: string): void;
  /** In a session: its resource subscriptions. */
  subscriptions?: { add(uri: string): void; remove(uri: string): void };
  /** Called after a call, which may have changed the lists. */
  called?(principal: Principal): void;
};
