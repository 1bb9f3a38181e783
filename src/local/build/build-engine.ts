/**
 * Prepares the two libraries that the Worker contains in a changed form: writes `src/sandbox/quickjs.wasm`, the JavaScript engine of the
 * sandbox with fuel metering, which is not committed, and patches the interpreter of the shell. wrangler runs this script before it bundles
 * (`[build]` in wrangler.toml), and the test configurations call `buildEngine`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { projectRoot } from '../launch/environment.ts';
import { replaceFile } from '../launch/own-file.ts';
import { interpreterPatch } from '../../tools/shell/interpreter-patch.ts';
import { meterWasm } from './meter-wasm.ts';
import { applyPatch } from './patch-just-bash.ts';

export const enginePath = join(projectRoot, 'src/sandbox/quickjs.wasm');

/** Does not touch up-to-date files, so that `npm run dev`, which watches it, does not restart. */
export function buildEngine(): void {
  applyPatch(join(projectRoot, 'node_modules', interpreterPatch.package));
  const original = createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm');
  const metered = meterWasm(readFileSync(original), {
    fuelExport: 'fuel',
    settleImport: { module: 'env', name: 'host_interrupt' },
  });
  if (existsSync(enginePath) && readFileSync(enginePath).equals(metered)) return;
  replaceFile(enginePath, metered);
}

if (import.meta.main) buildEngine();
