/** `moniker apply` writes the project file of a folder, `moniker import` files of other systems; `moniker export` writes a project file. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { components, MonikerClient } from '../../client/src/index.ts';
import type { ImportResult } from '../core/import/draft.ts';
import { importFormats } from '../core/import/names.ts';
import { limits } from '../core/limits/limits.ts';
import { Problem } from '../core/problem.ts';
import { expandVariables } from '../core/project/expand-variables.ts';
import { fillProject, findProjectFile, projectName, readProjectFile } from '../local/launch/project-file.ts';
import { readImport } from '../formats/read-import.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { CommandFailure, exitCodes, messageOf } from './failure.ts';
import { print, printData, printError } from '../local/printing.ts';
import { addTrustOption, projectQuestion, requireAccepted, type TrustOptions } from './folder-trust.ts';
import { groupSimilar, inLine, printJson, printStyled, styled, type JsonOption } from './output.ts';
import { describeServer, isWell, readServers, type ListedServer } from './refresh.ts';
import { withService } from './temporary-service.ts';

type ApplyOptions = ConnectionOptions &
  JsonOption &
  TrustOptions & { project?: string; dryRun?: boolean; prune?: boolean; force?: boolean };

/** Servers list their tools before the response. */
const applyTimeoutMs = 5 * 60_000;

export function addProjectCommands(program: Command): void {
  addConnectionOptions(
    addTrustOption(program.command('apply'))
      .description('write the documents of a project file; what is already so stays unchanged')
      .argument('[file]', 'project file (default: MONIKER_PROJECT, else moniker.yaml or moniker.json in this folder)')
      .option('--project <name>', 'name of the project, which records what it owns (default: name of the folder of the file)')
      .option('--dry-run', 'show the plan, and write nothing')
      .option('--prune', 'remove documents that the project created and no longer has')
      .option('--force', 'also replace and remove documents that others wrote or changed since')
      .option('--json', 'print the whole response')
      .addHelpText('after', '\nExamples:\n  moniker apply --dry-run\n  moniker apply moniker.yaml --prune'),
  ).action(apply);

  addConnectionOptions(
    program
      .command('import')
      .description('write the documents of files of other systems, such as claude_desktop_config.json')
      .argument('<files...>', 'files as JSON, YAML or zip archives; "-" reads one from stdin')
      .option('--format <format>', 'format of the files (default: found out from the content; docs/import.md lists them)')
      .option(
        '--trust',
        'accept what the files do without a question, and trust the servers: calls need approval only if a tool is annotated as destructive',
      )
      .option('--dry-run', 'show what would be written, and write nothing')
      .option('--replace', 'replace stored documents of the same name instead of merging them')
      .option('--json', 'print the responses, by file')
      .addHelpText('after', '\nExamples:\n  moniker import claude_desktop_config.json\n  moniker import .vscode/mcp.json --dry-run'),
  ).action(importFiles);

  addConnectionOptions(
    program
      .command('export')
      .description('write all documents of the workspace as a project file, without the values of secrets')
      .argument('[file]', 'the file to write, YAML or JSON by its ending (default: YAML on stdout)')
      .option('--force', 'replace the file if it exists')
      .option('--json', 'write JSON')
      .addHelpText('after', '\nExample:\n  moniker export moniker.yaml'),
  ).action(exportFile);
}

async function apply(given: string | undefined, options: ApplyOptions): Promise<void> {
  const found = given === undefined ? findProjectFile(process.cwd(), process.env) : { file: given, isNamed: true };
  if (found === null)
    throw new CommandFailure(
      'There is no moniker.yaml or moniker.json in this folder.',
      'Name the file: moniker apply <file>',
      exitCodes.usage,
    );
  const { file, isNamed } = found;
  const content = readProjectFile(file);
  const body = fillProject(content, file, process.env);
  if (!options.dryRun) {
    const question = projectQuestion(file, content, { isFirst: false });
    await requireAccepted(question === null ? [] : [question], { trust: options.trust, isNamed });
  }
  const project = options.project ?? projectName(file);
  const isDryRun = options.dryRun === true;
  const report = await withService(options, async (found) => {
    const { client } = connectService(found, applyTimeoutMs);
    const done = await client.put('/v1/projects/{project}', {
      params: { path: { project }, query: { dryRun: flag(options.dryRun), prune: flag(options.prune), force: flag(options.force) } },
      body: body as never, // The service checks it and names each fault.
    });
    if (options.json) printJson(done);
    else printReport(done, { isDryRun, what: `Project ${project}`, servers: isDryRun ? noServers : await serversOf(client, done) });
    return done;
  });
  if (report.skipped.length > 0) process.exitCode = exitCodes.failure;
}

