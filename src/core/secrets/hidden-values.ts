/**
 * Values in documents that may be credentials (`core/secrets/credentials.ts`), although they belong into secrets: GET and everything else that
 * shows a document has `{"hidden": path}` in their place, and a write that has it keeps the stored value. In a URL, the part is `(hidden)`.
 */
import * as z from 'zod';
import { canonicalJson } from '../hash.ts';
import { credentialArguments, credentialsInUrl, isCredentialInPath, isCredentialValue, mayBeCredential } from './credentials.ts';
import { isRecord, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import { providerBaseUrl } from '../names/provider-kind.ts';
import type { ProviderPlace } from '../names/provider-kind.ts';
import { invalidRequest, type Issue, type Warning, issuePath } from '../problem.ts';

export const HiddenValue = z.strictObject({ hidden: z.string().min(1).max(300) }).meta({
  id: 'HiddenValue',
  description:
    'In place of a value that may be a credential, which GET does not show. In a write it keeps the stored value at this path. Better, store the value as a secret and give `{"secret": NAME}`.',
  example: { hidden: 'env.SEED_PHRASE' },
});
export type HiddenValue = z.infer<typeof HiddenValue>;

/** A document whose hidden values were filled in. */
export type WithoutHidden<T> = T extends HiddenValue
  ? never
  : T extends readonly (infer Item)[]
    ? WithoutHidden<Item>[]
    : T extends object
      ? { [Name in keyof T]: WithoutHidden<T[Name]> }
      : T;

export type HidingKind = 'server' | 'provider';
type Body = Readonly<Record<string, unknown>>;

/** The members that may have such values: records of texts, lists of arguments, and URLs. */
export const hidingMembers: Readonly<Record<HidingKind, Readonly<Record<'records' | 'lists' | 'urls', readonly string[]>>>> = {
  server: { records: ['env', 'headers', 'query'], lists: ['args'], urls: ['url', 'baseUrl'] },
  provider: { records: ['headers'], lists: [], urls: [] },
};

/** The part of a URL that is hidden. */
export const hiddenPart = '(hidden)';

/** Returns the document as it may be shown. Documents of other kinds are unchanged. */
export function hideCredentials(kind: string, body: Body): Record<string, unknown> {
  if (!isKind(kind)) return { ...body };
  return { ...body, ...Object.fromEntries(hiddenIn(kind, body).map(({ member, shown }) => [member, shown])) };
}

/** Returns a warning for each value that is hidden. `host`: that a secret must be bound to; null: it is not known. */
export function hiddenWarnings(kind: HidingKind, body: Body, host: string | null): Warning[] {
  const bound = host === null ? '' : ` that is bound to the host ${host}`;
  return hiddenIn(kind, body).flatMap(({ paths, keys }) =>
    paths.map((path) => ({
      path,
      message:
        keys.length === 0
          ? `may contain a credential, so GET does not show it. Store it as a secret${bound}, and give it as {"secret": NAME} in \`query\` or \`headers\``
          : `may be a credential, so GET does not show it. Store it as a secret${bound}, and give {"secret": NAME}`,
    })),
  );
}

/** Returns a patched document in which a new value replaces a hidden one: a merge patch has merged the two objects. */
export function replaceHidden(kind: string, body: Body): Record<string, unknown> {
  if (!isKind(kind)) return { ...body };
  const records = hidingMembers[kind].records.filter((member) => isRecord(body[member]));
  const replaced = (value: unknown): unknown => {
    if (!isHidden(value) || Object.keys(value).length === 1) return value;
    const { hidden: _hidden, ...given } = value;
    return given;
  };
  const settled = records.map((member) => [
    member,
    Object.fromEntries(Object.entries(recordOf(body[member])).map(([name, value]) => [name, replaced(value)])),
  ]);
  return { ...body, ...Object.fromEntries(settled) };
}

/** Returns the paths of values that are hidden in both documents, and differ. */
export function hiddenChanges(kind: string, before: Body, after: Body): string[] {
  if (!isKind(kind)) return [];
  const [one, other] = [hiddenValues(kind, before), hiddenValues(kind, after)];
  return [...other].flatMap(([path, value]) => (one.has(path) && one.get(path) !== value ? [path] : []));
}

/** Returns the values that are hidden, by path. */
export function hiddenValues(kind: HidingKind, body: Body): ReadonlyMap<string, unknown> {
  return new Map(
    hiddenIn(kind, body).flatMap(({ member, keys, paths }) =>
      paths.map(
        (path, index) =>
          [path, keys.length === 0 ? body[member] : (body[member] as Record<string | number, unknown>)[keys[index] ?? '']] as const,
      ),
    ),
  );
}

/**
 * Returns the document with the stored values in place of hidden ones. `stored`: reads the stored document. Throws `invalid_request` where
 * there is no value, or where it would be sent to another place than before: the author has not seen it.
 */
export function keepHidden<T extends Body>(kind: HidingKind, body: T, stored: () => Body | null): WithoutHidden<T> {
  const { document, issues } = fillHidden(kind, body, stored);
  if (issues.length > 0) throw invalidRequest(issues);
  return document;
}

/** The same, with the issues. While there are any, the document is not to be used. */
export function fillHidden<T extends Body>(
  kind: HidingKind,
  body: T,
  stored: () => Body | null,
): { document: WithoutHidden<T>; issues: Issue[] } {
  // Without hidden values, both types are the same.
  return hasHidden(kind, body) ? fillIn(kind, body, stored()) : { document: body as WithoutHidden<T>, issues: [] };
}

function hasHidden(kind: HidingKind, body: Body): boolean {
  const { records, lists, urls } = hidingMembers[kind];
  if (urls.some((member) => stringOf(body[member]).includes(hiddenPart))) return true;
  return [...records, ...lists].some((member) => Object.values(body[member] ?? {}).some((value) => isHidden(value)));
}

function fillIn<T extends Body>(kind: HidingKind, body: T, before: Body | null): { document: WithoutHidden<T>; issues: Issue[] } {
  const issues: Issue[] = [];
  const kept: Record<string, unknown> = { ...body };
  for (const member of hidingMembers[kind].urls) {
    const [given, stored] = [stringOf(kept[member]), stringOf(before?.[member])];
    if (!given.includes(hiddenPart)) continue;
    if (hideInUrl(stored) === given) kept[member] = stored;
    else issues.push({ path: member, message: `has a hidden part, which is kept only if the rest is unchanged: write the whole URL` });
  }
  let moved: boolean | null = null;
  const isMoved = (): boolean => (moved ??= before === null || destinationOf(kind, kept) !== destinationOf(kind, before));
  const keep = (path: string, value: unknown, find: (hidden: string) => unknown): unknown => {
    if (!isHidden(value)) return value;
    const stored = isMoved() ? undefined : find(value.hidden);
    if (typeof stored === 'string') return stored;
    const why = before !== null && isMoved() ? 'it is kept only for the address that it was stored for' : 'nothing is stored here for it';
    issues.push({ path, message: `has a hidden value, and ${why}: give the value, or {"secret": NAME}` });
    return value;
  };
  for (const member of hidingMembers[kind].records) {
    if (!isRecord(kept[member])) continue;
    const stored = recordOf(before?.[member]);
    const entries = Object.entries(kept[member]).map(([name, value]) => {
      const path = issuePath([member, name]);
      return [name, keep(path, value, (hidden) => (hidden === path && Object.hasOwn(stored, name) ? stored[name] : undefined))];
    });
    kept[member] = Object.fromEntries(entries);
  }
  for (const member of hidingMembers[kind].lists) {
    if (!Array.isArray(kept[member])) continue;
    const stored = listOf(before?.[member]);
    // An argument may have been moved.
    const find = (hidden: string): unknown => stored.find((_value, index) => issuePath([member, index]) === hidden);
    kept[member] = kept[member].map((value, index) => keep(issuePath([member, index]), value, find));
  }
  // Every hidden value was replaced, or is an issue.
  return { document: kept as WithoutHidden<T>, issues };
}

/** `keys`: within the member; none for a URL, which is shown in part. */
type Hidden = { member: string; keys: readonly (string | number)[]; shown: unknown; paths: string[] };

/** Returns the members with hidden values, as they are shown. */
function hiddenIn(kind: HidingKind, body: Body): Hidden[] {
  const { records, lists, urls } = hidingMembers[kind];
  const found: Hidden[] = [];
  const add = (member: string, keys: readonly (string | number)[], shown: unknown): void => {
    if (keys.length > 0) found.push({ member, keys, shown, paths: keys.map((key) => issuePath([member, key])) });
  };
  for (const member of urls) {
    const url = stringOf(body[member]);
    const shown = hideInUrl(url);
    if (shown !== url) found.push({ member, keys: [], shown, paths: [member] });
  }
  for (const member of lists) {
    const values = listOf(body[member]);
    // What a program reads from a variable is not in the argument.
    const hidden = credentialArguments(values.map((value) => stringOf(value).replaceAll(/\$\{\w+\}/g, '')));
    const shown = values.map((value, index) => (hidden.has(index) ? { hidden: issuePath([member, index]) } : value));
    add(member, [...hidden], shown);
  }
  for (const member of records) {
    const values = Object.entries(recordOf(body[member]));
    const hidden = new Set(
      values.flatMap(([name, value]) => (typeof value === 'string' && value !== '' && mayBeCredential(name, value) ? [name] : [])),
    );
    const shown = values.map(([name, value]) => [name, hidden.has(name) ? { hidden: issuePath([member, name]) } : value]);
    add(member, [...hidden], Object.fromEntries(shown));
  }
  return found;
}

/** Hides credentials in the query, and a path that contains one. */
function hideInUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  const [, address = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text) ?? [];
  const { parameters } = credentialsInUrl(url);
  const shownQuery = query.replace(/([?&])([^=&]+)=([^&]*)/g, (whole, start: string, name: string) =>
    parameters.includes([...new URLSearchParams(`${name}=`).keys()][0] ?? '') ? `${start}${name}=${hiddenPart}` : whole,
  );
  return `${isCredentialInPath(url) || isCredentialValue(address) ? `${url.origin}/${hiddenPart}` : address}${shownQuery}${fragment}`;
}

/** Identifies where the values of a document are sent. */
function destinationOf(kind: HidingKind, body: Body): string {
  // Parsed by its schema, or stored.
  if (kind === 'provider') return originOf(providerBaseUrl(body as ProviderPlace));
  if (body.command !== undefined) return 'command';
  if (body.kind !== 'openapi') return originOf(body.url);
  // Without a base URL, the document names the address.
  if (body.baseUrl !== undefined) return `${originOf(body.url)} ${originOf(body.baseUrl)}`;
  return canonicalJson([body.url ?? null, body.document ?? null]);
}

function originOf(url: unknown): string {
  return URL.parse(stringOf(url))?.origin ?? '';
}

export function isHidden(value: unknown): value is HiddenValue {
  return isRecord(value) && typeof value.hidden === 'string';
}

function isKind(kind: string): kind is HidingKind {
  return Object.hasOwn(hidingMembers, kind);
}
