/** The checks of `moniker doctor` over the API: health, readiness, the key, and the documents that cannot work. */
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { createClient, type MonikerClient } from '../../../client/src/index.ts';
import { recordOf, stringOf } from '../../core/json/wire-value.ts';
import { version } from '../../core/version.ts';
import { userPath } from '../../local/stdio/program-environment.ts';
import { type Address, serviceFetch } from '../connection.ts';
import { type DoctorFinding, failure, passed, warning } from './doctor-machine.ts';
import { describeFailure } from '../failure.ts';
import { describeServer, maxShownServers, readServers } from '../refresh.ts';

const timeoutMs = 15_000;
/** Keys expire and signed webhooks are refused by comparison with the clock. */
const maxClockDifferenceMs = 60_000;
/** Of each kind; a large workspace is checked in part. */
const maxDocuments = 100;

/** Yields findings as they are made. Ends early if later checks could only repeat the fault. */
export async function* checkService(address: Address): AsyncGenerator<DoctorFinding[], void, undefined> {
  const { url, headers, missing } = address;
  const fault = missing === null ? null : failure(missing.check, missing.what, missing.advice);
  if (fault?.check === 'service') return yield [fault];
  const health = await checkHealth(url);
  yield health;
  if (health.some(({ status }) => status === 'failure')) return;
  yield [await checkReadiness(url)];
  if (fault !== null) return yield [fault];
  const client = createClient({ baseUrl: url, headers, retries: 0, fetch: serviceFetch(address, timeoutMs) });
  const [me, scopes] = await checkKey(client);
  yield [me];
  if (scopes === null) return;
  if (scopes.includes('admin')) {
    yield* [await checked('providers', checkProviders(client)), await checked('servers', checkServers(client))];
    yield await checked('processes', checkProcesses(client));
  }
  yield await checked('toolsets', checkToolsets(client));
  yield await checked('agents', checkAgents(client));
}

async function checkHealth(url: string): Promise<DoctorFinding[]> {
  const check = 'service';
  const notReached = (message: string): DoctorFinding[] => [
    failure(check, message, 'Start it with `moniker start`, or check --url. A proxy in front must pass on every path.'),
  ];
  try {
    const sentAt = Date.now();
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(timeoutMs) });
    const body = recordOf(await response.json().catch(() => null));
    if (!response.ok || typeof body.version !== 'string')
      return notReached(`${url}/healthz returned ${response.status}, not a Moniker's answer.`);
    const isSame = body.version === version;
    return [
      isSame
        ? passed(check, `${url}, version ${version}`)
        : warning(check, `${url} has version ${body.version}, this command ${version}.`, 'Update the older one.'),
      ...checkTransport(url),
      ...checkClock(response.headers.get('date'), sentAt),
    ];
  } catch (error) {
    return notReached(`${url} does not respond: ${describeFailure(error).message}`);
  }
}

function checkTransport(url: string): DoctorFinding[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || /^(?:localhost|127\.|\[::1\])/.test(hostname)) return [];
  const advice = 'Put a proxy with TLS in front of the service, and use https.';
  return [warning('transport', 'The key is sent without encryption.', advice)];
}

/** `date`: the header. workerd on this machine sends none. */
export function checkClock(date: string | null, now: number): DoctorFinding[] {
  const difference = date === null ? Number.NaN : Date.parse(date) - now;
  if (Number.isNaN(difference) || Math.abs(difference) < maxClockDifferenceMs) return [];
  const seconds = Math.round(Math.abs(difference) / 1_000);
  const message = `The clock of this machine is ${seconds} s ${difference > 0 ? 'behind' : 'ahead of'} that of the service.`;
  return [warning('clock', message, 'Turn on time synchronization (NTP).')];
}

