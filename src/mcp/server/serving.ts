/** What the handlers of one MCP server of ours work with: who asks, what they are served, and the engine behind it. */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Principal } from '../../core/principal.ts';
import type { MarkStore } from '../../engine/policy/direct-marks.ts';
import type { CallHold } from '../../engine/serve/held-call.ts';
import type { ServeCallDeps } from '../../engine/serve/serve-call.ts';
import type { ServedView, ServeTarget } from '../../engine/serve/serve-view.ts';
import type { WatchDeps } from '../../engine/serve/serve-watch.ts';
import type { ServedEra } from './client-channel.ts';

export type ServeDeps = ServeCallDeps &
  WatchDeps & {
    /** Work that goes on to its end although the client has left. It must not fail. */
    background(work: Promise<unknown>): void;
  };

export type Serving = {
  deps: ServeDeps;
  era: ServedEra;
  target: ServeTarget;
  conversation: string;
  /** Of one request: in a session the key's rights may be others than when it began. */
  principalOf(context: ServerContext): Principal;
  /** Read for each request. */
  viewOf(principal: Principal): Promise<ServedView>;
  /** Where a call may stay open. */
  hold?: CallHold;
  /** In a session: its marks of the taint rule. */
  marks?: MarkStore;
  /** In a session: of a call that is answered because the process died during it; undefined for others. */
  interruptedOf?(context: ServerContext): { callId: string } | undefined;
  /** In a session: durably, before the effect. */
  started?(context: ServerContext, callId: string): void;
  /** In a session: the resources that it wants to hear of. */
  subscriptions?: { add(uri: string): void; remove(uri: string): void };
  /** After a call: what is listed may be another list now. */
  called?(principal: Principal): void;
};
