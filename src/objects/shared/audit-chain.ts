/**
 * Signs the hash chain of a log (`audit-log.ts`) and checks it. A head is the hash of the chain at a row, with an HMAC under a key of the
 * workspace: without the master key the chain cannot be computed again after a change. The heads of shards are also stored in the Catalog, so
 * that rows cannot be removed from the end of a shard.
 */
import { equalInConstantTime } from '../../core/constant-time.ts';
import type { Settings } from '../../core/people/settings.ts';
import { toHex } from '../../core/text/bytes.ts';
import type { LogCheck, LogCheckRequest, LogHead, RenewedSignatures } from '../../ports/audit-log.ts';
import { type AuditLog, hashOf, newestRow, startOf, type StoredRow } from './audit-log.ts';
import { createMasterKey, macOf, macSigner, type MasterKey } from '../../storage/keys/master-key.ts';

/** Of the heads among this many rows, only the newest is stored. */
const rowsPerHead = 1_000;

export type SignedLog = AuditLog & { master: MasterKey };

/** The key of the heads; without a master key, which `npm start` always sets, they are signed under the root key. */
export function createAuditKey({ masterKey, previousMasterKey, rootKey }: KeySettings): MasterKey {
  return createMasterKey(masterKey ?? rootKey, previousMasterKey);
}

type KeySettings = Pick<Settings, 'masterKey' | 'previousMasterKey' | 'rootKey'>;

type StoredHead = LogHead & { is_checkpoint: number; mac: string };

/** Signs the newest row if no head covers it. Returns the head. */
export async function signHead(log: SignedLog): Promise<LogHead | null> {
  const head = newestRow(log);
  if (head.number <= signedThrough(log)) return null;
  const mac = await macOfHead(log, head, false);
  const superseded = 'DELETE FROM audit_heads WHERE is_checkpoint = 0 AND number < ? AND number / ? = ? / ?';
  log.sql.exec(superseded, head.number, rowsPerHead, head.number, rowsPerHead);
  insertHead(log, head, { isCheckpoint: false, mac });
  return head;
}

/** Returns the number of the newest row that a head covers; 0 if none. */
export function signedThrough({ sql }: Pick<AuditLog, 'sql'>): number {
  return sql.exec<{ number: number | null }>('SELECT max(number) AS number FROM audit_heads').one().number ?? 0;
}

export function insertHead({ sql }: AuditLog, { number, at, hash }: LogHead, signed: { isCheckpoint: boolean; mac: string }): void {
  const insert = 'INSERT OR REPLACE INTO audit_heads (number, at, hash, is_checkpoint, mac) VALUES (?, ?, ?, ?, ?)';
  sql.exec(insert, number, at, hash, signed.isCheckpoint ? 1 : 0, signed.mac);
}

export async function macOfHead({ master, ...log }: SignedLog, head: LogHead, isCheckpoint: boolean): Promise<string> {
  return toHex(await macOf(master, log.workspace, 'audit', signedHead(log, head, isCheckpoint)));
}

/** Returns the key that signed a stored head; null if it is forged. */
async function signerOf({ master, ...log }: SignedLog, { mac, is_checkpoint, ...head }: StoredHead): Promise<MasterKey | null> {
  const claim = { workspace: log.workspace, purpose: 'audit', data: signedHead(log, head, is_checkpoint === 1) } as const;
  return await macSigner(master, claim, (own) => equalInConstantTime(toHex(own), mac));
}

function signedHead({ name }: Pick<SignedLog, 'name'>, { number, at, hash }: LogHead, isCheckpoint: boolean): string {
  return JSON.stringify([name, isCheckpoint ? 'checkpoint' : 'head', number, at, hash]);
}

const headsPerStep = 200;

/**
 * Signs heads after the row `after` again that the previous master key signed. Forged heads stay, for the check. Returns the last head that
 * it looked at, null at the end, and how many it signed.
 */
