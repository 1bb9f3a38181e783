/** Reads a project that the service received: settles its variables, and checks it with the schema. */
import { parsePart } from '../issues.ts';
import { invalidRequest } from '../problem.ts';
import type { Warning } from '../warning.ts';
import { settleVariables } from './expand-variables.ts';
import { Project } from './project.ts';

/**
 * `unset`: paths of the documents with a secret that has no value, such as `webhooks.triage`. Throws `invalid_request`. A `$schema` is ignored.
 */
export function readProject(value: unknown): { project: Project; unset: ReadonlySet<string>; warnings: Warning[] } {
  const settled = settleVariables(value);
  const parsed = parsePart(Project, settled.project);
  const issues = [...settled.issues, ...('issues' in parsed ? parsed.issues : [])];
  if ('issues' in parsed || issues.length > 0) throw invalidRequest(issues);
  const warnings = settled.unset.map(({ path, variable }) => ({
    path,
    message: `has no value: ${variable} is expanded by the command line only. A stored value stays`,
  }));
  return { project: parsed.data, unset: new Set(settled.unset.map(({ document }) => document)), warnings };
}
