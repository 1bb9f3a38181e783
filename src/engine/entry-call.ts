/**
 * The toolset entry's part of a call: the arguments as shown are checked, become the tool's own, and are checked again as such. What
 * the entry does to arguments is `core/entry-arguments.ts`; who runs them is `execute-call.ts`. Used by the call door, dry runs, and
 * whoever has to say beforehand what a call will be sent with.
 */
import { isConfigurationTool } from '../core/configuration/modes.ts';
import type { EditionTool } from '../core/edition-tool.ts';
import { givenArguments, ownArguments, secretArguments } from '../core/entry-arguments.ts';
import { checkInput } from '../core/schema/input-schema.ts';
import type { Issue } from '../core/problem.ts';
import { pathText } from '../core/schema/schema-words.ts';
import { errorResult, type ToolResult } from '../core/tool.ts';

type Arguments = Record<string, unknown>;
type Caller = Readonly<Record<string, string>> | undefined;

/** `own`: what the tool is sent, secrets as `{secret: NAME}`. `ignored`: names that the call gave and cannot set. */
export type EntryCall =
  | { ok: true; own: Arguments; ignored: string[] }
  | { ok: false; result: ToolResult; issues: Issue[]; ignored: string[] };

export function readEntryCall(tool: EditionTool, args: Arguments, caller: Caller): EntryCall {
  const { given, ignored } = givenArguments(tool.arguments, args);
  const refuse = (result: ToolResult, issues: Issue[]): EntryCall => ({ ok: false, result, issues, ignored });
  // Those answer for every fault in a form of their own, and forgive what their schema, which is written for models, does not.
  const issues = isConfigurationTool(tool.canonical) ? [] : checkInput(tool.inputSchema, given);
  if (issues.length > 0) return refuse(invalidArguments(tool, issues), issues);
  const merged = ownArguments(tool.arguments, given, caller);
  if (!merged.ok) {
    const text = missingField(tool, merged.missing);
    return refuse(errorResult('not_allowed', text), [{ path: '', message: text }]);
  }
  const faults =
    tool.sourceSchema === undefined || isConfigurationTool(tool.canonical) ? [] : ownFaults(tool, tool.sourceSchema, merged.own);
  if (faults.length > 0) return refuse(unfitArguments(tool, given, faults), faults);
  return { ok: true, own: merged.own, ignored };
}

/** What a call will be sent with, as far as that can be said: hashed, compared and shown in the place of what the call says. */
export function sentArguments(tool: EditionTool, args: Arguments, caller: Caller): Arguments {
  const merged = ownArguments(tool.arguments, givenArguments(tool.arguments, args).given, caller);
  return merged.ok ? merged.own : args;
}

/** For a model whose values were dropped; null: none were. */
export function ignoredNote(ignored: readonly string[]): string | null {
  if (ignored.length === 0) return null;
  const names = ignored.slice(0, maxNamesInNote).map((name) => JSON.stringify(name.slice(0, 100)));
  const rest = ignored.length > names.length ? ` and ${ignored.length - names.length} more` : '';
  return `[Ignored: ${names.join(', ')}${rest}. The toolset sets ${ignored.length === 1 ? 'it' : 'them'}, not the call.]`;
}

const maxNamesInNote = 10;

/** A secret's value is not known yet, and is text: what is said against its place-holder says nothing. */
function ownFaults(tool: EditionTool, source: EditionTool['inputSchema'], own: Arguments): Issue[] {
  const secrets = secretArguments(tool.arguments);
  const trial = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, secrets.has(name) ? 'secret' : value]));
  const faults = checkInput(source, trial);
  return faults.filter(({ path }) => ![...secrets.keys()].some((name) => isUnder(path, name)));
}

function isUnder(path: string, name: string): boolean {
  const place = pathText([name]);
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}

/** In the words of the schema that was shown where the call can mend it; else whose it is to mend. */
function unfitArguments(tool: EditionTool, given: Arguments, faults: readonly Issue[]): ToolResult {
  const { preset = {}, rename = {}, default: defaults = {} } = tool.arguments ?? {};
  const shown = new Map(Object.entries(rename).map(([name, own]) => [own, name]));
  const fixed = [...Object.keys(preset), ...Object.keys(defaults).filter((name) => !Object.hasOwn(given, shown.get(name) ?? name))];
  const set = faults.filter(({ path }) => fixed.some((name) => isUnder(path, name)));
  if (set.length > 0) {
    const text = `Not run: what the toolset sets for ${tool.wireName} (${tool.canonical}) does not fit the tool; no call can mend that, its toolset has to be changed.`;
    // A fault repeats the value, and a preset's is not for models. Defaults stand in the schema that they are shown.
    const told = set.map((fault) =>
      Object.keys(preset).some((name) => isUnder(fault.path, name))
        ? { path: fault.path, message: 'its value is not one that the tool takes' }
        : fault,
    );
    return errorResult('invalid_arguments', withLines(text, told), told);
  }
  const renamed = faults.map(({ path, message }) => {
    const own = [...shown.keys()].find((name) => isUnder(path, name));
    return own === undefined
      ? { path, message }
      : { path: pathText([shown.get(own) ?? own]) + path.slice(pathText([own]).length), message };
  });
  return invalidArguments(tool, renamed);
}

function invalidArguments(tool: EditionTool, issues: Issue[]): ToolResult {
  return errorResult('invalid_arguments', withLines(`Not run: the arguments of ${tool.wireName} are not valid.`, issues), issues);
}

function withLines(text: string, issues: readonly Issue[]): string {
  return [text, ...issues.map(({ path, message }) => `- ${path === '' ? '(arguments)' : path}: ${message}`)].join('\n');
}

function missingField(tool: EditionTool, field: string): string {
  return (
    `Not run: the toolset gives ${tool.wireName} the field "${field}" of the key that calls, and this key has none. ` +
    `Keys are made with such fields: {"caller": {"${field}": …}}.`
  );
}
