/** `moniker import` writes the documents of files of other systems: named ones, a URL, stdin, or those that it finds on this machine. */
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { MonikerClient } from '../../../client/src/index.ts';
import type { ImportResult } from '../../core/import/draft.ts';
import { importFormats } from '../../core/import/names.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import { expandVariables } from '../../core/project/expand-variables.ts';
import { readImport } from '../../formats/read-import.ts';
import { print, printError } from '../../local/printing.ts';
import { readBounded } from '../../net/read-bounded.ts';
import { isYes } from '../chat/chat-questions.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from '../connection.ts';
import { CommandFailure, exitCodes, messageOf } from '../failure.ts';
import { projectQuestion, requireAccepted, type TrustOptions } from '../folder-trust.ts';
import { inLine, printJson, type JsonOption } from '../output.ts';
import { noServers, printReport, reportedServers } from '../project-report.ts';
import { withService } from '../temporary-service.ts';
import { askLine, canAsk } from '../terminal.ts';
import { findClientFiles, shellPath } from './client-files.ts';

type ImportOptions = ConnectionOptions & JsonOption & TrustOptions & { format?: string; dryRun?: boolean; replace?: boolean };

/** `file`: as the user named it. */
type Content = { file: string; read: ImportResult };

/** Servers list their tools before the response. */
const importTimeoutMs = 5 * 60_000;
const downloadTimeoutMs = 30_000;

export function addImportCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('import')
      .description('write the documents of files of other systems, such as claude_desktop_config.json')
      .argument(
        '[files...]',
        'files or URLs of JSON, YAML or zip archives; "-" reads stdin (default: asks about the files of MCP clients here)',
      )
      .option('--format <format>', 'format of the files (default: found out from the content; docs/import.md lists them)')
      .option(
        '--trust',
        'accept what the files do without a question, and trust the servers: calls need approval only if a tool is annotated as destructive',
      )
      .option('--dry-run', 'show what would be written, and write nothing')
      .option('--replace', 'replace stored documents of the same name instead of merging them')
      .option('--json', 'print the responses, by file')
      .addHelpText(
        'after',
        '\nExamples:\n  moniker import\n  moniker import claude_desktop_config.json\n  moniker import .vscode/mcp.json --dry-run',
      ),
  ).action(importFiles);
}

async function importFiles(files: string[], options: ImportOptions): Promise<void> {
  // All files are read first, so that a wrong name writes nothing.
  const found = files.length === 0 ? await chooseFiles(options) : await readFiles(files, options);
  const contents = options.trust ? found.map(({ file, read }) => ({ file, read: withTrust(read) })) : found;
  if (contents.length === 0) return print('Nothing was imported.');
  if (!options.dryRun) {
    const questions = contents.map(({ file, read }) => projectQuestion(file, read.project, { isFirst: false, isRemote: isUrl(file) }));
    // A URL may have another content than the user has seen.
    const isNamed = !contents.some(({ file }) => isUrl(file));
    await requireAccepted(
      questions.filter((question) => question !== null),
      { trust: options.trust, isNamed },
    );
  }
  const answers: Record<string, unknown> = {};
  await withService(options, async (service) => {
    const { client } = connectService(service, importTimeoutMs);
    for (const { file, read } of contents) {
      const report = await importProject(client, file, read, options);
      answers[file] = report;
      if (options.json) continue;
      const servers = options.dryRun ? noServers : await reportedServers(client, report);
      printReport(report, { isDryRun: options.dryRun === true, what: `${file} (${report.format})`, servers });
    }
  });
  if (options.json) printJson(answers);
}

