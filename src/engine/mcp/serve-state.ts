/**
 * The state that an MCP client carries while it asks its user (`requestState` of 2026-07-28: opaque to the client, and trusted only if signed
 * by us). It says which call the question is about, for which key and until when; signing is in `storage/keys/signed-token.ts`. A state that
 * leads to an effect can be used once.
 */
import type { GivenApproval } from '../../core/policy/approval.ts';
import { canonicalJson, sha256Hex } from '../../core/hash.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/people/principal.ts';
import { isValidUntil } from '../../core/people/token-times.ts';
import type { Clock, Ids } from '../../ports/runtime.ts';
import type { Memorable } from './serve-approval.ts';

/** Lifetime of a question of ours that a client carries (`requestState`) until a person answers it. */
const requestStateTtlMs = 10 * 60_000;

/** `approval`: our question before the call. `input`: the server's question, which is called again with the answer. `held`: the same for an open call. */
export type PendingKind = 'approval' | 'input' | 'held';

export type ServedState = {
  nonce: string;
  expiresAt: number;
  keyId: string;
  /** The endpoint: a toolset, or null for what the key has equipped. */
  target: string | null;
  /** What was called (canonical name and entry, prompt, resource), and with what. */
  subject: string;
  argumentsHash: string;
  /** The same in every attempt of one call. */
  callId: string;
  asked: PendingKind;
  /** The user's approval of exactly this call, and what it is bound to. */
  approved?: GivenApproval;
  /** What that approval is remembered as. */
  memorable?: Memorable;
  /** The questions asked, by the server's keys; and the answers that needed no question. */
  keys: string[];
  answered?: Record<string, Record<string, unknown>>;
  /** The server's own state. */
  state?: string;
  /** With `held`: the name of the open call (`engine/mcp/in-flight-call.ts`). */
  held?: string;
  rounds: number;
};

export interface StateSeal {
  /** Signs the state for the workspace. */
  seal(workspace: string, state: ServedState): Promise<string>;
  /** Returns null if the state is not ours or was changed. */
  open(workspace: string, text: string): Promise<ServedState | null>;
}

export type StateDeps = {
  clock: Clock;
  ids: Ids;
  seal: StateSeal;
  consumeNonce(workspace: string, nonce: string, expiresAt: number): Promise<boolean>;
};

/** What a request is about. `names`: of what is called. `given`: the arguments. */
export type StateSubject = { principal: Principal; target: string | null; kind: string; names: readonly string[]; given: unknown };

/** Most requests neither bring a state nor need one, so this is computed for those that do. */
async function subjectOf({ kind, names, given }: StateSubject): Promise<Pick<ServedState, 'subject' | 'argumentsHash'>> {
  return { subject: JSON.stringify([kind, ...names]), argumentsHash: await sha256Hex(canonicalJson(given ?? null)) };
}

export async function sealState(
  deps: StateDeps,
  about: StateSubject,
  state: Omit<ServedState, 'nonce' | 'expiresAt' | 'keyId' | 'target' | 'subject' | 'argumentsHash'>,
): Promise<string> {
  const { principal, target } = about;
  const sealed = await deps.seal.seal(principal.workspace, {
    nonce: deps.ids.next('ask'),
    expiresAt: deps.clock.now() + requestStateTtlMs,
    keyId: principal.keyId,
    target,
    ...(await subjectOf(about)),
    ...state,
  });
  if (sealed.length > limits.maxRequestStateLength)
    throw new Problem('upstream_error', 'The server asked the client to carry more state than is possible.');
  return sealed;
}

/** Throws `invalid_request` for a state that is not ours, of another call, expired, or already used. */
export async function openState(deps: StateDeps, about: StateSubject, text: string): Promise<ServedState> {
  const { workspace, keyId } = about.principal;
  const state = text.length > limits.maxRequestStateLength ? null : await deps.seal.open(workspace, text);
  const isOurs = state !== null && state.keyId === keyId && state.target === about.target;
  const { subject, argumentsHash } = await subjectOf(about);
  if (!isOurs || state.subject !== subject || state.argumentsHash !== argumentsHash) throw invalidState('does not belong to this call');
  if (!isValidUntil(state.expiresAt, deps.clock.now(), requestStateTtlMs)) throw invalidState('has expired');
  // Answers to a server's question may be repeated: the server knows which question it asked.
  const isOnce = state.asked === 'approval' || state.approved !== undefined;
  if (isOnce && !(await deps.consumeNonce(workspace, state.nonce, state.expiresAt))) throw invalidState('was already used');
  return state;
}

export function invalidState(what: string): Problem {
  return new Problem('invalid_request', `The requestState ${what}. Send the request again without it.`, {
    issues: [{ path: 'requestState', message: what }],
    reason: 'invalid_request_state',
  });
}
