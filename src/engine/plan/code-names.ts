/**
 * The names of a plan in code mode: the model gets `run_code` and what is for itself, its code gets all the plan offers. A caller's own tools
 * stay the model's as well: who brought them waits for calls of the model, answers them in the conversation, and may name one as the choice.
 */
import { extendAliasMap, toolsNamed, type AliasMap } from '../../core/alias-map.ts';
import { runCodeCanonical, runCodeTool } from '../../core/code-mode/run-code.ts';
import { isForModels, type EditionTool } from '../../core/edition-tool.ts';
import { fetchResultTool } from '../../core/fetch-result.ts';
import { findToolsCanonical, findToolsTool } from '../../core/find-tools.ts';
import { useSkillCanonical } from '../../core/skills/use-skill.ts';

/** `names`: what the plan offers, without the caller's tools. The same table where there is nothing that code could call. */
export function codeNames(names: AliasMap): AliasMap {
  const known = kept.get(names);
  if (known !== undefined) return known;
  const made = names.tools.some(isForCode) ? makeCodeNames(names) : names;
  kept.set(names, made);
  return made;
}

const kept = new WeakMap<AliasMap, AliasMap>();

/** More tools of the caller's: for the model, and for its code. */
export function withCallersTools(names: AliasMap | null, tools: readonly EditionTool[]): AliasMap {
  const inner = names?.inner;
  return extendAliasMap(names, tools, inner === undefined ? undefined : extendAliasMap(inner, tools));
}

function makeCodeNames(names: AliasMap): AliasMap {
  const [listed] = toolsNamed(names, runCodeCanonical).filter(({ canonical }) => canonical === runCodeCanonical);
  const own = names.tools.filter((tool) => tool.kind === 'ui' || forTheModel.has(tool.canonical));
  const isFound = toolsNamed(names, findToolsCanonical).some(({ canonical }) => canonical === findToolsCanonical);
  // Not all of them may be declared, and those that are not are looked for by code.
  const inner = isFound ? names : extendAliasMap(names, [findToolsTool]);
  return extendAliasMap(null, [listed ?? runCodeTool, ...own], inner);
}

/** What is proposed to people is no matter of the model; skills and long results are read by the model, not by its code. */
const forTheModel: ReadonlySet<string> = new Set([useSkillCanonical, fetchResultTool.canonical]);
const notForCode: ReadonlySet<string> = new Set([...forTheModel, runCodeCanonical, findToolsCanonical]);

function isForCode(tool: EditionTool): boolean {
  return isForModels(tool) && !notForCode.has(tool.canonical);
}
