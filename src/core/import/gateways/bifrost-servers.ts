/** `mcp` of Bifrost: its clients are servers, and the toolset `bifrost` has the tools that they may execute. */
import type { Json } from '../../json/wire-value.ts';
import type { ImportDraft } from '../draft.ts';
import { fromEnv } from './bifrost-values.ts';
import { addMcpServer, type AddedServer } from '../mcp-server.ts';
import { toolEntries, withFilter } from '../mcp-tools.ts';
import type { Members } from '../members.ts';
import { unmapped } from './unmapped.ts';
import { createVariables, type Variables } from '../variables.ts';

/** `allowsEmpty`: an empty list of tools is all of them. */
export function readBifrostServers(draft: ImportDraft, mcp: Members | null, { allowsEmpty }: { allowsEmpty: boolean }): void {
  if (mcp === null) return;
  const clients = new Map<string, AddedServer>();
  for (const entry of mcp.items('client_configs')) {
    const name = entry.text('name') ?? entry.text('client_id', 'id') ?? '';
    const client = readClient(draft, { entry, name, allowsEmpty });
    if (client !== null) clients.set(name, client);
  }
  const tools = [...clients.values()].flatMap(({ entries }) => entries);
  if (tools.length > 0) draft.add('toolsets', 'bifrost', { tools });
  for (const group of mcp.items('tool_groups')) readGroup(draft, group, clients);
  mcp.skip(['tool_manager_config', 'tool_sync_interval'], unmapped.program);
}

const plain = createVariables();
const variables: Variables = { rewrite: (text, own) => plain.rewrite(fromEnv(text).text, own) };

type Entry = { entry: Members; name: string; allowsEmpty: boolean };

function readClient(draft: ImportDraft, { entry, name, allowsEmpty }: Entry): AddedServer | null {
  const auth = entry.text('auth_type') ?? 'none';
  const filter = {
    include: offered(entry, allowsEmpty),
    exclude: entry.allTexts('tools_to_skip') ?? ['*'],
    unasked: entry.texts('tools_to_auto_execute') ?? [],
  };
  const personal = /^per_user_/.test(auth);
  if (personal || auth === 'oauth')
    entry.change(
      'auth_type',
      `is a sign-in ${personal ? 'of each user' : 'for all users'} at the server: that of Bifrost is not in the file`,
    );
  skipOthers(entry);
  const isOff = entry.has('is_enabled') && entry.flag('is_enabled') !== true;
  const timeout = secondsOf(entry);
  // The same entry as other clients write it.
  const server = draft.open(
    {
      type: entry.text('connection_type'),
      url: entry.text('connection_string', 'http_url'),
      headers: entry.take('headers'),
      disabled: entry.take('disabled'),
      ...commandIn(entry.record('stdio_config')),
      ...(timeout !== null && { timeout }),
    },
    entry.path,
  );
  const oauth = { oauth: { grant: 'authorization_code', ...(personal && { per: 'user' }) } };
  return addMcpServer(draft, name, server, variables, {
    filter,
    off: isOff ? 'is disabled in the file' : null,
    isInSeconds: true,
    ...((personal || auth === 'oauth') && { document: oauth }),
  });
}

/** Names of tools; null: all. In version 2 a client without a list offers none. */
function offered(entry: Members, allowsEmpty: boolean): string[] | null {
  const names = entry.allTexts('tools_to_execute');
  return names?.includes('*') === true || (names?.length === 0 && allowsEmpty) ? null : (names ?? []);
}

/** `envs`: `NAME=value`, or the NAME of a variable of Bifrost's own environment. */
function commandIn(stdio: Members | null): Json {
  if (stdio === null) return {};
  const variables = (stdio.texts('envs') ?? []).map((text) => {
    const [, name = '', value] = /^([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
    return [name, value ?? `env.${name}`];
  });
  return { command: stdio.take('command'), args: stdio.take('args'), env: Object.fromEntries(variables) };
}

/** `30s`, `2m`, or a number of seconds. */
function secondsOf(entry: Members): number | null {
  const value = entry.take('tool_execution_timeout');
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(String(value ?? '')) ?? [];
  if (amount !== undefined) return Number(amount) * ({ ms: 0.001, s: 1, m: 60, h: 3_600 }[unit] ?? 1);
  if (value !== undefined) entry.fault('tool_execution_timeout', 'is no duration such as 30s');
  return null;
}

function skipOthers(entry: Members): void {
  entry.ignore('client_id', 'id');
  entry.skip(['oauth_config_id', 'per_user_header_keys'], 'is not in the file: users sign in at the server, or connect an account');
  entry.skip(['allowed_extra_headers'], 'has no counterpart: headers of clients are not passed on to servers');
  entry.skip(['tls_config'], unmapped.connection);
  entry.skip(['tool_pricing'], 'has no counterpart: tools have no price');
  entry.skip(['is_code_mode_client'], 'is not imported: set `codeMode` of an agent, or `mcpTools` of a toolset');
  entry.skip(['allow_on_all_virtual_keys'], unmapped.clientKey);
  entry.skip(['tool_sync_interval', 'is_ping_available'], unmapped.program);
}

/** A group of tools is a toolset, with no more tools than its clients offer. */
function readGroup(draft: ImportDraft, group: Members, clients: ReadonlyMap<string, AddedServer>): void {
  const name = group.text('name') ?? 'group';
  if (group.has('enabled') && group.flag('enabled') !== true) {
    group.skipWhole('is not enabled');
    return;
  }
  group.ignore('id');
  group.skip(['virtual_key_ids', 'team_ids', 'customer_ids', 'user_ids', 'provider_names', 'api_key_ids'], unmapped.clientKey);
  const tools = group.items('tools').flatMap((item): Json[] => {
    const client = clients.get(item.text('mcp_client_name', 'mcp_client_id') ?? '');
    const names = item.allTexts('tool_names');
    if (client === undefined) {
      item.skipWhole('names no client of the file, or one that was skipped');
      return [];
    }
    return toolEntries(client.server, withFilter(client.filter, names?.length === 0 ? {} : { include: names ?? [] }), item);
  });
  const description = group.text('description');
  if (tools.length > 0) draft.add('toolsets', name, { ...(description !== null && { description }), tools }, group.path);
}
