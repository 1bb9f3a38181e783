/** The sessions of one stdio server, which the Worker opens: several for one conversation if its clients support different things. */
import { randomUUID } from 'node:crypto';
import type { StdioCaller } from '../../core/servers/stdio.ts';

/** Of more sessions, the one that was unused for longest ends. */
export const maxSessions = 1_000;

export type RpcMessage = Record<string, unknown>;
/** A response that is open: the stream of a request, or of a session. Returns false if it has ended. */
export type RpcStream = { send(message: RpcMessage): boolean; end(): void };

export type SessionOwner = Pick<StdioCaller, 'owner' | 'conversation'>;
export type BridgeSession = SessionOwner & {
  id: string;
  capabilities: Record<string, unknown>;
  streams: Set<RpcStream>;
  subscriptions: Set<string>;
};

/** By id, in the order of their last requests. */
export class BridgeSessions extends Map<string, BridgeSession> {
  add(capabilities: Record<string, unknown>, { owner, conversation }: SessionOwner): BridgeSession {
    const session = {
      id: randomUUID(),
      owner,
      conversation,
      capabilities,
      streams: new Set<RpcStream>(),
      subscriptions: new Set<string>(),
    };
    this.set(session.id, session);
    return session;
  }

  /** Notes a request. */
  touch(session: BridgeSession): void {
    if (this.delete(session.id)) this.set(session.id, session);
  }

  /** Returns the one to end if there are too many. A session may belong to any client, so one that is in use stays as long as there are others. */
  surplus(busy: ReadonlySet<BridgeSession>): BridgeSession | undefined {
    if (this.size <= maxSessions) return undefined;
    const all = [...this.values()].slice(0, -1);
    return all.find((one) => !busy.has(one) && one.streams.size === 0) ?? all.find((one) => !busy.has(one)) ?? all[0];
  }

  /** Those who wait for notifications outside calls. */
  get listening(): BridgeSession[] {
    return [...this.values()].filter(({ streams }) => streams.size > 0);
  }

  isSubscribed(uri: string): boolean {
    return [...this.values()].some(({ subscriptions }) => subscriptions.has(uri));
  }
}
