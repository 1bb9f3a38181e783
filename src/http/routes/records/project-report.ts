/** What applying a project or an import did, or would do, as the routes show it. */
import * as z from 'zod';
import { DocumentChange } from '../../../core/project/document-changes.ts';
import { documentPath } from '../../../core/project/project-sections.ts';
import { ImpactRow } from '../../../core/project/plan-impact.ts';
import { Warning } from '../../../core/problem.ts';
import type { AppliedDocument, ApplyResult } from '../../../ports/projects.ts';

const places = (text: string) => z.array(z.string()).meta({ description: `${text} As in a project file, such as \`servers.github\`.` });
const Reasons = z.array(z.object({ name: z.string(), reason: z.string() }));

export const projectReport = {
  created: places('Documents that did not exist.'),
  updated: places('Documents that were replaced.'),
  unchanged: places('Documents that were already so.'),
  removed: places('Documents that the project had created and no longer has.'),
  kept: Reasons.meta({
    description:
      'Documents that others wrote or changed since, which the project replaces or removes only with `force`. For an import, also parts of documents that stay as they are stored, such as `toolsets.claude.tools (github.search)`.',
  }),
  skipped: Reasons.meta({ description: 'What was not written. Applying again writes it, once the reason is gone.' }),
  waiting: Reasons.meta({
    description: 'For a dry run: documents that can be checked only when the servers of the project have listed their tools.',
  }),
  changes: z.array(DocumentChange.extend({ name: z.string() })).meta({
    description:
      'Of the updated documents. `tools.NAME` is a tool of a server. Without `before` and `after`: a value that is not shown; `…`: more changes.',
  }),
  impact: z.array(ImpactRow).optional().meta({
    description:
      'For a dry run: what the changed toolsets and rules would have done to the calls of the last days; of those that change one.',
  }),
  notCompared: Reasons.optional().meta({
    description: 'For a dry run: changed toolsets and rules that were not compared with past calls.',
  }),
  warnings: z.array(Warning),
};
const Report = z.object(projectReport);
type Report = z.infer<typeof Report>;

/** The description of query parameters that several routes have. */
export const dryRunQuery = z
  .enum(['true', 'false'])
  .default('false')
  .meta({ description: '`true`: returns the plan, and stores nothing.' });

export function toReport({ documents, impact }: Pick<ApplyResult, 'documents' | 'impact'>): Report {
  const named = (action: AppliedDocument['action']): string[] => of(documents, action).map(pathOf);
  const reasons = (action: AppliedDocument['action']) =>
    of(documents, action).map((document) => ({ name: pathOf(document), reason: document.reason ?? '' }));
  const parts = (member: 'keptParts' | 'skippedParts') =>
    documents.flatMap((document) => (document[member] ?? []).map(({ path, reason }) => ({ name: `${pathOf(document)}.${path}`, reason })));
  return {
    created: named('created'),
    updated: named('updated'),
    unchanged: named('unchanged'),
    removed: named('removed'),
    kept: [...reasons('kept'), ...parts('keptParts')],
    skipped: [...reasons('skipped'), ...parts('skippedParts')],
    waiting: reasons('deferred'),
    changes: documents.flatMap((document) => (document.changes ?? []).map((change) => ({ name: pathOf(document), ...change }))),
    ...(impact !== undefined && { impact: impact.rows, notCompared: impact.unknown }),
    warnings: documents.flatMap((document) =>
      (document.warnings ?? []).map(({ path, message }) => ({
        path: path === '' ? pathOf(document) : `${pathOf(document)}.${path}`,
        message,
      })),
    ),
  };
}

function of(documents: readonly AppliedDocument[], action: AppliedDocument['action']): AppliedDocument[] {
  return documents.filter((document) => document.action === action);
}

function pathOf({ kind, name }: AppliedDocument): string {
  return documentPath(kind, name);
}
