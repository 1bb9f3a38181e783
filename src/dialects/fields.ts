/**
 * The fate of each documented field of a dialect, as a table (`<dialect>/fields.ts`): its reader walks a request along the table, refuses
 * with their paths what must not be missed, and names what is left out, so that no field is lost without a word. What a setting becomes at
 * a provider is in `core/model/wire-settings.ts`; both together are printed in docs/chat-apis.md. Requests that are passed on in their own
 * wire do not use this.
 */
import { getOrBuild } from '../core/memoize.ts';
import { isRecord } from '../core/json/wire-value.ts';
import type { Dropped } from '../core/model/dropped.ts';
import type { GivenSettings, ModelSettings } from '../core/model/model-settings.ts';
import type { CarriedName } from '../core/model/wire-settings.ts';
import { invalidRequest, type Issue, issuePath, quoted } from '../core/problem.ts';
import { lifetimeOf } from './conversation.ts';

/**
 * `read`: every provider is sent it. `served`: this service itself does it. `carried`: sent as far as the API and the model have it.
 * `silent`: values that ask for nothing.
 */
export type Field = { silent?: readonly unknown[] } & (
  | { fate: 'read' | 'served' }
  /** `isRefused`: where it is not sent, the request is refused. */
  | { fate: 'carried'; as: CarriedName; isRefused?: true }
  | { fate: 'refused'; message: string }
  | { fate: 'dropped'; reason: string }
  /** Of a tool: dropped beside tools that the client runs, which do the work, and otherwise refused. */
  | { fate: 'optional'; reason: string; message: string }
);

/**
 * By path: `.` for members, `[]` for all items. A path also stands for what is inside, unless the table has paths below it. A path that ends
 * with `type=` has the fate of values of a kind: of one type, of types that begin with a text (`web_search*`), or of all others (`*`). Words
 * behind it tell forms of a kind apart (`type=image_url by URL`), which its reader knows.
 */
export type Fields = Readonly<Record<string, Field>>;

export const read: Field = { fate: 'read' };
export const served: Field = { fate: 'served' };
export const carried = (as: CarriedName, ...silent: readonly unknown[]): Field => ({ fate: 'carried', as, silent });
export const carriedOrRefused = (as: CarriedName): Field => ({ fate: 'carried', as, isRefused: true });
export const refusedField = (message: string, ...silent: readonly unknown[]): Field => ({ fate: 'refused', message, silent });
export const dropped = (reason: string, ...silent: readonly unknown[]): Field => ({ fate: 'dropped', reason, silent });
export const optional = (reason: string, message: string): Field => ({ fate: 'optional', reason, message });

/** The same field at several paths, which begin with `place`; `~` stands for a blank in a path. */
export const each = (paths: string, field: Field, place = ''): Record<string, Field> =>
  Object.fromEntries(paths.split(' ').map((path) => [place + path.replaceAll('~', ' '), field]));

type Service = { user?: unknown; safety_identifier?: unknown; service_tier?: unknown; verbosity?: unknown } & {
  prompt_cache_key?: unknown;
  prompt_cache_retention?: unknown;
  prompt_cache_options?: unknown;
};

/**
 * Reads the settings of a provider's service that several APIs have. Tiers that may cost more than the standard price are left to requests
 * that are passed on: budgets and prices do not know them.
 */
export function readService(body: Service, collector: Dropped): GivenSettings {
  const { user, safety_identifier: identifier, service_tier: tier, verbosity } = body;
  const { prompt_cache_key: key, prompt_cache_retention: retention, prompt_cache_options: options } = body;
  if (user != null && identifier != null && user !== identifier) collector.add('user', 'safety_identifier is sent in its place');
  const serviceTier = (['auto', 'default', 'flex'] as const).find((name) => name === tier);
  if (tier != null && serviceTier === undefined) collector.setting('serviceTier', 'the tier has other prices than the standard one');
  const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
  const caching = {
    promptCacheKey: text(key),
    promptCacheRetention: text(retention),
    promptCacheOptions: isRecord(options) ? options : null,
  };
  return { user: text(identifier ?? user), serviceTier, verbosity: text(verbosity), ...caching };
}

const newNode = (): Node => ({ members: new Map(), kinds: new Map() });

type Kinds = Map<string, Field>;
type Node = { field?: Field; members: Map<string, Node>; kinds: Kinds; items?: Node };

