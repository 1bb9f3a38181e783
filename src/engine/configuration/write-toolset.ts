/**
 * Writes a toolset, and checks writes of agents, on behalf of a key, by REST or by the configuration tools: checks which toolsets it may write, which tools it may list in
 * them, and which entries only an administrator may write (`core/people/authority.ts`).
 */
import type { Agent } from '../../core/turn/agent.ts';
import { type Act, isAllowed, authorizationRefusal, requireAllowed, type Rights } from '../../core/people/authority.ts';
import { secretArguments } from '../../core/toolset/arguments/entry-arguments.ts';
import { canonicalJson } from '../../core/hash.ts';
import { limits } from '../../core/limits/limits.ts';
import { toolPin } from '../../core/tools/tool.ts';
import { nullIfNotFound, Problem, type Issue } from '../../core/problem.ts';
import type { CompiledDraft } from '../../core/toolset/compile-draft.ts';
import { type OfferSelection, type PromptEntry, type ResourceEntry, toOfferEntry } from '../../core/toolset/offer-entry.ts';
import type { Toolset, ToolsetEntry } from '../../core/toolset/toolset.ts';
import { expandWildcards, isWildcard } from '../../core/toolset/wildcards.ts';
import type { CatalogPort, PutAnswer, StoredDocument, WriteOptions } from '../../ports/catalog.ts';
import { readDefinitions, listableTools } from './tools-of-key.ts';
import { targetPath } from '../../core/toolset/entries/entry-targets.ts';

/** Throws `forbidden` with the paths of the entries that the key may not write, before anything is read or stored. */
export async function writeToolset(
  catalog: CatalogPort,
  rights: Rights,
  name: string,
  toolset: Toolset,
  options: WriteOptions,
): Promise<PutAnswer> {
  const checked = await checkToolset(catalog, rights, name, toolset, options);
  return await catalog.put('toolset', name, { ...toolset, tools: checked.tools, name }, checked.options);
}

/**
 * Compiles a draft of a toolset with the rights of the key (`core/toolset/compile-draft.ts`). Throws `forbidden` as a write would. `places`:
 * of each entry, its index in the draft; without effect on patterns of a bound key.
 */
export async function previewToolset(
  catalog: CatalogPort,
  rights: Rights,
  name: string,
  toolset: Toolset,
  places: readonly number[],
): Promise<CompiledDraft> {
  const { tools } = await checkToolset(catalog, rights, name, toolset, {});
  const isExpanded = tools.length !== toolset.tools.length;
  return await catalog.previewToolset(name, { ...toolset, tools }, isExpanded ? [...tools.keys()] : places);
}

/** Returns the entries with the names of their tools, and the write options under which the check holds. */
export async function checkToolset(
  catalog: CatalogPort,
  rights: Rights,
  name: string,
  { tools: written, revoked: given, ...offers }: Pick<Toolset, 'tools' | 'revoked' | 'resources' | 'prompts'>,
  options: WriteOptions,
): Promise<{ tools: ToolsetEntry[]; options: WriteOptions }> {
  requireAllowed(rights, { act: 'write-toolset', toolset: name });
  const has = await listableTools(catalog, rights);
  const revoked = has === null ? [] : await revokedNow(catalog, name);
  if (has !== null) await requireOwnOffers(catalog, rights.toolsets ?? [], offers);
  if (has !== null && given !== undefined) requireGivable(rights, revoked, given, has);
  const tools = has === null ? written : await listOnly(catalog, rights, { tools: written, revoked: [...(given ?? revoked)] }, has);
  const isWaiving = waiversOf({ ...offers, tools }).length > 0 && !isAllowed(rights, { act: 'waive', what: '' });
  if (has === null && !isWaiving) return { tools, options };
  const stored = await nullIfNotFound(catalog.get('toolset', name));
  if (isWaiving) requireKept({ ...offers, tools }, stored);
  return { tools, options: atVersion('toolset', stored, options) };
}

