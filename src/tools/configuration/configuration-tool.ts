/**
 * Defines a configuration tool: it reads a request, works with the toolset editor of the key, and returns one answer as structured content
 * and as text. Errors also match the declared output schema, since strict MCP clients accept nothing else. Also checks toolset names and stores
 * drafts for these tools.
 */
import * as z from 'zod';
import { faultText, type Draft, refusalLines } from '../../core/configuration/draft.ts';
import { firstWarnings, Problem, quoted } from '../../core/problem.ts';
import { errorResult, textResult, type ToolAnnotations, type ToolResult, type ToolResultCode } from '../../core/tools/tool.ts';
import type { ToolsetEditor } from '../../ports/toolset-editor.ts';
import { defineTool, ToolFault, type DefinedTool } from '../define-tool.ts';
import { limits } from '../../core/limits/limits.ts';
import { ToolsetName } from '../../core/toolset/toolset.ts';
import type { StoredDocument } from '../../ports/catalog.ts';
import type { ToolsetUses } from '../../core/toolset/toolset-uses.ts';
import type { ToolTable } from '../../core/configuration/tool-table.ts';
import { toolsetInfo, ToolsetInfo } from '../../core/configuration/toolset-info.ts';
import { retry } from '../../engine/retry.ts';
import { systemClock } from '../../platform/clock.ts';
import { listFirst } from '../../core/text/paragraphs.ts';

/** `text`: the answer as text for models. `isError`: nothing was done, and the answer says why. */
type ConfigurationAnswer<Answer> = { answer: Answer; text: string; isError?: boolean };

type ConfigurationToolSpec<Input extends z.ZodObject, Output extends z.ZodObject> = {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: Output;
  annotations: Pick<ToolAnnotations, 'readOnlyHint' | 'destructiveHint' | 'idempotentHint'>;
  /** Returns the answer for a call that failed, if it has more than `success` and `error`. */
  failed?(error: string): z.infer<Output>;
  /** Throws `ToolFault` or `Problem`. */
  run(request: z.infer<Input>, editor: ToolsetEditor): Promise<ConfigurationAnswer<z.infer<Output>>>;
};

/** The answer of a tool that changes a toolset. */
export const ChangedToolset = z.object({
  success: z.boolean(),
  error: z.string().optional(),
  toolset: ToolsetInfo.optional(),
  warnings: z.array(z.string()).optional(),
});

export function defineConfigurationTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  spec: ConfigurationToolSpec<Input, Output>,
): DefinedTool {
  const { name, title, description, input, output, annotations } = spec;
  const refuse = (code: ToolResultCode, error: string): ToolResult => ({
    ...errorResult(code, `Nothing was done. ${error}`),
    structuredContent: spec.failed?.(error) ?? { success: false, error },
  });
  return defineTool({
    name,
    description,
    input,
    output,
    annotations: { title, openWorldHint: false, ...annotations },
    usesFiles: false,
    refuse: (issues) =>
      refuse('invalid_arguments', faultText(issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)))),
    async run(request, { configuration }) {
      if (configuration === null) return refuse('not_allowed', 'Toolsets cannot be configured in this context.');
      try {
        const { answer, text, isError = false } = await spec.run(request, configuration);
        return { ...(isError ? errorResult('tool_error', text) : textResult(text)), structuredContent: answer };
      } catch (error) {
        if (error instanceof ToolFault) return refuse('tool_error', error.message);
        if (error instanceof Problem) return refuse(error.code === 'forbidden' ? 'not_allowed' : 'tool_error', error.detail);
        throw error;
      }
    },
  });
}

// Toolset names in requests: checks new names and finds existing toolsets, with suggestions in the errors.

/** `requireNewName` checks the format, since its error suggests a valid name. */
export const NewName = z.string().meta({
  description: 'Name of the toolset: 1 to 50 lower-case characters of a-z, 0-9 and "-", not starting or ending with "-".',
  pattern: '^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$',
  examples: ['dev-tools'],
});
export const ExistingName = z.string().meta({ description: 'Name of a toolset from list-saved-toolsets.', examples: ['dev-tools'] });

export function requireNewName(name: string, path = 'name'): void {
  if (ToolsetName.safeParse(name).success) return;
  if (name.trim() === '') throw new ToolFault(`${path}: is empty; give the toolset a name such as dev-tools`);
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-|-$/g, '');
  const hint = ToolsetName.safeParse(slug).success ? `; use ${slug}` : '';
  throw new ToolFault(
    `${path}: ${quoted(name)} is not a valid name: use 1 to 50 of a-z, 0-9 and "-", not starting or ending with "-"${hint}`,
  );
}

export async function requireToolset(editor: ToolsetEditor, name: string, path = 'name'): Promise<StoredDocument> {
  const found = await editor.toolset(name);
  if (found !== null) return found;
  const names = (await editor.toolsets()).map((document) => document.name);
  const shown = names.slice(0, limits.maxReportedWarnings).join(', ') + (names.length > limits.maxReportedWarnings ? ', …' : '');
  const there = names.length === 0 ? 'no toolsets are saved yet; create one with build-toolset' : `saved toolsets: ${shown}`;
  throw new ToolFault(`${path}: there is no toolset ${quoted(name)}; ${there}`);
}

export function nameTakenMessage(name: string, path = 'name'): ToolFault {
  return new ToolFault(
    `${path}: a toolset ${quoted(name)} already exists: choose another name, or rename (rename-toolset), change (update-toolset) or delete (delete-toolset) the existing one`,
  );
}

// Stores toolset drafts of the configuration tools, translates faults to their position in the request, and retries lost writes where
// that is safe.

/** Retries of a change that can be applied again after another writer changed the document. */
const maxLostWrites = 8;

type WrittenDraft = { document: StoredDocument; warnings: string[] };

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
  const isLost = (error: unknown): boolean => error instanceof Problem && error.code === 'precondition_failed';
  const policy = { maxRetries: maxLostWrites - 1, delayMs: (error: unknown) => (isLost(error) ? 0 : null) };
  return await retry({ clock: systemClock }, policy, attempt).catch((error: unknown) => {
    throw isLost(error) ? new ToolFault('Other clients are changing this toolset at the same time. Try again in a moment.') : error;
  });
}

/** Returns the toolset as answers show it after it was written or equipped. */
export function shownInfo(document: StoredDocument, table: ToolTable, equipped: string | null): ToolsetInfo {
  return toolsetInfo(document, table, equipped, limits.maxConfigurationAnswerBytes / 2);
}

/** Returns some users of each kind by name: `agents a, b; webhooks c`. Empty: there are none, or the key may not see them. */
export function describeUsers(uses: ToolsetUses | null): string {
  if (uses === null) return '';
  const { agents, keys, webhooks, schedules, equipped } = uses;
  const kinds = Object.entries({ agents, keys, webhooks, schedules, 'keys that have it equipped': equipped });
  const told = kinds.flatMap(([kind, users]: [string, readonly { name: string; id?: string }[]]) => {
    const names = users.map(({ name, id }) => (id === undefined ? name : `${name} (${id})`));
    return names.length === 0 ? [] : [`${kind} ${listFirst(names, limits.maxReportedWarnings)}`];
  });
  return told.join('; ');
}

export function describeWarnings(warnings: readonly string[]): string {
  return warnings.length === 0 ? '' : `\nWarnings:\n${warnings.map((line) => `- ${line}`).join('\n')}`;
}
