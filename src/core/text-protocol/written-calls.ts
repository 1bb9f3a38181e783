/**
 * Reads the calls in the complete content of a block (`formats.ts`), repaired where it is not strict JSON. Used by `call-block.ts`.
 */
import { readArguments } from '../json/json-repair.ts';
import { repeatedMembers } from '../json/repeated-members.ts';
import { isRecord, tryParse } from '../json/wire-value.ts';
import type { CarrierFault } from '../model/open-call.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { type ArgumentValue, argumentValue } from './argument-value.ts';
import type { BlockContent } from './formats.ts';
import { pythonCallsToJson } from './python-calls.ts';

/** The tools that may be called, by the names that the model was shown. */
export type CallableTools = { isTool(name: string): boolean; schemaOf?(name: string): JsonSchema | undefined };

export type WrittenCall = {
  name: string;
  /** As JSON; '' for none. If it is unreadable: all of its text. */
  arguments: string;
  /** null: exact. */
  fault: CarrierFault | null;
  /** It has a name and arguments, and nothing else. */
  isPlain?: boolean;
};

/** Whether it is a call of one of the tools, with arguments. Without a certain mark it must be strict JSON of a call and nothing else. */
export function isUsable(
  { name, arguments: args, fault, isPlain }: WrittenCall,
  tools: CallableTools,
  isCertain: boolean,
  isStrict: boolean,
): boolean {
  if (!tools.isTool(name) || fault === 'unreadable' || (fault !== null && (isStrict || !isCertain))) return false;
  return isCertain && args === '' ? true : (isCertain || isPlain === true) && isRecord(tryParse(args));
}

/** What is known of a content. `ends`: where its objects end. `isClosed`: its closing mark follows. */
type Extent = { kind: BlockContent; name: string; ends: readonly number[]; isFenced: boolean; isClosed: boolean };

export function readContent(content: string, { kind, name, ends, isFenced, isClosed }: Extent, tools: CallableTools): WrittenCall[] {
  const end = ends.at(-1);
  if (kind === 'calls') {
    const calls = readCalls(content, ends, tools);
    const isClean = !isFenced && (end === undefined || content.slice(end).trim() === '');
    return isClean ? calls : calls.map((call) => ({ ...call, fault: call.fault === 'unreadable' ? call.fault : 'mended' }));
  }
  const call = readNamed(name, content.slice(0, end), kind === 'parameters', tools);
  // A list of parameters that has no end may lack some.
  return [isClosed || kind === 'arguments' || call.fault !== null ? call : { ...call, fault: 'closed' }];
}