async function checkReadiness(url: string): Promise<DoctorFinding> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(timeoutMs) });
  const body = recordOf(await response.json().catch(() => null));
  const stale = Number(body.staleToolsets ?? 0);
  if (response.ok && stale > 0)
    return warning(
      'ready',
      `${stale} toolset${stale === 1 ? ' is' : 's are'} compiled with the tools of another build.`,
      'The service compiles them again in the background. Run this again in a minute: what it cannot compile is listed below with the reason.',
    );
  if (response.ok && body.staleToolsets === null)
    return warning(
      'ready',
      'The toolsets that are compiled with the tools of another build could not be counted.',
      'Run this again in a minute: while a deployment is rolled out, a part of it may still have the earlier code. The log of the service has the cause.',
    );
  if (response.ok) return passed('ready', Object.keys(recordOf(body.checks)).join(', ') || 'ready');
  const message = stringOf(body.detail) || `/readyz returned ${response.status}.`;
  return failure('ready', message, 'See `moniker logs`, or `npx wrangler tail` for a deployed service.');
}

async function checkKey(client: MonikerClient): Promise<[DoctorFinding, readonly string[] | null]> {
  try {
    const { name, scopes, expiresAt } = await client.get('/v1/me');
    const until = expiresAt === null ? '' : `, until ${expiresAt}`;
    return [passed('key', `${name}: ${scopes.join(', ')}${until}`), scopes];
  } catch (error) {
    const { message, advice } = describeFailure(error);
    return [failure('key', message, advice), null];
  }
}

async function checkProviders(client: MonikerClient): Promise<DoctorFinding[]> {
  const query = { limit: maxDocuments };
  const [{ items }, secrets] = await Promise.all([
    client.get('/v1/providers', { params: { query } }),
    client.get('/v1/secrets', { params: { query } }),
  ]);
  const names = new Set(secrets.items.map(({ name }) => name));
  return items.flatMap((provider): DoctorFinding[] => {
    const { apiKeySecret, apiKeySecrets } = provider;
    const secret = [apiKeySecret, ...(apiKeySecrets ?? [])].find((name) => name !== undefined && !names.has(name));
    const isMissing = secret !== undefined && secrets.nextCursor === null;
    // Many local services with OpenAI's format need no key.
    const needsKey = !['rehearsal', 'openai-compatible'].includes(provider.kind) && !provider.hasApiKey;
    if (!isMissing && !needsKey) return [];
    if (!isMissing) {
      const advice = `Add \`apiKey\` with PATCH /v1/providers/${provider.name}, or in the console at /console/providers.`;
      return [failure('providers', `${provider.name} has no key.`, advice)];
    }
    const advice = `Write it: PUT /v1/secrets/${secret}, or in the console at /console/secrets.`;
    return [failure('providers', `${provider.name}: the secret ${secret} does not exist.`, advice)];
  });
}

async function checkServers(client: MonikerClient): Promise<DoctorFinding[]> {
  const items = await readServers(client);
  const found = items.flatMap((server): DoctorFinding[] => {
    const { name, held } = server;
    const status = server.health?.status ?? 'ok';
    const command = stringOf(recordOf(server).command);
    const state = { check: 'servers', subject: name, message: `${name}: ${describeServer(server)}` };
    const again = `After fixing it: \`moniker refresh ${name}\`. Its document is in the console at /console/servers/${name}.`;
    if (status !== 'ok' && command !== '' && findCommand(command, process.env) === null) {
      const message = `${name}: the command "${command}" does not exist here.`;
      return [{ ...state, status: 'failure', message, advice: `Install it, or give its full path, then: \`moniker refresh ${name}\`.` }];
    }
    const review = `Review them in the console at /console/servers/${name}, and accept them there or with \`moniker accept ${name}\`.`;
    switch (status) {
      case 'failing':
        return [{ ...state, status: 'failure', advice: again }];
      case 'unauthorized': {
        const advice = `Sign in, or set its credentials, in the console at /console/servers/${name}, then: \`moniker refresh ${name}\`.`;
        return [{ ...state, status: 'failure', advice }];
      }
      case 'degraded':
        return [{ ...state, status: 'warning', advice: held > 0 ? review : again }];
      case 'unknown':
        if (held > 0) return [{ ...state, status: 'warning', advice: review }];
        return [{ ...state, status: 'warning', message: `${name} has not been contacted yet.`, advice: `Run: moniker refresh ${name}` }];
      case 'ok':
        // An inline document has no health.
        return held > 0 ? [{ ...state, status: 'warning', advice: review }] : [];
      default:
        return status satisfies never;
    }
  });
  return [...found, ...restOf('servers', items.length >= maxShownServers)];
}

