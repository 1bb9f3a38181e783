/** The checks of `moniker doctor` over the API: health, readiness, the key and the addresses, then the documents. */
import { basename } from 'node:path';
import { createClient, type MonikerClient } from '../../../client/src/index.ts';
import { recordOf, stringOf } from '../../core/json/wire-value.ts';
import { version } from '../../core/version.ts';
import { fillProject, type LoadedProject, projectName } from '../../local/launch/project-file.ts';
import { hasToken } from '../../local/launch/running-service.ts';
import { type Address, serviceFetch } from '../connection.ts';
import {
  checkAgents,
  checkProcesses,
  checkProviders,
  checkPublished,
  checkServers,
  checkToolsets,
  checkWebhooks,
} from './doctor-documents.ts';
import { type DoctorFinding, failure, passed, warning } from './finding.ts';
import { describeFailure } from '../failure.ts';
import { projectQuestion } from '../folder-trust.ts';
import { someNames } from '../output.ts';

const timeoutMs = 15_000;
/** Keys expire and signed webhooks are refused by comparison with the clock. */
const maxClockDifferenceMs = 60_000;

/** `project`: of the current folder. Yields findings as they are made. Ends early if later checks could only repeat the fault. */
export async function* checkService(
  address: Address,
  project: LoadedProject | null = null,
): AsyncGenerator<DoctorFinding[], void, undefined> {
  const { url, headers, missing } = address;
  const fault = missing === null ? null : failure(missing.check, missing.what, missing.advice);
  if (fault?.check === 'service') return yield [fault];
  const health = await checkHealth(url);
  yield health;
  if (health.some(({ status }) => status === 'failure')) return;
  yield await checkReadiness(url);
  if (fault !== null) return yield [fault];
  const client = createClient({ baseUrl: url, headers, retries: 0, fetch: serviceFetch(address, timeoutMs) });
  const [me, scopes] = await checkKey(client);
  yield [me];
  if (scopes === null) return;
  if (scopes.includes('admin')) {
    yield* [await checked('providers', checkProviders(client)), await checked('servers', checkServers(client))];
    yield await checked('processes', checkProcesses(client));
    yield await checked('published', checkPublished(client));
    yield await checked('webhooks', checkWebhooks(client));
    yield await checked('address', checkPublicUrl(client, address));
    yield await checked('project', checkProject(client, project));
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

async function checkReadiness(url: string): Promise<DoctorFinding[]> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(timeoutMs) });
  const body = recordOf(await response.json().catch(() => null));
  const doubt = stringOf(body.clock);
  const clock = doubt === '' ? [] : [warning('clock', doubt, 'Compare it with another clock, and turn on time synchronization (NTP).')];
  return [readinessOf(response, body), ...clock];
}

function readinessOf(response: Response, body: Record<string, unknown>): DoctorFinding {
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

/** Senders of webhooks, people and sign-ins use the public URL: it must lead to this service. */
async function checkPublicUrl(client: MonikerClient, { url, local }: Address): Promise<DoctorFinding[]> {
  const { items } = await client.get('/v1/webhooks', { params: { query: { limit: 1 } } });
  const shown = items[0] === undefined ? null : URL.parse(items[0].url);
  const base = shown === null ? null : shown.href.slice(0, shown.href.lastIndexOf('/hooks/'));
  if (base === null || base === url) return [];
  const advice = 'Check MONIKER_PUBLIC_URL, its name in DNS, and the reverse proxy, which must pass on every path.';
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(`${base}/healthz`, { signal, redirect: 'manual' });
    const { version: found } = recordOf(await response.json().catch(() => null));
    const isThis = typeof found === 'string' && (local === null || (await hasToken({ ...local, url: base }, signal)));
    return isThis ? [passed('address', base)] : [warning('address', `${base}, the public URL, does not lead to this service.`, advice)];
  } catch (error) {
    return [warning('address', `${base}, the public URL, does not respond from here: ${describeFailure(error).message}`, advice)];
  }
}

/** What applying the project file would change. Nothing is written or contacted. */
async function checkProject(client: MonikerClient, project: LoadedProject | null): Promise<DoctorFinding[]> {
  if (project === null) return [];
  const [check, file] = ['project', basename(project.file)];
  if ('fault' in project) return [failure(check, project.fault, 'Correct the file. A start without it: --no-project.')];
  if (!project.isNamed && projectQuestion(project.file, project.content, { isFirst: true }) !== null)
    return [
      warning(
        check,
        `${file} of this folder was never accepted, so nothing of it is applied.`,
        '`moniker apply` shows what it does, and asks.',
      ),
    ];
  const { created, updated, skipped } = await client.put('/v1/projects/{project}', {
    params: { path: { project: projectName(project.file) }, query: { dryRun: 'true' } },
    body: fillProject(project.content, project.file, process.env) as never, // The service checks it and names each fault.
  });
  const names = [...created, ...updated, ...skipped.map(({ name }) => name)];
  if (names.length === 0) return [passed(check, `${file} is applied`)];
  const advice = '`moniker apply --dry-run` shows what it changes; `moniker apply`, or the next start, applies it.';
  return [warning(check, `${file} is not applied: ${someNames(names)}.`, advice)];
}

/** One `ok` for a kind without faults. A check that this key may not make is left out. */
async function checked(check: string, findings: Promise<DoctorFinding[]>): Promise<DoctorFinding[]> {
  try {
    const found = await findings;
    return found.length > 0 ? found : [passed(check, 'no faults')];
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'forbidden') return [];
    const { message, advice } = describeFailure(error);
    return [failure(check, message, advice || 'Correct that, then run this again. `moniker logs` may say more.')];
  }
}
