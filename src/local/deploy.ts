/**
 * `npm run deploy [-- <options of wrangler deploy>]`: builds the Worker, signs in if necessary, makes the keys on the first deployment, uploads,
 * and checks that the service is ready. With `--dry-run` it only builds.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectRoot } from './launch/environment.ts';
import { randomKey } from './launch/keys.ts';
import { print } from './printing.ts';
import { runLocalScript, StartFailure } from './launch/start-failure.ts';
import { retry } from '../engine/retry.ts';
import { systemClock } from '../platform/clock.ts';

type WranglerRun = { code: number; output: string; urls: string[] };

export type DeployTools = {
  /**
   * Runs wrangler with the built configuration. Without `isQuiet` it has the terminal, to ask questions, and `output` is empty. `urls`: where a
   * deployed Worker is reachable.
   */
  wrangler(args: readonly string[], options?: { isQuiet?: boolean; input?: string }): Promise<WranglerRun>;
  /** Returns the status; throws if there is no response. */
  get(url: string): Promise<number>;
  wait(ms: number): Promise<void>;
  /** Whether a person is at the terminal, who can sign in. */
  isInteractive: boolean;
  /** Whether it runs in a pipeline, where files are deleted and output is stored. */
  isPipeline: boolean;
  log(line: string): void;
};

export type DeployOptions = {
  args: readonly string[];
  /** Where the keys of the deployment are stored: the values of secrets cannot be read from Cloudflare. */
  keysFile: string;
  /** The variables of `wrangler.toml`. */
  variables: readonly string[];
};

const rootKeyName = 'MONIKER_ROOT_KEY';
const masterKeyName = 'MONIKER_MASTER_KEY';
const previousMasterKeyName = 'MONIKER_MASTER_KEY_PREVIOUS';
/** Not an option of wrangler. */
const rotateOption = '--rotate-master-key';
const publicUrlName = 'MONIKER_PUBLIC_URL';

/** A new address takes up to a minute to work. */
const readyAttempts = 30;
const readyPauseMs = 3_000;
const requestTimeoutMs = 10_000;

if (import.meta.main)
  await runLocalScript(async () => {
    await succeed(run([join(import.meta.dirname, 'build/build.ts')]), 'The build');
    const config = join(projectRoot, 'dist/wrangler.json');
    const { vars = {} } = JSON.parse(readFileSync(config, 'utf8')) as { vars?: object };
    const options = {
      args: process.argv.slice(2),
      keysFile: join(projectRoot, '.moniker/cloudflare-keys.json'),
      variables: Object.keys(vars),
    };
    await deployWorker(options, {
      wrangler: (args, runOptions) =>
        run([join(projectRoot, 'node_modules/wrangler/bin/wrangler.js'), ...args, '--config', config], runOptions),
      get: async (url) => (await fetch(url, { signal: AbortSignal.timeout(requestTimeoutMs) })).status,
      wait: systemClock.sleep,
      isInteractive: process.stdin.isTTY && process.stdout.isTTY,
      isPipeline: Boolean(process.env.CI),
      log: print,
    });
  });

export async function deployWorker({ args: given, keysFile, variables }: DeployOptions, tools: DeployTools): Promise<void> {
  const { wrangler, log } = tools;
  const args = given.filter((option) => option !== rotateOption);
  const isRotating = args.length < given.length;
  if (args.includes('--dry-run')) {
    await succeed(wrangler(['deploy', ...args]), 'The dry run');
    return;
  }
  await signIn(tools);
  const secrets = await listSecrets(tools);
  const missing = [rootKeyName, masterKeyName].filter((name) => !secrets.includes(name));
  if (missing.length > 0 && tools.isPipeline)
    throw new StartFailure(
      `The Worker has no ${missing.join(' and ')}. Make the keys outside of the pipeline, which would lose them: run \`npm run deploy\` once on your own machine, or set them as secrets (32 characters or more).`,
    );
  const rotation = isRotating ? beginRotation(secrets, keysFile) : null;
  const made = missing.length === 0 || isRotating ? null : makeKeys(secrets, keysFile);
  const secretsFile = rotation ?? (made === null ? null : keysFile);
  const uploaded = await succeed(
    wrangler(['deploy', ...(secretsFile === null ? [] : ['--secrets-file', secretsFile]), ...args]),
    'The deployment',
  );
  if (made !== null) log(`\nThe keys are in ${keysFile}. Store them safely: without ${masterKeyName}, stored secrets cannot be read.`);
  const [url] = uploaded.urls;
  if (rotation !== null) endRotation(rotation, { keysFile, url: url ?? '<URL>', log });
  if (url === undefined) {
    log(`Set ${publicUrlName} to the URL of the Worker, then check it: npm run moniker -- doctor --url <URL>`);
    return;
  }
  if (![...secrets, ...variables].includes(publicUrlName))
    await succeed(wrangler(['secret', 'put', publicUrlName], { isQuiet: true, input: url }), `Setting ${publicUrlName}`);
  await waitUntilReady(url, tools);
  log(`\n  Moniker is ready at ${url}`);
  if (made?.rootKey !== undefined) log(`  open     ${url}/#key=${made.rootKey}\n  key      ${made.rootKey}`);
}

async function signIn({ wrangler, isInteractive, log }: DeployTools): Promise<void> {
  if ((await wrangler(['whoami', '--json'], { isQuiet: true })).code === 0) return;
  if (!isInteractive)
    throw new StartFailure(
      'wrangler is not signed in to Cloudflare. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID.',
    );
  log('Signing in to Cloudflare …');
  await succeed(wrangler(['login']), 'Signing in');
}

