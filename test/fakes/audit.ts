/** The audit of one workspace with shards in memory: the real logs and lists, without objects. Passes `test/contracts/audit.ts`. */
import type { AuditShardPort } from '../../src/ports/audit-log.ts';
import type { AuditPort } from '../../src/ports/audit.ts';
import { checkLog, renewHeadSignatures } from '../../src/objects/shared/audit-chain.ts';
import { createAudit } from '../../src/objects/audit/client/audit-client.ts';
import { schemaSteps } from '../../src/objects/shared/migrate.ts';
import { appendCall, auditLogSchema, readLog } from '../../src/objects/shared/audit-log.ts';
import { createMasterKey } from '../../src/storage/keys/master-key.ts';
import { fakeSql } from './sql-storage.ts';

/** With one shard, rows of the same millisecond are listed in their order. */
export function fakeAudit(now: () => number, shards = 1): AuditPort {
  const master = createMasterKey('a master key of at least 32 characters');
  const open = new Map<number, AuditShardPort>();
  const shard = (index: number): AuditShardPort => {
    const known = open.get(index);
    if (known !== undefined) return known;
    const log = { sql: fakeSql(schemaSteps(auditLogSchema)), workspace: 'default', name: String(index), now, master };
    const port: AuditShardPort = {
      append: async (rows) => rows.forEach((row) => void appendCall(log, row)),
      read: async (request) => readLog(log, request),
      check: (request) => checkLog(log, request),
      renewSignatures: (after) => renewHeadSignatures(log, after),
    };
    open.set(index, port);
    return port;
  };
  return createAudit({ catalog: emptyCatalog, shards, shard });
}

const nothing = { from: 1, through: 0, signed: 0, retentionFault: null, isDone: true, fault: null };
const emptyCatalog = {
  auditHeads: async () => [],
  readAudit: async () => ({ entries: [], next: 0, nextAt: 0 }),
  checkAudit: async () => nothing,
};
