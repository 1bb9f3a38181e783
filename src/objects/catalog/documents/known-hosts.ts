/**
 * Hosts that approvals have made known to the workspace: requests to them are no longer asked about as new. Each is a document whose name is the
 * host. They are forgotten a year after the approval, and the oldest ones beyond the maximum; the audit names them.
 */
import { limits } from '../../../core/limits/limits.ts';
import { derivedNotes, type PolicyRule } from '../../../core/policy/rule.ts';
import { wasClockSettled } from '../../../platform/settled-clock.ts';
import type { CatalogContext } from '../context.ts';
import { enqueueDocument } from '../records/publications.ts';
import { allRows, type DocumentRow, readRow, replaceRow } from './documents.ts';
import type { DocumentWriter } from './write-document.ts';

/** Only an approval makes a host known (`knowHosts`): a person may write a rule instead. */
export const knownHostWriter: DocumentWriter = {
  nameFault: () => 'cannot be written: add a rule to the policy',
  prepare: () => Promise.reject(new Error('a known host was written')),
};

/** Stores the hosts of an approval, all at once. Approving a known host again has no effect. */
export function knowHosts(context: CatalogContext, hosts: readonly string[], by: string): void {
  const now = context.now();
  context.transact(() => {
    for (const name of hosts) {
      const before = readRow(context.sql, 'known-host', name);
      if (before?.deleted === false) continue;
      const version = (before?.version ?? 0) + 1;
      const row = {
        kind: 'known-host' as const,
        name,
        version,
        deleted: false,
        body: { by },
        sealed: null,
        createdAt: now,
        updatedAt: now,
      };
      replaceRow(context, row, { by, action: 'create' });
      enqueueDocument(context, 'known-host', name);
    }
    forgetOldHosts(context);
  });
}

/** Returns the rules that the known hosts stand for. */
export function knownHostRules({ sql }: CatalogContext): PolicyRule[] {
  return allRows(sql, 'known-host').map(({ name }) => ({ decision: 'allow', kind: 'network', host: name, note: derivedNotes.host }));
}

/** Removes what is too old or too much. Call it in a transaction. */
export function forgetOldHosts(context: CatalogContext): void {
  const newest = allRows(context.sql, 'known-host').sort((a, b) => b.updatedAt - a.updatedAt || (a.name < b.name ? -1 : 1));
  const oldest = wasClockSettled() ? context.now() - limits.knownHostTtlMs : Number.NEGATIVE_INFINITY;
  for (const [index, row] of newest.entries()) if (index >= limits.maxKnownHosts || row.updatedAt <= oldest) forget(context, row);
}

function forget(context: CatalogContext, row: DocumentRow): void {
  const gone = { ...row, version: row.version + 1, deleted: true, body: {}, updatedAt: context.now() };
  replaceRow(context, gone, { by: 'system', action: 'delete' });
  enqueueDocument(context, 'known-host', row.name);
}
