/**
 * Variables that stand for hidden values (`core/hidden-values.ts`) in an exported project file, such as `SERVER_FILES_SEED_PHRASE`. Where such a
 * variable has no value, the stored value stays.
 */
import { hiddenPart, type HiddenValue, type HidingKind, hidingMembers, isHidden } from '../hidden-values.ts';
import { isRecord } from '../json/wire-value.ts';

/** Returns a shown document with texts in place of its hidden values. `text`: for the variable of a value. */
export function withHiddenVariables(
  kind: HidingKind,
  name: string,
  shown: Readonly<Record<string, unknown>>,
  text: (variable: string) => string,
): Record<string, unknown> {
  const { records, lists, urls } = hidingMembers[kind];
  const replaced = (key: string, value: unknown): unknown => (isHidden(value) ? text(variableOf(kind, name, key)) : value);
  const change = (member: string, value: unknown): unknown => {
    if (urls.includes(member) && typeof value === 'string') return value.replaceAll(hiddenPart, () => text(variableOf(kind, name, member)));
    if (lists.includes(member) && Array.isArray(value)) return value.map((item, index) => replaced(`${member}_${index}`, item));
    if (!records.includes(member) || !isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(key, item)]));
  };
  return Object.fromEntries(Object.entries(shown).map(([member, value]) => [member, change(member, value)]));
}

/**
 * Returns what keeps the stored value for a text of a project, if the text has its variable; null for any other text. `path`: such as
 * `servers.files.env.SEED_PHRASE`.
 */
export function hiddenOfVariable(path: string, text: string): HiddenValue | string | null {
  const [, section, name = '', member = '', key = ''] = /^(servers|providers)\.([^.]+)\.(\w+)(?:\.(.+)|\[\d+\])?$/s.exec(path) ?? [];
  if (section === undefined) return null;
  const kind = section === 'servers' ? 'server' : 'provider';
  const { records, lists, urls } = hidingMembers[kind];
  const place = path.slice(`${section}.${name}.`.length);
  const base = variableOf(
    kind,
    name,
    lists.includes(member) ? place.replace(/\[(\d+)\]$/, '_$1') : records.includes(member) ? key : member,
  );
  // An export numbers variables of the same name.
  const isOwn = (variable: string): boolean => variable === base || variable.replace(/_\d+$/, '') === base;
  const left = text.replaceAll(/(?<!\$)\$\{([A-Z0-9_]+)\}/g, (found, variable: string) => (isOwn(variable) ? hiddenPart : found));
  if (left === text) return null;
  if (urls.includes(member)) return left;
  return left === hiddenPart && (records.includes(member) || lists.includes(member)) ? { hidden: place } : null;
}

function variableOf(kind: HidingKind, name: string, key: string): string {
  return `${kind}_${name}_${key}`.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_');
}
