/**
 * The MCP gateway of Docker: a catalog (`registry` with server entries), a profile (`servers` with images or entries), or one entry. A server
 * in a container becomes the command `docker run`. docker/mcp-gateway, "Server entry specification" and "Profiles".
 */
import { isRecord, type Json, listOf, recordOf } from '../../json/wire-value.ts';
import { placeholder } from '../../project/expand-variables.ts';
import type { ImportDraft } from '../draft.ts';
import { addToolset } from '../mcp-clients.ts';
import { addMcpServer, type AddedServer } from '../mcp-server.ts';
import type { Members } from '../members.ts';
import { secretName } from '../names.ts';
import { createVariables } from '../variables.ts';

const types = /^(server|remote|poci)$/;

export function isDockerMcp(value: unknown): boolean {
  const { registry, servers, type, image, remote } = recordOf(value);
  const isEntry = (entry: unknown): boolean =>
    types.test(String(recordOf(entry).type)) && ('image' in recordOf(entry) || 'remote' in recordOf(entry) || 'tools' in recordOf(entry));
  if (isRecord(registry)) return Object.values(registry).some((entry) => isEntry(entry) || 'image' in recordOf(entry));
  const isProfile = listOf(servers).some(
    (one) =>
      /^(image|registry|remote)$/.test(String(recordOf(one).type)) &&
      ['image', 'source', 'endpoint', 'snapshot'].some((member) => member in recordOf(one)),
  );
  return isProfile || (types.test(String(type)) && (typeof image === 'string' || isRecord(remote)));
}

export function readDockerMcp(draft: ImportDraft, file: Members): void {
  if (file.has('registry')) {
    file.ignore('version', 'name', 'displayName');
    addToolset(
      draft,
      'docker',
      file.entries('registry').flatMap(([name, entry]) => readEntry(draft, entry, name, null) ?? []),
    );
  } else if (file.has('servers')) readProfile(draft, file);
  else
    addToolset(
      draft,
      file.peek('name') === undefined ? 'docker' : String(file.peek('name')),
      [readEntry(draft, file, 'docker', null) ?? []].flat(),
    );
}

function readProfile(draft: ImportDraft, file: Members): void {
  file.ignore('version');
  file.skip(['secrets'], 'names the store of Docker Desktop, whose secrets are not in the file: store them here');
  const name = file.text('name') ?? '';
  const id = file.text('id') ?? '';
  const added = file.items('servers').flatMap((server): AddedServer[] => {
    const type = server.text('type');
    const tools = server.has('tools') ? (server.texts('tools') ?? []) : null;
    server.skip(['secrets'], 'names secrets of Docker Desktop, which are not in the file');
    const snapshot = server.record('snapshot')?.record('server') ?? null;
    const image = server.text('image') ?? '';
    const endpoint = server.text('endpoint') ?? '';
    const config = server.record('config');
    server.ignore('source');
    if (snapshot !== null) return [readEntry(draft, snapshot, String(snapshot.peek('name') ?? image), tools, config) ?? []].flat();
    config?.skipOthers('is not used: the file does not say what the server does with it');
    if (image === '' && endpoint === '') {
      server.skipWhole(`is a server of the type ${JSON.stringify(type)} whose definition is not in the file`);
      return [];
    }
    // `mcp/github:latest` is called `github`.
    const written = (image.split('/').at(-1) ?? '').split(/[:@]/, 1)[0] || 'remote';
    const entry = draft.open(endpoint === '' ? { command: 'docker', args: ['run', '-i', '--rm', image] } : { url: endpoint }, server.path);
    return [addMcpServer(draft, written, entry, createVariables(), { filter: { include: tools } }) ?? []].flat();
  });
  addToolset(draft, id || name || 'docker', added);
}

const texts = [
  'title',
  'description',
  'icon',
  'readme',
  'toolsUrl',
  'readmeUrl',
  'source',
  'upstream',
  'dateAdded',
  'ref',
  'metadata',
  'prompts',
  'resources',
  'license',
];

