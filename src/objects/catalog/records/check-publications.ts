/** Compares the published copies of documents in KV with the Catalog, and publishes again what differs: for `moniker doctor`. */
import { isRecord, tryParse } from '../../../core/json/wire-value.ts';
import type { DocumentKind, PublicationCheck } from '../../../ports/catalog.ts';
import { kvKeys } from '../../../storage/keys.ts';
import { publishedFormat } from '../../../storage/published-values.ts';
import type { CatalogServices } from '../handlers/catalog-handlers.ts';
import type { PublicationKind } from './publications.ts';

/** Each is a read of KV. The newest are checked. */
const maxChecked = 300;
const maxShown = 50;
const readsAtOnce = 25;
/** KV of Cloudflare may return an old value for about this long (`storage/keys.ts`). On this machine it is files. */
const settleMs = 90_000;

/** What is published under the name of a document, with its version. */
const kinds: Partial<Record<DocumentKind, Exclude<PublicationKind, 'members'>>> = {
  ...{ toolset: 'toolset', webhook: 'hook', agent: 'agent', skill: 'skill', provider: 'provider', secret: 'secret', server: 'server' },
};

type Row = { kind: DocumentKind; name: string; version: number };

export async function checkPublications({ context, kv, republish }: CatalogServices): Promise<PublicationCheck> {
  const { sql, workspace, settings } = context;
  const settled = settings.localUrl === null ? settleMs : 0;
  const names = Object.keys(kinds);
  const query = `SELECT kind, name, version FROM documents WHERE deleted = 0 AND updated_at <= ? AND kind IN (${names.map(() => '?').join()})
    ORDER BY updated_at DESC LIMIT ?`;
  const rows = sql.exec<Row>(query, context.now() - settled, ...names, maxChecked + 1).toArray();
  const waiting = sql
    .exec<PublicationCheck['waiting'][number]>('SELECT kind, name, attempts FROM publications WHERE attempts > 0 LIMIT ?', maxShown)
    .toArray();
  const pending = new Set(
    sql
      .exec<{ id: string }>("SELECT kind || ':' || name AS id FROM publications")
      .toArray()
      .map(({ id }) => id),
  );
  const checked = rows.slice(0, maxChecked);
  const different: PublicationCheck['different'] = [];
  for (let at = 0; at < checked.length && different.length < maxShown; at += readsAtOnce) {
    const compared = checked.slice(at, at + readsAtOnce).map(async ({ kind, name, version }) => {
      const published = kinds[kind] ?? 'agent';
      const key = published === 'toolset' ? kvKeys.toolset(workspace, name) : kvKeys.published(published, workspace, name);
      const found = versionOf(await kv().get(key, { type: 'text' }));
      // Written meanwhile, or about to be: its publication is under way.
      if (found === version || pending.has(`${published}:${name}`)) return;
      different.push({ kind, name, published: found, stored: version });
      await republish(published, name, settled);
    });
    await Promise.all(compared);
  }
  return { checked: checked.length, isPart: rows.length > maxChecked, waiting, different: different.slice(0, maxShown) };
}

/** Null: KV has nothing, or what this build cannot read. */
function versionOf(text: string | null): number | null {
  const value = text === null ? null : tryParse(text);
  return isRecord(value) && value.format === publishedFormat && typeof value.version === 'number' ? value.version : null;
}
