import { expect, it } from 'vitest';
import { textResult } from '../../../src/core/tools/tool.ts';
import { keptLog } from '../../fakes/runtime.ts';
import { createAuditTrail } from '../../../src/engine/call/audit-call.ts';
import { madeTool, runOf, toolNamed, type Body } from '../inner-run.ts';

const twice: Body = async (_args, { calls }) => {
  for (const name of ['read', 'read']) await calls?.call(name, {});
  return textResult('done');
};
const run = (write: () => Promise<void>, rows: string[] = []) => {
  const trail = createAuditTrail(async (written) => {
    rows.push(...written.map(({ callId }) => callId));
    await write();
  }, keptLog());
  const tools = [madeTool('both', [toolNamed('local.read')])];
  return { trail, rows, call: () => runOf(tools, { bodies: { 'made.both': twice }, scope: { audit: trail.audit } }).call('both') };
};

it('does not delay a call by the rows of earlier ones, and resolves when all are written', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { trail, rows, call } = run(() => promise);
  await call();
  expect(rows).toEqual(['call_1.1', 'call_1.2', 'call_1']);
  const done: string[] = [];
  const all = trail.written().then(() => done.push('all'));
  await Promise.resolve();
  expect(done).toEqual([]);
  resolve();
  await all;
  expect(done).toEqual(['all']);
});

it('fails with a retryable problem when a row cannot be written and no call had started', async () => {
  const { trail, call } = run(() => Promise.reject(new Error('the catalog is away')));
  await call();
  await expect(trail.written()).rejects.toMatchObject({ code: 'unavailable' });
});
