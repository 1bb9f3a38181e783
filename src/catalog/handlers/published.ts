/** Handlers that the read side calls if neither its cache nor KV has a document (`storage/directory.ts`). */
import type { Agent } from '../../core/agent.ts';
import type { Skill } from '../../core/skills/skill.ts';
import type { WebhookDocument } from '../../core/triggers/webhook.ts';
import { requireRow } from '../documents/documents.ts';
import { readEditionText } from '../toolsets/editions.ts';
import { listProviderModels, readSealedProvider } from '../documents/providers.ts';
import { readSealedSecret } from '../documents/secrets.ts';
import { readPointer, toolsetOfEdition } from '../toolsets/toolset-versions.ts';
import { subscribedTargets } from '../triggers/callbacks/callback-targets.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';

export const publishedHandlers = {
  pointer: async ({ context, republish }, toolset, version, isLost) => {
    const pointer = readPointer(context.sql, toolset, version);
    if (isLost) await republish('toolset', toolset);
    return pointer;
  },
  editionText: async ({ context, republish }, hash) => {
    const text = readEditionText(context.sql, hash);
    // The caller did not find it in KV.
    const toolset = toolsetOfEdition(context.sql, hash);
    if (toolset !== null) await republish('toolset', toolset);
    return text;
  },
  agent: async ({ context, republish }, name, isLost) => {
    // Agent bodies were parsed by the schema when they were written.
    const agent = requireRow(context.sql, 'agent', name).body as Agent;
    if (isLost) await republish('agent', name);
    return agent;
  },
  skill: async ({ context, republish }, name, isLost) => {
    // Skill bodies were parsed from their files when they were written.
    const skill = requireRow(context.sql, 'skill', name).body as Skill;
    if (isLost) await republish('skill', name);
    return skill;
  },
  hook: ({ context: { sql } }, name) => {
    const { body, version, sealed } = requireRow(sql, 'webhook', name);
    // Written only by the webhook writer, which parses and seals.
    return { webhook: body as WebhookDocument, version, sealed: sealed ?? '' };
  },
  subscriptions: ({ context: { sql } }) => subscribedTargets(sql).map(({ head }) => head),
  sealedProvider: ({ context }, name) => readSealedProvider(context, name),
  providerModels: ({ context }) => listProviderModels(context),
  sealedSecret: ({ context }, name) => readSealedSecret(context, name),
} satisfies Partial<CatalogHandlers>;
