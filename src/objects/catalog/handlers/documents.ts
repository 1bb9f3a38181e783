/** Handlers that write, read, list and remove documents of every kind, and read published ones. */
import { readEditionText } from '../toolsets/editions.ts';
import { providerWriter, refuseRehearsal } from '../documents/providers.ts';
import { secretWriter } from '../documents/secrets.ts';
import { countStale } from '../toolsets/compiled-build.ts';
import { listVersions, readPointer, readVersion, toolsetOfEdition } from '../toolsets/toolset-versions.ts';
import { isInternalToolset, toMadeDefinition } from '../../../core/made/made-toolset.ts';
import type { StoredMadeTool } from '../../../core/tools/made-tool.ts';
import { triggerKeyId } from '../../../core/triggers/trigger-principal.ts';
import type { DocumentKind } from '../../../ports/catalog.ts';
import { agentWriter } from '../documents/agents.ts';
import { type DocumentRow, listRows, documentNotFound, requireRow } from '../documents/documents.ts';
import { findEarlierVersion, listDocumentVersions } from '../documents/document-versions.ts';
import { findKnownTool, knownTools, listTools } from '../tools/known-tools.ts';
import { privateDefinitions } from '../tools/made-tool-definitions.ts';
import { knownHostWriter } from '../documents/known-hosts.ts';
import { madeToolWriter } from '../tools/made-tools.ts';
import { memberWriter } from '../documents/members.ts';
import { modelAliasWriter } from '../documents/model-aliases.ts';
import { policyWriter } from '../documents/policy.ts';
import { privateToolWriter, removePrivateTools } from '../tools/private-tools.ts';
import { countStatuses, listServers, serverWriter, showServer } from '../servers/servers.ts';
import { suiteWriter } from '../documents/suites.ts';
import { skillWriter } from '../documents/skills.ts';
import { workspaceWriter } from '../documents/workspace.ts';
import { toolAliasesWriter } from '../tools/tool-aliases.ts';
import { withSkills } from '../../../formats/with-skills.ts';
import { withStoredRevocations, renameToolset, toolsetWriter } from '../toolsets/toolsets.ts';
import { scheduleWriter } from '../triggers/schedules/schedule-writer.ts';
import { subscriptionWriter } from '../triggers/callbacks/subscription-writer.ts';
import { webhookWriter } from '../triggers/webhook-writer.ts';
import { uiToolWriter } from '../tools/ui-tools.ts';
import { type DocumentWriter, putDocument, removeDocument, showDocument, showDocuments } from '../documents/write-document.ts';
import { requireOwnModels } from '../keys/own-models.ts';
import { requireUnlimited, restrictionsOfActor } from '../keys/key-rows.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';

const writers: Readonly<Record<DocumentKind, DocumentWriter>> = {
  toolset: toolsetWriter,
  agent: agentWriter,
  provider: providerWriter,
  secret: secretWriter,
  'tool-aliases': toolAliasesWriter,
  policy: policyWriter,
  'known-host': knownHostWriter,
  server: serverWriter,
  skill: skillWriter,
  'ui-tool': uiToolWriter,
  'made-tool': madeToolWriter,
  'private-tool': privateToolWriter,
  webhook: webhookWriter,
  schedule: scheduleWriter,
  subscription: subscriptionWriter,
  'model-alias': modelAliasWriter,
  suite: suiteWriter,
  member: memberWriter,
  workspace: workspaceWriter,
};

/** Rejects the names of internal toolsets, which are not accessible to users. */
function refuseOwn(kind: DocumentKind, name: string): void {
  if (kind === 'toolset' && isInternalToolset(name)) throw documentNotFound(kind, name);
}

/** Returns the row of a document as it was at a version. Throws `not_found`. */
function requireVersion(sql: SqlStorage, kind: DocumentKind, name: string, version: number | undefined): DocumentRow {
  const row = requireRow(sql, kind, name);
  if (version === undefined || version === row.version) return row;
  const earlier = findEarlierVersion(sql, kind, name, version);
  if (earlier === null) throw documentNotFound(kind, `${name}@${version}`);
  return { ...row, ...earlier };
}

/** Their turns, messages and requests have other rights than the key that writes them. */
const kindsWithOwnRights: ReadonlySet<DocumentKind> = new Set(['member', 'webhook', 'schedule', 'subscription']);

