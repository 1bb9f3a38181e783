/** The workspace's own document, `{settings}` (`core/workspace.ts`). Its name is the name of the workspace. */
import { canonicalJson } from '../../core/hash.ts';
import { parseDocument } from '../../core/issues.ts';
import { invalidRequest } from '../../core/problem.ts';
import { nameMapIssues } from '../../core/toolset/settle-names.ts';
import { Workspace } from '../../core/workspace.ts';
import { workspaceDocument } from '../../ports/catalog.ts';
import { knownTools } from '../tools/known-tools.ts';
import { recompileAll } from '../toolsets/toolsets.ts';
import { readWorkspaceSettings } from './workspace-settings.ts';
import type { DocumentWriter } from './write-document.ts';

export const workspaceWriter: DocumentWriter = {
  nameFault: (_context, name) => (name === workspaceDocument ? null : `must be ${JSON.stringify(workspaceDocument)}`),

  prepare: async (context, _name, given) => {
    const body = parseDocument(Workspace, given);
    const { nameMap, redaction } = body.settings;
    const patterns = redaction?.patterns ?? [];
    const faults = patterns.length === 0 ? [] : (await import('../../platform/text-patterns.ts')).patternIssues(patterns);
    const issues = [...nameMapIssues(nameMap), ...faults];
    if (issues.length > 0) throw invalidRequest(issues);
    if (canonicalJson(nameMap) === canonicalJson(readWorkspaceSettings(context.sql).nameMap)) return { body };
    return { body, ...(await recompileAll(context, knownTools(context, { nameMap }))) };
  },
};