function flag(value: boolean | undefined): 'true' | 'false' {
  return value ? 'true' : 'false';
}

type ImportOptions = ConnectionOptions & JsonOption & TrustOptions & { format?: string; dryRun?: boolean; replace?: boolean };

async function importFiles(files: string[], options: ImportOptions): Promise<void> {
  // All files are read first, so that a wrong name writes nothing.
  const contents: { file: string; read: ImportResult }[] = [];
  for (const file of files) {
    const read = readFileContent(file, await readBytes(file), options.format);
    contents.push({ file, read: options.trust ? withTrust(read) : read });
  }
  if (!options.dryRun) {
    const questions = contents.map(({ file, read }) => projectQuestion(file, read.project, { isFirst: false }));
    await requireAccepted(
      questions.filter((question) => question !== null),
      { trust: options.trust, isNamed: true },
    );
  }
  const answers: Record<string, unknown> = {};
  await withService(options, async (found) => {
    const { client } = connectService(found, applyTimeoutMs);
    for (const { file, read } of contents) {
      const report = await importProject(client, file, read, options);
      answers[file] = report;
      if (options.json) continue;
      const servers = options.dryRun ? noServers : await serversOf(client, report);
      printReport(report, { isDryRun: options.dryRun === true, what: `${file} (${report.format})`, servers });
    }
  });
  if (options.json) printJson(answers);
}

/**
 * The file was read here, because the service does not fill in variables of this environment. Variables that are not set stay: the service
 * skips what needs them.
 */
async function importProject(client: MonikerClient, file: string, read: ImportResult, { dryRun, replace }: ImportOptions) {
  // A program that starts this one in another folder may leave PWD as it was; Windows has neither.
  const places = { PWD: process.cwd(), HOME: homedir() };
  const { project, issues } = expandVariables(read.project, { ...process.env, ...places });
  const unset = new Set(issues.map(({ path }) => path));
  const isOwn = read.format === 'moniker';
  const fileName = (file === '-' ? read.format : resolve(file)).slice(-1_000);
  const report = await client.post('/v1/import', {
    params: {
      query: { dryRun: flag(dryRun), format: 'moniker', partial: flag(!isOwn), replace: flag(replace || isOwn), fileName },
    },
    body: project as never, // The service checks it and names each fault.
  });
  return {
    ...report,
    format: read.format,
    skipped: [...read.skipped, ...report.skipped],
    // The service only knows that the command line fills these in.
    warnings: [...read.warnings, ...issues, ...report.warnings.filter(({ path }) => !unset.has(path))],
  };
}

function withTrust(read: ImportResult): ImportResult {
  const servers = Object.entries(read.project.servers ?? {}).map(([name, server]) => [name, { ...server, trusted: true }] as const);
  return servers.length === 0 ? read : { ...read, project: { ...read.project, servers: Object.fromEntries(servers) } };
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    if (file === '-') return await buffer(process.stdin);
    const { size } = await stat(file);
    if (size > limits.maxLargeBodyBytes)
      throw new CommandFailure(
        `${file} has ${size} bytes; an import has at most ${limits.maxLargeBodyBytes}.`,
        'Split it, or import the parts that you need.',
      );
    return await readFile(file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new CommandFailure(`${file} cannot be read: ${error.message}.`, 'Check its name and permissions.');
  }
}

async function exportFile(file: string | undefined, options: ConnectionOptions & JsonOption & { force?: boolean }): Promise<void> {
  const { client } = connectService(options);
  const format = options.json || file?.toLowerCase().endsWith('.json') ? 'json' : 'yaml';
  const text = await client.get('/v1/export', { params: { query: { format } }, parseAs: 'text' });
  // The service sends JSON on one line.
  const shown = format === 'json' ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text;
  if (file === undefined) {
    printData(shown.replace(/\n$/, ''));
    return;
  }
  try {
    await writeFile(file, shown, { flag: options.force ? 'w' : 'wx' });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new CommandFailure(`${file} exists already.`, 'Choose another name, or replace it with --force.');
    throw new CommandFailure(`${file} cannot be written: ${messageOf(error)}.`, 'Choose a file in a folder that you can write to.');
  }
  print(`Written to ${file}. It has no values of secrets: variables stand for them.`);
}

