/**
 * Parses the calls in the complete text of a block that could not be parsed incrementally: lists, unquoted keys, a brace lost between
 * arguments and name. Uses the same parser as for arguments (`json-repair.ts`), so that both repair the same errors. Used by
 * `text-call-block.ts`.
 */
import { readArguments } from '../json/json-repair.ts';
import { isRecord } from '../json/wire-value.ts';

export type RereadCall = {
  name: string;
  arguments: object | string | null;
  /** No repair was necessary. */
  exact: boolean;
};

/** Returns [] if there is no call, or if the text is incomplete. */
export function rereadCalls(text: string, isTool: (name: string) => boolean): RereadCall[] {
  // A list is wrapped in an object, since the parser expects objects.
  const isList = text.trimStart().startsWith('[');
  const { state, arguments: value } = readArguments(isList ? `{"calls":${text}}` : text, { ended: true, length: false });
  if (value === null) return [];
  const items = isList && Array.isArray(value.calls) ? value.calls : [value];
  const calls = items.flatMap((item) => toCall(item, isTool) ?? []);
  const exact = state === 'ok' && calls.length === items.length && calls.every((call) => call.exact);
  return calls.map((call) => ({ ...call, exact }));
}

function toCall(value: unknown, isTool: (name: string) => boolean): RereadCall | null {
  if (!isRecord(value)) return null;
  const { name } = value;
  const given = value.arguments ?? value.parameters ?? null;
  const args = typeof given === 'object' || typeof given === 'string' ? given : JSON.stringify(given);
  if (typeof name === 'string' && name !== '') return { name, arguments: args, exact: true };
  return name === undefined && isRecord(args) ? lifted(args, isTool) : null;
}

/** One closing brace was lost, so that the name is at the end of the arguments. */
function lifted(args: Record<string, unknown>, isTool: (name: string) => boolean): RereadCall | null {
  const { name, ...others } = args;
  if (typeof name !== 'string' || Object.keys(args).at(-1) !== 'name' || !isTool(name)) return null;
  return { name, arguments: others, exact: false };
}