/**
 * Returns a reader of requests: throws `invalid_request` for refused fields, and adds to `dropped` what is left out. Returns what marks of the
 * cache are as a setting, and names them by their places.
 */
export function createFieldReader(fields: Fields): (body: Readonly<Record<string, unknown>>, dropped: Dropped) => ModelSettings {
  const root = toTree(fields);
  return (body, collector) => {
    const issues: Issue[] = [];
    const settings: ModelSettings = {};
    readMembers(root, body, [], { issues, dropped: collector, settings });
    if (issues.length > 0) throw invalidRequest(issues);
    return settings;
  };
}

function toTree(fields: Fields): Node {
  const root = newNode();
  for (const [path, field] of Object.entries(fields)) {
    let node = root;
    for (const step of path.split('.')) {
      if (step.startsWith('type=')) break;
      const name = step.replaceAll('[]', '');
      node = getOrBuild(node.members, name, Number.POSITIVE_INFINITY, newNode);
      for (let depth = step.length - name.length; depth > 0; depth -= 2) {
        node.items ??= newNode();
        node = node.items;
      }
    }
    const [, kind] = /type=(.*)$/.exec(path) ?? [];
    if (kind === undefined) node.field = field;
    else node.kinds.set(kind, field);
  }
  return root;
}

/** Returns the kinds of tools in a table that has only these. */
export function createKindReader(fields: Fields): (type: string) => Field | undefined {
  const kinds = new Map(Object.entries(fields).map(([path, field]) => [path.replace(/^.*type=/, ''), field]));
  return (type) => kindIn(kinds, type);
}

function kindIn(kinds: Kinds, type: string): Field | undefined {
  const begins = (name: string): boolean => name.endsWith('*') && type.startsWith(name.slice(0, -1));
  return kinds.get(type) ?? kinds.get([...kinds.keys()].find((name) => name.length > 1 && begins(name)) ?? '*');
}

type Path = readonly (string | number)[];
type Reading = { issues: Issue[]; dropped: Dropped; settings: ModelSettings };

function readMembers({ members }: Node, value: Readonly<Record<string, unknown>>, path: Path, reading: Reading): void {
  if (members.size === 0) return;
  for (const [name, inner] of Object.entries(value)) {
    if (isEmpty(inner)) continue;
    const node = members.get(name);
    if (node === undefined) reading.dropped.add(generalPath([...path, name]), 'the field is not known');
    else readValue(node, inner, [...path, name], reading);
  }
}

function readValue(node: Node, value: unknown, path: Path, reading: Reading): void {
  const { field, members, kinds } = node;
  if (isRecord(value)) {
    const kind = typeof value.type === 'string' ? kindIn(kinds, value.type) : undefined;
    if (kind?.fate === 'refused')
      reading.issues.push({ path: issuePath([...path, 'type']), message: `${quoted(String(value.type))} ${kind.message}` });
    if (kind?.fate === 'dropped') reading.dropped.add(generalPath([...path, String(value.type)]), kind.reason);
    if (kind?.fate === 'refused' || kind?.fate === 'dropped') return;
    if (members.size > 0) {
      readMembers(node, value, path, reading);
      return;
    }
  }
  if (isSilent(field, value)) return;
  if (field?.fate === 'refused') reading.issues.push({ path: issuePath(path), message: field.message });
  else if (field?.fate === 'dropped') reading.dropped.add(generalPath(path), field.reason);
  else if (field?.fate === 'carried' && (field.as === 'cache' || field.as === 'toolCache')) {
    reading.dropped.named('cache', generalPath(path));
    if (reading.settings.cache !== '1h') reading.settings.cache = lifetimeOf(value);
  } else if (Array.isArray(value)) {
    const { items } = node;
    if (items !== undefined) for (const [index, item] of value.entries()) readValue(items, item, [...path, index], reading);
  }
}

function isSilent(field: Field | undefined, value: unknown): boolean {
  return field?.silent?.some((one) => one === value || (isRecord(one) && isRecord(value) && Object.keys(value).length === 0)) === true;
}

function isEmpty(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.length === 0);
}

/** `messages[].name`: a field of many messages is named once. */
function generalPath(path: Path): string {
  return path.reduce<string>((text, step) => (typeof step === 'number' ? `${text}[]` : text === '' ? step : `${text}.${step}`), '');
}