/** A workspace with more documents than are checked is not in order without a word about it. */
function restOf(check: string, isPart: boolean): DoctorFinding[] {
  if (!isPart) return [];
  return [warning(check, 'There are more than were checked.', `The others are in the console at /console/${check}.`)];
}

/** One finding that lists them. */
async function checkProcesses(client: MonikerClient): Promise<DoctorFinding[]> {
  const { items } = await client.get('/v1/programs');
  const servers = Map.groupBy(items, ({ server }) => server);
  const shown = Array.from(servers, ([server, processes]) => {
    const owned = processes.filter(({ owner }) => owner !== null).length;
    return `${server}: ${processes.length}${owned > 0 ? ` (${owned} of sessions or keys)` : ''}`;
  });
  return items.length === 0 ? [] : [passed('processes', shown.join(', '))];
}

async function checkToolsets(client: MonikerClient): Promise<DoctorFinding[]> {
  const { items, nextCursor } = await client.get('/v1/toolsets', { params: { query: { limit: maxDocuments } } });
  const findings: DoctorFinding[] = [];
  for (const { name } of items) {
    const { warnings, tools } = await client.get('/v1/toolsets/{toolset}/tools', { params: { path: { toolset: name } } });
    const renamed = new Map(
      tools.flatMap(({ entry, canonical, renamedTo }) => (renamedTo === undefined ? [] : [[`${entry}.tool`, canonical]])),
    );
    findings.push(...documentWarnings('toolsets', name, warnings, renamed));
  }
  return [...findings, ...restOf('toolsets', nextCursor !== null)];
}

async function checkAgents(client: MonikerClient): Promise<DoctorFinding[]> {
  const { items, nextCursor } = await client.get('/v1/agents', { params: { query: { limit: maxDocuments } } });
  const findings: DoctorFinding[] = [];
  for (const { name } of items) {
    const { warnings = [] } = await client.get('/v1/agents/{agent}', { params: { path: { agent: name } } });
    findings.push(...documentWarnings('agents', name, warnings));
  }
  return [...findings, ...restOf('agents', nextCursor !== null)];
}

/** `renamed`: the tools whose definition another tool has now, by path. */
function documentWarnings(
  kind: string,
  name: string,
  warnings: readonly { path: string; message: string }[],
  renamed: ReadonlyMap<string, string> = new Map(),
): DoctorFinding[] {
  return warnings.map(({ path, message }) => {
    const [server, ...own] = renamed.get(path)?.split('.') ?? [];
    const advice =
      server === undefined
        ? `Edit it in the console at /console/${kind}/${name}.`
        : `Rebind it: \`moniker accept ${server} ${own.join('.')} --rebind\`, or in the console at /console/servers/${server}.`;
    return { ...warning(kind, `${name}, ${path}: ${message}`, advice), subject: name };
  });
}

/** One `ok` for a kind without faults. A check that this key may not make is left out. */
async function checked(check: string, findings: Promise<DoctorFinding[]>): Promise<DoctorFinding[]> {
  try {
    const found = await findings;
    return found.length > 0 ? found : [passed(check, 'no faults')];
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'forbidden') return [];
    const { message, advice } = describeFailure(error);
    return [failure(check, message, advice)];
  }
}

/** The path of a program, as the launcher finds it, or null. */
export function findCommand(command: string, environment: NodeJS.ProcessEnv): string | null {
  const isWindows = process.platform === 'win32';
  const endings = isWindows ? ['', ...(environment.PATHEXT ?? '.COM;.EXE;.BAT;.CMD').split(';')] : [''];
  const isPath = isAbsolute(command) || command.includes('/') || (isWindows && command.includes('\\'));
  const folders = isPath
    ? ['']
    : userPath(environment.PATH ?? environment.Path ?? '')
        .split(delimiter)
        .filter(Boolean);
  for (const folder of folders)
    for (const ending of endings) {
      const file = folder === '' ? command + ending : join(folder, command + ending);
      try {
        accessSync(file, isWindows ? constants.F_OK : constants.X_OK);
        return file;
      } catch {
        // Not here: the next place.
      }
    }
  return null;
}
