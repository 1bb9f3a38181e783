/**
 * Prepares a call: resolves its name once, and maps and checks its arguments once. Runs nothing; a call that cannot run has its refusal.
 * The mapping itself is `core/toolset/arguments/entry-arguments.ts`. Used for every call, and by dry runs and POST /v1/policy/test. The policy and the
 * current state of the tool's server come later (`call-tool.ts`).
 */
import { runCodeSpec } from '../../core/turn/run-code.ts';
import { memberOf } from '../../core/turn/typescript.ts';
import type { GuardVerdict } from '../../core/policy/guard.ts';
import { isConfigurationTool } from '../../core/names/reserved-names.ts';
import type { Issue } from '../../core/problem.ts';
import { fieldPath } from '../../core/schema/input-fault-text.ts';
import { checkInput, repairInput } from '../../core/schema/input-schema.ts';
import { resolveName, type Resolution } from '../../core/toolset/alias-map.ts';
import { deprecationOf, type EditionTool, isForAppsOnly, onlyForApps } from '../../core/toolset/edition-tool.ts';
import { withoutAliases } from '../../core/toolset/arguments/argument-aliases.ts';
import { givenArguments, secretArguments, toToolArguments, withCurrentRules } from '../../core/toolset/arguments/entry-arguments.ts';
import { whyMissing } from '../../core/toolset/known-tools.ts';
import { withCurrentNames } from '../../core/tools/code-tools.ts';
import type { Repair } from '../../core/tools/argument-repair.ts';
import { errorResult, type ToolResult } from '../../core/tools/tool.ts';
import type { CallerScope } from './call-scope.ts';
import { heldResult } from './server-state.ts';
import type { ToolCallAnswer, ToolCallRequest } from './tool-call.ts';
import { listFirst } from '../../core/text/paragraphs.ts';

type Arguments = Record<string, unknown>;

/**
 * `own`: the arguments the tool receives, secrets as `{secret: NAME}`; as far as they are known for a call that is refused. `issues`: what is
 * wrong with the arguments. `repaired`: what did not fit the tool's schema and was converted. `notes`: for the model, shown with the result.
 * `refusal`: the result instead of running the call.
 */
export type PreparedCall = Pick<ToolCallAnswer, 'requested' | 'canonical' | 'via'> & {
  request: ToolCallRequest;
  issues: Issue[];
  repaired: readonly Repair[];
  notes: readonly string[];
  /** How the guard of the workspace decided before the call; absent: it was not asked. */
  guard?: GuardVerdict;
  /** `own` are arguments of the guard, which an approval must cover. */
  isReplaced?: true;
} & ({ refusal: null; tool: EditionTool; own: Arguments } | { refusal: ToolResult; tool: EditionTool | null; own: Arguments | null });

/** A call that may run, as far as its name and arguments say. */
export type RunnableCall = Extract<PreparedCall, { refusal: null }>;

/** The first refusal counts, in this order: the one of the request, name, state, arguments. */
export function prepareCall(scope: CallerScope, request: ToolCallRequest): PreparedCall {
  const { requested, arguments: args } = request;
  const resolution = resolve(scope, requested);
  const denied = request.refusal ? errorResult(request.refusal.code, request.refusal.message) : null;
  if (!resolution.ok) {
    const isUnreadable = requested === '' && args === null;
    const fault = isUnreadable ? unreadable(request.fault ?? 'invalid_json') : unresolved(resolution);
    const none = { issues: [], repaired: [], notes: [] };
    return { request, requested, canonical: null, via: null, ...none, tool: null, own: null, refusal: denied ?? fault };
  }
  const { tool, canonical, via } = resolution;
  const named = { request, requested, canonical, via, tool };
  const deprecation = deprecationNote(resolution);
  const fault = denied ?? stateFault(tool) ?? audienceFault(tool, scope);
  if (args === null)
    return {
      ...named,
      ...{ issues: [], repaired: [], notes: deprecation, own: null },
      refusal: fault ?? unusableArguments(request.fault ?? 'invalid_json'),
    };
  const read = prepareArguments(tool, args, scope.caller);
  const refusal = fault ?? guessedFault(tool, request) ?? read.refusal;
  const notes = refusal === read.refusal ? [...read.notes, ...deprecation] : deprecation;
  return { ...named, ...read, notes, refusal };
}

/** Returns the call with changes to its request. A refusal among them takes precedence over the result of running it. */
export function changeRequest(call: PreparedCall, changes: Partial<ToolCallRequest>): PreparedCall {
  const request = { ...call.request, ...changes };
  const { refusal } = request;
  return refusal ? { ...call, request, refusal: errorResult(refusal.code, refusal.message) } : { ...call, request };
}

