/** `npm run test:ledger -- --minutes 20`: the ledger (`ledger.all.e2e.test.ts`) for as long, and prints it. Its status is not 0 if rows differ. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const minutes = Number(parseArgs({ options: { minutes: { type: 'string', default: '2' } } }).values.minutes);
if (!(minutes > 0 && minutes <= 24 * 60)) {
  console.error('--minutes must be a number of minutes, at most 1440.');
  process.exit(2);
}
const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/vitest.e2e.ts', 'test/ledger/'];
const env = { ...process.env, MONIKER_TESTS: 'all', MONIKER_LEDGER_MINUTES: String(minutes) };
process.exitCode = spawnSync(process.execPath, vitest, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
