/** The workspace's own document, `{settings}` (`core/people/workspace.ts`). Its name is the name of the workspace. */
import { canonicalJson } from '../../../core/hash.ts';
import type { GuardEndpoint } from '../../../core/policy/guard.ts';
import { invalidRequest, type Warning, parseInput } from '../../../core/problem.ts';
import { type SecretBinding, secretUseRefusal } from '../../../core/secrets/secret.ts';
import { nameMapIssues } from '../../../core/toolset/settle-names.ts';
import { Workspace } from '../../../core/people/workspace.ts';
import { workspaceDocument } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';
import { checkSecretUses } from './secrets.ts';
import { knownTools } from '../tools/known-tools.ts';
import { callbackUrlWarnings } from '../triggers/trigger-warnings.ts';
import { recompileAll } from '../toolsets/toolsets.ts';
import { readWorkspaceSettings } from './workspace-settings.ts';
import type { DocumentWriter } from './write-document.ts';

export const workspaceWriter: DocumentWriter = {
  nameFault: (_context, name) => (name === workspaceDocument ? null : `must be ${JSON.stringify(workspaceDocument)}`),

  prepare: async (context, _name, given) => {
    const body = parseInput(Workspace, given);
    const { nameMap, guard, redaction } = body.settings;
    const patterns = redaction?.patterns ?? [];
    const checked = patterns.length === 0 ? null : await (await import('../../../platform/text-patterns.ts')).checkPatterns(patterns);
    const issues = [...nameMapIssues(nameMap), ...(checked?.issues ?? [])];
    if (issues.length > 0) throw invalidRequest(issues);
    const warnings = [...(guard === null ? [] : checkGuard(context, guard)), ...(checked?.warnings ?? [])];
    if (canonicalJson(nameMap) === canonicalJson(readWorkspaceSettings(context.sql).nameMap)) return { body, warnings };
    const recompiled = await recompileAll(context, knownTools(context, { nameMap }));
    return { body, ...recompiled, warnings: [...warnings, ...recompiled.warnings] };
  },
};

/** Rejects a secret that is bound to another host, and warns about a missing one and about a URL that cannot be reached. */
function checkGuard(context: CatalogContext, { url, secret }: GuardEndpoint): Warning[] {
  const warnings = callbackUrlWarnings(context, url, 'settings.guard.url', 'Questions');
  if (secret === undefined) return warnings;
  const refusal = (stored: SecretBinding): string | null => secretUseRefusal(stored, { host: new URL(url).host });
  return [...warnings, ...checkSecretUses(context, [{ path: 'settings.guard.secret', secret, refusal }], 'Questions to the guard fail')];
}