/** Plans do not offer another key's private tool; this check also covers stored plans and editions that do. */
function resolve({ names, keyId }: CallerScope, requested: string): Resolution {
  const table = names();
  const resolution = table === null ? null : resolveName(table, requested);
  if (resolution === null || (resolution.ok && resolution.tool.made?.private === true && resolution.tool.made.by !== keyId))
    return { ok: false, code: 'unknown_tool', requested, suggestions: [] };
  return resolution;
}

/** Returns the result of calling a tool that cannot be called; null: it can. */
export function stateFault(tool: EditionTool): ToolResult | null {
  if (tool.kind === 'ui') {
    const text = `Not run: ${tool.wireName} is shown to the user and cannot be called. Answer in text, or use another tool.`;
    return errorResult('not_allowed', text);
  }
  switch (tool.state) {
    case 'ready':
      return null;
    case 'held':
      return heldResult(tool);
    case 'missing': {
      const now =
        tool.renamedTo === undefined
          ? ''
          : ` It lists ${tool.renamedTo} with the same definition; an administrator can rebind the name to it.`;
      return errorResult('tool_error', `${tool.wireName} cannot be called: ${whyMissing(tool)}.${now} Use another tool.`);
    }
    default:
      return tool.state satisfies never;
  }
}

/** Returns the result of a call by another caller than the tool is for. */
function audienceFault(tool: EditionTool, { servesApps }: CallerScope): ToolResult | null {
  if (servesApps === true || !isForAppsOnly(tool)) return null;
  return errorResult('not_allowed', `Not run: ${tool.wireName} cannot be called here: ${onlyForApps}. Use another tool.`);
}

function unresolved(resolution: Exclude<Resolution, { ok: true }>): ToolResult {
  if (resolution.code === 'ambiguous_tool') {
    return errorResult(
      'ambiguous_tool',
      `"${resolution.requested}" matches more than one tool. Call one of: ${resolution.candidates.join(', ')}.`,
    );
  }
  if (resolution.inCode !== undefined) {
    const text = `"${resolution.requested}" cannot be called directly. Call it in code: ${runCodeSpec.name} with code such as \`return await ${memberOf('tools', resolution.inCode)}({…})\`.`;
    return errorResult('unknown_tool', text);
  }
  const near = resolution.suggestions;
  const hint = near.length === 0 ? 'Call only tools that you were offered, or answer in text.' : `Did you mean ${near.join(', ')}?`;
  return errorResult('unknown_tool', `There is no tool "${resolution.requested}". ${hint}`);
}

/** For a call that a model wrote as text in the wrong format, so that not even its name could be read. */
function unreadable(code: 'truncated' | 'invalid_json'): ToolResult {
  const why = code === 'truncated' ? 'the call was cut off before its end' : 'the call could not be read';
  return errorResult(code, `Not run: ${why}. Send it again as one JSON object with "name" and "arguments".`);
}

/**
 * Repaired arguments run a tool unless its effect requires approval, which the policy decides later (`call-tool.ts`). They never run a tool of
 * the client, whose effect is unknown, nor a server's tool that destroys data; a rounded number is not what the model wrote.
 */
function guessedFault(tool: EditionTool, { guessed, arguments: args }: ToolCallRequest): ToolResult | null {
  if (guessed !== true || onlyReads(tool)) return null;
  const isOwn = tool.kind === 'builtin' || tool.kind === 'local';
  const isForeign = tool.kind === 'client' || (!isOwn && tool.annotations?.destructiveHint === true);
  return isForeign || hasRoundedNumber(args) ? guessedResult() : null;
}

export function guessedResult(): ToolResult {
  const text = 'Not run: the arguments were not valid JSON, and repairing them required guessing. Send the call again with valid JSON.';
  return errorResult('invalid_json', text);
}

/** Whether an integer may have been rounded when it was parsed. Recursion is safe: the depth of arguments is limited. */
function hasRoundedNumber(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasRoundedNumber);
}

function unusableArguments(fault: 'truncated' | 'invalid_json'): ToolResult {
  if (fault === 'truncated')
    return errorResult('truncated', 'Not run: the arguments were cut off before their end. Send the call again with shorter arguments.');
  return errorResult('invalid_json', 'Not run: the arguments are not a JSON object. Send the call again with valid JSON.');
}

