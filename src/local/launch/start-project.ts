/** Applies the project file of the folder, or of `MONIKER_PROJECT`, when the service has started (docs/project-file.md). */
import { basename } from 'node:path';
import { launcherHeader } from '../../core/servers/stdio.ts';
import { terminalText } from '../../core/text/visible-text.ts';
import { type components, MonikerError } from '../../../client/src/index.ts';
import { connectOwnService } from './own-service.ts';
import { fillProject, type LoadedProject, projectName } from './project-file.ts';
import { StartFailure } from './start-failure.ts';

/** The first start of a command can install a package. */
const applyTimeoutMs = 5 * 60_000;

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
    const client = connectOwnService(url, rootKey, { timeoutMs: applyTimeoutMs, headers: { [launcherHeader]: token } });
    const report = await client.put('/v1/projects/{project}', {
      params: { path: { project: projectName(project.file) } },
      body: body as never, // The service checks it and names each fault.
    });
    for (const line of linesOf(name, report)) log(terminalText(line));
  } catch (error) {
    // Also if the service ends while the file is applied.
    const why = error instanceof StartFailure || error instanceof MonikerError ? error.message : String(error);
    log(terminalText(`warning: ${name} was not applied, and nothing was changed. ${why}`));
  }
}

function linesOf(name: string, report: components['schemas']['ProjectReport']): string[] {
  const counts = (['created', 'updated', 'unchanged', 'kept', 'skipped'] as const)
    .filter((action) => report[action].length > 0)
    .map((action) => `${report[action].length} ${action}`);
  const reasons = (action: 'kept' | 'skipped'): string[] =>
    report[action].map(({ name: document, reason }) => `  ${document} is ${action}: ${reason.replaceAll('\n', ' ')}`);
  return [`${name} is applied: ${counts.join(', ') || 'no documents'}`, ...reasons('kept'), ...reasons('skipped')];
}
