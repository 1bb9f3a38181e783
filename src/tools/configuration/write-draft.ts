/**
 * Stores toolset drafts of the configuration tools, translates faults to their position in the request, and retries lost writes where that
 * is safe.
 */
import { limits } from '../../core/limits.ts';
import type { Draft } from '../../core/configuration/draft.ts';
import { faultText, refusalLines } from '../../core/configuration/refusals.ts';
import type { ToolTable } from '../../core/configuration/tool-table.ts';
import { toolsetInfo, type ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { Problem } from '../../core/problem.ts';
import { firstWarnings } from '../../core/warning.ts';
import type { StoredDocument } from '../../ports/catalog.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import { ToolFault } from '../define-tool.ts';

/** Retries of a change that can be applied again after another writer changed the document. */
const maxLostWrites = 8;

export type WrittenDraft = { document: StoredDocument; warnings: string[] };

/**
 * Writes the draft. `version`: the version that was read; null: the toolset must not exist yet. Throws `precondition_failed` if another
 * write came first, and `ToolFault` for an invalid draft.
 */
export async function writeDraft(
  editor: ToolsetEditor,
  name: string,
  draft: Draft,
  version: number | null,
  table: ToolTable,
): Promise<WrittenDraft> {
  try {
    const { document, warnings } = await editor.write(name, draft.document, version);
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
    'aliases are disabled on this server (MONIKER_ALIASES=off): they are saved, but tools keep their own names until aliases are enabled';
  return isNaming ? [line] : [];
}

/** Reads and writes again when another write came first. Only for changes that can be applied to any newer version. */
export async function retryLostWrites<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isLost = error instanceof Problem && error.code === 'precondition_failed';
      if (!isLost) throw error;
      if (tries === maxLostWrites) throw new ToolFault('Other clients are changing this toolset at the same time. Try again in a moment.');
    }
  }
}

/** Returns the toolset as answers show it after it was written or equipped. */
export function shownInfo(document: StoredDocument, table: ToolTable, equipped: string | null): ToolsetInfo {
  return toolsetInfo(document, table, equipped, limits.maxConfigurationAnswerBytes / 2);
}

/** Returns some users of each kind by name: `agents a, b`. */
export function describeUsers(users: Awaited<ReturnType<ToolsetEditor['usedBy']>>): string[] {
  const kinds = Object.entries({ agents: users.agents, keys: users.keys }).filter(([, names]) => names.length > 0);
  return kinds.map(([kind, names]) => {
    const more = names.length - limits.maxReportedWarnings;
    return `${kind} ${names.slice(0, limits.maxReportedWarnings).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  });
}

export function describeWarnings(warnings: readonly string[]): string {
  return warnings.length === 0 ? '' : `\nWarnings:\n${warnings.map((line) => `- ${line}`).join('\n')}`;
}