/** Whether the tool is our own and changes nothing. Stricter than being safe to retry: deleting the wrong file is idempotent, too. */
function onlyReads({ kind, annotations }: EditionTool): boolean {
  return (kind === 'builtin' || kind === 'local') && annotations?.readOnlyHint === true;
}

type ReadArguments = { own: Arguments; notes: string[]; issues: Issue[]; repaired: Repair[]; refusal: ToolResult | null };

/**
 * Checks the arguments against the shown schema, with repairs, maps them to the tool's own, and checks those. `own`: mapped as far as
 * possible, also for arguments that are refused. `notes`: for the model, of names that the entry does not let a call set, and of deprecated ones.
 */
export function prepareArguments(tool: EditionTool, written: Arguments, caller: CallerScope['caller']): ReadArguments {
  const shownNames = tool.arguments?.rename ?? {};
  const current = withCurrentNames(tool.renamed, written, (name) => Object.hasOwn(shownNames, name));
  const { args, issues: both, notes: deprecations } = withoutAliases(tool.arguments, tool.inputSchema, current.args);
  const twice = [...current.issues, ...both];
  const { given: sent, ignored } = givenArguments(tool.arguments, args);
  const notes = [...ignoredNote(ignored), ...deprecations];
  const { args: given, issues, repaired } = fitArguments(tool, sent);
  const merged = toToolArguments(tool.arguments, given, caller);
  const own = merged.ok ? merged.own : args;
  const refuse = (issues: Issue[], refusal: ToolResult): ReadArguments => ({ own, notes, issues, repaired: [], refusal });
  if (twice.length > 0) return refuse(twice, invalidArguments(tool, twice));
  if (issues.length > 0) return refuse(issues, invalidArguments(tool, issues));
  if (!merged.ok) {
    const message = missingField(tool, merged.missing);
    return refuse([{ path: '', message }], errorResult('not_allowed', message));
  }
  const faults = tool.sourceSchema !== undefined && !isConfigurationTool(tool.canonical) ? ownFaults(tool, tool.sourceSchema, own) : [];
  if (faults.length > 0) return refuse(faults, unfitArguments(tool, given, faults));
  return { own, notes, issues: [], repaired, refusal: null };
}

/** The configuration tools validate their own input and accept more than their schema, which is written for models. */
function fitArguments(tool: EditionTool, sent: Arguments): ReturnType<typeof repairInput<Arguments>> {
  // The client runs it with the arguments that it has received from the model.
  if (tool.kind === 'client') return { args: sent, issues: checkInput(tool.inputSchema, sent), repaired: [] };
  const read = repairInput(tool.inputSchema, sent);
  return read.issues.length > 0 && isConfigurationTool(tool.canonical) ? { args: sent, issues: [], repaired: [] } : read;
}

/**
 * Returns the call with the names that the arguments of a tool in code have now: the edition of a running turn may be of an earlier build. `renamed`:
 * of the tool, by earlier name.
 */
export function underCurrentNames(call: RunnableCall, renamed: Readonly<Record<string, string>> | undefined): PreparedCall {
  const { tool } = call;
  const { args: own, issues } = withCurrentNames(renamed, call.own);
  if (issues.length > 0) return { ...call, issues, refusal: invalidArguments(tool, issues) };
  if (own === call.own || renamed === undefined) return call;
  // Secrets are found by the names of presets.
  return {
    ...call,
    own,
    tool: tool.arguments === undefined ? tool : { ...tool, arguments: withCurrentRules(tool.arguments, renamed).rules },
  };
}

/** Validates arguments of the guard, which are the tool's own. */
export function checkOwnArguments(tool: EditionTool, own: Arguments): Issue[] {
  return isConfigurationTool(tool.canonical) ? [] : ownFaults(tool, tool.sourceSchema ?? tool.inputSchema, own);
}

const maxNamesInNote = 10;

function ignoredNote(ignored: readonly string[]): string[] {
  if (ignored.length === 0) return [];
  const names = ignored.map((name) => JSON.stringify(name.slice(0, 100)));
  const which = ignored.length === 1 ? 'this argument' : 'these arguments';
  return [`[Ignored: ${listFirst(names, maxNamesInNote)}. The toolset sets ${which}, not the call.]`];
}

function deprecationNote(resolution: Extract<Resolution, { ok: true }>): string[] {
  const deprecated = deprecationOf(resolution);
  return deprecated === null ? [] : [`[The name ${deprecated.name} is deprecated: ${deprecated.note}.]`];
}

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

export function invalidArguments(tool: EditionTool, issues: Issue[]): ToolResult {
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
