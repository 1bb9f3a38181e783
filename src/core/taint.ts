/**
 * The taint rule (DESIGN §7; the lethal trifecta, SEC-41): once a conversation has seen both what is private and what anybody could have
 * written, sending anything out needs a person's word, to known hosts as well. A mark is never taken back. Who marks is
 * `engine/mark-taint.ts`, who keeps the marks is the session, who asks is the policy.
 */
import { limits } from './limits.ts';
import { visibleText } from './visible-text.ts';

/** `private`: of the workspace and its people: files, secrets, what tools with credentials answer. `untrusted`: written by anybody: web pages, tools of untrusted servers, webhooks. */
export type TaintLabel = 'private' | 'untrusted';

/** What brought it first, as a person is told: `/workspace/notes.txt (builtin.read_file)`; null: there is none yet. */
export type Taint = { private: string | null; untrusted: string | null };

/** The marks of one conversation, or of one call that belongs to none. The first of a label stands. */
export type TaintMarks = { read(): Taint; mark(label: TaintLabel, by: string): void };

export const untainted: Taint = { private: null, untrusted: null };

/** Whether both are there. */
export function isTainted(taint: Taint): taint is { private: string; untrusted: string } {
  return taint.private !== null && taint.untrusted !== null;
}

/** Marks that are gone with whoever holds them. */
export function createTaintMarks(begin: Taint = untainted): TaintMarks {
  let taint = begin;
  return {
    read: () => taint,
    mark(label, by) {
      if (taint[label] === null) taint = { ...taint, [label]: boundedSource(by) };
    },
  };
}

/** File names, hosts and names of tools are somebody else's words, and stand in a question to a person: shown as they are, and short. */
export function boundedSource(by: string): string {
  const shown = visibleText(by.toWellFormed().replaceAll(/[\t\n]+/g, ' '));
  return shown.length <= limits.maxTaintSourceCharacters ? shown : `${shown.slice(0, limits.maxTaintSourceCharacters - 1).toWellFormed()}…`;
}

/** For a question: `this conversation has seen /workspace/notes.txt (builtin.read_file) and a page of example.com (builtin.http_request)`. */
export function tellTaint(taint: { private: string; untrusted: string }): string {
  return `this conversation has seen ${taint.private} and ${taint.untrusted}`;
}
