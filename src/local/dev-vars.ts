/**
 * `npm run keys`: writes `.dev.vars`, which `wrangler dev` reads, with the keys that `npm start` uses, which it makes if they are missing, and the
 * address at which wrangler listens. Values that the file has stay: its master key has sealed the secrets of `.wrangler/state`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { minKeyLength } from '../core/people/missing-keys.ts';
import { dataFolderOf, projectRoot } from './launch/environment.ts';
import { readKeys } from './launch/keys.ts';
import { makeDataDir } from './launch/data-lock.ts';
import { replaceFile } from './launch/own-file.ts';
import { runLocalScript, StartFailure } from './launch/start-failure.ts';
import { print } from './printing.ts';

/** Of wrangler (`[dev]` in wrangler.toml). Without it, links and sign-ins of MCP clients are refused, and pages of any host are served. */
const devUrl = 'http://localhost:8787';

if (import.meta.main)
  await runLocalScript(async () => {
    const { path: dataDir } = dataFolderOf(process.env);
    makeDataDir(dataDir);
    const { rootKey, masterKey } = readKeys(dataDir, process.env);
    const file = join(projectRoot, '.dev.vars');
    const given = { MONIKER_ROOT_KEY: rootKey, MONIKER_MASTER_KEY: masterKey, MONIKER_PUBLIC_URL: devUrl };
    const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const { text, added } = addVariables(before, given);
    if (added.length > 0) replaceFile(file, text, { mode: 0o600, flush: true });
    print(added.length > 0 ? `Wrote ${added.join(', ')} to ${file}.` : `${file} has all of ${Object.keys(given).join(', ')}.`);
    print('Start or restart the Worker: npx wrangler dev');
  });

/** Returns the text of the file with those of `given` that it lacks, or has without a value. Throws for a key that the Worker would refuse. */
export function addVariables(text: string, given: Readonly<Record<string, string>>): { text: string; added: string[] } {
  const stored = parseEnv(text);
  const added = Object.keys(given).filter((name) => !stored[name]?.trim());
  for (const name of Object.keys(given))
    if (!added.includes(name) && name.endsWith('_KEY') && (stored[name] ?? '').length < minKeyLength)
      throw new StartFailure(`.dev.vars: ${name} has fewer than ${minKeyLength} characters. Remove the line, then run this again.`);
  const kept = text.split('\n').filter((line) => !added.includes(/^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1] ?? ''));
  if (kept.at(-1) === '') kept.pop();
  return { text: [...kept, ...added.map((name) => `${name}=${given[name]}`), ''].join('\n'), added };
}
