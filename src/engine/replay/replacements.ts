/**
 * What a replay replaces, resolved once for all of its cases: a version or a draft of an agent, and a draft of a toolset. A key needs the rights
 * to write such a draft, since its turns would have the tools of it.
 */
import { Agent } from '../../core/turn/agent.ts';
import { requireAllowed } from '../../core/people/authority.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest, nullIfNotFound, Problem, quoted } from '../../core/problem.ts';
import type { ReplayRequest, ReplayWith } from '../../core/replay/replay.ts';
import { buildAliasMap } from '../../core/toolset/alias-map.ts';
import { editionHash } from '../../core/toolset/edition.ts';
import { readToolsetReference, type Toolset } from '../../core/toolset/toolset.ts';
import type { CatalogCaller, CatalogPort } from '../../ports/catalog.ts';
import type { CompiledToolset } from '../../ports/directory.ts';
import { previewToolset } from '../configuration/write-toolset.ts';

/** `agent`: `name` null: a draft, under the name of the recorded one. `toolset`: a reference, or a compiled draft. */
export type Replacements = Pick<ReplayWith, 'model' | 'instructions'> & {
  agent?: { name: string | null; agent?: Agent };
  toolset?: string | CompiledToolset;
};

export type ReplacementDeps = { catalog(caller: CatalogCaller): CatalogPort; aliases: boolean };

/** The name of a draft that has none. */
const draftName = 'draft';

/** Throws `forbidden`, `not_found`, and `invalid_request` for a draft that could not be stored. */
export async function readReplacements(
  deps: ReplacementDeps,
  principal: Principal,
  { with: { model, instructions, agent, toolset }, unmatched }: Pick<ReplayRequest, 'with' | 'unmatched'>,
): Promise<Replacements> {
  if (unmatched === 'run-safe') requireAllowed(principal, { act: 'use-workspace', what: '`unmatched: "run-safe"`, whose calls' });
  if (model !== undefined) requireAllowed(principal, { act: 'use-model' });
  return {
    ...(model !== undefined && { model }),
    ...(instructions !== undefined && { instructions }),
    ...(agent !== undefined && {
      agent: typeof agent === 'string' ? await readAgent(deps, principal, agent) : draftAgent(principal, agent),
    }),
    ...(toolset !== undefined && { toolset: typeof toolset === 'string' ? toolset : await compileDraft(deps, principal, toolset) }),
  };
}

function draftAgent(principal: Principal, draft: Omit<Agent, 'name'>): { name: null; agent: Agent } {
  requireAllowed(principal, { act: 'use-workspace', what: 'Drafts of agents' });
  if (draft.taint === false) requireAllowed(principal, { act: 'waive', what: '`taint: false`' });
  return { name: null, agent: draft };
}

async function readAgent({ catalog }: ReplacementDeps, principal: Principal, reference: string): Promise<{ name: string; agent?: Agent }> {
  const { name, version } = readToolsetReference(reference);
  requireAllowed(principal, { act: 'use-agent', agent: name });
  if (version === undefined) return { name };
  requireAllowed(principal, { act: 'use-workspace', what: 'Versions of agents' });
  const stored = await nullIfNotFound(catalog(principal).get('agent', name, version));
  if (stored === null) throw new Problem('not_found', `with.agent: there is no agent ${quoted(reference)}.`);
  const { name: _name, ...agent } = Agent.parse(stored.body);
  return { name, agent };
}

async function compileDraft({ catalog, aliases }: ReplacementDeps, principal: Principal, draft: Toolset): Promise<CompiledToolset> {
  const { name = draftName, ...toolset } = draft;
  const { edition, issues, conflicts } = await previewToolset(catalog(principal), principal, name, toolset, [...toolset.tools.keys()]);
  const faults = [
    ...issues,
    ...conflicts.map(({ claims: [, { entry, name: claimed }] }) => ({
      path: entry ?? 'tools',
      message: `${quoted(claimed)} is a name of two tools`,
    })),
  ];
  if (faults.length > 0) throw invalidRequest(faults.map(({ path, message }) => ({ path: `with.toolset.${path}`, message })));
  if (edition === null) throw invalidRequest([{ path: 'with.toolset.tools', message: 'has no tools' }]);
  const pointer = { toolset: name, version: 0, revision: 0, hash: await editionHash(edition) };
  return { pointer, names: buildAliasMap(edition, { aliases }) };
}
