/** Audit rows that are written together: rows that arrive during a commit, and the effect of a failed commit on others. */
import { describe, expect, it } from 'vitest';
import { createAuditWriter } from '../../src/audit-shard/audit-writer.ts';
import { auditRow } from '../contracts/audit.ts';

/** A disk whose commits end on command. */
function disk() {
  const batches: unknown[][] = [];
  const commits: { resolve(): void; reject(error: Error): void }[] = [];
  let isBroken = false;
  const writer = createAuditWriter(
    (rows) => {
      if (isBroken) throw new Error('the disk is full');
      batches.push(rows.map(({ session }) => session));
    },
    () => new Promise<void>((resolve, reject) => commits.push({ resolve, reject })),
  );
  const append = (session: string) => writer.append([auditRow({ session })]);
  return { batches, commits, append, setBroken: (value: boolean) => (isBroken = value) };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('rows of the audit', () => {
  it('that arrive during a commit are written together, and confirmed when they are on disk', async () => {
    const { batches, commits, append } = disk();
    const first = append('s1');
    await soon();
    const others = Promise.all([append('s2'), append('s3'), append('s4')]);
    await soon();
    expect(batches).toEqual([['s1']]);
    commits[0]?.resolve();
    await first;
    await soon();
    expect(batches).toEqual([['s1'], ['s2', 's3', 's4']]);
    expect(commits).toHaveLength(2);
    commits[1]?.resolve();
    await others;
  });

  it('that cannot be written fail only for their own callers', async () => {
    const { batches, commits, append, setBroken } = disk();
    setBroken(true);
    await expect(Promise.all([append('s1'), append('s2')])).rejects.toThrow('the disk is full');
    setBroken(false);
    const lost = append('s3');
    await soon();
    commits[0]?.reject(new Error('the commit was lost'));
    await expect(lost).rejects.toThrow('the commit was lost');
    const kept = append('s4');
    await soon();
    commits[1]?.resolve();
    await kept;
    expect(batches).toEqual([['s3'], ['s4']]);
  });
});
