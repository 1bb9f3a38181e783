/** What lists of the workspace show of a session and of the questions that its calls wait for: sent by the session, stored by the Catalog. */
import * as z from 'zod';
import type { GrantedShare } from '../limits/fair-share.ts';
import type { storedBounds } from '../limits/pools.ts';
import type { Usage } from '../model/chat-event.ts';
import type { InputPart } from '../model/message.ts';
import { cutToLength } from '../text/utf8.ts';

/** `idle`: no turn yet. Otherwise the status of the newest turn, or of the one that runs or waits. */
export const SessionStatus = z.enum(['idle', 'queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'interrupted']);
export type SessionStatus = z.infer<typeof SessionStatus>;

export const WaitKind = z.enum(['approval', 'input', 'client-tool']);
export type WaitKind = z.infer<typeof WaitKind>;

/** `expired`: it ended without a decision, because it expired, its turn ended, or its call was cancelled. */
export const WaitState = z.enum(['pending', 'approved', 'denied', 'answered', 'expired']);
export type WaitState = z.infer<typeof WaitState>;

/** A question about a call. `turn` is null for a direct call. Times: milliseconds. */
export type SessionWait = {
  callId: string;
  kind: WaitKind;
  turn: string | null;
  canonical: string;
  reason: string;
  round: number;
  state: WaitState;
  askedAt: number;
  expiresAt: number | null;
  decidedAt: number | null;
  /** Id of the key that decided or answered, `link`, or `clock`. */
  decidedBy: string | null;
};

/** `revision` counts changes, so that of two updates the newer one stays. */
export type SessionSummary = { revision: number; status: SessionStatus; title: string | null; activeAt: number; usage: Usage };

export type SessionUpdate = {
  id: string;
  keyId: string;
  agent: string | null;
  model: string | null;
  toolset: string | null;
  createdAt: number;
  summary: SessionSummary;
  waits: readonly SessionWait[];
  open: OpenWork;
  /** Of a replay: JSON of a `ListedReplay`. Lists of sessions leave it out. */
  replay?: string;
};

/** How much a session has of what is bounded over all sessions of its key and its workspace. */
export type OpenWork = Record<keyof typeof storedBounds, number>;
/** What a session is about to add. `has`: how much it has. */
export type OpenWorkRequest = { session: string; keyId: string; of: keyof OpenWork; has: number; more: number; granted: GrantedShare };

/** Filters of the list of sessions. `keyId`: only those of this key; null: of all keys. `trigger`: a kind, or `kind:name`. */
export type SessionFilter = { keyId: string | null; status?: SessionStatus; agent?: string; trigger?: string };

/** Filters of the list of questions. `of`: whose sessions; with `triggered`, also those that triggers started, of all or these agents. */
export type WaitFilter = {
  state: 'pending' | 'decided';
  of: { keyId: string; triggered?: 'all' | readonly string[] } | null;
  kind?: WaitKind;
  agent?: string;
  session?: string;
};

/** A question in a list. */
export type ListedWait = SessionWait & { session: string; keyId: string; agent?: string };

const maxTitleLength = 100;
const maxReasonLength = 500;

/** Returns the first line of the input's text, shortened; null if it has no text. */
export function titleOf(input: readonly InputPart[]): string | null {
  for (const part of input) {
    const line =
      part.type === 'text'
        ? (part.text
            .slice(0, 4_000)
            .match(/\S[^\r\n]*/)?.[0]
            .trim() ?? '')
        : '';
    if (line !== '') return cutToLength(line, maxTitleLength);
  }
  return null;
}

export function shortReason(reason: string): string {
  return cutToLength(reason, maxReasonLength);
}
