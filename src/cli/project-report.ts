/** What applying a project or importing a file did, or would do, as lines: one for each document that is not unchanged. */
import type { components } from '../../client/src/index.ts';
import { print, printError } from '../local/printing.ts';
import { inLine, printStyled, styled } from './output.ts';

type Report = Omit<components['schemas']['ProjectReport'], 'project'>;

type Line = { style: 'green' | 'yellow' | 'red' | 'dim'; text: string };

export function printReport(report: Report, { isDryRun, what }: { isDryRun: boolean; what: string }): void {
  for (const { style, text } of reportLines(report)) printStyled(styled(style, inLine(text)));
  for (const { path, message } of report.warnings) printError(`warning: ${inLine(`${path === '' ? '' : `${path}: `}${message}`)}`);
  const counts = (['created', 'updated', 'removed', 'unchanged', 'kept', 'waiting', 'skipped'] as const)
    .filter((action) => report[action].length > 0)
    .map((action) => `${report[action].length} ${action}`);
  print(`${what}: ${counts.join(', ') || 'no documents'}. ${isDryRun ? 'This is the plan; nothing was written.' : ''}`.trim());
}

/** One line for each document that is not unchanged, and for each change of an updated one. */
export function reportLines(report: Report): Line[] {
  const changes = (name: string): Line[] =>
    report.changes
      .filter((change) => change.name === name)
      .map(({ path, before = 'nothing', after = 'nothing' }) => ({ style: 'dim', text: `      ${path}: ${before} → ${after}` }));
  return [
    ...report.created.map((name): Line => ({ style: 'green', text: `  + ${name}` })),
    ...report.updated.flatMap((name): Line[] => [{ style: 'yellow', text: `  ~ ${name}` }, ...changes(name)]),
    ...report.removed.map((name): Line => ({ style: 'red', text: `  - ${name}` })),
    ...report.kept.map(({ name, reason }): Line => ({ style: 'dim', text: `  = ${name} is kept: ${reason}` })),
    ...report.waiting.map(({ name, reason }): Line => ({ style: 'dim', text: `  ? ${name} waits: ${reason}` })),
    ...report.skipped.map(({ name, reason }): Line => ({ style: 'red', text: `  ! ${name} is skipped: ${reason}` })),
  ];
}