/** JSON objects and lists, which end at these places, or calls as Python writes them. */
function readCalls(content: string, ends: readonly number[], tools: CallableTools): WrittenCall[] {
  if (/^\s*\[?\s*[A-Za-z_]/.test(content)) return readPython(content, tools);
  const rest = content.slice(ends.at(-1));
  if (ends.length === 1 && lateArguments.test(rest)) {
    const object = content.slice(0, ends[0]).trimEnd().slice(0, -1);
    return readJson(`${object}${rest.trim()}}`, tools).map((call) => ({ ...call, fault: call.fault ?? 'mended' }));
  }
  const texts = ends.map((end, index) => content.slice(ends[index - 1] ?? 0, end));
  if (ends.length === 0 || /[[{]/.test(rest)) texts.push(rest);
  return texts.flatMap((text) => readJson(text.replace(/^[\s;,]+/, ''), tools));
}

/** Some templates write `{"name": "a"}, "arguments": "{…}"`. */
export const lateArguments = /^\s*,\s*"(?:arguments|parameters)"\s*:/;

function readJson(text: string, tools: CallableTools): WrittenCall[] {
  // A list is wrapped in an object, since the parser expects objects.
  const isList = text.startsWith('[');
  const { state, arguments: value } = readArguments(isList ? `{"calls":${text}}` : text, { ended: true, length: false });
  const items = value === null ? [] : isList && Array.isArray(value.calls) ? value.calls : [value];
  const calls = items.flatMap((item) => toCall(item, tools) ?? []);
  if (calls.length === 0) return [unreadable(text)];
  if (hasNameTwice(text)) return [{ ...calls[0], ...unreadable(text), fault: 'mended', arguments: calls[0]?.arguments ?? '' }];
  const isExact = (state === 'ok' || state === 'closed') && calls.length === items.length;
  const fault = !isExact ? 'mended' : state === 'closed' ? 'closed' : null;
  return calls.map((call) => ({ ...call, fault: call.fault ?? fault }));
}

export function unreadable(text: string): WrittenCall {
  // Not in what may be its arguments.
  const [, name = ''] = /^\s*\{\s*["']?name["']?\s*:\s*["']([^"'\\]{1,128})["']/.exec(text.slice(0, 300)) ?? [];
  return { name, arguments: text, fault: 'unreadable' };
}

function toCall(value: unknown, tools: CallableTools): WrittenCall | null {
  if (!isRecord(value)) return null;
  const name = value.name ?? value.tool_name;
  const given = value.arguments ?? value.parameters;
  const isPlain = Object.keys(value).every((key) => callKeys.has(key)) && (isRecord(given) || typeof given === 'string');
  if (typeof name === 'string' && name !== '') return { name: offeredName(name, tools), arguments: jsonOf(given), fault: null, isPlain };
  return name === undefined && isRecord(given) ? lifted(given, tools) : null;
}

/** An object that was encoded twice is decoded once. */
function jsonOf(given: unknown): string {
  if (typeof given === 'string' && isRecord(tryParse(given))) return given;
  return given == null ? '' : JSON.stringify(given);
}

const callKeys: ReadonlySet<string> = new Set(['name', 'arguments', 'parameters']);

/** One closing brace was lost, so that the name is at the end of the arguments. */
function lifted(args: Record<string, unknown>, tools: CallableTools): WrittenCall | null {
  const { name, ...others } = args;
  if (typeof name !== 'string' || Object.keys(args).at(-1) !== 'name' || !tools.isTool(name)) return null;
  return { name, arguments: JSON.stringify(others), fault: 'mended' };
}

/** Whether a call has two names, of which `JSON.parse` takes the last one. */
function hasNameTwice(text: string): boolean {
  const first = text.indexOf('"name"');
  if (first < 0 || !text.includes('"name"', first + 1)) return false;
  return repeatedMembers(text, Number.POSITIVE_INFINITY, 2).some((path) => /^(?:\[\d+\]\.)?name$/.test(path));
}

function readPython(text: string, tools: CallableTools): WrittenCall[] {
  const json = pythonCallsToJson(text);
  if (tryParse(json) === undefined) return [unreadable(text)];
  return readJson(json, tools).map((call) => {
    const args = tryParse(call.arguments);
    if (!isRecord(args)) return { ...call, arguments: '{}' };
    const values = Object.entries(args).map(([key, value]): [string, ArgumentValue] => [
      key,
      typeof value === 'string' ? argumentValue(value, key, tools.schemaOf?.(call.name)) : { json: JSON.stringify(value) },
    ]);
    return { ...call, ...toArguments(values, call.fault) };
  });
}

/** The arguments of one tool, whose name was before the content. */
function readNamed(written: string, content: string, isParameters: boolean, tools: CallableTools): WrittenCall {
  const name = offeredName(written, tools);
  if (isParameters) {
    const values = readParameters(content, tools.schemaOf?.(name));
    return values === null ? { ...unreadable(content), name } : { name, ...toArguments(values, null) };
  }
  const { state, arguments: value } = readArguments(content, { ended: true, length: false });
  if (value === null) return { ...unreadable(content), name };
  return { name, arguments: JSON.stringify(value), fault: state === 'ok' ? null : state === 'closed' ? 'closed' : 'mended' };
}

function toArguments(values: readonly [string, ArgumentValue][], fault: WrittenCall['fault']): Pick<WrittenCall, 'arguments' | 'fault'> {
  const json = `{${values.map(([key, value]) => `${JSON.stringify(key)}:${value.json}`).join(',')}}`;
  return { arguments: json, fault: values.some(([, { mended }]) => mended) ? 'mended' : fault };
}

/**
 * `<parameter=city>Paris</parameter>`, `<parameter name="city">…`, also with a prefix, and `<arg_key>city</arg_key><arg_value>…`. The text
 * ends at the first end tag; a missing end tag ends at the next parameter. null for anything else.
 */
function readParameters(content: string, schema: JsonSchema | undefined): [string, ArgumentValue][] | null {
  const prefix = /^\s*<([^\s<>=/]{0,16})parameter/i.exec(content.slice(0, 64))?.[1];
  const close = prefix === undefined ? '</arg_value>' : `</${prefix}parameter>`;
  const pieces = content.split(close).flatMap((piece) => (piece.includes('<parameter=') ? splitUnclosed(piece) : [piece]));
  const values: [string, ArgumentValue][] = [];
  for (const piece of pieces) {
    const tag = (prefix === undefined ? keyTag : parameterTag).exec(piece.trimStart().slice(0, maxTagLength));
    if (tag === null) {
      if (piece.trim() !== '') return null;
      continue;
    }
    const [whole, key = '', attributes = ''] = tag;
    const text = piece
      .trimStart()
      .slice(whole.length)
      .replace(/^\r?\n/, '')
      .replace(/\r?\n$/, '');
    values.push([key, isText(attributes) ? { json: JSON.stringify(text) } : argumentValue(text, key, isValue(attributes) ? {} : schema)]);
  }
  return values;
}

function splitUnclosed(piece: string): string[] {
  return piece.split('<parameter=').flatMap((part, index) => (index === 0 ? part.trim() || [] : `<parameter=${part}`));
}

const maxTagLength = 512;
const keyTag = /^<arg_key>([^<]*)<\/arg_key>\s*<arg_value>/i;
const parameterTag = /^<[^\s<>=/]{0,16}parameter(?:=|\s+name=)\s*["']?([^"'<>]+)["']?([^<>]*)>/i;

/** DeepSeek's `string="true"` and `string="false"`, which is any JSON. */
const isText = (attributes: string): boolean => /string\s*=\s*"true"/.test(attributes);
const isValue = (attributes: string): boolean => /string\s*=\s*"false"/.test(attributes);

/** The name as offered: some formats put a namespace before it, and an index after it. */
function offeredName(written: string, { isTool }: CallableTools): string {
  const bare = written.trim().replace(/^(?:functions|default_api|tools)\./, '');
  return [written, bare, bare.replace(/:\d+$/, ''), bare.replace(/\.call$/, '')].find(isTool) ?? written;
}
