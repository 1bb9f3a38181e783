/**
 * How servers that list their tools themselves are doing: a row for each, from the write of its document on. What it means for reading
 * them is `server-refresh.ts`. A `static` server has none: nobody asks it anything but calls.
 */
import { limits } from '../core/limits.ts';
import type { ServerConnection, ServerHealth } from '../core/server-state.ts';
import { isoTime } from './documents.ts';

/** Times in milliseconds since the epoch; null: never. */
export type ServerState = {
  /** Of the document that all this is about. */
  version: number;
  status: ServerHealth['status'];
  reason: string | null;
  connection: ServerConnection | null;
  checkedAt: number | null;
  listedAt: number | null;
  staleAt: number | null;
  /** Somebody reads it. */
  leasedUntil: number | null;
  /** It said that its list is another one while somebody was reading. */
  hasChanged: boolean;
  /** In a row. */
  failures: number;
  /** How many it offers besides tools. */
  offered: OfferCounts;
};

export type OfferCounts = { prompts: number; resources: number; resourceTemplates: number };

/** Written now, and asked by nobody yet: whoever meets it reads it. */
export function freshState(version: number, now: number): ServerState {
  const never = { checkedAt: null, listedAt: null, leasedUntil: null };
  const nothing = { prompts: 0, resources: 0, resourceTemplates: 0 };
  return {
    version,
    status: 'unknown',
    reason: null,
    connection: null,
    ...never,
    staleAt: now,
    hasChanged: false,
    failures: 0,
    offered: nothing,
  };
}

/** null: of a `static` one. */
export function readState(sql: SqlStorage, server: string): ServerState | null {
  const row = sql.exec<{ state: string }>('SELECT state FROM server_state WHERE server = ?', server).toArray()[0];
  return row === undefined ? null : (JSON.parse(row.state) as ServerState); // Written by `writeState` only.
}

export function writeState(sql: SqlStorage, server: string, state: ServerState): void {
  sql.exec('INSERT OR REPLACE INTO server_state (server, state) VALUES (?, ?)', server, JSON.stringify(state));
}

export function forgetState(sql: SqlStorage, server: string): void {
  sql.exec('DELETE FROM server_state WHERE server = ?', server);
}

export function healthOf({ status, reason, checkedAt, listedAt, failures }: ServerState): ServerHealth {
  return {
    status,
    ...(reason !== null && { reason }),
    checkedAt: checkedAt === null ? null : isoTime(checkedAt),
    listedAt: listedAt === null ? null : isoTime(listedAt),
    failures,
  };
}

/** What a server says of itself is kept up to a size: it is read with each call of its tools. */
export function boundedConnection(connection: ServerConnection | null): ServerConnection | null {
  if (connection === null) return null;
  const { capabilities, instructions, ...rest } = connection;
  const isSmall = JSON.stringify(capabilities).length <= limits.maxServerInstructionBytes;
  return {
    ...rest,
    capabilities: isSmall ? capabilities : {},
    ...(instructions !== undefined && { instructions: instructions.slice(0, limits.maxServerInstructionBytes).toWellFormed() }),
  };
}
