/**
 * Resolves what a `tools/call` of an MCP client calls where its list has other tools than the toolset (`shown-tools.ts`): `call_tool` is a call
 * of the tool that it names, from names and arguments to the audit; `describe_tool` is a part of the list, read like the list.
 */
import { type AliasMap, findTool, type Resolution, resolveName } from '../../core/toolset/alias-map.ts';
import { isForAppsOnly, isForModels, onlyForApps } from '../../core/toolset/edition-tool.ts';
import { quoted } from '../../core/problem.ts';
import { repairInput } from '../../core/schema/input-schema.ts';
import type { Repair } from '../../core/tools/argument-repair.ts';
import { errorResult, textResult, type ToolResult } from '../../core/tools/tool.ts';
import { visibleJson } from '../../core/text/visible-text.ts';
import { invalidArguments } from '../call/prepare-call.ts';
import type { ToolCallAnswer } from '../call/tool-call.ts';
import { listTool, listStopped } from './serve-list.ts';
import type { ServedView } from './serve-view.ts';
import { type CallToolInput, callToolTool, type DescribeToolInput, describeToolTool } from './shown-tools.ts';

type Named = { name: string; arguments: Record<string, unknown> };

/** `call`: with the view in which its name resolves. `through`: it was made with `call_tool`, whose answer this returns. `answer`: nothing is called. */
export type CallTarget<Call extends Named> =
  | { view: ServedView; call: Call; through?(answer: ToolCallAnswer): ToolCallAnswer; answer?: undefined }
  | { answer: ToolCallAnswer };

export function callTarget<Call extends Named>(view: ServedView, call: Call): CallTarget<Call> {
  const { inner } = view.names;
  if (inner === undefined) return { view, call };
  const behind = { ...view, names: inner };
  const shown = findTool(view.names, call.name);
  if (shown === null) return { view: behind, call };
  if (shown !== callToolTool && shown !== describeToolTool) return { view, call };
  const { args, issues, repaired } = repairInput(shown.inputSchema, call.arguments);
  if (issues.length > 0) return { answer: answerOf(shown.wireName, invalidArguments(shown, issues)) };
  // Checked by the schemas that the types are made of.
  if (shown === describeToolTool) return { answer: answerOf(shown.wireName, describe(behind, (args as DescribeToolInput).name)) };
  const { name, arguments: given = {} } = args as CallToolInput;
  const tool = findTool(inner, name);
  // Its name comes from the model.
  if (tool !== null && isForAppsOnly(tool))
    return { answer: answerOf(name, errorResult('not_allowed', `${name} cannot be called: ${onlyForApps}.`)) };
  const through = (answer: ToolCallAnswer): ToolCallAnswer => withoutRequestError(withRepairs(answer, repaired), inner);
  return { view: behind, call: { ...call, name, arguments: given }, through };
}

function withRepairs(answer: ToolCallAnswer, repaired: readonly Repair[]): ToolCallAnswer {
  const all = [...repaired, ...(answer.result.repaired ?? [])];
  return all.length === 0 ? answer : { ...answer, result: { ...answer.result, repaired: all } };
}

/**
 * A name that no tool has is an error of the arguments of `call_tool`, which models read: of a call by the name itself it is an error of the
 * request, which clients need not show them.
 */
function withoutRequestError(answer: ToolCallAnswer, names: AliasMap): ToolCallAnswer {
  const resolution = resolveName(names, answer.requested);
  const isUnknown = answer.result.code === 'unknown_tool' || answer.result.code === 'ambiguous_tool';
  return resolution.ok || !isUnknown ? answer : { ...answer, result: wrongName(resolution) };
}

function describe(view: ServedView, name: string): ToolResult {
  const resolution = resolveName(view.names, name);
  if (!resolution.ok) return wrongName(resolution);
  const { tool } = resolution;
  const [listed] = isForModels(tool) ? listTool(view.names, tool) : listStopped(tool);
  return listed === undefined ? errorResult('not_allowed', `${tool.wireName} cannot be called.`) : textResult(visibleJson(listed));
}

function wrongName(resolution: Exclude<Resolution, { ok: true }>): ToolResult {
  const isUnknown = resolution.code === 'unknown_tool';
  const near = isUnknown ? resolution.suggestions : resolution.candidates;
  const what = isUnknown ? 'is no tool' : 'matches more than one tool';
  const hint = near.length === 0 ? 'Search for tools with find_tools' : `${isUnknown ? 'Did you mean' : 'Use'} ${near.join(', ')}`;
  const message = `${quoted(resolution.requested)} ${what}. ${hint}${isUnknown && near.length > 0 ? '?' : '.'}`;
  return errorResult('invalid_arguments', `Not run: ${message}`, [{ path: 'name', message }]);
}

function answerOf(requested: string, result: ToolResult): ToolCallAnswer {
  return { requested, canonical: null, via: null, ran: !result.isError, result, durationMs: 0 };
}
