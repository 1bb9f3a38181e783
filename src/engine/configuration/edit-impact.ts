/** What an edit of a toolset breaks, in the words of a configuration tool: the names of past calls that it loses, and how to keep them. */
import { mendsOf, nameImpact } from '../../core/impact/name-impact.ts';
import { type Rights, visibleKey } from '../../core/people/authority.ts';
import { Problem } from '../../core/problem.ts';
import { dayOf } from '../../core/records/usage.ts';
import { listFirst } from '../../core/text/paragraphs.ts';
import { type AliasMap, buildAliasMap } from '../../core/toolset/alias-map.ts';
import type { CompiledDraft } from '../../core/toolset/compile-draft.ts';
import type { Toolset } from '../../core/toolset/toolset.ts';
import type { CatalogPort } from '../../ports/catalog.ts';
import type { UsageReader } from '../../ports/usage.ts';
import { calledNames } from './called-names.ts';
import { previewToolset } from './write-toolset.ts';

export type CountedUsage = { usage: UsageReader; workspace: string; now(): number };

type Edit = { name: string; before: Toolset; after: Toolset };
type Caller = { catalog: CatalogPort; rights: Rights; keyId: string; aliases: boolean };

const days = 30;
const dayMs = 86_400_000;
const maxNames = 5;

/** Returns at most two lines; none if no call of the last days breaks. */
export async function brokenCalls(
  { usage, workspace, now }: CountedUsage,
  caller: Caller,
  { name, before, after }: Edit,
): Promise<string[]> {
  const { catalog, rights, keyId, aliases } = caller;
  const compile = (toolset: Toolset) => previewToolset(catalog, rights, name, toolset, [...toolset.tools.keys()]);
  const table = ({ edition }: CompiledDraft): AliasMap | null => (edition === null ? null : buildAliasMap(edition, { aliases }));
  const today = now();
  const range = { from: dayOf(today - (days - 1) * dayMs), to: dayOf(today) };
  const key = visibleKey({ ...rights, keyId });
  try {
    const [{ called }, was, is] = await Promise.all([
      calledNames(usage, { workspace, toolset: name, ...range, key, cursor: undefined }),
      compile(before),
      compile(after),
    ]);
    const [earlier, current] = [table(was), table(is)];
    const broken = nameImpact(earlier, current, called).changed.filter(({ change }) => change !== 'found' && change !== 'targets');
    if (broken.length === 0) return [];
    const calls = broken.reduce((sum, one) => sum + one.calls, 0);
    const quoted = listFirst(
      broken.map(({ requested }) => JSON.stringify(requested)),
      maxNames,
    );
    const mends = current === null ? [] : mendsOf(after, current, is.places, broken);
    const keep = [...new Map(mends.map(({ alias, tool }) => [`${alias} ${tool}`, `${alias} to ${tool}`])).values()];
    return [
      `names that were called in the last ${days} days lead elsewhere or nowhere now: ${quoted} (${calls === 1 ? '1 call' : `${calls} calls`})`,
      ...(keep.length === 0 ? [] : [`to keep them, add aliases with update-toolset: ${listFirst(keep, maxNames)}`]),
    ];
  } catch (error) {
    // The edit is stored, whatever became of the comparison.
    return [`whether past calls still work is not known: ${error instanceof Problem ? error.detail : 'an internal error'}`];
  }
}
