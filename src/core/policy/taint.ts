/**
 * The taint rule (contract §7; the lethal trifecta, SEC-41): once a conversation has seen both private content and content that anyone
 * could have written, sending data out requires approval, even to known hosts. A mark is never removed. `engine/policy/mark-taint.ts`
 * marks, the session stores the marks, and the policy asks for approval.
 */
import { showInvisible } from '../text/visible-text.ts';
import { cutToLength } from '../text/utf8.ts';

/** The source of a taint mark: a path or a host with the tool that read it. */
export const maxTaintSourceCharacters = 300;

/**
 * `private`: belongs to the workspace and its people: files, secrets, results of tools with credentials. `untrusted`: anyone could
 * have written it: web pages, tools of untrusted servers, webhooks.
 */
export type TaintLabel = 'private' | 'untrusted';

/**
 * The first source of each label, as shown to a person: `/workspace/notes.txt (builtin.read_file)`; null: none yet. `origin`: the
 * single origin of all private content, by `originOfServer` or `originOfHost`; absent: several origins, or another kind.
 */
export type Taint = { private: string | null; untrusted: string | null; origin?: string };

/**
 * The marks of one conversation, or of one call outside of any conversation. The first source of a label is kept. `origin`: where the
 * content came from.
 */
export type TaintMarks = { read(): Taint; mark(label: TaintLabel, by: string, origin?: string): void };

/** The origin of content from a server of the workspace. No host has this form. */
export function originOfServer(name: string): string {
  return `server ${name}`;
}

/** `host` as returned by `requestHost`. */
export function originOfHost(host: string): string {
  return `host ${host}`;
}

/** Both labels, for content whose history is unknown. */
export function unknownTaint(source: string): Taint {
  return { private: source, untrusted: source };
}

export const untainted: Taint = { private: null, untrusted: null };

/** Whether both labels are present. */
export function isTainted(taint: Taint): taint is Taint & { private: string; untrusted: string } {
  return taint.private !== null && taint.untrusted !== null;
}

/** Returns the taint with one more mark; the same value if nothing changes. */
export function markTaint(taint: Taint, label: TaintLabel, by: string, origin?: string): Taint {
  const { origin: before, ...marks } = taint;
  if (label === 'untrusted') return taint.untrusted === null ? { ...taint, untrusted: boundedSource(by) } : taint;
  if (taint.private === null) return { ...marks, private: boundedSource(by), ...(origin !== undefined && { origin }) };
  return before === undefined || before === origin ? taint : marks;
}

/** Returns the taint combined with the other one. */
export function joinTaint(taint: Taint, other: Taint): Taint {
  const joined = other.private === null ? taint : markTaint(taint, 'private', other.private, other.origin);
  return other.untrusted === null ? joined : markTaint(joined, 'untrusted', other.untrusted);
}

/** In-memory marks, which end with their holder. */
export function createTaintMarks(begin: Taint = untainted): TaintMarks {
  let taint = begin;
  return {
    read: () => taint,
    mark: (label, by, origin) => {
      taint = markTaint(taint, label, by, origin);
    },
  };
}

/** File names, hosts and tool names are external text that appears in a question to a person: made visible and cut. */
function boundedSource(by: string): string {
  return cutToLength(showInvisible(by.toWellFormed().replaceAll(/[\t\n]+/g, ' ')), maxTaintSourceCharacters);
}

/**
 * Used in a question: `this conversation has seen /workspace/notes.txt (builtin.read_file) and a page of example.com
 * (builtin.http_request)`.
 */
export function describeTaint(taint: { private: string; untrusted: string }): string {
  return `this conversation has seen ${taint.private} and ${taint.untrusted}`;
}
