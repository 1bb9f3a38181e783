/** Storing what a configuration tool has drafted: faults told by where they stand in the request, and lost races tried again where that is right. */
import { limits } from '../../core/limits.ts';
import type { Draft } from '../../core/configuration/draft.ts';
import { faultText, refusalLines } from '../../core/configuration/refusals.ts';
import type { ToolTable } from '../../core/configuration/tool-table.ts';
import { toolsetInfo, type ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { Problem } from '../../core/problem.ts';
import { firstWarnings } from '../../core/warning.ts';
import type { StoredDocument } from '../../ports/catalog.ts';
import type { ConfigurationDesk } from '../../ports/configuration-desk.ts';
import { ToolFault } from '../define-tool.ts';

export type Written = { document: StoredDocument; warnings: string[] };

/** `version`: the one that was read, null: there must be none. Throws `precondition_failed` for a lost race, and `ToolFault`s. */
export async function writeDraft(
  desk: ConfigurationDesk,
  name: string,
  draft: Draft,
  version: number | null,
  table: ToolTable,
): Promise<Written> {
  try {
    const { document, warnings } = await desk.write(name, draft.document, version);
    const told = firstWarnings(warnings, 'warnings').map(({ path, message }) => `${path}: ${message}`);
    return { document, warnings: table.aliases ? told : [...aliasesOff(draft), ...told] };
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'precondition_failed') throw error;
    throw new ToolFault(faultText(refusalLines(error, draft, table)));
  }
}

function aliasesOff({ document }: Draft): string[] {
  const isNaming = document.tools.some(({ name, aliases = [] }) => name !== undefined || aliases.length > 0);
  const line =
    'aliases are switched off here (MONIKER_ALIASES=off): they are saved, and tools go by their own names until they are on again';
  return isNaming ? [line] : [];
}

/** Reads and writes again when somebody else was faster: for changes that are right upon whatever is there. */
export async function writeAgain<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isLost = error instanceof Problem && error.code === 'precondition_failed';
      if (!isLost) throw error;
      if (tries === limits.maxLostWrites) throw new ToolFault('Others are changing this toolset at the same time; try again in a moment.');
    }
  }
}

/** As answers show a toolset that was just written or equipped. */
export function shownInfo(document: StoredDocument, table: ToolTable, equipped: string | null): ToolsetInfo {
  return toolsetInfo(document, table, equipped, limits.maxConfigurationAnswerBytes / 2);
}

/** Some of each kind by name: `agents a, b`. */
export function tellUsers(users: Awaited<ReturnType<ConfigurationDesk['users']>>): string[] {
  const kinds = Object.entries({ agents: users.agents, keys: users.keys }).filter(([, names]) => names.length > 0);
  return kinds.map(([kind, names]) => {
    const more = names.length - limits.maxToldAdvice;
    return `${kind} ${names.slice(0, limits.maxToldAdvice).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  });
}

export function tellWarnings(warnings: readonly string[]): string {
  return warnings.length === 0 ? '' : `\nTo note:\n${warnings.map((line) => `- ${line}`).join('\n')}`;
}
