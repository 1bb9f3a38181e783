/**
 * The calls in the text of a block that could not be followed while it came: lists, bare words for keys, a brace lost between
 * arguments and name. Read as arguments are (`json-repair.ts`), so that the same is mended here and the same is not. Used by
 * `text-call-block.ts`.
 */
import { readArguments } from '../json-repair.ts';
import { isRecord } from '../wire-value.ts';

export type RereadCall = {
  name: string;
  arguments: object | string | null;
  /** Nothing had to be mended. */
  exact: boolean;
};

/** [] where there is none, or where the text breaks off before it is whole. */
export function rereadCalls(text: string, isTool: (name: string) => boolean): RereadCall[] {
  // A list is read as what an object holds, since arguments are objects.
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

/** One closing brace was lost, so that the name came to stand at the end of the arguments. */
function lifted(args: Record<string, unknown>, isTool: (name: string) => boolean): RereadCall | null {
  const { name, ...others } = args;
  if (typeof name !== 'string' || Object.keys(args).at(-1) !== 'name' || !isTool(name)) return null;
  return { name, arguments: others, exact: false };
}
