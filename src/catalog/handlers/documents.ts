/** Handlers that write, read, list and remove documents of every kind. */
import { isInternalToolset } from '../../core/made/made-toolset.ts';
import { triggerKeyId } from '../../core/triggers/trigger-principal.ts';
import type { DocumentKind } from '../../ports/catalog.ts';
import { agentWriter } from '../documents/agents.ts';
import { listRows, documentNotFound, requireRow } from '../documents/documents.ts';
import { findKnownTool, listTools } from '../tools/known-tools.ts';
import { privateDefinitions } from '../tools/made-tool-definitions.ts';
import { madeToolWriter } from '../tools/made-tools.ts';
import { policyWriter } from '../documents/policy.ts';
import { privateToolWriter, removePrivateTools } from '../tools/private-tools.ts';
import { providerWriter, refuseRehearsal } from '../documents/providers.ts';
import { secretWriter } from '../documents/secrets.ts';
import { listServers, serverWriter, showServer } from '../servers/servers.ts';
import { skillWriter } from '../documents/skills.ts';
import { toolAliasesWriter } from '../tools/tool-aliases.ts';
import { listVersions, readVersion } from '../toolsets/toolset-versions.ts';
import { renameToolset, toolsetWriter } from '../toolsets/toolsets.ts';
import { scheduleWriter } from '../triggers/schedules/schedule-writer.ts';
import { subscriptionWriter } from '../triggers/callbacks/subscription-writer.ts';
import { webhookWriter } from '../triggers/webhook-writer.ts';
import { uiToolWriter } from '../tools/ui-tools.ts';
import { putDocument, removeDocument, showDocument, showDocuments } from '../documents/write-document.ts';
import type { DocumentWriter } from '../documents/write-document.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';

const writers: Readonly<Record<DocumentKind, DocumentWriter>> = {
  toolset: toolsetWriter,
  agent: agentWriter,
  provider: providerWriter,
  secret: secretWriter,
  'tool-aliases': toolAliasesWriter,
  policy: policyWriter,
  server: serverWriter,
  skill: skillWriter,
  'ui-tool': uiToolWriter,
  'made-tool': madeToolWriter,
  'private-tool': privateToolWriter,
  webhook: webhookWriter,
  schedule: scheduleWriter,
  subscription: subscriptionWriter,
};

/** Rejects the names of internal toolsets, which are not accessible to users. */
function refuseOwn(kind: DocumentKind, name: string): void {
  if (kind === 'toolset' && isInternalToolset(name)) throw documentNotFound(kind, name);
}

export const documentHandlers = {
  get: ({ context }, kind, name, version) => {
    const { sql } = context;
    refuseOwn(kind, name);
    if (version !== undefined && kind === 'toolset') return readVersion(sql, name, version);
    const row = requireRow(sql, kind, name);
    if (version !== undefined && version !== row.version) throw documentNotFound(kind, `${name}@${version}`);
    if (kind === 'server') return showServer(context, row);
    const warnings = writers[kind].review?.(context, row.body) ?? [];
    return { ...showDocument(context, writers[kind], row), ...(warnings.length > 0 && { warnings }) };
  },
  list: ({ context }, kind, page) => {
    if (kind === 'server') return listServers(context, page);
    const { items, nextCursor } = listRows(context.sql, kind, page);
    return { items: showDocuments(context, writers[kind], items), nextCursor };
  },
  versions: ({ context }, toolset, page) => {
    refuseOwn('toolset', toolset);
    return listVersions(context.sql, toolset, page);
  },
  tools: ({ context }, page, owner) => listTools(context, page, owner),
  privateTools: ({ context }, owner) => privateDefinitions(context, owner),
  tool: ({ context }, canonical) => findKnownTool(context, canonical),
  put: ({ context, by }, kind, name, body, options = {}) => putDocument(context, writers[kind], { kind, name, body, options, by }),
  remove: async ({ context, by }, kind, name, options = {}) => {
    if (kind === 'provider') refuseRehearsal(name);
    refuseOwn(kind, name);
    await removeDocument(context, writers[kind], { kind, name, options, by });
    // Otherwise a later trigger of the same name would own them.
    if (kind === 'webhook' || kind === 'schedule') context.transact(() => removePrivateTools(context, triggerKeyId({ kind, name })));
  },
  renameToolset: ({ context, by }, from, to, version) => renameToolset(context, { from, to, version, by }),
} satisfies Partial<CatalogHandlers>;
