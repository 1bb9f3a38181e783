/** Runs code as the executors do, with tools defined by the test. */
import type { SandboxEnd } from '../../src/core/turn/run-code.ts';
import { poolBounds } from '../../src/core/limits/pools.ts';
import { textResult } from '../../src/core/tools/tool.ts';
import { createFairPool } from '../../src/engine/fair-pool.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { InnerOutcome } from '../../src/ports/inner-calls.ts';
import type { SandboxRun } from '../../src/ports/sandbox.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';

export const sandbox = createSandbox(createFairPool(poolBounds.machineBytes, systemClock), { workspace: 'default', keyId: 'k' });

export type Asked = { name: string; args: unknown };
export type Parts = Partial<Omit<SandboxRun, 'source' | 'call'>> & {
  call?: (name: string, args: unknown) => InnerOutcome | Promise<InnerOutcome>;
  signal?: AbortSignal;
};

/** A file tool that knows every path. */
function answer(_name: string, args: unknown): InnerOutcome {
  const path = typeof args === 'object' && args !== null && 'path' in args ? String(args.path) : 'nothing';
  return { waits: false, result: textResult(`text of ${path}`) };
}

export async function runIn(source: string, parts: Parts = {}): Promise<SandboxEnd> {
  return (await runIn.withCalls(source, parts)).end;
}

runIn.withCalls = async (source: string, { call = answer, signal, ...parts }: Parts = {}): Promise<{ end: SandboxEnd; calls: Asked[] }> => {
  const calls: Asked[] = [];
  const run: SandboxRun = {
    source,
    args: {},
    tools: ['read_file'],
    now: Date.UTC(2026, 0, 2, 3, 4, 5),
    seed: 'call_1',
    ...parts,
    async call(name, args) {
      calls.push({ name, args });
      return await call(name, args);
    },
  };
  return { end: await sandbox.run(run, signal ?? new AbortController().signal), calls };
};
