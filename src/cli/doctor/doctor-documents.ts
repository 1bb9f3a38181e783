/** The checks of `moniker doctor` that read documents over the API: those that cannot work now, each with what to do. */
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { MonikerClient } from '../../../client/src/index.ts';
import { recordOf, stringOf } from '../../core/json/wire-value.ts';
import { userPath } from '../../local/stdio/program-environment.ts';
import { describeServer, maxShownServers, readServers } from '../refresh.ts';
import { type DoctorFinding, failure, passed, warning } from './finding.ts';

/** Of each kind; a large workspace is checked in part. */
const maxDocuments = 100;

export async function checkProviders(client: MonikerClient): Promise<DoctorFinding[]> {
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

export async function checkServers(client: MonikerClient): Promise<DoctorFinding[]> {
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
export async function checkProcesses(client: MonikerClient): Promise<DoctorFinding[]> {
  const { items } = await client.get('/v1/programs');
  const servers = Map.groupBy(items, ({ server }) => server);
  const shown = Array.from(servers, ([server, processes]) => {
    const owned = processes.filter(({ owner }) => owner !== null).length;
    return `${server}: ${processes.length}${owned > 0 ? ` (${owned} of sessions or keys)` : ''}`;
  });
  return items.length === 0 ? [] : [passed('processes', shown.join(', '))];
}

export async function checkToolsets(client: MonikerClient): Promise<DoctorFinding[]> {
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

export async function checkAgents(client: MonikerClient): Promise<DoctorFinding[]> {
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

/** The signed test of each webhook, which stores and starts nothing. */
export async function checkWebhooks(client: MonikerClient): Promise<DoctorFinding[]> {
  const { items, nextCursor } = await client.get('/v1/webhooks', { params: { query: { limit: maxDocuments } } });
  const findings: DoctorFinding[] = [];
  for (const { name: webhook } of items) {
    const { delivery } = await client.post('/v1/webhooks/{webhook}/test', { params: { path: { webhook } }, body: { payload: {} } });
    if (delivery?.accepted !== false) continue;
    const advice = `Edit it in the console at /console/webhooks/${webhook}. If its secret cannot be opened, write it again.`;
    findings.push({ ...failure('webhooks', `${webhook}: a signed delivery fails. ${delivery.reason}`, advice), subject: webhook });
  }
  return [...findings, ...restOf('webhooks', nextCursor !== null)];
}

/** The copies that requests read, which the service repairs itself. */
export async function checkPublished(client: MonikerClient): Promise<DoctorFinding[]> {
  const { waiting, different, isPart } = await client.get('/v1/publications');
  const advice = 'It is published again now: run this again in a minute. If it stays, `moniker logs` says why it cannot be written.';
  return [
    ...waiting.map(({ kind, name, attempts }) =>
      warning('published', `${kind} ${name}: requests get an older version; publishing failed ${attempts} times.`, advice),
    ),
    ...different.map(({ kind, name, published, stored }) => {
      const found = published === null ? 'is missing or damaged' : `has version ${published}`;
      return warning('published', `${kind} ${name}: its published copy ${found}, and the stored document version ${stored}.`, advice);
    }),
    ...(isPart ? [passed('published', 'the 300 documents that were written last')] : []),
  ];
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