/** Throws `forbidden` for resources and prompts that no toolset of a bound key offers in the same way. */
async function requireOwnOffers(
  catalog: Pick<CatalogPort, 'get'>,
  toolsets: readonly string[],
  { resources, prompts }: OfferSelection,
): Promise<void> {
  const documents = await Promise.all([...new Set(toolsets)].map((name) => nullIfNotFound(catalog.get('toolset', name))));
  // Bodies of toolsets were parsed by the schema when they were written.
  const own = documents.flatMap((document) => (document === null ? [] : [document.body as Toolset]));
  const issues = Object.entries({ resources, prompts }).flatMap(([member, entries]): Issue[] => {
    const lists = own.map((toolset) => toolset[member as 'resources' | 'prompts']);
    if (entries === undefined) {
      if (lists.every((list) => list === undefined)) return [];
      return [
        { path: member, message: 'is required, with entries of the toolsets of this key or empty, since they do not offer everything' },
      ];
    }
    const known = new Set(lists.flatMap((list) => (list ?? []).map((entry) => canonicalJson(entry))));
    return entries.flatMap((entry, index) =>
      known.has(canonicalJson(entry))
        ? []
        : [{ path: `${member}[${index}]`, message: 'this key may only use entries that its toolsets have, unchanged' }],
    );
  });
  if (issues.length > 0) throw refused(issues);
}

/** Returns each entry with the name of its tool. Throws `forbidden` for tools that the key does not have. */
async function listOnly(
  catalog: CatalogPort,
  rights: Rights,
  { tools: written, revoked }: Pick<Toolset, 'tools' | 'revoked'>,
  has: ReadonlySet<string>,
): Promise<ToolsetEntry[]> {
  const entries = written.some(isWildcard) ? await expandOwn(catalog, { tools: written, revoked }, has) : written;
  const byPin = entries.every(({ tool }) => tool !== undefined) ? new Map<string, string>() : await toolsByPin(catalog, has);
  const named = entries.map((entry) => (entry.tool === undefined ? { ...entry, tool: byPin.get(entry.refId ?? '') } : entry));
  const issues = named.flatMap((entry, index): Issue[] =>
    [entry.tool].flat().flatMap((tool, at) => {
      const message = authorizationRefusal(rights, { act: 'list-tool', tool, has });
      const place = entries[index]?.tool === undefined ? 'refId' : targetPath(entry, at);
      return message === null ? [] : [{ path: `tools[${index}].${place}`, message }];
    }),
  );
  if (issues.length > 0) throw refused(issues);
  return named.map(({ tool, ...entry }) => (tool === undefined ? entry : { ...entry, tool }));
}

/** A wildcard of a bound key means the tools that the key has. */
async function expandOwn(
  catalog: CatalogPort,
  toolset: Pick<Toolset, 'tools' | 'revoked'>,
  has: ReadonlySet<string>,
): Promise<readonly ToolsetEntry[]> {
  const definitions = await readDefinitions(catalog, has);
  return expandWildcards(toolset, () => definitions).tools;
}

/** Returns the tools that are revoked from a toolset, also from a removed one. */
export async function revokedNow(catalog: Pick<CatalogPort, 'get' | 'versions'>, name: string): Promise<readonly string[]> {
  const versions = await nullIfNotFound(catalog.versions('toolset', name, { limit: 2 }));
  const last = versions?.items.find(({ removed }) => !removed);
  if (last === undefined) return [];
  const { body } = await catalog.get('toolset', name, last.version);
  // Bodies of toolsets were parsed by the schema when they were written.
  return (body as Toolset).revoked ?? [];
}

/** A bound key gives back only tools that it has, as it lists only these. */
function requireGivable(rights: Rights, revoked: readonly string[], given: readonly string[], has: ReadonlySet<string>): void {
  const kept = new Set(given);
  const issues = revoked.flatMap((tool): Issue[] => {
    if (kept.has(tool) || isAllowed(rights, { act: 'list-tool', tool, has })) return [];
    return [{ path: 'revoked', message: `${tool} was revoked: an unbound key can give it back, and this key has to keep it in the list` }];
  });
  if (issues.length > 0) throw refused(issues);
}

async function toolsByPin(catalog: CatalogPort, has: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
  const definitions = await readDefinitions(catalog, has);
  return new Map(await Promise.all(definitions.map(async (tool): Promise<[string, string]> => [await toolPin(tool), tool.canonical])));
}

/** `guarded`: the part of the entry that must equal the stored one if the key lacks the right. */
type Waiver = { path: string; what: string; guarded: unknown };

