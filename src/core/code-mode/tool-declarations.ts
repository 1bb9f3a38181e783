/**
 * Tools as TypeScript declarations: what a model in code mode is told in place of definitions. As many whole ones as fit a budget, in the
 * toolset's order, of an on-demand toolset those that are always offered; then names with a line each; then how many more there are and how to
 * find them. Made once for a table of names.
 *
 * That models write code over typed declarations better than calls, and that what they do not need stays out of the context, is
 * Cloudflare's "Code Mode" (blog.cloudflare.com/code-mode, 2025-09) and Anthropic's "Code execution with MCP"
 * (anthropic.com/engineering/code-execution-with-mcp, 2025-11), from which the tools that are found on the way come, too.
 */
import type { AliasMap } from '../alias-map.ts';
import { summaryOf, visibleAliases } from '../announce.ts';
import { isForModels, type EditionTool } from '../edition-tool.ts';
import { findToolsCanonical } from '../find-tools.ts';
import { limits } from '../limits.ts';
import { isOnDemand } from '../offered-tools.ts';
import { rootOf } from '../old-names.ts';
import { injectedNames } from '../reserved-names.ts';
import { toldTool } from '../told-tools.ts';
import { charactersPerToken } from '../transcript.ts';
import { commentText, memberName, memberOf } from './typescript-text.ts';
import { typeText, type Comments, type TypeDetail } from './typescript-type.ts';

/** `declared` and `named` of `total`; the rest is counted. */
export type Declarations = { text: string; declared: number; named: number; total: number };

/** `names`: all that code may call. A caller's own tools are not in it: models have their definitions. */
export function toolDeclarations(names: AliasMap): Declarations {
  const root = rootOf(names);
  const known = kept.get(root);
  if (known !== undefined) return known;
  const made = declareAll(root);
  kept.set(root, made);
  return made;
}

const kept = new WeakMap<AliasMap, Declarations>();

/** Every answer of a tool, whatever the tool. */
const resultType =
  'type Result<T = unknown> = Promise<{ success: boolean; output: string; error?: string; code?: string; structured?: T }>;';

function declareAll(names: AliasMap): Declarations {
  const tools = inOrder(names.tools.filter(isDeclared));
  // Of many a toolset wants but a few to be told at first, in either mode.
  const first = isOnDemand(names) ? tools.filter(({ alwaysOffered }) => alwaysOffered === true) : tools;
  const said = new Set<string>();
  const whole = takeWhile(first, limits.maxDeclarationsTokens, (tool) => declareTool(names, tool, said));
  const rest = tools.slice(whole.length);
  const named = takeWhile(rest, limits.maxNamedToolsTokens, (tool) => nameTool(names, tool));
  const more = rest.length - named.length;
  const find = memberOf('tools', findName(names));
  const sections = [
    ...(rest.length === 0 ? [] : [`// ${rest.length} more; \`await ${find}({ query })\` answers how they are declared:`]),
    ...named,
    ...(more === 0 ? [] : [`// … and ${more} that are not named here: look for them with \`await ${find}({ query })\`.`]),
  ];
  const lines = [resultType, 'declare const tools: {', ...whole, '};', ...sections];
  return { text: `\`\`\`ts\n${lines.join('\n')}\n\`\`\``, declared: whole.length, named: named.length, total: tools.length };
}

/** Those that a toolset wants to be told first go first. */
function inOrder(tools: readonly EditionTool[]): EditionTool[] {
  return [...tools.filter(({ alwaysOffered }) => alwaysOffered === true), ...tools.filter(({ alwaysOffered }) => alwaysOffered !== true)];
}

/** The ones that we add are told in words, or are for the model itself. */
function isDeclared(tool: EditionTool): boolean {
  return (
    isForModels(tool) && tool.kind !== 'client' && (injectedNames.get(tool.ownName) !== tool.canonical || tool.ownName === 'create_tool')
  );
}

function findName({ tools }: AliasMap): string {
  return tools.find(({ canonical }) => canonical === findToolsCanonical)?.wireName ?? 'find_tools';
}

function takeWhile(tools: readonly EditionTool[], maxTokens: number, tell: (tool: EditionTool) => string): string[] {
  const told: string[] = [];
  let left = maxTokens * charactersPerToken;
  for (const tool of tools) {
    const text = tell(tool);
    left -= text.length + 1;
    if (left < 0) break;
    told.push(text);
  }
  return told;
}

/** From all that can be said to the least, until it fits. */
const depths = [6, 2, 1] as const;

/**
 * A member of `tools`: `/** … *\/ list_issues(args: { owner: string; state?: "open" | "closed" }): Result<…>;`. `said`: what was said of
 * arguments before, which stands for this one as well; absent: it is read alone.
 */
export function declareTool(names: AliasMap, tool: EditionTool, said?: Set<string>): string {
  const { description, inputSchema } = toldTool(names, tool);
  const comment = commentText(`${description}${alsoKnown(names, tool)}`, limits.maxDeclaredToolComment);
  const lead = `${comment}${comment === '' ? '' : '\n'}${memberName(tool.wireName)}`;
  const room = limits.maxDeclarationLength - lead.length;
  const comments = createComments(said);
  const whole = signature(inputSchema, tool.outputSchema, { depth: depths[0], comments });
  if (whole.length <= room) {
    comments.told();
    return lead + whole;
  }
  for (const depth of depths) {
    const short = signature(inputSchema, tool.outputSchema, { depth, comments: null });
    if (short.length <= room) return lead + short;
  }
  return `${lead}(args?: Record<string, unknown>): Result;`;
}

/** Half the words of a large server's schemas say the same of the same arguments: `owner`, `repo`, `page`. */
function createComments(said: Set<string> | undefined): Comments & { told(): void } {
  const fresh: string[] = [];
  return {
    isNew(name, comment) {
      const key = `${name} ${comment}`;
      fresh.push(key);
      return said?.has(key) !== true;
    },
    told() {
      for (const key of fresh) said?.add(key);
    },
  };
}

function signature(input: EditionTool['inputSchema'], output: EditionTool['outputSchema'], detail: TypeDetail): string {
  const args = typeText(input, detail);
  const isOptional = !Array.isArray(input.required) || input.required.length === 0;
  const given = args === '{}' ? '' : `args${isOptional ? '?' : ''}: ${args}`;
  const structured = output === undefined ? 'unknown' : typeText(output, { ...detail, comments: null });
  return `(${given}): Result${structured === 'unknown' ? '' : `<${structured}>`};`;
}

function alsoKnown({ aliases, edition }: AliasMap, tool: EditionTool): string {
  const others = aliases && edition.announce !== 'none' ? visibleAliases(tool) : [];
  return others.length === 0 ? '' : ` (also: ${others.join(', ')})`;
}

function nameTool(names: AliasMap, tool: EditionTool): string {
  const summary = commentText(summaryOf(toldTool(names, tool).description), limits.maxNamedToolComment).slice(4, -3);
  return `// ${memberOf('tools', tool.wireName)}${summary === '' ? '' : `: ${summary}`}`;
}
