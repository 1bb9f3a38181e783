/**
 * Which resources and prompts of MCP servers a toolset offers to MCP clients, and how: members of the toolset document, stored in the edition
 * unchanged. A toolset without them offers what the trusted servers of its tools list. `engine/mcp/serve-offers.ts` gives names.
 */
import * as z from 'zod';
import { boundedText } from '../text/bounded-text.ts';
import { limits } from '../limits/limits.ts';
import { isAlias, quote } from '../names/names.ts';
import { isOurUri, matchesOffer, OfferPattern, serverOfOffer } from '../names/offer-pattern.ts';
import type { Issue, Warning } from '../problem.ts';
import { reservedServers } from '../names/reserved-names.ts';
import { ApprovalRule } from './approval-rule.ts';

const PromptName = z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, { message: 'must be 1 to 128 of letters, digits, "_", "-" and "."' });
const PromptAlias = z.string().refine(isAlias, { message: 'must match ^[a-z][a-z0-9_-]{1,63}$' });

const GivenUri = z
  .string()
  .max(limits.maxUrlLength)
  .regex(/^[a-z][a-z0-9+.-]*:[^\s\p{Cc}{}]+$/iu, { message: 'must be a URI, such as docs://handbook' })
  .refine((uri) => !isOurUri(uri), { message: 'ends like the URIs that are made for a server (#moniker.<server>)' });

/** Of the name of a resource, which people read in a list. */
const maxShownName = 200;
const furtherNames = { description: 'Further names that clients may use.' };
const ownWords = boundedText(limits.maxDescriptionBytes).min(1).optional();

const OneResource = z.strictObject({
  resource: OfferPattern,
  uri: GivenUri.optional().meta({ description: 'The URI for clients of a listed resource. Default: its own URI.' }),
  aliases: z.array(GivenUri).max(limits.maxAliasesPerEntry).optional().meta({ description: 'Further URIs that clients may use.' }),
  name: z.string().min(1).max(maxShownName).optional().meta({ description: 'The name for people. Replaces the title, too.' }),
  description: ownWords.meta({ description: 'Replaces the resource’s own description.' }),
  approval: ApprovalRule.optional(),
});

const OnePrompt = z.strictObject({
  prompt: OfferPattern,
  name: PromptName.optional().meta({ description: 'The name for clients. Default: the prompt’s own name.' }),
  aliases: z.array(PromptAlias).max(limits.maxAliasesPerEntry).optional().meta(furtherNames),
  description: ownWords.meta({ description: 'Replaces the prompt’s own description.' }),
  approval: ApprovalRule.optional(),
});

const wordsOfOne = ['uri', 'name', 'aliases', 'description'] as const;

/** What only one prompt or resource can have is refused for several; a template has no other URI, since its server expands it. */
function requireOne(written: ResourceEntry | PromptEntry, { addIssue }: Pick<z.RefinementCtx, 'addIssue'>): void {
  const { pattern, ...entry } = toOfferEntry(written);
  const isPattern = pattern.endsWith('*');
  for (const member of wordsOfOne) {
    if (entry[member] === undefined) continue;
    const refuse = (message: string): void => addIssue({ code: 'custom', path: [member], message });
    if (isPattern) refuse('cannot be set for several; add an entry for the one');
    else if (typeof written === 'object' && 'resource' in written && pattern.includes('{') && (member === 'uri' || member === 'aliases'))
      refuse('cannot be set for a template');
  }
}

export const ResourceEntry = z
  .union([OfferPattern, OneResource])
  .superRefine(requireOne)
  .meta({
    id: 'ResourceEntry',
    description:
      'Resources of an MCP server, by `<server>.<URI>` (or a URI template that it lists); a `*` at the end stands for any text. It also covers URIs that match a listed template, or that a result in the same session linked to.',
    example: { resource: 'docs.file:///srv/handbook.md', uri: 'docs://handbook', name: 'Handbook' },
  });
export type ResourceEntry = string | z.infer<typeof OneResource>;

export const PromptEntry = z
  .union([OfferPattern, OnePrompt])
  .superRefine(requireOne)
  .meta({
    id: 'PromptEntry',
    description: 'Prompts of an MCP server, by `<server>.<name>`; a `*` at the end stands for any text.',
    example: { prompt: 'docs.review', name: 'code_review', aliases: ['review'] },
  });
export type PromptEntry = string | z.infer<typeof OnePrompt>;

/** What a toolset offers besides tools. Absent members: what trusted servers list. */
export type OfferSelection = { resources?: readonly ResourceEntry[] | undefined; prompts?: readonly PromptEntry[] | undefined };

/** One entry as an object. `pattern`: `<server>.<URI or name>`, with a `*` at the end for any text. `name`: of a resource, for people. */
export type OfferEntry = { pattern: string; aliases?: readonly string[] | undefined } & Pick<
  z.infer<typeof OneResource>,
  'uri' | 'name' | 'description' | 'approval'
>;

export function toOfferEntry(entry: ResourceEntry | PromptEntry): OfferEntry {
  if (typeof entry === 'string') return { pattern: entry };
  if ('resource' in entry) {
    const { resource, ...rest } = entry;
    return { pattern: resource, ...rest };
  }
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

/**
 * Names that two prompts claim, and URIs that two resources claim. A clash with an own name is none: the own name then has its server in it.
 */
export function offerNameIssues({ prompts = [], resources = [] }: OfferSelection): Issue[] {
  return Object.entries({ prompts, resources }).flatMap(([member, entries]) => {
    const claimed = new Map<string, number>();
    return entries.flatMap((written: ResourceEntry | PromptEntry, index): Issue[] => {
      const { name, uri, aliases = [] } = toOfferEntry(written);
      const given = member === 'prompts' ? name : uri;
      return [...new Set(given === undefined ? aliases : [given, ...aliases])].flatMap((claim) => {
        const other = claimed.get(claim);
        if (other === undefined) claimed.set(claim, index);
        const message = `${quote(claim)} is a name of ${member}[${other}]. Choose another one`;
        return other === undefined ? [] : [{ path: `${member}[${index}]`, message }];
      });
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
