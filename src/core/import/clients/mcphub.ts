/**
 * `mcp_settings.json` of mcphub: servers with switched tools, OpenAPI documents, and groups, which become toolsets. mcphub, `src/types`.
 */
import { isRecord, type Json, listOf, recordOf, stringOf } from '../../json/wire-value.ts';
import type { ImportDraft } from '../draft.ts';
import { addToolset } from '../mcp-clients.ts';
import { addApiServer, addMcpServer, type AddedServer } from '../mcp-server.ts';
import { toolEntries, withFilter, withoutPrefix } from '../mcp-tools.ts';
import type { Members } from '../members.ts';
import { namedValue, namedValues, secretOf, type ServerReading, unlessRefused } from '../mcp-values.ts';
import { createVariables } from '../variables.ts';
import { secretHostOf } from '../../secrets/secret.ts';

export function isMcpHub(value: unknown): boolean {
  const { mcpServers, groups, systemConfig, bearerKeys, users } = recordOf(value);
  if (!isRecord(mcpServers)) return false;
  const hasGroups = listOf(groups).some((group) => Array.isArray(recordOf(group).servers));
  const isOpenApi = Object.values(mcpServers).some((entry) => isRecord(recordOf(entry).openapi));
  return (
    hasGroups ||
    isOpenApi ||
    isRecord(systemConfig) ||
    Array.isArray(bearerKeys) ||
    listOf(users).some((user) => 'isAdmin' in recordOf(user))
  );
}

export function readMcpHub(draft: ImportDraft, file: Members): void {
  const separator = stringOf(recordOf(file.peek('systemConfig')).nameSeparator) || '-';
  const added = new Map<string, { one: AddedServer; entry: Members }>();
  for (const [written, entry] of file.entries('mcpServers')) {
    const options = entry.record('options');
    const timeout = options?.number('timeout') ?? null;
    options?.skip(['resetTimeoutOnProgress', 'maxTotalTimeout'], 'has no counterpart: each sign of life restarts the time for a response');
    const variables = createVariables();
    const one = isRecord(entry.peek('openapi'))
      ? unlessRefused(entry, () => addOpenApi({ draft, written, members: entry, variables, notes: [] }, timeout, written + separator))
      : addMcpServer(draft, written, entry, variables, {
          document: timeout === null ? {} : { timeoutMs: Math.max(1_000, timeout) },
          toolPrefix: written + separator,
        });
    if (one !== null) added.set(written, { one, entry });
  }
  addToolset(
    draft,
    'mcphub',
    [...added.values()].map(({ one }) => one),
  );
  for (const group of file.items('groups')) readGroup(draft, group, added, separator);
  file.skip(
    ['users', 'userConfigs', 'oauthClients', 'oauthTokens', 'bearerKeys'],
    'is not taken: users, keys and sign-ins are made here (POST /v1/keys)',
  );
  file.skip(['systemConfig', 'prompts', 'resources'], 'is a setting of mcphub itself');
}

function readGroup(
  draft: ImportDraft,
  group: Members,
  added: ReadonlyMap<string, { one: AddedServer; entry: Members }>,
  separator: string,
): void {
  group.ignore('id');
  group.skip(['owner'], 'has no counterpart: what a key may use says the key');
  const name = group.text('name') ?? 'group';
  const description = group.text('description') ?? '';
  const tools: Json[] = [];
  // Names, and objects with more about a server.
  const rows = listOf(group.take('servers')).map((item, index) => {
    const members = isRecord(item) ? draft.open(item, `${group.pathOf('servers')}[${index}]`) : null;
    return { server: members === null ? stringOf(item) : (members.text('name') ?? ''), members };
  });
  for (const { server, members } of rows) {
    const found = added.get(server);
    members?.skip(
      ['alias', 'prompts', 'resources'].filter((one) => members.peek(one) !== 'all'),
      'has no counterpart in an import',
    );
    members?.ignore('prompts', 'resources');
    const include =
      members === null || !members.has('tools') || members.peek('tools') === 'all'
        ? null
        : (members.texts('tools') ?? []).map((tool) => withoutPrefix(tool, server + separator));
    members?.ignore('tools');
    if (found === undefined)
      group.fault('servers', `has ${JSON.stringify(server.slice(0, 100))}, which is not among the servers, or was skipped`);
    else tools.push(...toolEntries(found.one.server, withFilter(found.one.filter, { include }), members ?? group));
  }
  if (rows.length === 0) group.fault('servers', 'has no servers, so that no toolset is made of the group');
  if (tools.length > 0) draft.add('toolsets', name, { ...(description !== '' && { description: description.slice(0, 500) }), tools });
}

