/**
 * What travels with an MCP client while it asks a person (`requestState` of 2026-07-28: opaque to the client, and to be trusted by nobody who
 * did not sign it). It says which call was asked about, by whom and until when; signing it is an adapter's (`storage/request-state.ts`).
 * What leads to an effect is used once.
 */
import type { Approved } from '../../core/approval.ts';
import { canonicalJson, sha256Hex } from '../../core/hash.ts';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { Principal } from '../../core/principal.ts';
import type { Clock, Ids } from '../../ports/runtime.ts';

/** `approval`: ours, before the call. `input`: of the server, which is called again with it. `held`: of the server, whose call is open. */
export type AskedFor = 'approval' | 'input' | 'held';

export type ServedState = {
  nonce: string;
  expiresAt: number;
  keyId: string;
  /** Of the endpoint: a toolset, or null for what the key has equipped. */
  target: string | null;
  /** What was called (canonical name and entry, prompt, resource), and with what. */
  subject: string;
  argumentsHash: string;
  /** Every try of one call has the same. */
  callId: string;
  asked: AskedFor;
  /** A person has said yes to exactly this call, and to what this is bound to. Absent members: an older release asked, and a yes is bound to nothing. */
  approved?: Partial<Approved>;
  /** What was asked for, by the server's keys; and the answers that nobody had to be asked for. */
  keys: string[];
  answered?: Record<string, Record<string, unknown>>;
  /** The server's own. */
  state?: string;
  /** With `held`: where the open call is (`engine/serve/held-call.ts`). */
  held?: string;
  rounds: number;
};

export interface StateSeal {
  /** Signed for the workspace. */
  seal(workspace: string, state: ServedState): Promise<string>;
  /** null: not ours, or changed on its way. */
  open(workspace: string, text: string): Promise<ServedState | null>;
}

export type StateDeps = {
  clock: Clock;
  ids: Ids;
  seal: StateSeal;
  spend(workspace: string, nonce: string, expiresAt: number): Promise<boolean>;
};

/** What a request is about. */
export type Subject = { principal: Principal; target: string | null; subject: string; argumentsHash: string };

export async function subjectOf(
  principal: Principal,
  target: string | null,
  kind: string,
  names: readonly string[],
  given: unknown,
): Promise<Subject> {
  return { principal, target, subject: JSON.stringify([kind, ...names]), argumentsHash: await sha256Hex(canonicalJson(given ?? null)) };
}

export async function sealState(
  deps: StateDeps,
  { principal, target, subject, argumentsHash }: Subject,
  state: Omit<ServedState, 'nonce' | 'expiresAt' | 'keyId' | 'target' | 'subject' | 'argumentsHash'>,
): Promise<string> {
  const sealed = await deps.seal.seal(principal.workspace, {
    nonce: deps.ids.next('ask'),
    expiresAt: deps.clock.now() + limits.requestStateTtlMs,
    keyId: principal.keyId,
    target,
    subject,
    argumentsHash,
    ...state,
  });
  if (sealed.length > limits.maxRequestStateLength)
    throw new Problem('upstream_error', 'The server asked to be told more of the call than a client can carry.');
  return sealed;
}

/** Throws `invalid_request` for what is not ours, of another call, over, or was used. */
export async function openState(deps: StateDeps, about: Subject, text: string): Promise<ServedState> {
  const { workspace, keyId } = about.principal;
  const state = text.length > limits.maxRequestStateLength ? null : await deps.seal.open(workspace, text);
  const isOurs = state !== null && state.keyId === keyId && state.target === about.target;
  if (!isOurs || state.subject !== about.subject || state.argumentsHash !== about.argumentsHash) throw badState('is none of this call');
  if (state.expiresAt <= deps.clock.now()) throw badState('is over');
  // A question that leads to nothing new may be answered twice: the server that asked it knows its own.
  const isOnce = state.asked === 'approval' || state.approved !== undefined;
  if (isOnce && !(await deps.spend(workspace, state.nonce, state.expiresAt))) throw badState('was used already');
  return state;
}

export function badState(what: string): Problem {
  return new Problem('invalid_request', `The requestState ${what}: send the request again without it.`, {
    issues: [{ path: 'requestState', message: what }],
    reason: 'invalid_request_state',
  });
}
