/** Writes agents. An agent that names missing documents is stored with a warning and fails when it is used. */
import { Agent, ResourceName, splitModelRef } from '../../core/agent.ts';
import { buildAliasMap } from '../../core/toolset/alias-map.ts';
import { allowListWarnings } from '../../core/names/allow-list.ts';
import type { Edition } from '../../core/toolset/edition-tool.ts';
import { parseDocument } from '../../core/issues.ts';
import { missingPrice, priceOf, type Prices } from '../../core/model/price.ts';
import type { Provider } from '../../core/model/provider.ts';
import { builtinProvider, rehearsalProviderName } from '../../storage/builtin-providers.ts';
import { skillWarnings } from './agent-skills.ts';
import { madeWarnings } from '../tools/agent-made-tools.ts';
import type { CatalogContext } from '../context.ts';
import { readRow } from './documents.ts';
import { readEditionText } from '../toolsets/editions.ts';
import { enqueuePublish } from '../records/outbox.ts';
import { findPointer } from '../toolsets/toolset-versions.ts';
import { checkNameInBody } from './write-document.ts';
import type { DocumentWriter } from './write-document.ts';
import type { Warning } from '../../core/warning.ts';

export const agentWriter: DocumentWriter = {
  nameFault: (_context, name) =>
    ResourceName.safeParse(name).success ? null : 'must be 1-50 of a-z, 0-9 and `-`, without `-` at the ends',

  prepare: async (context, name, body) => {
    const document = parseDocument(Agent, body);
    checkNameInBody(name, document);
    return {
      body: { ...document, name },
      warnings: warningsOf(context, document),
      commit: (_row, changed) => {
        if (changed) enqueuePublish(context, 'agent', name);
      },
    };
  },

  // Agent bodies were parsed by the schema when they were written.
  review: (context, body) => warningsOf(context, body as Agent),

  prepareRemoval: async (context, name) => () => enqueuePublish(context, 'agent', name),
};

function warningsOf(context: CatalogContext, agent: Agent): Warning[] {
  return [
    ...modelWarnings(context, agent),
    ...toolWarnings(context, agent),
    ...skillWarnings(context, agent),
    ...madeWarnings(context, agent),
  ];
}

function modelWarnings(context: CatalogContext, agent: Agent): Warning[] {
  const refs = [
    { path: 'model', ref: agent.model },
    ...(agent.fallbacks ?? []).map((ref, index) => ({ path: `fallbacks[${index}]`, ref })),
  ];
  return refs.flatMap(({ path, ref }) => {
    const { provider, model } = splitModelRef(ref);
    const known = findProvider(context, provider);
    if (known === null)
      return [{ path, message: `The provider "${provider}" does not exist yet. This agent cannot run until it is created.` }];
    if (agent.limits?.maxCost === undefined || priceOf(known.prices ?? {}, model) !== null) return [];
    return [{ path: 'limits.maxCost', message: `${missingPrice(provider, model)}. Turns of this agent are rejected until then.` }];
  });
}

/** A stored provider takes precedence over a built-in one, as when a turn is planned. */
function findProvider(context: CatalogContext, name: string): { prices?: Prices } | null {
  const stored = name === rehearsalProviderName ? null : readRow(context.sql, 'provider', name);
  // Provider bodies were parsed by the schema when they were written.
  return stored?.deleted === false ? (stored.body as Provider) : builtinProvider(context.settings, name);
}

function toolWarnings(context: CatalogContext, agent: Agent): Warning[] {
  if (agent.toolset === undefined) {
    return agent.tools === undefined
      ? []
      : [{ path: 'tools', message: '`tools` has no effect without a toolset: the agent has no tools.' }];
  }
  const pointer = findPointer(context.sql, agent.toolset);
  if (pointer === null) {
    return [{ path: 'toolset', message: `The toolset "${agent.toolset}" does not exist yet. This agent cannot run until it is created.` }];
  }
  if (agent.tools === undefined) return [];
  // Editions are written only by the toolset writer.
  const edition = JSON.parse(readEditionText(context.sql, pointer.hash)) as Edition;
  return allowListWarnings(buildAliasMap(edition, { aliases: true }), agent.tools, agent.toolset);
}