/** Returns the names. None for a Worker that does not exist yet. */
async function listSecrets({ wrangler }: DeployTools): Promise<string[]> {
  const { code, output } = await wrangler(['secret', 'list', '--format', 'json'], { isQuiet: true });
  if (code !== 0 && /does not exist|not found|code: 10007/i.test(output)) return [];
  if (code !== 0) throw new StartFailure(`The secrets of the Worker cannot be listed:\n${output}`);
  const list = JSON.parse(output.slice(output.indexOf('['), output.lastIndexOf(']') + 1)) as { name: string }[];
  return list.map(({ name }) => name);
}

/** Writes the missing keys to a file that only its owner can read. Keys of an interrupted deployment are used again. */
function makeKeys(secrets: readonly string[], keysFile: string): { rootKey: string | undefined } {
  const values = readStored(keysFile);
  values[rootKeyName] ??= `moniker_${randomKey(24)}`;
  values[masterKeyName] ??= randomKey(32);
  // One that exists must not be replaced: what it encrypted would be lost.
  for (const name of secrets) delete values[name];
  writeStored(keysFile, values);
  return { rootKey: values[rootKeyName] };
}

function writeStored(file: string, values: Readonly<Record<string, string>>): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(values, null, 2)}\n`, { mode: 0o600 });
}

/** Writes a new master key and the one before to a file of their own. Those of an interrupted deployment are used again. */
function beginRotation(secrets: readonly string[], keysFile: string): string {
  const file = `${keysFile}.rotation`;
  if (readStored(file)[masterKeyName] !== undefined) return file;
  if (secrets.includes(previousMasterKeyName))
    throw new StartFailure(
      `The Worker still has ${previousMasterKeyName}: the last rotation is not finished. Wait until GET /v1/master-key says \`done\`, then run \`npx wrangler secret delete ${previousMasterKeyName}\`.`,
    );
  const before = readStored(keysFile)[masterKeyName];
  if (before === undefined)
    throw new StartFailure(
      `${keysFile} does not have ${masterKeyName}, and Cloudflare does not show it. Set ${previousMasterKeyName} to the current key and ${masterKeyName} to a new one with \`npx wrangler secret put\`.`,
    );
  writeStored(file, { [masterKeyName]: randomKey(32), [previousMasterKeyName]: before });
  return file;
}

/** The key before stays in a file, for archives that were written with it. */
function endRotation(file: string, { keysFile, url, log }: { keysFile: string; url: string; log(line: string): void }): void {
  const { [masterKeyName]: masterKey = '' } = readStored(file);
  writeStored(keysFile, { ...readStored(keysFile), [masterKeyName]: masterKey });
  renameSync(file, `${keysFile}.previous`);
  log(`\nThe new ${masterKeyName} is in ${keysFile}, the one before in ${keysFile}.previous.`);
  log(`Now seal everything again: POST ${url}/v1/master-key/reseal (docs/operating.md#rotate-the-master-key).`);
}

function readStored(keysFile: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(keysFile, 'utf8')) as Record<string, string>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}; // fs errors carry a code
    throw new StartFailure(`${keysFile} cannot be read (${String(error)}). Restore it, or move it away to make new keys.`);
  }
}

async function waitUntilReady(url: string, { get, wait, log }: DeployTools): Promise<void> {
  const policy = {
    maxRetries: readyAttempts - 1,
    delayMs: () => readyPauseMs,
    onRetry: (_error: unknown, failures: number) => failures === 1 && log(`Waiting for ${url} …`),
  };
  await retry({ clock: { sleep: wait } }, policy, async () => {
    const status = await get(`${url}/readyz`).catch((error: unknown) => String(error));
    if (status === 200) return;
    throw new StartFailure(
      `The Worker was uploaded, but ${url}/readyz responds with ${status}. Run: npm run moniker -- doctor --url ${url}`,
    );
  });
}

async function succeed(running: Promise<WranglerRun>, what: string): Promise<WranglerRun> {
  const done = await running;
  if (done.code === 0) return done;
  throw new StartFailure(`${what} failed with exit code ${done.code}. ${done.output.trim()}`.trim());
}

/** Runs a script with this Node. A person at the terminal may have to answer, so there is no timeout. */
async function run(
  script: readonly string[],
  { isQuiet = false, input = '' }: { isQuiet?: boolean; input?: string } = {},
): Promise<WranglerRun> {
  const folder = mkdtempSync(join(tmpdir(), 'moniker-deploy-'));
  const report = join(folder, 'report');
  try {
    const child = spawn(process.execPath, script, {
      cwd: projectRoot,
      stdio: isQuiet ? 'pipe' : 'inherit',
      env: { ...process.env, WRANGLER_OUTPUT_FILE_PATH: report },
    });
    child.stdin?.end(input);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status) => resolve(status ?? 1));
    });
    return { code, output, urls: deployedUrls(report) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** wrangler reports in JSON lines. Targets are URLs, or routes such as `example.com/*`. */
function deployedUrls(report: string): string[] {
  try {
    const entries = readFileSync(report, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; targets?: string[] });
    return entries
      .flatMap(({ type, targets = [] }) => (type === 'deploy' ? targets : []))
      .filter((target) => target.startsWith('https://'));
  } catch {
    // Without a report the URL is not known.
    return [];
  }
}
