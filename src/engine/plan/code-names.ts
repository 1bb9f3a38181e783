/**
 * The names of a plan in code mode: the model gets `run_code` and the tools meant for the model itself; its code gets everything the plan
 * offers. Client tools stay available to the model too: the client expects calls from the model, answers them in the conversation, and may
 * name one as the tool choice.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import { extendAliasMap, toolsNamed, type AliasMap } from '../../core/toolset/alias-map.ts';
import { runCodeCanonical, runCodeTool } from '../../core/code-mode/run-code.ts';
import { isForModels, type EditionTool } from '../../core/toolset/edition-tool.ts';
import { fetchResultTool } from '../../core/tools/fetch-result.ts';
import { findToolsCanonical, findToolsTool } from '../../core/tools/find-tools.ts';
import { useSkillCanonical } from '../../core/skills/skill-prompt.ts';

/** `names`: what the plan offers without client tools. Returns the same table if code could call nothing. Cached. */
export const codeNames = memoizeByObject((names: AliasMap): AliasMap => (names.tools.some(isForCode) ? makeCodeNames(names) : names));

/** Adds client tools, for the model and for its code. */
export function withClientTools(names: AliasMap | null, tools: readonly EditionTool[]): AliasMap {
  const inner = names?.inner;
  return extendAliasMap(names, tools, inner === undefined ? undefined : extendAliasMap(inner, tools));
}

function makeCodeNames(names: AliasMap): AliasMap {
  const [listed] = toolsNamed(names, runCodeCanonical).filter(({ canonical }) => canonical === runCodeCanonical);
  const own = names.tools.filter((tool) => tool.kind === 'ui' || forTheModel.has(tool.canonical));
  const isFound = toolsNamed(names, findToolsCanonical).some(({ canonical }) => canonical === findToolsCanonical);
  // Not all tools may be declared; code finds the others with `find_tools`.
  const inner = isFound ? names : extendAliasMap(names, [findToolsTool]);
  return extendAliasMap(null, [listed ?? runCodeTool, ...own], inner);
}

/** Tools for the model only: it reads skills and long results itself. */
const forTheModel: ReadonlySet<string> = new Set([useSkillCanonical, fetchResultTool.canonical]);
const notForCode: ReadonlySet<string> = new Set([...forTheModel, runCodeCanonical, findToolsCanonical]);

function isForCode(tool: EditionTool): boolean {
  return isForModels(tool) && !notForCode.has(tool.canonical);
}
