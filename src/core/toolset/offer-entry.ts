/**
 * Which resources and prompts of MCP servers a toolset offers to MCP clients, and how: members of the toolset document, stored in the edition
 * unchanged. A toolset without them offers what the trusted servers of its tools list. `engine/mcp/serve-offers.ts` gives names.
 */
import { z } from 'zod';
import { boundedText } from '../text/bounded-text.ts';
import { limits } from '../limits/limits.ts';
import { isAlias, quote } from '../names/names.ts';
import { matchesOffer, OfferPattern, serverOfOffer } from '../names/offer-pattern.ts';
import type { Issue, Warning } from '../problem.ts';
import { reservedServers } from '../names/reserved-names.ts';
import { ApprovalRule } from './approval-rule.ts';

const PromptName = z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, { message: 'must be 1 to 128 of letters, digits, "_", "-" and "."' });
const PromptAlias = z.string().refine(isAlias, { message: 'must match ^[a-z][a-z0-9_-]{1,63}$' });

export const ResourceEntry = z.union([OfferPattern, z.strictObject({ resource: OfferPattern, approval: ApprovalRule.optional() })]).meta({
  id: 'ResourceEntry',
  description:
    'Resources of an MCP server, by `<server>.<URI>`; a `*` at the end stands for any text. It also covers URIs that match a listed template, or that a result in the same session linked to.',
  example: 'docs.*',
});
export type ResourceEntry = z.infer<typeof ResourceEntry>;

const OnePrompt = z.strictObject({
  prompt: OfferPattern,
  name: PromptName.optional().meta({ description: 'The name for clients. Default: the prompt’s own name.' }),
  aliases: z.array(PromptAlias).max(limits.maxAliasesPerEntry).optional().meta({ description: 'Further names that clients may use.' }),
  description: boundedText(limits.maxDescriptionBytes).min(1).optional().meta({ description: 'Replaces the prompt’s own description.' }),
  approval: ApprovalRule.optional(),
});

export const PromptEntry = z
  .union([OfferPattern, OnePrompt])
  .superRefine((entry, context) => {
    if (typeof entry === 'string' || !entry.prompt.endsWith('*')) return;
    for (const member of ['name', 'aliases', 'description'] as const)
      if (entry[member] !== undefined)
        context.addIssue({ code: 'custom', path: [member], message: 'cannot be set for several prompts; add an entry for the one prompt' });
  })
  .meta({
    id: 'PromptEntry',
    description: 'Prompts of an MCP server, by `<server>.<name>`; a `*` at the end stands for any text.',
    example: { prompt: 'docs.review', name: 'code_review', aliases: ['review'] },
  });
export type PromptEntry = z.infer<typeof PromptEntry>;

/** What a toolset offers besides tools. Absent members: what trusted servers list. */
export type OfferSelection = { resources?: readonly ResourceEntry[] | undefined; prompts?: readonly PromptEntry[] | undefined };

/** One entry as an object. `pattern`: `<server>.<URI or name>`, with a `*` at the end for any text. */
export type OfferEntry = { pattern: string } & Pick<z.infer<typeof OnePrompt>, 'name' | 'aliases' | 'description' | 'approval'>;

export function toOfferEntry(entry: ResourceEntry | PromptEntry): OfferEntry {
  if (typeof entry === 'string') return { pattern: entry };
  if ('resource' in entry) return { pattern: entry.resource, approval: entry.approval };
  const { prompt, ...rest } = entry;
  return { pattern: prompt, ...rest };
}

/** `servers`: those with an entry. */
export type OfferEntries = {
  /** Returns the most specific entry that covers a name: an exact one, else the one with the longest beginning; null: none. */
  find(name: string): OfferEntry | null;
  servers: ReadonlySet<string>;
};

export function createOfferIndex(entries: readonly (ResourceEntry | PromptEntry)[]): OfferEntries {
  const read = entries.map(toOfferEntry);
  const exact = new Map(read.map((entry) => [entry.pattern, entry]));
  const patterns = read.filter(({ pattern }) => pattern.endsWith('*')).sort((a, b) => b.pattern.length - a.pattern.length);
  return {
    find: (name) => exact.get(name) ?? patterns.find(({ pattern }) => matchesOffer(pattern, name)) ?? null,
    servers: new Set(read.map(({ pattern }) => serverOfOffer(pattern))),
  };
}

/** Names that two prompts claim. A clash with a prompt's own name is none: the own name then has its server's name as prefix. */
export function promptNameIssues({ prompts = [] }: OfferSelection): Issue[] {
  const claimed = new Map<string, number>();
  return prompts.flatMap((written, index): Issue[] => {
    const { name, aliases = [] } = toOfferEntry(written);
    return [...new Set(name === undefined ? aliases : [name, ...aliases])].flatMap((claim) => {
      const other = claimed.get(claim);
      if (other === undefined) claimed.set(claim, index);
      return other === undefined
        ? []
        : [{ path: `prompts[${index}]`, message: `${quote(claim)} is a name of prompts[${other}]. Choose another one` }];
    });
  });
}

/** Entries of servers that do not exist: they may be added later, and a removed server must not keep a toolset from being compiled. */
export function offerWarnings({ resources = [], prompts = [] }: OfferSelection, hasServer: (name: string) => boolean): Warning[] {
  return Object.entries({ resources, prompts }).flatMap(([member, entries]) =>
    entries.flatMap((entry: ResourceEntry | PromptEntry, index): Warning[] => {
      const server = serverOfOffer(toOfferEntry(entry).pattern);
      if (hasServer(server) && !reservedServers.has(server)) return [];
      return [{ path: `${member}[${index}]`, message: `offers nothing, since there is no MCP server ${quote(server)}` }];
    }),
  );
}