/**
 * Entries that remove an approval or give a tool a secret. An entry with `approval: "never"` must be unchanged; one with a secret must keep
 * its tool and its arguments, since a changed address or default could send the secret elsewhere.
 */
function waivers(entry: ToolsetEntry): Waiver[] {
  const secrets = [...secretArguments(entry.arguments).keys()];
  return [
    ...(entry.approval === 'never' ? [{ path: 'approval', what: '`approval: "never"`', guarded: entry }] : []),
    ...secrets.map((argument) => ({
      path: `arguments.preset.${argument}`,
      what: 'A secret in a preset',
      guarded: [entry.tool, entry.arguments],
    })),
  ];
}

/** Returns the waivers of all entries, with their paths in the document. */
function waiversOf({ tools, resources = [], prompts = [] }: Pick<Toolset, 'tools' | 'resources' | 'prompts'>): Waiver[] {
  const never = { path: 'approval', what: '`approval: "never"`' };
  const ofTools = tools.flatMap((entry, index) => waivers(entry).map((waiver) => ({ ...waiver, path: `tools[${index}].${waiver.path}` })));
  const ofOffers = Object.entries({ resources, prompts }).flatMap(([member, entries]) =>
    entries.flatMap((entry: ResourceEntry | PromptEntry, index): Waiver[] =>
      toOfferEntry(entry).approval === 'never' ? [{ ...never, path: `${member}[${index}].${never.path}`, guarded: entry }] : [],
    ),
  );
  return [...ofTools, ...ofOffers];
}

function requireKept(written: Pick<Toolset, 'tools' | 'resources' | 'prompts'>, stored: StoredDocument | null): void {
  // Bodies of toolsets were parsed by the schema when they were written.
  const before = stored === null ? [] : waiversOf(stored.body as Toolset);
  const known = new Set(before.map((waiver) => canonicalJson(waiver.guarded)));
  const issues = waiversOf(written).flatMap(({ path, what, guarded }): Issue[] => {
    if (known.has(canonicalJson(guarded))) return [];
    const message = `${what} requires an unbound key with the scope "admin"; this key may only keep an existing entry that has it, unchanged`;
    return [{ path, message }];
  });
  if (issues.length > 0) throw refused(issues);
}

/** Makes sure that the version that was compared is the one that is replaced. */
function atVersion(what: 'toolset' | 'agent', stored: StoredDocument | null, options: WriteOptions): WriteOptions {
  if (stored === null) return options;
  const { version } = stored;
  if (typeof options.ifMatch === 'number' && options.ifMatch !== version)
    throw new Problem('precondition_failed', `The ${what} is at version ${version}, not ${options.ifMatch}. Read it again and retry.`);
  return { ...options, ifMatch: stored.version };
}

function refused(issues: Issue[]): Problem {
  const shown = issues.slice(0, limits.maxReportedIssues);
  return new Problem('forbidden', shown.map(({ path, message }) => `${path}: ${message}`).join('; '), { issues: shown });
}

/**
 * Checks a write of an agent with `taint: false`: only an administrator may change what such an agent can do. Returns the write options with the version that was checked as condition. Throws `forbidden` or
 * `precondition_failed`.
 */
export async function checkAgent(
  catalog: Pick<CatalogPort, 'get'>,
  rights: Rights,
  name: string,
  agent: Agent,
  options: WriteOptions,
): Promise<WriteOptions> {
  if (agent.taint !== false) return options;
  const waive: Act = { act: 'waive', what: '`taint: false`, or a change of what an agent that has it can do,' };
  const stored = isAllowed(rights, waive) ? null : await nullIfNotFound(catalog.get('agent', name));
  // Bodies of agents were parsed by the schema when they were written.
  const isKept = stored !== null && canonicalJson(capability(stored.body as Agent)) === canonicalJson(capability(agent));
  if (!isKept) requireAllowed(rights, waive);
  return atVersion('agent', stored, options);
}

/** The fields an administrator reviewed when setting `taint: false`. */
function capability({ model, fallbacks, instructions, toolset, tools, made, codeMode, taint, skills }: Agent): unknown {
  return { model, fallbacks, instructions, toolset, tools, made, codeMode, taint, skills };
}
