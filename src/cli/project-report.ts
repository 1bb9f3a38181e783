/** Shows what applying a project or importing a file did, or would do. */
import type { components, MonikerClient } from '../../client/src/index.ts';
import { listFirst } from '../core/text/paragraphs.ts';
import { print, printError } from '../local/printing.ts';
import { groupSimilar, inLine, printStyled, styled } from './output.ts';
import { describeServer, isWell, readServers, type ListedServer } from './refresh.ts';

type Report = Omit<components['schemas']['ProjectReport'], 'project'>;

type Line = { style: 'green' | 'yellow' | 'red' | 'dim'; text: string };

const maxNamesInLine = 10;

export type ServersByName = ReadonlyMap<string, ListedServer>;

export const noServers: ServersByName = new Map();

/** Returns the servers of the report by the names that it has for them. A key without `admin` sees none. */
export async function reportedServers(client: MonikerClient, { created, updated, unchanged }: Report): Promise<ServersByName> {
  if (![...created, ...updated, ...unchanged].some((name) => name.startsWith('servers.'))) return new Map();
  return new Map((await readServers(client)).map((server) => [`servers.${server.name}`, server]));
}

/** What applying a project or importing a file did, or would do. `servers`: their health is shown with them. `canMend`: the command has `--mend`. */
export function printReport(
  report: Report,
  { isDryRun, what, servers, canMend = false }: { isDryRun: boolean; what: string; servers: ServersByName; canMend?: boolean },
): void {
  for (const { style, text } of reportLines(report, servers, canMend)) printStyled(styled(style, inLine(text)));
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
function reportLines(report: Report, servers: ServersByName, canMend: boolean): Line[] {
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
    ...(report.impact ?? []).map(({ name, text, mends, more }): Line => {
      const mend = mends > 0 && canMend ? ' Add --mend.' : '';
      return { style: 'red', text: `  ! ${name}: ${text}${mend} See ${more}` };
    }),
    ...byReason(report.notCompared ?? []).map(({ names, reason }): Line => {
      const text = `  ? ${listFirst(names, maxNamesInLine)} ${names.length === 1 ? 'was' : 'were'} not compared with past calls: ${reason}`;
      return { style: 'dim', text };
    }),
    ...report.waiting.map(({ name, reason }): Line => ({ style: 'dim', text: `  ? ${name} waits: ${reason}` })),
    ...byReason(report.skipped).map(
      ({ names, reason }): Line => ({
        style: 'red',
        text: `  ! ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} skipped: ${reason}`,
      }),
    ),
  ];
}

function byReason(rows: Report['skipped']): { names: string[]; reason: string }[] {
  return [...Map.groupBy(rows, ({ reason }) => reason)].map(([reason, ofReason]) => ({ reason, names: ofReason.map(({ name }) => name) }));
}
