/** `npm run types`: writes the types of the bindings and of the runtime, which are not in the repository, from wrangler.toml. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { projectRoot } from './launch/environment.ts';

const file = join(projectRoot, '.wrangler/types/worker.d.ts');
mkdirSync(dirname(file), { recursive: true });
const wrangler = join(projectRoot, 'node_modules/wrangler/bin/wrangler.js');
// Without the variables of a `.dev.vars` file.
const { status } = spawnSync(process.execPath, [wrangler, 'types', file, '--include-runtime', 'true', `--env-file=${devNull}`], {
  cwd: projectRoot,
  env: { ...process.env, WRANGLER_SEND_METRICS: 'false' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
