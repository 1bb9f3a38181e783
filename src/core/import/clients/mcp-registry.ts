/**
 * `server.json` of the MCP registry: one server, as packages that run it and as remote endpoints. A remote one is preferred, since it needs no
 * program. Registry documentation, "server.json format" (members in camel case, and in snake case before 2025-09).
 */
import { isRecord, type Json, recordOf } from '../../json/wire-value.ts';
import { placeholder } from '../../project/expand-variables.ts';
import type { ImportDraft } from '../draft.ts';
import { addToolset } from '../mcp-clients.ts';
import { addMcpServer } from '../mcp-server.ts';
import type { Members } from '../members.ts';
import { secretName } from '../names.ts';
import { createVariables } from '../variables.ts';

export function isRegistryServer(value: unknown): boolean {
  const { name, packages, remotes, server } = recordOf(value);
  if (isRecord(server)) return isRegistryServer(server);
  const listed = [packages, remotes].filter(Array.isArray).flat();
  return (
    typeof name === 'string' &&
    listed.some((one) => ['registryType', 'registry_type', 'url', 'registry_name'].some((member) => member in recordOf(one)))
  );
}

const described = [
  '$schema',
  '_meta',
  'description',
  'title',
  'icons',
  'repository',
  'status',
  'version',
  'version_detail',
  'websiteUrl',
  'website_url',
  'id',
];

export function readRegistryServer(draft: ImportDraft, root: Members): void {
  const file = isRecord(root.peek('server')) ? (root.record('server') ?? root) : root;
  if (file !== root) root.ignore('_meta');
  file.ignore(...described);
  const written = file.text('name') ?? 'server';
  const [remotes, packages] = [file.items('remotes'), file.items('packages')];
  const remote = remotes.find((one) => one.peek('type') === 'streamable-http') ?? remotes[0];
  const packaged = remote === undefined ? packages.find((one) => runnerOf(one) !== null) : undefined;
  const chosen = remote ?? packaged;
  for (const other of [...remotes, ...packages])
    if (other !== chosen)
      other.skipWhole(
        chosen === undefined ? 'is of a kind of package that cannot be run' : 'is not used: another way to the same server is taken',
      );
  if (chosen === undefined) {
    file.fault('', 'has no remote server, and no package that npx, uvx, docker or dnx runs');
    return;
  }
  const entry = remote === undefined ? commandEntry(chosen) : remoteEntry(chosen);
  // `io.github.acme/weather` is called `weather`.
  const name = written.split('/').at(-1) ?? written;
  const added = addMcpServer(draft, name, draft.open(entry, chosen.path), createVariables());
  if (added !== null) addToolset(draft, name, [added]);
}

function remoteEntry(remote: Members): Json {
  remote.ignore('type', 'transport_type');
  const variables = remote.record('variables');
  const url = filledIn(remote.text('url') ?? '', variables);
  const headers = Object.fromEntries(remote.items('headers').flatMap((header) => named(header)));
  return { url, headers };
}

const runners: Readonly<Record<string, { command: string; args(identifier: string, version: string): string[] }>> = {
  npm: { command: 'npx', args: (identifier, version) => ['-y', version === '' ? identifier : `${identifier}@${version}`] },
  pypi: { command: 'uvx', args: (identifier, version) => [version === '' ? identifier : `${identifier}@${version}`] },
  oci: {
    command: 'docker',
    args: (identifier, version) => [/[:@]/.test(identifier) || version === '' ? identifier : `${identifier}:${version}`],
  },
  nuget: { command: 'dnx', args: (identifier, version) => [version === '' ? identifier : `${identifier}@${version}`, '--yes'] },
};

function runnerOf(one: Members): (typeof runners)[string] | null {
  const type = String(one.peek('registryType') ?? one.peek('registry_type') ?? one.peek('registry_name'));
  const kind = type === 'docker' ? 'oci' : type;
  return Object.hasOwn(runners, kind) ? (runners[kind] ?? null) : null;
}

function commandEntry(one: Members): Json {
  const runner = runnerOf(one);
  one.take('registryType', 'registry_type', 'registry_name');
  const hint = one.text('runtimeHint', 'runtime_hint') ?? '';
  const identifier = one.text('identifier', 'name') ?? '';
  const version = one.text('version') ?? '';
  one.record('transport')?.skipOthers('is not used: a command speaks on standard input and output');
  one.skip(['registryBaseUrl', 'registry_base_url'], 'is not used: the runner of packages knows its registry');
  one.skip(['fileSha256', 'file_sha256'], 'is not checked by the runner of packages');
  const env = one.items('environmentVariables', 'environment_variables').flatMap((variable) => named(variable));
  const runtime = one.items('runtimeArguments', 'runtime_arguments').flatMap(argumentOf);
  const own = one.items('packageArguments', 'package_arguments').flatMap(argumentOf);
  const command = hint === '' ? (runner?.command ?? '') : hint;
  const isContainer = command === 'docker';
  const passed = isContainer ? ['run', '-i', '--rm', ...env.flatMap(([name]) => ['-e', name])] : [];
  const target = runner?.args(identifier, version) ?? [];
  const separator = command === 'dnx' && own.length > 0 ? ['--'] : [];
  return { command, args: [...passed, ...runtime, ...target, ...separator, ...own], env: Object.fromEntries(env) };
}

/** A header or variable with its value; nothing if it is optional and has none. */
function named(input: Members): [name: string, value: string][] {
  const name = input.text('name') ?? '';
  const value = inputValue(input, name);
  return name === '' || value === null ? [] : [[name, value]];
}

function argumentOf(input: Members): string[] {
  const isNamed = input.text('type') === 'named';
  const name = input.text('name') ?? '';
  const hint = input.text('valueHint', 'value_hint') ?? '';
  const isRepeated = input.flag('isRepeated', 'is_repeated') === true;
  const value = inputValue(input, hint === '' ? name.replace(/^-+/, '') : hint);
  if (isRepeated && value !== null) input.change('isRepeated', 'is not needed: the argument is given once');
  if (value === null) return isNamed && !input.has('default') && !input.has('isRequired') && input.has('value') ? [name] : [];
  return isNamed ? [name, ...(value === '' ? [] : [value])] : [value];
}

/** The value, its default, or a variable for one that a person has to give; null if none is needed. */
function inputValue(input: Members, name: string): string | null {
  input.ignore('description', 'format', 'placeholder', 'choices');
  const isSecret = input.flag('isSecret', 'is_secret') === true;
  const isRequired = input.flag('isRequired', 'is_required') === true;
  const variables = input.record('variables');
  const value = input.text('value', 'default');
  if (value !== null) return filledIn(value, variables);
  if (isRequired || isSecret) return placeholder(secretName(name));
  input.fault('', 'is optional and has no value, so that it was left out');
  return null;
}

/** `{name}` of the variables that the input defines. */
function filledIn(text: string, variables: Members | null): string {
  const values = new Map<string, string>();
  for (const name of variables?.names() ?? []) {
    const variable = variables?.record(name);
    if (variable !== null && variable !== undefined) values.set(name, inputValue(variable, name) ?? placeholder(secretName(name)));
  }
  return text.replaceAll(/(?<!\$)\{([\w.-]{1,100})\}/g, (whole, name: string) => values.get(name) ?? whole);
}
