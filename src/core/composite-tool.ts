/** Tools that call tools, and the ids of the calls beneath a call. Used by the call door, the turn's fold and the session's stores. */
import type { EditionTool } from './edition-tool.ts';

/** Code in the sandbox, and scripts of the shell with its `tool` command. */
const callers: ReadonlySet<string> = new Set(['builtin.run_code', 'builtin.bash']);

export function callsTools({ kind, canonical }: { kind: EditionTool['kind']; canonical: string }): boolean {
  return kind === 'made' || callers.has(canonical);
}

/** `place` counts from 1, in the order in which the calls are made. Our own ids of calls have no dot. */
export function innerCallId(parent: string, place: number): string {
  return `${parent}.${place}`;
}

/** The call of the step, or the direct call, that a call is beneath; its own id where it is beneath none. */
export function rootCallId(callId: string): string {
  const [root = callId] = callId.split('.', 1);
  return root;
}

/** undefined: it is beneath none. As events have it, in whose names an absent `parent` is a call of the step. */
export function parentRoot(callId: string): string | undefined {
  const root = rootCallId(callId);
  return root === callId ? undefined : root;
}

/** The call that makes it; null: it is beneath none. */
export function parentCallId(callId: string): string | null {
  const dot = callId.lastIndexOf('.');
  return dot === -1 ? null : callId.slice(0, dot);
}

/** For what is shown of a call: nothing of one that no tool makes. */
export function parentOf(callId: string): { parent?: string } {
  const parent = parentCallId(callId);
  return parent === null ? {} : { parent };
}

/** Ids from the first (inclusive) to the second (exclusive), by their characters, are those of the calls beneath this one. */
export function idsBeneath(callId: string): [from: string, before: string] {
  // The character after the dot.
  return [`${callId}.`, `${callId}/`];
}
