/**
 * The taint rule (DESIGN §7; the lethal trifecta, SEC-41): once a conversation has seen both what is private and what anybody could have
 * written, sending anything out needs a person's word, to known hosts as well. A mark is never taken back. Who marks is
 * `engine/policy/mark-taint.ts`, who keeps the marks is the session, who asks is the policy.
 */
import { limits } from './limits.ts';
import { visibleText } from './visible-text.ts';

/** `private`: of the workspace and its people: files, secrets, what tools with credentials answer. `untrusted`: written by anybody: web pages, tools of untrusted servers, webhooks. */
export type TaintLabel = 'private' | 'untrusted';

/**
 * What brought it first, as a person is told: `/workspace/notes.txt (builtin.read_file)`; null: there is none yet. `origin`: where all
 * that is private came from, by `originOfServer` or `originOfHost`; absent: it came from several, or from elsewhere.
 */
export type Taint = { private: string | null; untrusted: string | null; origin?: string };

/** The marks of one conversation, or of one call that belongs to none. The first of a label stands. `origin`: that it came from. */
export type TaintMarks = { read(): Taint; mark(label: TaintLabel, by: string, origin?: string): void };

/** Of a server of the workspace. No host reads like one. */
export function originOfServer(name: string): string {
  return `server ${name}`;
}

/** `host` as `requestHost` has it. */
export function originOfHost(host: string): string {
  return `host ${host}`;
}

/** Both labels: what has been seen there is not known. */
export function unknownTaint(source: string): Taint {
  return { private: source, untrusted: source };
}

export const untainted: Taint = { private: null, untrusted: null };

/** Whether both are there. */
export function isTainted(taint: Taint): taint is Taint & { private: string; untrusted: string } {
  return taint.private !== null && taint.untrusted !== null;
}

/** With one mark more: the same value where that changes nothing. */
export function markTaint(taint: Taint, label: TaintLabel, by: string, origin?: string): Taint {
  const { origin: before, ...marks } = taint;
  if (label === 'untrusted') return taint.untrusted === null ? { ...taint, untrusted: boundedSource(by) } : taint;
  if (taint.private === null) return { ...marks, private: boundedSource(by), ...(origin !== undefined && { origin }) };
  return before === undefined || before === origin ? taint : marks;
}

/** With all that the other has seen besides. */
export function joinTaint(taint: Taint, other: Taint): Taint {
  const joined = other.private === null ? taint : markTaint(taint, 'private', other.private, other.origin);
  return other.untrusted === null ? joined : markTaint(joined, 'untrusted', other.untrusted);
}

/** Marks that are gone with whoever holds them. */
export function createTaintMarks(begin: Taint = untainted): TaintMarks {
  let taint = begin;
  return {
    read: () => taint,
    mark: (label, by, origin) => {
      taint = markTaint(taint, label, by, origin);
    },
  };
}

/** File names, hosts and names of tools are somebody else's words, and stand in a question to a person: shown as they are, and short. */
function boundedSource(by: string): string {
  const shown = visibleText(by.toWellFormed().replaceAll(/[\t\n]+/g, ' '));
  return shown.length <= limits.maxTaintSourceCharacters ? shown : `${shown.slice(0, limits.maxTaintSourceCharacters - 1).toWellFormed()}…`;
}

/** For a question: `this conversation has seen /workspace/notes.txt (builtin.read_file) and a page of example.com (builtin.http_request)`. */
export function tellTaint(taint: { private: string; untrusted: string }): string {
  return `this conversation has seen ${taint.private} and ${taint.untrusted}`;
}
