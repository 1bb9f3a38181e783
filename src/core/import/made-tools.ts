/**
 * The tool folder of Albert: `{name, description, parameters, implementation}`, where the implementation is JavaScript over other tools. What
 * runs in the sandbox becomes a made tool; code that needs more (modules, processes, `fetch`) is skipped with the reason.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { cutToBytes, utf8Length } from '../text/utf8.ts';
import type { ImportDraft } from './draft.ts';

/** Returns the tools in a value; null if the value contains none. */
export function madeToolsIn(value: unknown): readonly unknown[] | null {
  const { tools, ...rest } = recordOf(value);
  const list = Array.isArray(value) ? value : Array.isArray(tools) ? tools : isRecord(tools) ? withNames(tools) : [rest];
  return list.some((one) => 'implementation' in recordOf(one)) ? list : null;
}

function withNames(tools: Json): Json[] {
  return Object.entries(tools).map(([name, tool]) => ({ name, ...recordOf(tool) }));
}

export function readMadeTools(draft: ImportDraft, value: unknown): void {
  for (const [index, item] of (madeToolsIn(value) ?? []).entries()) {
    const tool = recordOf(item);
    const written = stringOf(tool.name) || `tools[${index}]`;
    const made = madeTool(tool);
    if (typeof made === 'string') draft.skip(written, made);
    else draft.add('tools', written, made);
  }
}

/** A string: why it cannot be taken. */
function madeTool({ name, description, parameters, implementation, aliases, uses }: Json): Json | string {
  if (typeof name !== 'string' || name.trim() === '') return 'has no name';
  if (isRecord(implementation) || Array.isArray(implementation)) return 'has an implementation in steps; a made tool is JavaScript';
  if (typeof implementation !== 'string' || implementation.trim() === '') return 'has no implementation: its code is in the program';
  if (utf8Length(implementation) > limits.maxImplementationBytes) return `has more than ${limits.maxImplementationBytes} bytes of code`;
  const body = bodyOf(implementation);
  const fault = forbidden.find(([pattern]) => pattern.test(body));
  if (fault !== undefined)
    return `${fault[1]}, which the sandbox does not have. Made tools use \`args\` and \`await tools.<name>({…})\` only`;
  const list = parametersOf(parameters);
  if (typeof list === 'string') return list;
  return {
    description: cutToBytes(stringOf(description).trim(), limits.maxDescriptionBytes) || name,
    parameters: list,
    implementation: body,
    ...(Array.isArray(aliases) && aliases.length > 0 && { aliases }),
    ...(Array.isArray(uses) && uses.length > 0 && { uses }),
  };
}

/** The body of `async (args, tools) => {…}` or `async function (args, tools) {…}`; other code unchanged. */
function bodyOf(code: string): string {
  const text = code.trim().replace(/;$/, '');
  const [, inside] = /^(?:async\s+)?(?:function\s*\w*\s*)?\(\s*(?:args)?\s*(?:,\s*tools\s*)?\)\s*(?:=>\s*)?\{([\s\S]*)\}$/.exec(text) ?? [];
  return (inside ?? code).trim();
}

const forbidden: readonly [pattern: RegExp, what: string][] = [
  [/\brequire\s*\(|^\s*import\s|\bimport\s*\(/m, 'loads modules'],
  [/\bprocess\s*\.|\bchild_process\b|\bBun\.|\bDeno\./, 'uses the process'],
  [/(?<![.\w])fetch\s*\(/, 'calls fetch'],
  [/\bXMLHttpRequest\b|\bWebSocket\b/, 'opens connections'],
  [/(?<![.\w])(?:setTimeout|setInterval)\s*\(/, 'uses timers'],
  [/^\s*(?:def |import \w+$|from \w+ import )/m, 'is written in Python'],
  [/^#!/, 'is a script of a shell'],
];

/** A list, a JSON schema, or a map from name to `{type, …}` or to the type. */
function parametersOf(value: unknown): Json[] | string {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value))
    return value.map((item) => parameterOf(stringOf(recordOf(item).name), recordOf(item), recordOf(item).required !== false));
  if (!isRecord(value)) return 'has parameters that are neither a list nor a schema';
  const isSchema = value.type === 'object' || isRecord(value.properties);
  const required = new Set(listOf(value.required));
  return Object.entries(isSchema ? recordOf(value.properties) : value).map(([name, given]) => {
    const one = typeof given === 'string' ? { type: given } : recordOf(given);
    return parameterOf(name, one, isSchema ? required.has(name) : one.required !== false && one.optional !== true);
  });
}

function parameterOf(name: string, { type, description, default: preset }: Json, required: boolean): Json {
  const kind = typeof type === 'string' ? (types.get(type.toLowerCase()) ?? 'object') : 'string';
  return { name, type: kind, description: stringOf(description), required, ...(preset !== undefined && { default: preset }) };
}

const types: ReadonlyMap<string, string> = new Map([
  ['string', 'string'],
  ['str', 'string'],
  ['number', 'number'],
  ['integer', 'number'],
  ['int', 'number'],
  ['float', 'number'],
  ['boolean', 'boolean'],
  ['bool', 'boolean'],
  ['array', 'array'],
  ['list', 'array'],
  ['object', 'object'],
]);
