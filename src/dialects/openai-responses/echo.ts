/** What a response repeats of its request, and the names by which it shows calls: stored with the answer. `dialect.ts` writes it. */
import { KB } from '../../core/limits/units.ts';
import type { OfferedResponsesTool, ResponsesTool } from './tools.ts';

/** The part of a request that a response of the Responses dialect repeats three times, and that is stored with it. */
export const maxEchoCharacters = 32 * KB;

const echoed = [
  ...['temperature', 'top_p', 'max_output_tokens', 'parallel_tool_calls', 'previous_response_id', 'store', 'truncation', 'user'],
  ...[
    'presence_penalty',
    'frequency_penalty',
    'background',
    'conversation',
    'safety_identifier',
    'prompt_cache_key',
    'max_tool_calls',
    'reasoning',
    'tool_choice',
    'metadata',
    'text',
    'instructions',
    'tools',
  ],
] as const;

/** Fields that a Response repeats, small ones first. Fields that do not fit are shown as if they were not sent. */
export function toEcho(
  request: Readonly<Partial<Record<(typeof echoed)[number], unknown>>>,
  offered: readonly OfferedResponsesTool[],
): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  let remaining = maxEchoCharacters;
  for (const field of echoed) {
    const value = toEchoed(field, request[field]);
    const size = value == null ? 0 : JSON.stringify(value).length;
    if (value == null || size > remaining) continue;
    remaining -= size;
    shown[field] = value;
  }
  const custom = offered.flatMap(({ tool: { type, name } }) => (type === 'custom' && name !== undefined ? [name] : []));
  const spaces = offered.flatMap(({ tool, own }) => (own === undefined ? [] : [[tool.name, own]]));
  const items = offered.flatMap(({ tool, isItem }) => (isItem ? [tool.type] : []));
  return { shown, ...(custom.length > 0 && { custom }), ...(spaces.length > 0 && { spaces }), ...(items.length > 0 && { items }) };
}

/** Adds the members that the SDK's types require. */
function toEchoed(field: (typeof echoed)[number], value: unknown): unknown {
  if (value == null) return null;
  if (field === 'conversation') return typeof value === 'string' ? { id: value } : value;
  if (field === 'reasoning') return { effort: null, summary: null, ...(value as object) }; // Already validated, like the next two.
  if (field === 'text') return { format: { type: 'text' }, ...(value as object) };
  if (field !== 'tools') return value;
  return (value as ResponsesTool[]).map((tool) =>
    tool.type === 'function' ? { description: null, parameters: null, strict: null, ...tool } : tool,
  );
}

/** `custom`: names of free-text tools. `items`: tools whose calls are items of their own (`item-tools.ts`). `spaces`: the client's names of namespaced tools, by their names for models. */
export type ReadEcho = {
  echo: Record<string, unknown>;
  custom: ReadonlySet<string>;
  items: ReadonlySet<string>;
  spaces: ReadonlyMap<string, { namespace: string; name: string }>;
};

/** Reads what `toEcho` wrote; empty for a reply without a stored request. */
export function readEcho(echo: Record<string, unknown> | undefined): ReadEcho {
  type Written = {
    shown?: Record<string, unknown>;
    custom?: string[];
    items?: string[];
    spaces?: [string, { namespace: string; name: string }][];
  };
  const { shown = {}, custom = [], items = [], spaces = [] } = (echo ?? {}) as Written; // Written by `toEcho`.
  return { echo: shown, custom: new Set(custom), items: new Set(items), spaces: new Map(spaces) };
}
