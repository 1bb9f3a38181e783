/** A call without a session is audited before it can have an effect, and its outcome follows. */
import { describe, expect, it } from 'vitest';
import type { AuditRow } from '../../../src/core/records/audit.ts';
import { Problem } from '../../../src/core/problem.ts';
import type { EditionTool } from '../../../src/core/toolset/edition-tool.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { textResult } from '../../../src/core/tools/tool.ts';
import { callOutsideSession } from '../../../src/engine/call/direct-call.ts';
import { marksIn } from '../../../src/engine/policy/direct-marks.ts';
import type { ToolContext } from '../../../src/ports/tool-executor.ts';
import { createMemoryFiles } from '../../../src/storage/files/memory-files.ts';
import { createChatHarness } from '../../http/harness.ts';

const principal: Principal = { workspace: 'default', keyId: 'k1', scopes: ['tools'] };
type Fault = 'intent' | 'verdict' | 'all' | 'marks' | 'lost answer of intent' | 'lost answer of verdict' | null;

/** A direct call of `builtin.bash` (unsafe) or `builtin.read_file` (safe), with an audit that fails as `fault` says. */
async function direct(fault: Fault, options: { effect?: () => void; name?: string } = {}) {
  const harness = await createChatHarness();
  const order: string[] = [];
  const log = harness.log;
  const audit = async (rows: AuditRow[]): Promise<void> => {
    const phase = rows.every(({ verdict }) => verdict === 'outcome_unknown') ? 'intent' : 'verdict';
    order.push(phase);
    if (fault === 'all' || fault === phase) throw new Error('the audit is away');
    await harness.catalog.appendAudit(rows);
    if (fault === `lost answer of ${phase}`) throw new Error('the connection broke after the commit');
  };
  const executor = {
    isSafe: ({ canonical }: { canonical: string }) => canonical === 'builtin.read_file',
    execute: async (_tool: EditionTool, _args: unknown, context: ToolContext) => {
      order.push('effect');
      options.effect?.();
      // Marks the client's calls as having seen private data.
      if (fault === 'marks') await context.secret('TOKEN', 'api.example');
      return textResult('done');
    },
  };
  const unused = () => Promise.reject(new Error('not in these tests'));
  const deps = {
    call: { clock: harness.clock, log, executor, fetch: unused, secret: fault === 'marks' ? async () => 'a-secret-value' : unused },
    ids: harness.services.ids,
    directory: harness.services.directory,
    aliases: true,
    marks: () => {
      const store = marksIn(() => harness.catalog, harness.clock)(principal, 'demo');
      return fault === 'marks' ? { ...store, add: () => Promise.reject(new Error('the Catalog is away')) } : store;
    },
    scratchFiles: () => createMemoryFiles(harness.clock.now),
    audit,
  };
  const name = options.name ?? 'shell';
  const args = name === 'read_file' ? { path: 'a' } : { command: 'echo' };
  const call = { toolset: 'demo', name, arguments: args };
  const run = () => callOutsideSession(deps, principal, call, new AbortController().signal);
  const rows = async () => (await harness.catalog.audit({ limit: 100 })).items.filter((row) => row.kind !== 'change');
  return { run, order, rows, log };
}

describe('the audit of a direct call', () => {
  it('stores the intent before the effect and completes the same row', async () => {
    const { run, order, rows } = await direct(null);
    expect((await run()).result.isError).toBe(false);
    expect(order).toEqual(['intent', 'effect', 'verdict']);
    expect(await rows()).toMatchObject([{ canonical: 'builtin.bash', keyId: 'k1', verdict: 'ran', code: null }]);
  });

  it.each(['all', 'intent', 'lost answer of intent'] as const)('does not run the tool when the intent fails (%s)', async (fault) => {
    const { run, order } = await direct(fault);
    const failure = await run().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Problem);
    expect(failure).toMatchObject({ code: 'unavailable', status: 503, extra: { retryAfterMs: expect.any(Number) } });
    expect(order).not.toContain('effect');
  });

  it('returns the true result and leaves the row as outcome_unknown when the verdict cannot be written', async () => {
    const { run, order, rows, log } = await direct('verdict');
    const answer = await run();
    expect(answer.result).toEqual(textResult('done'));
    expect(order.filter((step) => step === 'effect')).toHaveLength(1);
    expect(await rows()).toMatchObject([{ verdict: 'outcome_unknown', code: 'outcome_unknown', callId: answer.callId }]);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it('withholds the result of a call that ran when its taint marks cannot be stored, and does not fail the request', async () => {
    const { run, order, rows } = await direct('marks');
    const { result } = await run();
    expect(result).toMatchObject({ isError: true, code: 'outcome_unknown' });
    expect(JSON.stringify(result)).not.toContain('done');
    expect(order).toEqual(['intent', 'effect', 'verdict']);
    expect(await rows()).toMatchObject([{ verdict: 'ran' }]);
  });

  it('has one row when the verdict was stored but the response of the write was lost', async () => {
    const { run, rows } = await direct('lost answer of verdict');
    expect((await run()).result.isError).toBe(false);
    expect(await rows()).toMatchObject([{ verdict: 'ran' }]);
  });

  it('completes the row of a tool that fails', async () => {
    const effect = () => {
      throw new Error('broken');
    };
    const { run, rows } = await direct(null, { effect });
    expect((await run()).result).toMatchObject({ isError: true, code: 'tool_error' });
    expect(await rows()).toMatchObject([{ verdict: 'ran', code: 'tool_error' }]);
  });

  it('writes a read-only call once, after it ran', async () => {
    const { run, order, rows } = await direct(null, { name: 'read_file' });
    await run();
    expect(order).toEqual(['effect', 'verdict']);
    expect(await rows()).toMatchObject([{ canonical: 'builtin.read_file', verdict: 'ran' }]);
  });

  it('fails a read-only call that cannot be audited with a retryable problem', async () => {
    const { run } = await direct('all', { name: 'read_file' });
    await expect(run()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('writes one row, and no intent, for a refused call', async () => {
    const { run, order, rows } = await direct(null, { name: 'nothing-like-this' });
    await run();
    expect(order).toEqual(['verdict']);
    expect(await rows()).toMatchObject([{ canonical: null, verdict: 'refused', code: 'unknown_tool' }]);
  });
});
