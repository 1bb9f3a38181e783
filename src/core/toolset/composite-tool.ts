/** Tools that call tools, and the ids of inner calls. Used by the call path, the fold of a turn and the session's stores. */
import type { EditionTool } from './edition-tool.ts';

/** Code in the sandbox, and shell scripts with the `tool` command. */
const callers: ReadonlySet<string> = new Set(['builtin.run_code', 'builtin.bash']);

export function callsTools({ kind, canonical }: { kind: EditionTool['kind']; canonical: string }): boolean {
  return kind === 'made' || callers.has(canonical);
}

/** `place` counts the inner calls from 1, in the order in which they are made. Our own call ids contain no dot. */
export function innerCallId(parent: string, place: number): string {
  return `${parent}.${place}`;
}

/** Returns the outermost call: a call of the step, or a direct call. For a call that is not nested, returns its own id. */
export function rootCallId(callId: string): string {
  const [root = callId] = callId.split('.', 1);
  return root;
}

/** Returns the outermost call, or undefined if the call is not nested. Events omit `parent` for a call of the step. */
export function outerRootId(callId: string): string | undefined {
  const root = rootCallId(callId);
  return root === callId ? undefined : root;
}

/** Returns the id of the outer call; null if the call is not nested. */
export function parentCallId(callId: string): string | null {
  const dot = callId.lastIndexOf('.');
  return dot === -1 ? null : callId.slice(0, dot);
}

/** Returns the `parent` field for views of a call; empty if the call is not nested. */
export function parentOf(callId: string): { parent?: string } {
  const parent = parentCallId(callId);
  return parent === null ? {} : { parent };
}

/** Returns a range of ids, by code units: the ids of all inner calls of this call are at least `from` and less than `before`. */
export function innerIdRange(callId: string): [from: string, before: string] {
  // `/` is the character after the dot.
  return [`${callId}.`, `${callId}/`];
}
