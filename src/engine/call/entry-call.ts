/**
 * Applies a toolset entry to a call: validates the arguments against the shown schema, maps them to the tool's own arguments and validates
 * those. The mapping itself is `core/toolset/entry-arguments.ts`. Used by `call-tool.ts`, by dry runs, and wherever the arguments that will be sent
 * are needed beforehand.
 */
import { isConfigurationTool } from '../../core/configuration/modes.ts';
import type { EditionTool } from '../../core/toolset/edition-tool.ts';
import { givenArguments, toToolArguments, secretArguments } from '../../core/toolset/entry-arguments.ts';
import { checkInput } from '../../core/schema/input-schema.ts';
import type { Issue } from '../../core/problem.ts';
import { fieldPath } from '../../core/schema/input-fault-text.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';

type Arguments = Record<string, unknown>;
type Caller = Readonly<Record<string, string>> | undefined;

/** `own`: the arguments the tool receives, secrets as `{secret: NAME}`. `ignored`: argument names in the call that the entry does not let it set. */
export type EntryCall =
  | { ok: true; own: Arguments; ignored: string[] }
  | { ok: false; result: ToolResult; issues: Issue[]; ignored: string[] };

export function readEntryCall(tool: EditionTool, args: Arguments, caller: Caller): EntryCall {
  const { given, ignored } = givenArguments(tool.arguments, args);
  const refuse = (result: ToolResult, issues: Issue[]): EntryCall => ({ ok: false, result, issues, ignored });
  // The configuration tools validate their own input and accept more than their schema, which is written for models.
  const issues = isConfigurationTool(tool.canonical) ? [] : checkInput(tool.inputSchema, given);
  if (issues.length > 0) return refuse(invalidArguments(tool, issues), issues);
  const merged = toToolArguments(tool.arguments, given, caller);
  if (!merged.ok) {
    const text = missingField(tool, merged.missing);
    return refuse(errorResult('not_allowed', text), [{ path: '', message: text }]);
  }
  const faults =
    tool.sourceSchema === undefined || isConfigurationTool(tool.canonical) ? [] : ownFaults(tool, tool.sourceSchema, merged.own);
  if (faults.length > 0) return refuse(unfitArguments(tool, given, faults), faults);
  return { ok: true, own: merged.own, ignored };
}

/** Returns the arguments that the tool will receive, as far as they are known: used for hashes, comparisons and questions. */
export function sentArguments(tool: EditionTool, args: Arguments, caller: Caller): Arguments {
  const merged = toToolArguments(tool.arguments, givenArguments(tool.arguments, args).given, caller);
  return merged.ok ? merged.own : args;
}

/** Returns a note for the model about arguments that were ignored; null when there were none. */
export function ignoredNote(ignored: readonly string[]): string | null {
  if (ignored.length === 0) return null;
  const names = ignored.slice(0, maxNamesInNote).map((name) => JSON.stringify(name.slice(0, 100)));
  const rest = ignored.length > names.length ? ` and ${ignored.length - names.length} more` : '';
  return `[Ignored: ${names.join(', ')}${rest}. The toolset sets ${ignored.length === 1 ? 'this argument' : 'these arguments'}, not the call.]`;
}

const maxNamesInNote = 10;

/** Validates with a placeholder for each secret, whose value is not known yet, and drops the issues about those placeholders. */
function ownFaults(tool: EditionTool, source: EditionTool['inputSchema'], own: Arguments): Issue[] {
  const secrets = secretArguments(tool.arguments);
  const trial = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, secrets.has(name) ? 'secret' : value]));
  const faults = checkInput(source, trial);
  return faults.filter(({ path }) => ![...secrets.keys()].some((name) => isUnder(path, name)));
}

function isUnder(path: string, name: string): boolean {
  const place = fieldPath([name]);
  return path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
}

/** Reports the issues with the names of the shown schema where the call can fix them; otherwise says that the toolset has to be fixed. */
function unfitArguments(tool: EditionTool, given: Arguments, faults: readonly Issue[]): ToolResult {
  const { preset = {}, rename = {}, default: defaults = {} } = tool.arguments ?? {};
  const shown = new Map(Object.entries(rename).map(([name, own]) => [own, name]));
  const fixed = [...Object.keys(preset), ...Object.keys(defaults).filter((name) => !Object.hasOwn(given, shown.get(name) ?? name))];
  const set = faults.filter(({ path }) => fixed.some((name) => isUnder(path, name)));
  if (set.length > 0) {
    const text = `Not run: the values that the toolset sets for ${tool.wireName} (${tool.canonical}) are not valid for the tool. No call can fix this; the toolset has to be changed.`;
    // An issue can repeat the value, and models must not see a preset's value. Defaults are part of the shown schema.
    const shownIssues = set.map((fault) =>
      Object.keys(preset).some((name) => isUnder(fault.path, name))
        ? { path: fault.path, message: 'its value is not valid for the tool' }
        : fault,
    );
    return errorResult('invalid_arguments', withLines(text, shownIssues), shownIssues);
  }
  const renamed = faults.map(({ path, message }) => {
    const own = [...shown.keys()].find((name) => isUnder(path, name));
    return own === undefined
      ? { path, message }
      : { path: fieldPath([shown.get(own) ?? own]) + path.slice(fieldPath([own]).length), message };
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
    `Not run: the toolset fills an argument of ${tool.wireName} from the field "${field}" of the calling key, and this key does not have it. ` +
    `Create a key with this field: {"caller": {"${field}": …}}.`
  );
}
