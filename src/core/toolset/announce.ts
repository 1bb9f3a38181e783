/** How aliases are announced to a model (contract §4): in one block of the system prompt, in each tool description, or not at all. */
import { isForModels, type Edition, type EditionTool } from './edition-tool.ts';
import type { OfferedNames } from '../names/old-names.ts';
import { modelDefinition } from './model-definitions.ts';
import type { Announce } from './toolset.ts';
import { oneLine } from '../text/paragraphs.ts';

/**
 * Returns the prompt block, or `''` if the mode is not `prompt` or no tool has another visible name. Hidden and deprecated names are
 * never in it. `offered`: the tools that are sent from the first step on. Tools that a conversation finds later list their aliases in
 * their description, so that the block does not change.
 */
export function announceBlock(names: AnnouncedNames, offered: readonly EditionTool[] = names.tools): string {
  if (names.edition.announce !== 'prompt' || !names.aliases) return '';
  const renamed = offered.filter((tool) => isForModels(tool) && isRenamed(tool));
  const lines = renamed.map((tool) => announceLine(tool, modelDefinition(names, tool).description));
  return lines.length === 0 ? '' : [heading, ...lines].join('\n');
}

/** The part of an `AliasMap` that announcing needs. `aliases: false` is the rollback switch: nothing is announced. */
export type AnnouncedNames = OfferedNames & { readonly edition: Pick<Edition, 'announce'>; readonly aliases: boolean };

const heading = '## Tool names\nA tool may be called by the name at the left or by any of its aliases:';

/**
 * Returns the description as sent to a model. In mode `description` the aliases are listed below it, including the one that is the
 * wire name: it is the only place where the model learns what the wire name stands for.
 */
export function describeTool(tool: EditionTool, announce: Announce): string {
  if (announce !== 'description') return tool.description;
  const told = tool.aliases.filter(isVisible).map(({ name }) => name);
  const lines = told.map((alias) => `Alias: ${alias} (maps to ${oneLine(tool.canonical)})`);
  return [tool.description, ...lines].filter((part) => part !== '').join('\n');
}

/** Names besides the wire name that a model may know. */
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

/** The full description is in the tool definition; here a reminder is enough. */
const maxSummaryLength = 120;

/** Returns the first sentence, on one line. */
export function summaryOf(description: string): string {
  const line = oneLine(description.trimStart().split('\n', 1)[0] ?? '');
  const sentence = /^.*?(?:[.!?](?= |$)|[。！？])/.exec(line)?.[0] ?? line;
  return sentence.length <= maxSummaryLength ? sentence : `${sentence.slice(0, maxSummaryLength).trimEnd()}…`;
}