function readFileContent(file: string, bytes: Uint8Array, format: string | undefined): ImportResult {
  const named = importFormats.find((one) => one === format);
  if (format !== undefined && named === undefined)
    throw new CommandFailure(`There is no format "${format}".`, `Use one of: ${importFormats.join(', ')}.`, exitCodes.usage);
  try {
    return readImport(bytes, { format: named, ...(file !== '-' && { fileName: resolve(file) }) });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new CommandFailure(
      `${file}: ${error.detail}`,
      'docs/import.md lists the formats. Name one with --format if it was not found out.',
    );
  }
}

// ---- Reports ----

type Report = Omit<components['schemas']['ProjectReport'], 'project'>;

type Line = { style: 'green' | 'yellow' | 'red' | 'dim'; text: string };

type ServersByName = ReadonlyMap<string, ListedServer>;

const noServers: ServersByName = new Map();

/** Returns the servers of the report by the names that it has for them. A key without `admin` sees none. */
async function serversOf(client: MonikerClient, { created, updated, unchanged }: Report): Promise<ServersByName> {
  if (![...created, ...updated, ...unchanged].some((name) => name.startsWith('servers.'))) return new Map();
  return new Map((await readServers(client)).map((server) => [`servers.${server.name}`, server]));
}

/** What applying a project or importing a file did, or would do. `servers`: their health is shown with them. */
function printReport(report: Report, { isDryRun, what, servers }: { isDryRun: boolean; what: string; servers: ServersByName }): void {
  for (const { style, text } of reportLines(report, servers)) printStyled(styled(style, inLine(text)));
  // The health of a server has the same reason.
  const warnings = report.warnings.filter(({ path }) => servers.get(path)?.health?.reason === undefined);
  for (const { first, others } of groupSimilar(warnings, ({ message }) => message)) {
    const more = others.length === 0 ? '' : ` (and ${others.length} more like it; --json shows each)`;
    printError(`warning: ${inLine(`${first.path === '' ? '' : `${first.path}: `}${first.message}${more}`)}`);
  }
  const counts = (['created', 'updated', 'removed', 'unchanged', 'kept', 'waiting', 'skipped'] as const)
    .filter((action) => report[action].length > 0)
    .map((action) => `${report[action].length} ${action}`);
  print(`${what}: ${counts.join(', ') || 'no documents'}. ${isDryRun ? 'This is the plan; nothing was written.' : ''}`.trim());
}

/** A change without values is one that is not shown, or stands for more. */
function changeText(before?: string, after?: string): string {
  return before === undefined && after === undefined ? ' changes' : `: ${before ?? 'nothing'} → ${after ?? 'nothing'}`;
}

/** One line for each document that is not unchanged, for each change of an updated one, and for each server that is not ok. */
function reportLines(report: Report, servers: ServersByName): Line[] {
  const stateOf = (name: string): string => {
    const server = servers.get(name);
    return server === undefined ? '' : `: ${describeServer(server)}`;
  };
  const styleOf = (name: string, style: Line['style']): Line['style'] => {
    const server = servers.get(name);
    return server === undefined || isWell(server) ? style : 'red';
  };
  const changes = (name: string): Line[] =>
    report.changes
      .filter((change) => change.name === name)
      .map(({ path, before, after }) => ({ style: 'dim', text: `      ${path}${changeText(before, after)}` }));
  return [
    ...report.created.map((name): Line => ({ style: styleOf(name, 'green'), text: `  + ${name}${stateOf(name)}` })),
    ...report.updated.flatMap((name): Line[] => [
      { style: styleOf(name, 'yellow'), text: `  ~ ${name}${stateOf(name)}` },
      ...changes(name),
    ]),
    ...report.unchanged
      .filter((name) => styleOf(name, 'green') === 'red')
      .map((name): Line => ({ style: 'red', text: `  = ${name}${stateOf(name)}` })),
    ...report.removed.map((name): Line => ({ style: 'red', text: `  - ${name}` })),
    ...report.kept.map(({ name, reason }): Line => ({ style: 'dim', text: `  = ${name} is kept: ${reason}` })),
    ...report.waiting.map(({ name, reason }): Line => ({ style: 'dim', text: `  ? ${name} waits: ${reason}` })),
    ...[...Map.groupBy(report.skipped, ({ reason }) => reason)].map(([reason, skipped]): Line => {
      const names = skipped.map(({ name }) => name).join(', ');
      return { style: 'red', text: `  ! ${names} ${skipped.length === 1 ? 'is' : 'are'} skipped: ${reason}` };
    }),
  ];
}
