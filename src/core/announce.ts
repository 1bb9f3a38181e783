/** How a model is told of aliases (DESIGN §4): one block in the system prompt, a line in each description, or nothing. */
import { isForModels, type Edition, type EditionTool } from './edition-tool.ts';
import type { OfferedNames } from './old-names.ts';
import { toldTool } from './told-tools.ts';
import type { Announce } from './toolset.ts';
import { oneLine } from './paragraphs.ts';

/**
 * The prompt block, or `''` where there is nothing to tell: mode is not `prompt`, or every tool goes by its own name alone.
 * Hidden and deprecated names are never in it. `offered`: those that are sent from the first step on. What a conversation finds later
 * brings its aliases along in its description, so that the block stays what it was.
 */
export function announceBlock(names: AnnouncedNames, offered: readonly EditionTool[] = names.tools): string {
  if (names.edition.announce !== 'prompt' || !names.aliases) return '';
  const renamed = offered.filter((tool) => isForModels(tool) && isRenamed(tool));
  const lines = renamed.map((tool) => announceLine(tool, toldTool(names, tool).description));
  return lines.length === 0 ? '' : [heading, ...lines].join('\n');
}

/** What it reads of an `AliasMap`. `aliases: false` is the rollback switch: nothing is told. */
export type AnnouncedNames = OfferedNames & { readonly edition: Pick<Edition, 'announce'>; readonly aliases: boolean };

const heading = '## Tool names\nA tool may be called by the name at the left or by any of its aliases:';

/**
 * The description as a model reads it; in mode `description` the aliases stand beneath, the one that is the wire name among them: it is
 * the only word a model gets of what the name stands for.
 */
export function describeTool(tool: EditionTool, announce: Announce): string {
  if (announce !== 'description') return tool.description;
  const told = tool.aliases.filter(isVisible).map(({ name }) => name);
  const lines = told.map((alias) => `Alias: ${alias} (maps to ${oneLine(tool.canonical)})`);
  return [tool.description, ...lines].filter((part) => part !== '').join('\n');
}

/** Names beside the wire name that a model may know of. */
export function visibleAliases(tool: EditionTool): string[] {
  return tool.aliases.filter((alias) => alias.name !== tool.wireName && isVisible(alias)).map(({ name }) => name);
}

function isVisible({ mode }: EditionTool['aliases'][number]): boolean {
  return mode === 'announced' || mode === 'function';
}

function isRenamed(tool: EditionTool): boolean {
  return tool.wireName !== tool.ownName || visibleAliases(tool).length > 0;
}

/** `- terminalRun = builtin.bash (aliases: bash, shell): Runs a command.` */
function announceLine(tool: EditionTool, description: string): string {
  const aliases = visibleAliases(tool);
  const also = aliases.length === 0 ? '' : ` (aliases: ${aliases.join(', ')})`;
  const summary = summaryOf(description);
  return `- ${tool.wireName} = ${oneLine(tool.canonical)}${also}${summary === '' ? '' : `: ${summary}`}`;
}

/** The whole description stands in the tool's definition; here a reminder is enough. */
const maxSummaryLength = 120;

/** The first sentence, on one line. */
export function summaryOf(description: string): string {
  const line = oneLine(description.trimStart().split('\n', 1)[0] ?? '');
  const sentence = /^.*?(?:[.!?](?= |$)|[。！？])/.exec(line)?.[0] ?? line;
  return sentence.length <= maxSummaryLength ? sentence : `${sentence.slice(0, maxSummaryLength).trimEnd()}…`;
}
