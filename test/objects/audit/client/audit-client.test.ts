/** Requests to the shards of the audit that fail on the way. */
import { describe, expect, it } from 'vitest';
import type { AuditRow } from '../../../../src/core/records/audit.ts';
import { createAudits } from '../../../../src/objects/audit/client/audit-client.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { auditRow } from '../../../contracts/audit.ts';
import { createNodeCatalog } from '../../../fakes/node-catalog.ts';

/** An audit whose shards fail with these errors, one after another, before they respond. */
function failing(...errors: Error[]) {
  const appended: AuditRow[][] = [];
  const append = async (_name: unknown, rows: AuditRow[]) => {
    appended.push(rows);
    const error = errors.shift();
    if (error !== undefined) throw error;
    return { ok: true, value: undefined };
  };
  // Only what the client uses.
  const bindings = { AUDIT_SHARD: { idFromName: () => ({}), get: () => ({ append }) } } as unknown as Bindings;
  const audit = createAudits(bindings, 8, () => createNodeCatalog({ definitions: [] }))('default');
  return { append: () => audit.append([auditRow({})]), appended };
}
const moved = () => Object.assign(new Error('the object was moved'), { retryable: true });

describe('a row for a shard that fails', () => {
  it('is sent again once after a failure that the platform marks as retryable', async () => {
    const { append, appended } = failing(moved());
    await append();
    expect(appended).toHaveLength(2);
    expect(appended[1]).toEqual(appended[0]);
  });

  it.each([
    ['a second failure', [moved(), moved()], 2],
    ['an overload', [Object.assign(moved(), { overloaded: true })], 1],
    ['a failure that is not retryable', [new Error('out of space')], 1],
  ])('is refused after %s', async (_what, errors, attempts) => {
    const { append, appended } = failing(...errors);
    await expect(append()).rejects.toThrow();
    expect(appended).toHaveLength(attempts);
  });
});
