/** The built-in shell as its tests use it. */
import { recordOf } from '../../src/core/json/wire-value.ts';
import { put, toolBench, type Bench } from './run-tool.ts';

/** A bench with two files. `sh` runs a command with a short timeout. */
export function shell(): Bench & {
  sh(command: string): Promise<Awaited<ReturnType<Bench['run']>> & { out: string; err: string; exitCode: number }>;
} {
  const bench = toolBench();
  put(bench.files, '/workspace/a.txt', 'hello\nworld\n');
  put(bench.files, '/workspace/self.sh', 'source /workspace/self.sh\n');
  return {
    ...bench,
    async sh(command) {
      const result = await bench.run('builtin.bash', { command, timeout: 2000 });
      const { stdout, stderr, exitCode } = recordOf(result.structuredContent);
      return { ...result, out: String(stdout), err: String(stderr), exitCode: Number(exitCode) };
    },
  };
}
