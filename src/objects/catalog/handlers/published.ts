/** Reads the values that are published to KV (`storage/published-values.ts`): for the publisher, and for readers that did not find them there. */
import type { Agent } from '../../../core/turn/agent.ts';
import type { Skill } from '../../../core/skills/skill.ts';
import type { WebhookDocument } from '../../../core/triggers/webhook.ts';
import type { PublishedKind, PublishedValues } from '../../../storage/published-values.ts';
import type { CatalogContext } from '../context.ts';
import { documentNotFound, findRow, listModelAliases } from '../documents/documents.ts';
import { knownHostRules } from '../documents/known-hosts.ts';
import { readRules } from '../documents/policy.ts';
import { listProviderModels, readSealedProvider } from '../documents/providers.ts';
import { readSealedSecrets } from '../documents/secrets.ts';
import { readRetiredKeys } from '../keys/reseal-job.ts';
import { readWorkspaceSettings } from '../documents/workspace-settings.ts';
import { documentKindOf } from '../records/publications.ts';
import { offersInForce } from '../../../core/listing/stored-offer.ts';
import { readOffers } from '../servers/server-offers.ts';
import { findServerAccess } from '../servers/server-state.ts';
import { findWorkspace } from '../workspaces/registry.ts';
import { subscribedTargets } from '../triggers/callbacks/callback-targets.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';

/** Returns null if it does not exist; kinds with one value in a workspace always do. */
export function readPublished<Kind extends PublishedKind>(context: CatalogContext, kind: Kind, name: string): PublishedValues[Kind] | null {
  return readers[kind](context, name);
}

const readers: { readonly [Kind in PublishedKind]: (context: CatalogContext, name: string) => PublishedValues[Kind] | null } = {
  // Bodies were parsed by their schemas when they were written.
  agent: ({ sql }, name) => (findRow(sql, 'agent', name)?.body ?? null) as Agent | null,
  skill: ({ sql }, name) => (findRow(sql, 'skill', name)?.body ?? null) as Skill | null,
  provider: (context, name) => readSealedProvider(context, name),
  providers: (context) => listProviderModels(context),
  'model-aliases': (context) => listModelAliases(context),
  secret: (context, name) => readSealedSecrets(context, [name])[0] ?? null,
  server: (context, name) => findServerAccess(context, name),
  offers: ({ sql }, name) => (findRow(sql, 'server', name) === null ? null : offersInForce(readOffers(sql, name))),
  rules: (context) => {
    const { guard, redaction } = readWorkspaceSettings(context.sql);
    return { rules: [...readRules(context.sql), ...knownHostRules(context)], guard, redaction };
  },
  subscriptions: ({ sql }) => subscribedTargets(sql).map(({ head }) => head),
  settings: ({ sql }) => readWorkspaceSettings(sql),
  'workspace-status': (context, name) => findWorkspace(context, name)?.status ?? null,
  'retired-keys': ({ sql }) => ({ sealed: readRetiredKeys(sql) }),
  hook: ({ sql }, name) => {
    const row = findRow(sql, 'webhook', name);
    return row === null ? null : { webhook: row.body as WebhookDocument, version: row.version, sealed: row.sealed ?? '' };
  },
};

export const publishedHandlers = {
  published: async ({ context, republish }, kind, name, isLost) => {
    const value = readPublished(context, kind, name);
    const document = documentKindOf[kind];
    if (isLost && (value !== null || document !== undefined)) await republish(kind, name);
    if (value === null) throw documentNotFound(document ?? 'workspace', name);
    return value;
  },
} satisfies Partial<CatalogHandlers>;
