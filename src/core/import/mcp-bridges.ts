/**
 * Programs that only connect a client to a remote server: mcp-remote and supergateway. Moniker connects to such a server itself, as a
 * deployed Worker can, which has no programs. mcp-remote, "Flags"; supergateway, "SSE to stdio" and "Streamable HTTP to stdio".
 */
import { type Json, recordOf, stringOf, tryParse } from '../json/wire-value.ts';
import type { CommandEntry } from './mcp-command.ts';
import { signIn } from './mcp-remote-server.ts';
import type { WrittenValue } from './members.ts';
import type { OfferedTools } from './mcp-tools.ts';
import type { ServerReading } from './mcp-values.ts';

type Bridged = {
  bridge: string;
  url: string;
  host: string;
  path: string;
  headers: WrittenValue[];
  filter: Partial<OfferedTools>;
  /** Members of the server's document. */
  document: Json;
};

/** An option with its value, or an argument without a name. */
type Option = { name: string; value: string; path: string };

/** Options without a value. */
const switches = new Set(['--allow-http', '--debug', '--silent', '--enable-proxy', '--disable-resource-parameter']);

/** Options of mcp-remote that say how it runs itself. */
const ownOptions = new Set([...switches, '--host', '--auth-timeout', '--callback-path', '--logLevel', '--outputTransport']);

/** Returns the server that the command connects to; null if it is another program, or does more than that. */
export function bridgedServer(reading: ServerReading, entry: CommandEntry): Bridged | null {
  const program = programOf([entry.command, ...entry.args]);
  if (program === null) return null;
  const options = optionsOf(entry, program.next - 1);
  const addressed =
    program.name === 'mcp-remote'
      ? options.find(({ name }) => name === '')
      : options.find(({ name }) => /^--(sse|streamableHttp)$/.test(name));
  const url = addressed?.value ?? '';
  if (addressed === undefined || !/^(https?:\/\/|\$)/i.test(url)) return null;
  const bridged: Bridged = {
    bridge: program.name,
    url,
    host: URL.parse(url)?.host ?? 'its server',
    path: addressed.path,
    headers: [],
    filter: {},
    document: {},
  };
  for (const option of options) if (option !== addressed) take(reading, bridged, option);
  return bridged;
}

function take(reading: ServerReading, bridged: Bridged, { name, value, path }: Option): void {
  const { draft } = reading;
  switch (name) {
    case '--header': {
      const [, header = '', text = ''] = /^([^:]+):\s*([\s\S]*)$/.exec(value) ?? [];
      if (header === '') draft.skip(path, 'is no header, so that it was left out');
      else bridged.headers.push({ name: header.trim(), text, path });
      return;
    }
    case '--oauth2Bearer':
      bridged.headers.push({ name: 'Authorization', text: `Bearer ${value}`, path });
      return;
    case '--ignore-tool':
      bridged.filter.exclude = [...(bridged.filter.exclude ?? []), value];
      return;
    case '--transport':
      if (/^(http|sse)-only$/.test(value)) bridged.document.transport = value.slice(0, -'-only'.length);
      return;
    case '--static-oauth-client-info':
    case '--static-oauth-client-metadata': {
      const given = recordOf(tryParse(value));
      if (Object.keys(given).length === 0) draft.skip(path, `${name} is in a file, or is no JSON object. Set \`oauth\` of the server`);
      else {
        const [clientId, clientSecret] = [stringOf(given.client_id), stringOf(given.client_secret)];
        const scopes = stringOf(given.scope).match(/\S+/g) ?? [];
        const oauth = signIn(reading, { clientId, clientSecret, scopes, path });
        bridged.document.oauth = { ...recordOf(bridged.document.oauth), ...oauth };
      }
      return;
    }
    case '':
      // The port at which mcp-remote waits for the sign-in.
      if (!/^\d+$/.test(value)) draft.skip(path, `is not known to this import of ${bridged.bridge}, so that it was left out`);
      return;
    default:
      if (!ownOptions.has(name)) draft.skip(path, `${name} of ${bridged.bridge} has no counterpart`);
  }
}

/** `from`: the first argument of the program. */
function optionsOf({ args, path }: CommandEntry, from: number): Option[] {
  const options: Option[] = [];
  for (let index = from; index < args.length; index += 1) {
    const argument = args[index] ?? '';
    const [, name = '', value = ''] = /^(--?[A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(argument) ?? [];
    if (name === '' || switches.has(name) || argument.includes('='))
      options.push({ name, value: name === '' ? argument : value, path: path(index) });
    else {
      index += 1;
      options.push({ name, value: args[index] ?? '', path: path(index) });
    }
  }
  return options;
}

/** Finds the bridge behind a runner of packages: `npx -y mcp-remote@latest`. `next`: the word after it. Null for other commands. */
function programOf(words: readonly string[]): { name: string; next: number } | null {
  let at = 0;
  // Windows starts scripts with its shell.
  if (/^cmd(\.exe)?$/i.test(words[0] ?? '') && /^\/[cC]$/.test(words[1] ?? '')) at = 2;
  const runner = baseOf(words[at]);
  const run = /^(npx|bunx|pnpx)$/.test(runner)
    ? 1
    : /^(pnpm|yarn|npm|bun)$/.test(runner) && /^(dlx|exec|x)$/.test(words[at + 1] ?? '')
      ? 2
      : 0;
  at += run;
  // `-p` names the package, and the program of the same name follows.
  while (run > 0 && /^-/.test(words[at] ?? '')) {
    const word = words[at] ?? '';
    if (/^(-p|--package)$/.test(word)) at += 2;
    else if (/^(-y|--yes|-q|--quiet|--silent|--bun|--|--prefer-online|--prefer-offline|--package=.*)$/.test(word)) at += 1;
    else return null;
  }
  const name = /^(mcp-remote|supergateway)(?:@[\w.^~-]+)?$/.exec(run > 0 ? (words[at] ?? '') : baseOf(words[at]))?.[1];
  return name === undefined ? null : { name, next: at + 1 };
}

function baseOf(command = ''): string {
  return (command.split(/[\\/]/).at(-1) ?? '').replace(/\.(cmd|exe|ps1)$/i, '').toLowerCase();
}
