/** Checks writes of agents with `taint: false` (`core/authority.ts`): only an administrator may change what such an agent can do. */
import type { Agent } from '../../core/agent.ts';
import { isAllowed, requireAllowed, type Act, type Rights } from '../../core/authority.ts';
import { canonicalJson } from '../../core/hash.ts';
import { nullIfNotFound, Problem } from '../../core/problem.ts';
import type { CatalogPort, WriteOptions } from '../../ports/catalog.ts';

/** Returns the write options with the version that was checked as condition. Throws `forbidden` or `precondition_failed`. */
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
  if (stored === null) return options;
  if (typeof options.ifMatch === 'number' && options.ifMatch !== stored.version)
    throw new Problem('precondition_failed', `The agent is at version ${stored.version}, not ${options.ifMatch}. Read it again and retry.`);
  return { ...options, ifMatch: stored.version };
}

/** The fields an administrator reviewed when setting `taint: false`. */
function capability({ model, fallbacks, instructions, toolset, tools, made, codeMode, taint, skills }: Agent): unknown {
  return { model, fallbacks, instructions, toolset, tools, made, codeMode, taint, skills };
}