export async function renewHeadSignatures(log: SignedLog, after: number): Promise<RenewedSignatures> {
  const query = 'SELECT * FROM audit_heads WHERE number > ? ORDER BY number LIMIT ?';
  const heads = log.sql.exec<StoredHead>(query, after, headsPerStep).toArray();
  let signed = 0;
  for (const head of heads) {
    const signer = await signerOf(log, head);
    if (signer === null || signer === log.master) continue;
    const mac = await macOfHead(log, head, head.is_checkpoint === 1);
    log.sql.exec('UPDATE audit_heads SET mac = ? WHERE number = ? AND mac = ?', mac, head.number, head.mac);
    signed += 1;
  }
  return { next: heads.length < headsPerStep ? null : (heads.at(-1)?.number ?? null), signed };
}

/** Checks the rows after `after`, at most `limit`, and stops at the first fault. */
export async function checkLog(log: SignedLog, { after, limit, head }: LogCheckRequest): Promise<LogCheck> {
  const { sql } = log;
  const [start, newest] = [startOf(log), newestRow(log)];
  const previous = after === undefined || after <= start.number ? start : after >= newest.number ? newest : hashAt(log, after);
  // The row was verified earlier and has been deleted since.
  if (previous === null) return missingRow(log, Number(after));
  const rows = sql
    .exec<StoredRow & { hash: string }>('SELECT * FROM audit_log WHERE number > ? ORDER BY number LIMIT ?', previous.number, limit)
    .toArray();
  const through = rows.at(-1)?.number ?? previous.number;
  const isDone = rows.length < limit;
  const range = 'SELECT * FROM audit_heads WHERE number >= ? AND number <= ? ORDER BY number';
  const heads = sql.exec<StoredHead>(range, previous.number, isDone ? Number.MAX_SAFE_INTEGER : through).toArray();
  const answer = { from: previous.number + 1, through, signed: signedThrough(log), retentionFault: retentionFault(log), isDone };
  const result = (fault: LogCheck['fault']): LogCheck => ({ ...answer, fault });

  const witnesses: (LogHead & Partial<StoredHead>)[] = [...heads, ...(head === undefined ? [] : [head])];
  const isForged = async (witness: LogHead & Partial<StoredHead>): Promise<boolean> =>
    witness.mac !== undefined && (await signerOf(log, { is_checkpoint: 0, ...witness, mac: witness.mac })) === null;
  const byNumber = Map.groupBy(witnesses, ({ number }) => number);
  for (const witness of byNumber.get(previous.number) ?? [])
    if (await isForged(witness)) return result({ number: previous.number, through: previous.number, reason: 'signature' });
  let [last, trusted] = [previous, previous.number];
  for (const row of rows) {
    const number = last.number + 1;
    if (row.number !== number) return result({ number, through: row.number - 1, reason: 'missing' });
    if (row.hash !== hashOf(last.hash, row)) return result({ number, through: number, reason: 'altered' });
    last = row;
    for (const witness of byNumber.get(number) ?? []) {
      if (await isForged(witness)) return result({ number, through: number, reason: 'signature' });
      if (witness.hash !== row.hash) return result({ number: trusted + 1, through: number, reason: 'rewritten' });
      trusted = number;
    }
  }
  const cut = isDone ? witnesses.find(({ number }) => number > last.number) : undefined;
  return result(cut === undefined ? null : { number: last.number + 1, through: cut.number, reason: 'missing' });
}

/** Returns why the retention was not followed at the last attempt; null: it was. */
function retentionFault({ sql }: Pick<AuditLog, 'sql'>): string | null {
  return sql.exec<{ fault: string | null }>('SELECT fault FROM audit_state').one().fault;
}

function missingRow(log: AuditLog, number: number): LogCheck {
  const fault = { number, through: number, reason: 'missing' } as const;
  return { from: number, through: number, signed: signedThrough(log), retentionFault: retentionFault(log), isDone: true, fault };
}

function hashAt({ sql }: AuditLog, number: number): LogHead | null {
  return sql.exec<LogHead>('SELECT number, at, hash FROM audit_log WHERE number = ?', number).toArray()[0] ?? null;
}
