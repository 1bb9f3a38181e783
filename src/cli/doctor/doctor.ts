/** `moniker doctor`: checks this machine and a running service, and says what to do about each fault. It changes nothing without `--repair`. */
import type { Command } from 'commander';
import { addConnectionOptions, findService, type ConnectionOptions } from '../connection.ts';
import { loadProject } from '../../local/launch/project-file.ts';
import { checkMachine } from './doctor-machine.ts';
import type { DoctorFinding } from './finding.ts';
import { checkService } from './doctor-service.ts';
import { CommandFailure, exitCodes } from '../failure.ts';
import { repairDatabases } from './databases.ts';
import { withSingleStops } from '../../core/text/sentence.ts';
import { print } from '../../local/printing.ts';
import { groupSimilar, inLine, printJson, printStyled, someNames, styled, type JsonOption } from '../output.ts';

const labels = { ok: styled('green', 'ok      '), warning: styled('yellow', 'warning '), failure: styled('red', 'failure ') } as const;

export function addDoctorCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('doctor')
      .description('check this machine and the running service, and say what to do')
      .option(
        '--repair [object]',
        'while the service is stopped: move damaged databases to `quarantine` in the data folder; a damaged catalog only if it is named',
      )
      .option('--all', 'show each finding; by default, those that differ in names only are shown together')
      .option('--json', 'print all findings as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  moniker doctor\n  moniker doctor --url https://moniker.example.com --key "$KEY"\n  moniker doctor --repair\n\n' +
          'The exit code is 1 if a check failed. Warnings do not change it. With --url or MONIKER_URL this machine is not checked.',
      ),
  ).action(doctor);
}

async function doctor(options: ConnectionOptions & JsonOption & { all?: boolean; repair?: string | true }): Promise<void> {
  const address = findService(options, process.env);
  const isElsewhere = (options.url ?? process.env.MONIKER_URL?.trim() ?? '') !== '';
  if (options.repair !== undefined) {
    if (isElsewhere)
      throw new CommandFailure('--repair works on a data folder of this machine.', 'Leave out --url and MONIKER_URL.', exitCodes.usage);
    return await repairDatabases(address.dataDir, options.repair, options);
  }
  const findings: DoctorFinding[] = [];
  const add = (found: readonly DoctorFinding[]): void => {
    findings.push(...found);
    if (options.json) return;
    const kindOf = ({ subject, message }: DoctorFinding): string | null =>
      options.all === true || subject === undefined ? null : message.replace(subject, '');
    const shown = groupSimilar(found, kindOf);
    for (const { first, others } of shown) printStyled(render(first, others));
  };
  if (!isElsewhere) add(await checkMachine(address.dataDir, process.env));
  const project = isElsewhere ? null : loadProject(process.cwd(), process.env);
  for await (const found of checkService(address, project)) add(found);
  const failed = findings.filter(({ status }) => status === 'failure').length;
  if (failed > 0) process.exitCode = exitCodes.failure;
  if (options.json) return printJson({ url: address.url, ok: failed === 0, findings });
  const warnings = findings.filter(({ status }) => status === 'warning').length;
  const shown = options.all ? '' : ' `moniker doctor --all` shows each.';
  print(failed + warnings === 0 ? 'Everything is in order.' : `${failed} failed, ${warnings} with a warning.${shown}`);
}

/** `others`: findings of the same kind. */
function render({ check, status, message, advice }: DoctorFinding, others: readonly DoctorFinding[]): string {
  const names = someNames(others.map(({ subject = '' }) => subject));
  const details = [
    ...(others.length > 0 ? [`and ${others.length} more like it, in ${names}`] : []),
    ...(advice === undefined ? [] : [advice]),
  ];
  const lines = details.map((text) => `\n${' '.repeat(21)}${styled('dim', inLine(text))}`);
  return `${labels[status]}${check.padEnd(12)} ${inLine(withSingleStops(message))}${lines.join('')}`;
}
