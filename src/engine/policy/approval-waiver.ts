/** Who may write `approval: "never"` into a toolset: asked by every route and tool that writes one. */
import { canonicalJson } from '../../core/hash.ts';
import type { Principal } from '../../core/principal.ts';
import { orNull, Problem } from '../../core/problem.ts';
import type { Toolset, ToolsetEntry } from '../../core/toolset.ts';
import type { Catalog, WriteOptions } from '../../ports/catalog.ts';

/**
 * `approval: "never"` takes the question away from a person, so only an administrator writes it. Somebody else may keep an
 * entry that has it, exactly as it stands; then the write holds only for the version that was looked at.
 */
export async function requireMayWaive(
  catalog: Catalog,
  principal: Pick<Principal, 'scopes'>,
  name: string,
  body: Pick<Toolset, 'tools'>,
  conditions: WriteOptions,
): Promise<WriteOptions> {
  if (principal.scopes.includes('admin') || body.tools.every(({ approval }) => approval !== 'never')) return conditions;
  const stored = await orNull(catalog.get('toolset', name));
  // Bodies of toolsets were parsed by the schema when they were written.
  const kept = new Set(((stored?.body.tools ?? []) as ToolsetEntry[]).map((entry) => canonicalJson(entry)));
  const issues = body.tools.flatMap((entry, index) =>
    entry.approval !== 'never' || kept.has(canonicalJson(entry))
      ? []
      : [{ path: `tools[${index}].approval`, message: '"never" is written by a key with the scope admin only' }],
  );
  if (issues.length > 0) {
    const paths = issues.map(({ path }) => path).join(', ');
    throw new Problem('forbidden', `${paths}: only a key with the scope admin may set "never", or change an entry that has it.`, {
      issues,
    });
  }
  if (stored === null) return conditions;
  if (typeof conditions.ifMatch === 'number' && conditions.ifMatch !== stored.version)
    throw new Problem('precondition_failed', `The toolset is at version ${stored.version}, not ${conditions.ifMatch}: read it again.`);
  return { ...conditions, ifMatch: stored.version };
}
