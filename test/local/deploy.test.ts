import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deployWorker, type DeployTools } from '../../src/local/deploy.ts';

const url = 'https://moniker.someone.workers.dev';
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'moniker-deploy-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Account = {
  isSignedIn?: boolean;
  secrets?: string[] | null;
  statuses?: number[];
  urls?: string[];
  isInteractive?: boolean;
  isPipeline?: boolean;
  fails?: string;
};

/** A Cloudflare account as wrangler shows it. `secrets: null`: the Worker does not exist. */
async function deploy(account: Account, args: string[] = [], variables: string[] = []) {
  const ran: string[] = [];
  const lines: string[] = [];
  const uploaded: Record<string, string>[] = [];
  const statuses = account.statuses ?? [200];
  const keysFile = join(folder, 'keys', 'cloudflare-keys.json');
  const tools: DeployTools = {
    wrangler: async (given, { input = '' } = {}) => {
      const command = given.filter((arg) => arg !== keysFile).join(' ');
      ran.push(input === '' ? command : `${command} < ${input}`);
      const secretsFile = given.indexOf('--secrets-file');
      if (secretsFile >= 0) uploaded.push(JSON.parse(readFileSync(given[secretsFile + 1] ?? '', 'utf8')));
      if (given[0] === account.fails) return { code: 1, output: 'refused', urls: [] };
      if (given[0] === 'whoami') return { code: account.isSignedIn === false ? 1 : 0, output: '{}', urls: [] };
      if (given[1] === 'list' && (account.secrets ?? null) === null)
        return { code: 1, output: 'This Worker does not exist on your account. [code: 10007]', urls: [] };
      if (given[1] === 'list')
        return { code: 0, output: `note\n${JSON.stringify(account.secrets?.map((name) => ({ name })))}\n`, urls: [] };
      return { code: 0, output: '', urls: given[0] === 'deploy' ? (account.urls ?? [url]) : [] };
    },
    get: async () => statuses.shift() ?? 503,
    wait: async () => undefined,
    isInteractive: account.isInteractive ?? false,
    isPipeline: account.isPipeline ?? false,
    log: (line) => lines.push(line),
  };
  await deployWorker({ args, keysFile, variables }, tools);
  return { ran, uploaded, keysFile, printed: lines.join('\n') };
}

const both = ['MONIKER_ROOT_KEY', 'MONIKER_MASTER_KEY'];

describe('npm run deploy', () => {
  it('makes the keys of the first deployment, stores them, sets the public URL and waits until the service is ready', async () => {
    const { ran, uploaded, keysFile, printed } = await deploy({ secrets: null, statuses: [404, 503, 200] });
    expect(ran).toEqual(['whoami --json', 'secret list --format json', 'deploy --secrets-file', `secret put MONIKER_PUBLIC_URL < ${url}`]);
    expect(Object.keys(uploaded[0] ?? {})).toEqual(both);
    expect(uploaded[0]).toEqual(JSON.parse(readFileSync(keysFile, 'utf8')));
    expect(statSync(keysFile).mode & 0o777).toBe(0o600);
    expect(printed).toContain(`${url}/#key=${uploaded[0]?.MONIKER_ROOT_KEY}`);
    expect(printed).not.toContain(uploaded[0]?.MONIKER_MASTER_KEY);
  });

  it('leaves the keys and the URL of an existing deployment unchanged', async () => {
    const { ran, uploaded, keysFile, printed } = await deploy({ secrets: [...both, 'MONIKER_PUBLIC_URL'] }, ['--tag', 'v2']);
    expect(ran.slice(2)).toEqual(['deploy --tag v2']);
    expect(uploaded).toEqual([]);
    expect(existsSync(keysFile)).toBe(false);
    expect(printed).toContain(`ready at ${url}`);
    expect((await deploy({ secrets: both }, [], ['MONIKER_PUBLIC_URL'])).ran.slice(2)).toEqual(['deploy']);
  });

  it('rotates the master key, with the keys of an interrupted rotation', async () => {
    const option = ['--rotate-master-key', '--tag', 'v2'];
    await expect(deploy({ secrets: both }, option)).rejects.toThrow('does not have MONIKER_MASTER_KEY');
    const { uploaded: first } = await deploy({ secrets: null });
    await expect(deploy({ secrets: both, fails: 'deploy' }, option)).rejects.toThrow('The deployment failed');
    const { ran, uploaded, keysFile, printed } = await deploy({ secrets: both }, option);
    expect(ran).toContain(`deploy --secrets-file ${keysFile}.rotation --tag v2`);
    const [keys = {}] = uploaded;
    expect(keys.MONIKER_MASTER_KEY_PREVIOUS).toBe(first[0]?.MONIKER_MASTER_KEY);
    expect(keys.MONIKER_MASTER_KEY).not.toBe(first[0]?.MONIKER_MASTER_KEY);
    const stored = JSON.parse(readFileSync(keysFile, 'utf8'));
    expect(stored).toEqual({ ...first[0], MONIKER_MASTER_KEY: keys.MONIKER_MASTER_KEY });
    expect(printed).toContain(`POST ${url}/v1/master-key/reseal`);
    expect(printed).not.toContain(keys.MONIKER_MASTER_KEY);
    await expect(deploy({ secrets: [...both, 'MONIKER_MASTER_KEY_PREVIOUS'] }, option)).rejects.toThrow('not finished');
  });

  it('never replaces a key that exists, and uses the keys of an interrupted deployment again', async () => {
    await expect(deploy({ secrets: null, fails: 'deploy' })).rejects.toThrow('The deployment failed with exit code 1');
    const stored = JSON.parse(readFileSync(join(folder, 'keys/cloudflare-keys.json'), 'utf8'));
    const { uploaded } = await deploy({ secrets: ['MONIKER_MASTER_KEY'] });
    expect(uploaded).toEqual([{ MONIKER_ROOT_KEY: stored.MONIKER_ROOT_KEY }]);
  });

  it('signs a person in, and tells a script how to', async () => {
    expect((await deploy({ isSignedIn: false, isInteractive: true, secrets: both })).ran[1]).toBe('login');
    await expect(deploy({ isSignedIn: false })).rejects.toThrow('CLOUDFLARE_API_TOKEN');
  });

  it('makes no keys in a pipeline', async () => {
    await expect(deploy({ secrets: ['MONIKER_ROOT_KEY'], isPipeline: true })).rejects.toThrow('The Worker has no MONIKER_MASTER_KEY.');
    expect((await deploy({ secrets: both, isPipeline: true })).ran).toHaveLength(4);
  });

  it('only builds for a dry run', async () => {
    expect((await deploy({ isSignedIn: false }, ['--dry-run'])).ran).toEqual(['deploy --dry-run']);
  });

  it('says what to do if the service does not become ready, or has no URL', async () => {
    await expect(deploy({ secrets: both, statuses: [] })).rejects.toThrow(`doctor --url ${url}`);
    expect((await deploy({ secrets: both, urls: [] })).printed).toContain('Set MONIKER_PUBLIC_URL');
  });
});
