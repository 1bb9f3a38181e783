/**
 * The taint rule (DESIGN §7; the lethal trifecta, SEC-41): once a conversation has seen both what is private and what anybody could have
 * written, sending anything out needs a person's word, to known hosts as well. A mark is never taken back.
 */

/** `private`: of the workspace and its people: files, secrets, what tools with credentials answer. `untrusted`: written by anybody: web pages, tools of untrusted servers, webhooks. */
export type TaintLabel = 'private' | 'untrusted';

/** Canonical name of the tool (or what else it was) that brought it first; null: there is none yet. */
export type Taint = { private: string | null; untrusted: string | null };

/** Whether both are there. */
export function isTainted(taint: Taint): taint is { private: string; untrusted: string } {
  return taint.private !== null && taint.untrusted !== null;
}
