/** Changes to the prompts and resources of a toolset document in the editor. Pure. */
import type { components } from '../../../../client/src/index.ts';
import type { ToolsetDraft } from './toolset-draft.ts';

export type OfferKind = 'prompts' | 'resources';

type Schemas = components['schemas'];
/** An entry of either kind. `name`: of a resource, for people. */
export type OfferRow = { pattern: string } & Omit<Exclude<Schemas['ResourceEntry'], string>, 'resource'>;

/** Servers of one toolset whose offers are suggested: each is a request. */
const maxSuggestingServers = 10;

/** Returns null for a draft that does not select. */
export function offerRows(draft: ToolsetDraft, kind: OfferKind): OfferRow[] | null {
  return draft[kind]?.map(toRow) ?? null;
}

function toRow(entry: Schemas['PromptEntry'] | Schemas['ResourceEntry']): OfferRow {
  if (typeof entry === 'string') return { pattern: entry };
  if ('prompt' in entry) {
    const { prompt, ...rest } = entry;
    return { pattern: prompt, ...rest };
  }
  const { resource, ...rest } = entry;
  return { pattern: resource, ...rest };
}

/** An entry with nothing but its pattern is written as a text. null: the draft selects nothing itself. */
export function withOfferRows(draft: ToolsetDraft, kind: OfferKind, rows: readonly OfferRow[] | null): ToolsetDraft {
  const { [kind]: _before, ...rest } = draft;
  if (rows === null) return rest;
  const member = kind === 'prompts' ? 'prompt' : 'resource';
  const entries = rows.map(({ pattern, ...words }) => (Object.keys(words).length === 0 ? pattern : { [member]: pattern, ...words }));
  // The service checks what each kind of entry may have.
  return { ...rest, [kind]: entries } as ToolsetDraft;
}

/** The servers of the draft's tools, in order. */
export function serversOf({ tools }: Pick<ToolsetDraft, 'tools'>): string[] {
  const names = tools.flatMap(({ tool }) => (tool?.includes('.') === true ? tool.slice(0, tool.indexOf('.')) : []));
  return [...new Set(names)].filter((name) => !['builtin', 'local', 'made', 'client', 'ui'].includes(name)).slice(0, maxSuggestingServers);
}
