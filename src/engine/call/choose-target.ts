/** Chooses the target that a call of an entry runs (`core/toolset/entry-targets.ts`). */
import { sha256HexSync } from '../../core/hash.ts';
import { ownMember } from '../../core/json/wire-value.ts';
import type { CanonicalName } from '../../core/names/names.ts';
import { type EditionTool, targetTools } from '../../core/toolset/edition-tool.ts';
import type { TargetChoice } from '../../core/toolset/entries/entry-targets.ts';
import type { CallerScope } from './call-scope.ts';

type TargetCaller = Pick<CallerScope, 'keyId' | 'caller' | 'session' | 'conversation'>;

/** For targets in order, returns the first one, with the others. */
export function chooseTarget(tool: EditionTool, by: TargetCaller): EditionTool {
  const choose = tool.targets?.choose ?? 'in-order';
  if (choose === 'in-order') return tool;
  return 'weights' in choose ? byWeight(tool, choose.weights, by) : byCaller(tool, choose.callers, by);
}

/** A conversation keeps its target, so that its later calls find what its earlier ones did. Without one, the key does. */
function byWeight(tool: EditionTool, weights: Readonly<Record<string, number>>, by: TargetCaller): EditionTool {
  const shares = targetTools(tool).map((one) => ({ one, weight: one.state === 'ready' ? (weights[one.canonical] ?? 0) : 0 }));
  const total = shares.reduce((sum, { weight }) => sum + weight, 0);
  const owner = by.session ?? by.conversation ?? by.caller?.key ?? by.keyId;
  const hash = sha256HexSync(new TextEncoder().encode(JSON.stringify([owner, tool.wireName])));
  let point = (Number.parseInt(hash.slice(0, 8), 16) / 2 ** 32) * total;
  for (const { one, weight } of shares) {
    if (point < weight) return one;
    point -= weight;
  }
  return tool;
}

/** The callers of a target that is not known yet are not given another one. */
function byCaller(tool: EditionTool, callers: Extract<TargetChoice, { callers: unknown }>['callers'], by: TargetCaller): EditionTool {
  const own = { key: by.keyId, ...by.caller };
  const isMeant = (fields: Record<string, string>): boolean =>
    Object.entries(fields).every(([name, value]) => ownMember(own, name) === value);
  const [chosen] = Object.entries(callers).find(([, listed]) => listed.some(isMeant)) ?? [tool.canonical];
  const missing = { canonical: chosen as CanonicalName, server: chosen.slice(0, chosen.indexOf('.')), state: 'missing' as const, pin: '' };
  return targetTools(tool).find(({ canonical }) => canonical === chosen) ?? { ...tool, ...missing };
}