/** A server of the type `openapi`: the document or its URL, and the credential of its calls. */
function addOpenApi(reading: ServerReading, timeout: number | null, toolPrefix: string): AddedServer | null {
  const { written, members } = reading;
  if (members.flag('enabled') === false) {
    members.skipWhole('is disabled in the file');
    return null;
  }
  members.ignore('type');
  const openapi = members.record('openapi');
  const url = openapi?.text('url') ?? '';
  const document = openapi?.take('schema');
  openapi?.ignore('version');
  openapi?.skip(['passthroughHeaders', 'cookieSession'], 'has no counterpart: a server here gets the headers of its document');
  const host = URL.canParse(url) ? secretHostOf(url) : undefined;
  const headers = namedValues(reading, members.record('headers')?.values() ?? [], { names: (name) => [`${written}_${name}`], host });
  const query = new Map<string, unknown>();
  const security = openapi?.record('security') ?? null;
  if (security !== null) takeSecurity(reading, security, { headers, query, host });
  const added = addApiServer(
    reading,
    {
      ...(isRecord(document) ? { document } : { url }),
      ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
      ...(query.size > 0 && { query: Object.fromEntries(query) }),
      ...(timeout !== null && { timeoutMs: Math.max(1_000, timeout) }),
    },
    { toolPrefix },
  );
  if (added !== null)
    members.skip(
      ['description', 'owner', 'visibility', 'enableKeepAlive', 'keepAliveInterval', 'passthroughHeaders', 'prompts', 'resources'],
      'has no counterpart',
    );
  return added;
}

type Target = { headers: Map<string, unknown>; query: Map<string, unknown>; host: string | undefined };

/** The secret of a document's operations is bound to the host of the document, which may be another than theirs. */
function takeSecurity(reading: ServerReading, security: Members, { headers, query, host }: Target): void {
  const type = security.text('type');
  const key = security.record('apiKey');
  if (key !== null) {
    const [name, place, value] = [key.text('name') ?? '', key.text('in'), key.text('value') ?? ''];
    if (name === '' || place === 'cookie') key.skipWhole('is a cookie or has no name, so that it was left out');
    else {
      const secret = namedValue(reading, {
        key: `${name}_key`,
        text: value,
        path: key.pathOf('value'),
        names: [`${reading.written}_${name}`],
        host,
      });
      if (secret !== undefined) (place === 'query' ? query : headers).set(name, secret);
    }
  }
  const http = security.record('http');
  if (http !== null) {
    const scheme = http.text('scheme');
    http.ignore('bearerFormat');
    const credentials = http.text('credentials') ?? '';
    if (credentials !== '' && scheme !== 'digest')
      headers.set(
        'Authorization',
        secretOf(reading, {
          names: [`${reading.written}_TOKEN`],
          value: `${scheme === 'basic' ? 'Basic' : 'Bearer'} ${credentials}`,
          path: http.pathOf('credentials'),
          ...(host !== undefined && { host }),
        }),
      );
  }
  security.skip(['oauth2', 'openIdConnect'], `is not taken (${type}): OAuth for the calls of an OpenAPI document is set up here`);
}