export const documentHandlers = {
  get: ({ context }, kind, name, version) => {
    const { sql } = context;
    refuseOwn(kind, name);
    if (version !== undefined && kind === 'toolset') return readVersion(sql, name, version);
    const row = requireVersion(sql, kind, name, version);
    if (kind === 'server') return showServer(context, row);
    const warnings = writers[kind].review?.(context, row.body) ?? [];
    return { ...showDocument(context, writers[kind], row), ...(warnings.length > 0 && { warnings }) };
  },
  list: ({ context }, kind, page) => {
    if (kind === 'server') return listServers(context, page);
    const { items, nextCursor } = listRows(context.sql, kind, page);
    return { items: showDocuments(context, writers[kind], items), nextCursor };
  },
  versions: ({ context: { sql } }, kind, name, page) => {
    refuseOwn(kind, name);
    if (kind === 'toolset') return listVersions(sql, name, page);
    requireRow(sql, kind, name);
    return listDocumentVersions(sql, kind, name, page);
  },
  previewToolset: async ({ context }, name, toolset, places, tools = []) => {
    const { compileDraft } = await import('../../../core/toolset/compile-draft.ts');
    const own = { workspace: context.workspace, name, toolset: withStoredRevocations(context, name, toolset) };
    const known = knownTools(context, { tools });
    const draft = await compileDraft({ ...own, known }, places);
    if (draft.edition === null) return draft;
    const { edition, warnings } = await withSkills(draft.edition, own.toolset, known);
    return { ...draft, edition, warnings: [...draft.warnings, ...warnings] };
  },
  staleToolsets: ({ context }) => countStale(context),
  checkPublications: async (services) => (await import('../records/check-publications.ts')).checkPublications(services),
  serverStatuses: ({ context }) => countStatuses(context),
  toolsetUses: async ({ context }, toolset) => (await import('../toolsets/toolset-uses.ts')).readToolsetUses(context, toolset),
  tools: ({ context }, page, owner, filter) => listTools(context, page, owner, filter),
  privateTools: ({ context }, owner) => privateDefinitions(context, owner),
  tool: ({ context }, canonical, version) => {
    if (version === undefined) return findKnownTool(context, canonical);
    // Bodies of made tools are parsed when they are written.
    return toMadeDefinition(canonical, requireVersion(context.sql, 'made-tool', canonical, version).body as StoredMadeTool);
  },
  put: async ({ context, by }, kind, name, body, options = {}) => {
    if (kindsWithOwnRights.has(kind)) requireUnlimited(context.sql, by);
    const { models } = restrictionsOfActor(context.sql, by);
    if (models !== undefined) requireOwnModels(context, models, { kind, name, body });
    return await putDocument(context, writers[kind], { kind, name, body, options, by });
  },
  remove: async ({ context, by }, kind, name, options = {}) => {
    if (kind === 'provider') refuseRehearsal(name);
    refuseOwn(kind, name);
    await removeDocument(context, writers[kind], { kind, name, options, by });
    // Otherwise a later trigger of the same name would own them.
    if (kind === 'webhook' || kind === 'schedule') context.transact(() => removePrivateTools(context, triggerKeyId({ kind, name })));
  },
  retireVersion: async ({ context, by }, toolset, version, isRetired) => {
    refuseOwn('toolset', toolset);
    // Rarely used.
    return (await import('../toolsets/retire-version.ts')).retireVersion(context, { toolset, version, isRetired, by });
  },
  renameToolset: ({ context, by }, from, to, version) => renameToolset(context, { from, to, version, by }),

  // For the read side, if neither its cache nor KV has a document (`storage/published/directory.ts`).
  pointer: async ({ context, republish }, toolset, version, isLost) => {
    if (isLost) await republish('toolset', toolset);
    return readPointer(context.sql, toolset, version);
  },
  editionText: async ({ context, republish }, hash) => {
    const text = readEditionText(context.sql, hash);
    // The caller did not find it in KV.
    const toolset = toolsetOfEdition(context.sql, hash);
    if (toolset !== null) await republish('toolset', toolset);
    return text;
  },
} satisfies Partial<CatalogHandlers>;
