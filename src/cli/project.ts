/** `moniker apply` writes the project file of a folder; `moniker export` writes a project file. */
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { fillProject, findProjectFile, projectName, readProjectFile } from '../local/launch/project-file.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { CommandFailure, exitCodes, messageOf } from './failure.ts';
import { print, printData } from '../local/printing.ts';
import { addTrustOption, projectQuestion, requireAccepted, type TrustOptions } from './folder-trust.ts';
import { printJson, type JsonOption } from './output.ts';
import { noServers, printReport, reportedServers } from './project-report.ts';
import { withService } from './temporary-service.ts';

type ApplyOptions = ConnectionOptions &
  JsonOption &
  TrustOptions & { project?: string; dryRun?: boolean; prune?: boolean; force?: boolean; mend?: boolean };

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
      .option('--mend', 'add deprecated aliases to changed toolsets, for names of the last 30 days that they would lose')
      .option('--json', 'print the whole response')
      .addHelpText('after', '\nExamples:\n  moniker apply --dry-run\n  moniker apply moniker.yaml --prune'),
  ).action(apply);

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
  const flag = (value: boolean | undefined): 'true' | 'false' => (value ? 'true' : 'false');
  const isDryRun = options.dryRun === true;
  const report = await withService(options, async (found) => {
    const { client } = connectService(found, applyTimeoutMs);
    const done = await client.put('/v1/projects/{project}', {
      params: {
        path: { project },
        query: { dryRun: flag(options.dryRun), prune: flag(options.prune), force: flag(options.force), mend: flag(options.mend) },
      },
      body: body as never, // The service checks it and names each fault.
    });
    if (options.json) printJson(done);
    else {
      const servers = isDryRun ? noServers : await reportedServers(client, done);
      printReport(done, { isDryRun, what: `Project ${project}`, servers, canMend: options.mend !== true });
    }
    return done;
  });
  if (report.skipped.length > 0) process.exitCode = exitCodes.failure;
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