/** `tools`: those that a profile enables; null: all. `config`: the values that a profile has for the server. */
function readEntry(
  draft: ImportDraft,
  entry: Members,
  fallback: string,
  tools: readonly string[] | null,
  config: Members | null = null,
): AddedServer | null {
  entry.ignore(...texts, 'longLived');
  // What the server lists counts.
  const isPerCall = entry.peek('type') === 'poci';
  const written = entry.text('name') || fallback;
  if (isPerCall) {
    entry.skipWhole('starts a container for each call, which is not an MCP server');
    return null;
  }
  entry.ignore('type', 'tools');
  const settings = settingsOf(entry, config);
  const filled = (text: string): string => withSettings(text, settings);
  const secrets = entry.items('secrets').flatMap((secret) => {
    secret.ignore('name', 'example', 'description', 'required');
    return secret.text('env') ?? [];
  });
  const oauth = entry.record('oauth');
  const scopes = oauth?.texts('scopes') ?? [];
  const tokens = (oauth?.items('providers') ?? []).flatMap((provider) => {
    provider.ignore('provider', 'secret');
    return provider.text('env') ?? [];
  });
  entry.skip(['allowHosts'], 'is not kept: a container may connect to all hosts. Restrict it with a network of Docker');
  const value: Json =
    entry.has('remote') || entry.has('sseEndpoint')
      ? remoteOf(entry, scopes)
      : containerOf(entry, { filled, keys: [...secrets, ...tokens] });
  return addMcpServer(draft, written, draft.open(value, entry.path), createVariables(), {
    filter: { include: tools === null ? null : [...tools] },
  });
}

function remoteOf(entry: Members, scopes: readonly string[]): Json {
  const remote = entry.record('remote');
  remote?.ignore('transport_type');
  const url = remote?.text('url') ?? entry.text('sseEndpoint') ?? '';
  const headers = Object.fromEntries((remote?.record('headers')?.values() ?? []).map(({ name, text }) => [name, text]));
  entry.skip(['image', 'command', 'volumes', 'user', 'env', 'disableNetwork'], 'is not used: the server is remote');
  return { url, headers, ...(scopes.length > 0 && { oauth: { scopes } }) };
}

function containerOf(entry: Members, { filled, keys }: { filled(text: string): string; keys: readonly string[] }): Json {
  const image = entry.text('image') ?? '';
  const env = entry.items('env').flatMap((variable): [string, string][] => {
    const name = variable.text('name') ?? '';
    return name === '' ? [] : [[name, filled(variable.text('value') ?? '')]];
  });
  const names = [...env.map(([name]) => name), ...keys];
  const volumes = (entry.texts('volumes') ?? []).flatMap((volume) => ['-v', filled(volume)]);
  const user = entry.text('user') ?? '';
  const network = entry.flag('disableNetwork') === true ? ['--network', 'none'] : [];
  const options = [...names.flatMap((name) => ['-e', name]), ...volumes, ...(user === '' ? [] : ['-u', filled(user)]), ...network];
  const args = ['run', '-i', '--rm', ...options, image, ...(entry.texts('command') ?? []).map(filled)];
  return { ...(image !== '' && { command: 'docker', args }), env: Object.fromEntries(env), env_keys: [...keys] };
}

/** The values of `config` and the defaults of its schema, by `server.property`. */
function settingsOf(entry: Members, config: Members | null): Map<string, string> {
  const settings = new Map<string, string>();
  const server = String(entry.peek('name') ?? '');
  for (const schema of entry.items('config')) {
    const name = schema.text('name') ?? server;
    schema.ignore('description', 'type', 'required', 'anyOf', 'oneOf');
    for (const [property, definition] of schema.entries('properties')) {
      const preset = definition.take('default');
      if (['string', 'number', 'boolean'].includes(typeof preset)) settings.set(`${name}.${property}`, String(preset));
      definition.ignore(...definition.names());
    }
  }
  for (const { name, text } of config?.values() ?? []) settings.set(`${server}.${name}`, text);
  return settings;
}

/** `{{server.property}}`: a value of the profile, else a variable. Docker's `|into` and `|volume` stand for lists. */
function withSettings(text: string, settings: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /\{\{\s*([\w.-]{1,200})(?:\s*\|[\w|\s]*)?\s*\}\}/g,
    (_whole, name: string) => settings.get(name) ?? placeholder(secretName(name)),
  );
}
