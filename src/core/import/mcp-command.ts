/** The command of a local MCP server in the file of an MCP client, and the document of the server that runs it. */
import { isRecord, type Json, listOf, stringOf } from '../json/wire-value.ts';
import { quoted } from '../problem.ts';
import { maxArguments } from '../servers/stdio.ts';
import { onlyVariable, placeholder } from '../project/expand-variables.ts';
import { argumentValues, fill, namedValue, namedValues, type ServerReading, ServerRefusal, secretOf } from './mcp-values.ts';
import type { Members } from './members.ts';
import type { OwnVariables } from './variables.ts';

/** `path`: of an argument, by its index. `env`: the member, unread. */
export type CommandEntry = { command: string; args: string[]; path: (index: number) => string; env: Members | null };

/** The other members of a command. */
export const writtenCommandMembers = ['command', 'cmd', 'args', 'cwd', 'workingDirectory', 'envFile', 'env_vars', 'env_keys'];
const envMembers = ['env', 'environment', 'envs'];

/** Older files of Zed have `command: {path, args, env}`; opencode has the command and its arguments in one list. Null without a command. */
export function writtenCommandOf(members: Members): CommandEntry | null {
  const name = members.has('command') ? 'command' : 'cmd';
  const written = members.peek(name);
  if (isRecord(written)) {
    const inner = members.record(name);
    const command = inner?.text('path', 'command') ?? '';
    return inner === null || command.trim() === '' ? null : entryOf(inner, command, 'args', 0);
  }
  if (Array.isArray(written)) {
    const [command = ''] = textsOf(members, name);
    return command.trim() === '' ? null : entryOf(members, command, name, 1);
  }
  const command = members.text(name) ?? '';
  return command.trim() === '' ? null : entryOf(members, command, 'args', 0);
}

/** `first`: of the arguments in the list. */
function entryOf(members: Members, command: string, list: string, first: number): CommandEntry {
  const listed = textsOf(members, list).slice(first);
  const args = list === 'args' ? listed : [...listed, ...textsOf(members, 'args')];
  const path = (index: number): string =>
    index < listed.length ? `${members.pathOf(list)}[${index + first}]` : `${members.pathOf('args')}[${index - listed.length}]`;
  return { command, args, path, env: members.record(...envMembers) };
}

/** A command without one of its arguments is another command. */
function textsOf(members: Members, name: string): string[] {
  const texts = members.allTexts(name);
  if (texts === null) throw new ServerRefusal(`has \`${name}\` that is not text`);
  return texts;
}

export function localServer(reading: ServerReading, { command, args, path, env }: CommandEntry): Json {
  const { draft, members, written } = reading;
  const envFile = members.text('envFile');
  if (envFile !== null && envFile !== '') members.fault('envFile', `${quoted(envFile)} is not read: add its variables to \`env\``);
  // Before each is searched for credentials.
  if (args.length > maxArguments) throw new ServerRefusal(`has more than ${maxArguments} arguments`);
  const host = `${draft.freeName('servers', written)}.stdio`;
  const passed = passedVariables(reading, host);
  const own = namedValues(reading, env?.values() ?? [], { names: (name) => [name, `${written}_${name}`], host });
  const variables = new Map([...passed, ...own]);
  const cwd = members.text('cwd', 'workingDirectory') ?? '';
  return {
    kind: 'mcp',
    command: fill(reading, command).text,
    ...(args.length > 0 && { args: argumentValues(reading, args, { host, own: ownVariables(env), pathOf: path }) }),
    ...(variables.size > 0 && { env: Object.fromEntries(variables) }),
    ...(cwd !== '' && { cwd: fill(reading, cwd).text }),
  };
}

/**
 * Variables of the entry itself are for the program, which reads them: `--header "Authorization:${AUTH}"` with AUTH in `env`. One that only
 * hands on a variable of the same name may also be expanded by the client.
 */
function ownVariables(env: Members | null): OwnVariables {
  return (name) => {
    const value = env?.peek(name);
    if (value === undefined) return null;
    const handedOn = typeof value === 'string' && onlyVariable(value.replace(/^\$\{env:/, '${')) === name;
    return handedOn ? null : `$${placeholder(name)}`;
  };
}

/** Codex: `env_vars`, names of variables that the program gets; Goose: `env_keys`, names of credentials in its keyring. */
function passedVariables(reading: ServerReading, host: string): [name: string, value: unknown][] {
  const { members, written } = reading;
  // Names, and objects with a name and where the value comes from.
  const given = members.take('env_vars');
  const passed = listOf(given).flatMap((item): [string, unknown][] => {
    const name = stringOf(isRecord(item) ? item.name : item);
    if (name === '') members.fault('env_vars', 'has an item without a name, which was left out');
    if (name === '') return [];
    const path = members.pathOf('env_vars');
    return [[name, namedValue(reading, { key: name, text: placeholder(name), path, names: [name, `${written}_${name}`], host })]];
  });
  const keys = (members.texts('env_keys') ?? []).map((name): [string, unknown] => [
    name,
    secretOf(reading, { names: [name, `${written}_${name}`], value: null, path: members.pathOf('env_keys'), host }),
  ]);
  return [...passed, ...keys];
}
