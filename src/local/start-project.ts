/** Applies the project file of the folder, or of `MONIKER_PROJECT`, when the service has started (docs/project-file.md). */
import { basename } from 'node:path';
import { launcherHeader } from '../core/servers/stdio.ts';
import { terminalText } from '../core/text/visible-text.ts';
import { createApiClient } from './api-client.ts';
import { fillProject, type LoadedProject, projectName } from './project-file.ts';
import { StartFailure } from './start-failure.ts';

/** The first start of a command can install a package. */
const applyTimeoutMs = 5 * 60_000;

type Reason = { name: string; reason: string };
type Report = Record<'created' | 'updated' | 'unchanged', string[]> & Record<'kept' | 'skipped', Reason[]>;

/**
 * Prints what was done. A file that cannot be applied is reported and changes nothing: the service runs with the documents that it has.
 * `token`: of the launcher, which lets the file add commands.
 */
export async function applyAtStart(
  { url, rootKey, token }: { url: string; rootKey: string; token: string },
  project: LoadedProject | null,
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<void> {
  if (project === null) return;
  const name = basename(project.file);
  try {
    if ('fault' in project) throw new StartFailure(project.fault);
    const body = fillProject(project.content, project.file, environment);
    const client = createApiClient(url, rootKey, { timeoutMs: applyTimeoutMs, headers: { [launcherHeader]: token } });
    for (const line of linesOf(name, await client.put<Report>(`/v1/projects/${projectName(project.file)}`, body))) log(terminalText(line));
  } catch (error) {
    // Also if the service ends while the file is applied.
    const why = error instanceof StartFailure ? error.message : String(error);
    log(terminalText(`warning: ${name} was not applied, and nothing was changed. ${why}`));
  }
}

function linesOf(name: string, report: Report): string[] {
  const counts = (['created', 'updated', 'unchanged', 'kept', 'skipped'] as const)
    .filter((action) => report[action].length > 0)
    .map((action) => `${report[action].length} ${action}`);
  const reasons = (action: 'kept' | 'skipped'): string[] =>
    report[action].map(({ name: document, reason }) => `  ${document} is ${action}: ${reason.replaceAll('\n', ' ')}`);
  return [`${name} is applied: ${counts.join(', ') || 'no documents'}`, ...reasons('kept'), ...reasons('skipped')];
}
