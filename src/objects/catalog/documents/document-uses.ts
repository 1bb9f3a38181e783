/** Finds what names a document, or a version of a toolset, for the warnings of the write that takes it away. Patterns in the `models` of agents and keys are no names. */
import { listModelAliases } from './documents.ts';
import { isInternalToolset } from '../../../core/made/made-toolset.ts';
import { findModelAlias } from '../../../core/model/model-alias.ts';
import { firstWarnings, quoted, type Warning } from '../../../core/problem.ts';
import { documentPath, type projectSections } from '../../../core/project/project-sections.ts';
import type { DocumentKind } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';

/** A member of documents of a kind that has names of another; `key`: in it, only members that are called so. */
type Place = { kind: keyof typeof projectSections; path: string; key?: string };

const models: readonly Place[] = ['$.model', '$.fallbacks'].map((path) => ({ kind: 'agent', path }));
const routes: readonly Place[] = ['$.model', '$.targets', '$.fallbacks', '$.contextFallback'].map((path) => ({
  kind: 'model-alias',
  path,
}));

const places: Partial<Record<DocumentKind, readonly Place[]>> = {
  skill: [
    { kind: 'toolset', path: '$.skills' },
    { kind: 'agent', path: '$.skills' },
  ],
  toolset: [
    { kind: 'agent', path: '$.toolset' },
    { kind: 'member', path: '$.toolsets' },
  ],
  agent: [
    { kind: 'webhook', path: '$.agent' },
    { kind: 'schedule', path: '$.agent' },
    { kind: 'subscription', path: '$.agents' },
    { kind: 'member', path: '$.agents' },
    ...routes,
  ],
  'model-alias': models,
  provider: [...models, ...routes],
  server: [
    { kind: 'toolset', path: '$.resources' },
    { kind: 'toolset', path: '$.prompts' },
  ],
  secret: [
    ...['$.apiKeySecret', '$.apiKeySecrets', '$.headers'].map((path): Place => ({ kind: 'provider', path })),
    { kind: 'server', path: '$', key: 'secret' },
    { kind: 'toolset', path: '$.tools', key: 'secret' },
    { kind: 'workspace', path: '$', key: 'secret' },
  ],
};

/** How a document is named, as patterns of GLOB. */
function patternsOf(kind: DocumentKind, name: string): string[] {
  if (kind === 'toolset' && !name.includes('@')) return [name, `${name}@*`];
  if (kind === 'agent') return [name, `agent/${name}`];
  if (kind === 'provider') return [`${name}/*`];
  // Their names may be patterns, which stand for names that no other alias has.
  if (kind === 'model-alias') return ['*'];
  return [kind === 'server' ? `${name}.*` : name];
}

/** One warning for each place. `effect`: what the write means for it, after the name: `names "a", EFFECT`. */
export function warnUsers(context: CatalogContext, kind: DocumentKind, name: string, effect: string): Warning[] {
  const { sql } = context;
  const patterns = JSON.stringify(patternsOf(kind, name));
  const aliases = kind === 'model-alias' ? listModelAliases(context) : null;
  const isMeant = (value: string): boolean => aliases === null || (!value.includes('/') && findModelAlias(aliases, value)?.name === name);
  const warning = (path: string, value: string): Warning => ({ path, message: `names ${quoted(value)}, ${effect}` });

  const inDocuments = (places[kind] ?? []).flatMap(({ kind: user, path, key }) =>
    sql
      .exec<{ name: string; at: string; value: string }>(ofDocuments, user, path, patterns, aliases === null ? name : '', key ?? null)
      .toArray()
      .filter(({ value }) => isMeant(value))
      .map((row) => warning(`${documentPath(user, row.name)}${row.at.slice(1)}`, row.value)),
  );
  const inToolsets = !kindsOfTools.has(kind)
    ? []
    : sql
        .exec<{ toolset: string; tool: string }>(ofTools, patterns)
        .toArray()
        .filter(({ toolset }) => !isInternalToolset(toolset))
        .map(({ toolset, tool }) => warning(`toolsets.${toolset}.tools`, tool));
  const bound = kind !== 'toolset' && kind !== 'agent' ? [] : sql.exec<BoundKey>(ofKeys, `${kind}s`, patterns, context.now()).toArray();
  const inKeys = bound.map(({ id, name: key, value }) => ({
    path: `keys.${id}.${kind}s`,
    message: `the key ${quoted(key)} is bound to ${quoted(value)}, ${effect}`,
  }));
  return firstWarnings([...inDocuments, ...inToolsets, ...inKeys], 'places name it', undefined, '…');
}

const kindsOfTools: ReadonlySet<DocumentKind> = new Set(['server', 'made-tool', 'ui-tool']);

/** ?4: a text without which a body cannot have the name, so that most are not parsed. */
const ofDocuments = `SELECT documents.name, part.fullkey AS at, part.atom AS value FROM documents, json_tree(documents.body, ?2) AS part
  WHERE documents.kind = ?1 AND documents.deleted = 0 AND instr(documents.body, ?4) > 0 AND part.type = 'text' AND (?5 IS NULL OR part.key = ?5)
    AND EXISTS (SELECT 1 FROM json_each(?3) AS pattern WHERE part.atom GLOB pattern.value) ORDER BY documents.name, part.id`;

/** The first of its tools for each toolset. */
const ofTools = `SELECT toolset, min(tool) AS tool FROM toolset_tools
  WHERE EXISTS (SELECT 1 FROM json_each(?1) AS pattern WHERE tool GLOB pattern.value) GROUP BY toolset ORDER BY toolset`;

type BoundKey = { id: string; name: string; value: string };
const ofKeys = `SELECT keys.id, keys.name, bound.value FROM keys, json_each(CASE ?1 WHEN 'agents' THEN keys.agents ELSE keys.toolsets END) AS bound
  WHERE keys.revoked_at IS NULL AND (keys.expires_at IS NULL OR keys.expires_at > ?3)
    AND EXISTS (SELECT 1 FROM json_each(?2) AS pattern WHERE bound.value GLOB pattern.value) ORDER BY keys.name, keys.id`;
