/**
 * The tool folder of Albert: `{name, description, parameters, implementation}`, where the implementation is JavaScript over other tools. What
 * runs in the sandbox becomes a made tool; code that needs more (modules, processes, `fetch`) is skipped with the reason.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { cutToBytes, utf8Length } from '../text/utf8.ts';
import type { ImportDraft } from './draft.ts';
import type { Members } from './members.ts';
import { quoted } from '../problem.ts';

/** Whether a value is a tool with an implementation, or a list or map of such. */
export function hasMadeTools(value: unknown): boolean {
  const { tools } = recordOf(value);
  const all = [value, ...(Array.isArray(value) ? value : []), ...(Array.isArray(tools) ? tools : Object.values(recordOf(tools)))];
  return all.some((one) => 'implementation' in recordOf(one));
}

export function readMadeTools(draft: ImportDraft, value: unknown): void {
  const file = draft.open(Array.isArray(value) ? { '': value } : recordOf(value));
  for (const [written, tool] of toolsIn(file)) {
    const name = tool.text('name') ?? written;
    const made = madeTool(tool, name);
    if (typeof made === 'string') tool.skipWhole(name === '' ? made : `${quoted(name)} ${made}`);
    else draft.add('tools', name, made, tool.path);
  }
}

/** With the name that a map gives them. */
function toolsIn(file: Members): [name: string, Members][] {
  if (Array.isArray(file.peek(''))) return file.items('').map((tool) => ['', tool]);
  if (Array.isArray(file.peek('tools'))) return file.items('tools').map((tool) => ['', tool]);
  return isRecord(file.peek('tools')) ? file.entries('tools') : [['', file]];
}

/** A string: why it cannot be taken. */
function madeTool(tool: Members, name: string): Json | string {
  const implementation = tool.take('implementation');
  if (name.trim() === '') return 'has no name';
  if (isRecord(implementation) || Array.isArray(implementation)) return 'has an implementation in steps; a made tool is JavaScript';
  if (typeof implementation !== 'string' || implementation.trim() === '') return 'has no implementation: its code is in the program';
  if (utf8Length(implementation) > limits.maxImplementationBytes) return `has more than ${limits.maxImplementationBytes} bytes of code`;
  const body = bodyOf(implementation);
  const fault = forbidden.find(([pattern]) => pattern.test(body));
  if (fault !== undefined)
    return `${fault[1]}, which the sandbox does not have. Made tools use \`args\` and \`await tools.<name>({…})\` only`;
  const written = ['parameters', 'inputSchema', 'input_schema'];
  const member = written.find((one) => tool.has(one)) ?? 'parameters';
  const list = parametersOf(tool.take(...written), (path) =>
    tool.fault(`${member}${path}`, 'has no counterpart: a parameter of a made tool has a type, a description and a default'),
  );
  if (typeof list === 'string') return list;
  const [aliases, uses] = [tool.texts('aliases') ?? [], tool.texts('uses') ?? []];
  tool.skip(
    ['version', 'author', 'category', 'tags', 'examples', 'language', 'id', 'enabled', 'timeout'],
    'has no counterpart for a made tool',
  );
  return {
    description: cutToBytes((tool.text('description') ?? '').trim(), limits.maxDescriptionBytes) || name,
    parameters: list,
    implementation: body,
    ...(aliases.length > 0 && { aliases }),
    ...(uses.length > 0 && { uses }),
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

/** A list, a JSON schema, or a map from name to `{type, …}` or to the type. `say`: is called with members that are not taken. */
function parametersOf(value: unknown, say: (path: string) => void): Json[] | string {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value))
    return value.map((item, index) => {
      const one = recordOf(item);
      return parameterOf(stringOf(one.name), one, { isRequired: one.required !== false, say: (member) => say(`[${index}].${member}`) });
    });
  if (!isRecord(value)) return 'has parameters that are neither a list nor a schema';
  const isSchema = value.type === 'object' || isRecord(value.properties);
  const required = new Set(listOf(value.required));
  return Object.entries(isSchema ? recordOf(value.properties) : value).map(([name, given]) => {
    const one = typeof given === 'string' ? { type: given } : recordOf(given);
    const isRequired = isSchema ? required.has(name) : one.required !== false && one.optional !== true;
    return parameterOf(name, one, { isRequired, say: (member) => say(`${isSchema ? '.properties' : ''}.${name}.${member}`) });
  });
}

const parameterMembers = new Set(['name', 'type', 'description', 'default', 'required', 'optional', 'title']);

function parameterOf(name: string, given: Json, { isRequired, say }: { isRequired: boolean; say: (member: string) => void }): Json {
  const { type, description, default: preset } = given;
  for (const member of Object.keys(given)) if (!parameterMembers.has(member)) say(member);
  const kind = typeof type === 'string' ? (types.get(type.toLowerCase()) ?? 'object') : 'string';
  return { name, type: kind, description: stringOf(description), required: isRequired, ...(preset !== undefined && { default: preset }) };
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
