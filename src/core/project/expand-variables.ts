/**
 * Environment variables in a project file: `${NAME}` and `${NAME:-default}`, where the default may contain variables without a default. The CLI and the launcher expand them before they send a
 * project; the Worker never reads its own environment for one. They are recognized only in `places`, since instructions, templates and code
 * contain such text too. There, `$${` stands for a literal `${`, also in what is sent.
 */
import { isRecord, mapMembers } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import type { Issue } from '../problem.ts';
import { hiddenPart, type HiddenValue, type HidingKind, hidingMembers, isHidden } from '../secrets/hidden-values.ts';

/** Where variables are recognized: section, any name, member. All strings below such a member. */
const places: Readonly<Record<string, readonly string[]>> = {
  secrets: ['value', 'hosts'],
  providers: ['baseUrl', 'region', 'project', 'apiVersion', 'apiKey', 'apiKeySecret', 'apiKeySecrets', 'headers', 'models'],
  modelAliases: ['model', 'targets', 'fallbacks', 'contextFallback'],
  servers: ['url', 'baseUrl', 'headers', 'query', 'oauth', 'command', 'args', 'env', 'cwd', 'roots'],
  skills: ['path'],
  agents: ['model', 'fallbacks'],
  webhooks: ['secret', 'callbackSecret', 'callbackUrl'],
  schedules: ['callbackSecret', 'callbackUrl'],
  subscriptions: ['url', 'secret'],
};

const variable = /\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)(?::-((?:\$\{[^{}]*\}|[^}])*))?\}/g;

/** Returns how a variable is written in a project file. */
export function placeholder(name: string): string {
  return `\${${name}}`;
}

/**
 * Returns the project with the values of its variables. An empty variable with a default counts as missing, as in a shell. `issues`: one for
 * each variable that is missing and has no default; the project is not to be used then.
 */
export function expandVariables(
  project: unknown,
  environment: { readonly [name: string]: string | undefined },
): { project: unknown; issues: Issue[] } {
  const issues: Issue[] = [];
  const expand = (text: string, path: string): string =>
    text.replaceAll(variable, (found, dollar: string, name: string, fallback: string | undefined) => {
      if (dollar !== '') return found;
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (value !== undefined && (value !== '' || fallback === undefined)) return escapeVariables(value);
      if (fallback !== undefined) return expand(fallback, path);
      issues.push({ path, message: `the environment variable ${name} is not set: set it, or write ${placeholder(`${name}:-default`)}` });
      return found;
    });
  return { project: mapPlaces(project, expand), issues };
}

/** Returns the text with the defaults of its variables, which is what is left where no environment is read. */
export function withDefaults(text: string): string {
  return text.replaceAll(variable, (found, dollar: string, _name: string, fallback: string | undefined) =>
    dollar !== '' || fallback === undefined ? found : fallback,
  );
}

/** Whether a text is one variable and nothing else; returns its name. */
export function onlyVariable(text: string): string | null {
  const [found, ...others] = [...text.matchAll(variable)];
  return found?.[0] === text && found[1] === '' && others.length === 0 ? (found[2] ?? null) : null;
}

/** Members that are write-only: without a value the stored one stays. */
const secretMember =
  /^(secrets\.[^[\]]+\.value|providers\.[^.]+\.apiKey|(?:webhooks|schedules|subscriptions)\.[^.]+\.(?:secret|callbackSecret))$/;

/** A secret or hidden value without a value: its place, that of its document, and the variable as it is written. */
export type UnsetSecret = { path: string; document: string; variable: string };

/**
 * Replaces `$${` by the literal `${`. Secrets that are still a variable are removed, so that the stored value stays, and so do the hidden
 * values of an export; other variables are reported.
 */
export function settleVariables(project: unknown): { project: unknown; issues: Issue[]; unset: UnsetSecret[] } {
  const issues: Issue[] = [];
  const unset: UnsetSecret[] = [];
  const settled = mapPlaces(project, (text, path) => {
    const open = firstOpen(text);
    if (open === null) return unescaped(text);
    const what = open.slice(0, limits.maxQuotedLength);
    const secret = secretMember.exec(path.replace(/\[\d+\]$/, ''))?.[0];
    const hidden = hiddenOfVariable(path, text);
    if (hidden !== null && (typeof hidden !== 'string' || firstOpen(hidden) === null)) {
      unset.push({ path, document: path.split('.', 2).join('.'), variable: what });
      return typeof hidden === 'string' ? unescaped(hidden) : hidden;
    }
    if (secret === undefined) {
      issues.push({
        path,
        message: `contains the variable ${what}, which only the command line expands: use moniker apply, or send its value`,
      });
      return text;
    }
    unset.push({ path, document: secret.slice(0, secret.lastIndexOf('.')), variable: what });
    return undefined;
  });
  return { project: settled, issues, unset };
}

export function variableNames(text: string): string[] {
  return [...text.matchAll(variable)].flatMap(([, dollar, name = '', preset = '']) =>
    dollar === '' ? [name, ...variableNames(preset)] : [],
  );
}

/** Returns the first variable that is not escaped, or null. */
function firstOpen(text: string): string | null {
  return [...text.matchAll(variable)].find(([, dollar]) => dollar === '')?.[0] ?? null;
}

function unescaped(text: string): string {
  return text.replaceAll(variable, (found, dollar: string) => found.slice(dollar.length));
}

/** Escapes text that looks like a variable. */
export function escapeVariables(text: string): string {
  return text.replaceAll(variable, (found) => `$${found}`);
}

/** Returns a copy in which `change` was applied to every string in `places`; undefined removes the member. Other parts are unchanged. */
export function mapPlaces(project: unknown, change: (text: string, path: string) => unknown): unknown {
  if (!isRecord(project)) return project;
  return mapMembers(project, (documents, section) => {
    const members = Object.hasOwn(places, section) ? places[section] : undefined;
    if (members === undefined || !isRecord(documents)) return documents;
    return mapMembers(documents, (document, name) => {
      if (!isRecord(document)) return document;
      return mapMembers(document, (value, member) =>
        members.includes(member) ? mapText(value, `${section}.${name}.${member}`, change) : value,
      );
    });
  });
}

function mapText(value: unknown, path: string, change: (text: string, path: string) => unknown): unknown {
  if (typeof value === 'string') return change(value, path);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => mapText(item, `${path}[${index}]`, change)).filter((item) => item !== undefined);
    return items.length === 0 && value.length > 0 ? undefined : items;
  }
  return isRecord(value) ? mapMembers(value, (item, name) => mapText(item, `${path}.${name}`, change)) : value;
}

// Variables that stand for hidden values (`core/secrets/hidden-values.ts`) in an exported project file, such as `SERVER_FILES_SEED_PHRASE`.
// Where such a variable has no value, the stored value stays.

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
