/** The targets of an entry of a toolset as rows: what is typed of each, and the entry that it gives. Pure. */
import type { ToolsetRow } from './toolset-draft.ts';

/**
 * `callers`: as `role=admin team=blue; key=k7pd`: the keys with these fields, or with those. `kept`: callers that cannot be written so, because
 * a value has a semicolon.
 */
export type TargetRow = { tool: string; weight?: number; callers: string; kept?: Caller[] };
export type TargetWay = 'in-order' | 'weights' | 'callers';
type Caller = Record<string, string>;

export function targetWay({ choose }: ToolsetRow): TargetWay {
  if (choose === undefined || choose === 'in-order') return 'in-order';
  return 'weights' in choose ? 'weights' : 'callers';
}

export function targetRows({ tool, choose = 'in-order' }: ToolsetRow): TargetRow[] {
  return [tool ?? []].flat().map((name) => {
    if (choose === 'in-order') return { tool: name, callers: '' };
    if ('weights' in choose) return { tool: name, weight: choose.weights[name] ?? 0, callers: '' };
    const given = choose.callers[name] ?? [];
    const callers = given
      .map((caller) =>
        Object.entries(caller)
          .map(([field, value]) => `${field}=${value}`)
          .join(' '),
      )
      .join('; ');
    return JSON.stringify(readCallers(callers)) === JSON.stringify(given)
      ? { tool: name, callers }
      : { tool: name, callers: '', kept: given };
  });
}

/** Rows without a tool are left out. One target needs no choice. */
export function withTargets({ choose: _before, ...entry }: ToolsetRow, rows: readonly TargetRow[], way: TargetWay): ToolsetRow {
  const named = rows.filter(({ tool }) => tool !== '');
  const [first = '', ...others] = named.map(({ tool }) => tool);
  if (others.length === 0) return { ...entry, tool: first };
  const callers = named.map(({ tool, callers, kept = readCallers(callers) }) => [tool, kept] as const);
  const choose = {
    'in-order': 'in-order' as const,
    weights: { weights: Object.fromEntries(named.map(({ tool, weight = 1 }) => [tool, weight])) },
    callers: { callers: Object.fromEntries(callers.filter(([, list]) => list.length > 0)) },
  }[way];
  return { ...entry, tool: [first, ...others], ...(choose !== 'in-order' && { choose }) };
}

function readCallers(text: string): Caller[] {
  const callers = text.split(';').map((one) => one.trim());
  // A value may have spaces: a field begins where a name with an equals sign does.
  return callers.filter((one) => one !== '').map((one) => Object.fromEntries(one.split(/\s+(?=[^\s=]+=)/).map(readField)));
}

function readField(text: string): [field: string, value: string] {
  const [field = '', ...value] = text.split('=');
  return [field, value.join('=')];
}