/** Asks about each file of an MCP client; without a terminal, lists them with the command that imports them. */
async function chooseFiles(options: ImportOptions): Promise<Content[]> {
  const importable: (Content & { title: string; servers: number })[] = [];
  const found = findClientFiles(process.cwd(), process.env);
  for (const { title, file } of found) {
    try {
      const read = readContent(file, await readBytes(file), options.format);
      const servers = Object.keys(read.project.servers ?? {}).length;
      if (servers > 0) importable.push({ title, file, read, servers });
      else printError(`${title}: ${inLine(file)} has no servers to import.`);
    } catch (error) {
      // The rest lists all formats.
      printError(`${title}: ${inLine(messageOf(error).replace(/(?<=[.]) [\s\S]*$/, ''))}`);
    }
  }
  if (importable.length === 0)
    throw new CommandFailure(
      `No file of an MCP client with servers was found${found.length === 0 ? '' : ' that can be read'}.`,
      'Name a file: moniker import <file>',
      exitCodes.usage,
    );
  if (!canAsk()) {
    for (const { title, file, servers } of importable)
      print(`${title}, ${countOf(servers)}:\n  moniker import ${shellPath(file, process.env)}`);
    throw new CommandFailure('No file was named.', 'Run one of these commands, or run moniker import in a terminal.', exitCodes.usage);
  }
  const chosen: Content[] = [];
  for (const { title, file, read, servers } of importable) {
    const answer = await askLine(`Import ${countOf(servers)} of ${title} (${inLine(file)})? [y/N] `);
    if (answer === null) throw new CommandFailure('Nothing was imported.', '');
    if (isYes(answer)) chosen.push({ file, read });
  }
  return chosen;
}

function countOf(servers: number): string {
  return servers === 1 ? '1 server' : `${servers} servers`;
}

async function readFiles(files: readonly string[], { format }: ImportOptions): Promise<Content[]> {
  const contents: Content[] = [];
  for (const file of files) contents.push({ file, read: readContent(file, await readBytes(file), format) });
  return contents;
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
  const fileName = (file === '-' ? read.format : nameOf(file)).slice(-1_000);
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
    if (isUrl(file)) return await download(file);
    const { size } = await stat(file);
    if (size > limits.maxLargeBodyBytes) throw tooLarge(file);
    return await readFile(file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new CommandFailure(`${file} cannot be read: ${error.message}.`, 'Check its name and permissions.');
  }
}

/** Only over HTTPS, or from this machine, also after redirects. */
async function download(url: string): Promise<Uint8Array> {
  const response = await fetch(requireSafe(url), { signal: AbortSignal.timeout(downloadTimeoutMs) }).catch((error: unknown) => {
    throw new CommandFailure(`${url} cannot be read: ${messageOf(error)}.`, 'Check the URL, or download the file.');
  });
  requireSafe(response.url);
  const { bytes, truncated } = await readBounded(response, limits.maxLargeBodyBytes);
  if (!response.ok) throw new CommandFailure(`${url} cannot be read: the response has status ${response.status}.`, 'Check the URL.');
  if (truncated) throw tooLarge(url);
  return bytes;
}

function isUrl(file: string): boolean {
  return /^https?:\/\//i.test(file);
}

function requireSafe(url: string): string {
  const { protocol = '', hostname = '' } = URL.parse(url) ?? {};
  if (protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)) return url;
  throw new CommandFailure(`${url} is not read: others can change what is sent without encryption.`, 'Use its https URL.', exitCodes.usage);
}

function tooLarge(file: string): CommandFailure {
  return new CommandFailure(
    `${file} has more than the ${limits.maxLargeBodyBytes} bytes of an import.`,
    'Split it, or import the parts that you need.',
  );
}

/** Identifies the file at later imports. */
function nameOf(file: string): string {
  return isUrl(file) ? file : resolve(file);
}

function readContent(file: string, bytes: Uint8Array, format: string | undefined): ImportResult {
  const named = importFormats.find((one) => one === format);
  if (format !== undefined && named === undefined)
    throw new CommandFailure(`There is no format "${format}".`, `Use one of: ${importFormats.join(', ')}.`, exitCodes.usage);
  try {
    return readImport(bytes, { format: named, ...(file !== '-' && { fileName: nameOf(file) }) });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new CommandFailure(
      `${file}: ${error.detail}`,
      'docs/import.md lists the formats. Name one with --format if it was not found out.',
    );
  }
}

function flag(value: boolean | undefined): 'true' | 'false' {
  return value ? 'true' : 'false';
}
